"""Jobs that a use case starts are not started by kind: they need what only it puts into them."""

from __future__ import annotations

import pytest

from perdure.errors import InvalidArgument
from perdure.ports import JobKind
from perdure.wire.convert.jobs import start_from_request, start_request


@pytest.mark.parametrize("kind", [JobKind.MAINTAIN, JobKind.TRAIN, JobKind.EMBED_PROCEDURES])
def test_a_job_of_a_namespace_is_not_started_by_its_kind(kind: JobKind) -> None:
    with pytest.raises(InvalidArgument):
        start_from_request(start_request(kind, {"namespace": "other"}))
