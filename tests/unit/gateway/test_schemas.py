from datetime import UTC, datetime

import pytest
from pydantic import ValidationError

from perdure.gateway.schemas import SaveBody, SearchQuery, UpdateBody, moment


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-30", datetime(2026, 11, 30, tzinfo=UTC)),
        ("2026-11-30T12:00:00Z", datetime(2026, 11, 30, 12, tzinfo=UTC)),
        ("2026-11-30T12:00:00", datetime(2026, 11, 30, 12, tzinfo=UTC)),
        ("2026-11-30T12:00:00+02:00", datetime(2026, 11, 30, 10, tzinfo=UTC)),
        ("2026-11-30T12:00:00 02:00", datetime(2026, 11, 30, 10, tzinfo=UTC)),
    ],
)
def test_times_are_read_as_utc(text: str, expected: datetime) -> None:
    assert moment(text) == expected


@pytest.mark.parametrize("text", ["", "soon", "2026-13-01", "0001-01-01T00:00:00+10:00", "2026-11-30T12:00:00 PST"])
def test_other_texts_are_no_times(text: str) -> None:
    with pytest.raises(ValidationError, match="created_from"):
        SearchQuery(q="x", created_from=text)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "body",
    [
        {"content": 5},
        {"content": "x", "tags": "t"},
        {"content": "x", "tags": [1]},
        {"content": "x", "confidence": "0.5"},
        {"content": "x", "confidence": True},
        {"content": "x", "confidence": float("nan")},
        {"content": "x", "importance": 1.01},
        {"content": "x", "type": "banana"},
        {"content": "x", "type": "FACT"},
        {"content": "x", "expires_at": 12345},
        {"content": "x", "namespace": "other"},
        {"content": "x", "provenance": "consolidation"},
    ],
)
def test_bodies_of_the_wrong_shape_are_refused(body: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        SaveBody.model_validate(body)


def test_null_in_an_update_empties_what_may_be_empty() -> None:
    edit = UpdateBody.model_validate({"key": None, "problem": "", "content": "new", "tags": []}).edit(4)
    assert edit.clear == {"key", "problem"}
    assert (edit.content, edit.tags, edit.expected_revision) == ("new", (), 4)
    assert (edit.solution, edit.files) == (None, None)
