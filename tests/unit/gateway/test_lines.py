import json

import orjson
import pytest

from perdure.domain.memory import Provenance, Status
from perdure.domain.namespace import NamespaceName
from perdure.gateway.lines import BadLine, stored_of

MINE = NamespaceName("mine")
ID = "01900000-0000-7000-8000-000000000001"


def line(**fields: object) -> bytes:
    return orjson.dumps(fields)


def test_content_is_all_a_line_needs() -> None:
    memory, revisions = stored_of(line(content="A fact."), MINE)
    assert (memory.statement.content, memory.provenance, memory.status) == ("A fact.", Provenance.IMPORT, Status.ACTIVE)
    assert revisions == ()


def test_a_line_without_an_id_gets_the_same_one_each_time() -> None:
    first, _ = stored_of(line(content="A fact."), MINE)
    again, _ = stored_of(line(content="A fact."), MINE)
    other, _ = stored_of(line(content="Another."), MINE)
    assert first.id == again.id != other.id


def test_the_namespace_is_the_callers_whatever_the_line_says() -> None:
    before = {"id": ID, "content": "was", "namespace": "theirs"}
    memory, revisions = stored_of(
        line(
            id=ID, content="x", namespace="theirs",
            revisions=[{"revision": 1, "at": "2026-01-01T00:00:00Z", "actor": "a", "why": "updated", "before": before}],
        ),
        MINE,
    )  # fmt: skip
    assert memory.namespace == MINE
    assert revisions[0].before.namespace == MINE


@pytest.mark.requirement("REST-02")
def test_nan_forgets_rows_with_nulls_and_unknown_columns_are_read() -> None:
    memory, _ = stored_of(
        line(
            id="1B4E28BA-2FA1-11D2-883F-0016D3CCA427", user_id="u", type="decision", content="c", problem=None, tags=[],
            source="user", access_count=3, created_at="2025-01-02T03:04:05.678Z", expires_at=None,
        ),
        MINE,
    )  # fmt: skip
    assert memory.id == "1b4e28ba-2fa1-11d2-883f-0016d3cca427"
    assert (memory.access_count, memory.created_at.year, memory.updated_at) == (3, 2025, memory.created_at)


@pytest.mark.parametrize(
    "raw",
    [
        b"not json",
        b"[1]",
        b'"text"',
        b"{}",
        line(content=""),
        line(content=5),
        line(content="x", id="1"),
        line(content="x", type="banana"),
        line(content="x", confidence=2),
        line(content="x", created_at="yesterday"),
        line(content="x", revisions=[{"revision": 1}]),
        json.dumps({"content": "\ud800"}).encode(),
        b"\xff\xfe",
    ],
)
def test_other_lines_are_refused_without_repeating_them(raw: bytes) -> None:
    with pytest.raises(BadLine) as caught:
        stored_of(raw, MINE)
    assert "banana" not in str(caught.value)
    assert "yesterday" not in str(caught.value)
