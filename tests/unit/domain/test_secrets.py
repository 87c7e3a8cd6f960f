"""Secrets in text."""

from __future__ import annotations

import pytest

from perdure.domain.memory import Statement
from perdure.domain.secret_formats import FORMATS
from perdure.domain.secrets import find, redact, redact_statement
from quality.datasets import SecretSample, load_secrets

SAMPLES = load_secrets()


@pytest.mark.parametrize("sample", [s for s in SAMPLES if s.secrets], ids=lambda s: s.format)
@pytest.mark.requirement("SAVE-09")
def test_every_format_is_found_and_nothing_of_it_stays(sample: SecretSample) -> None:
    text, kinds = redact(sample.text)
    assert kinds
    assert not [secret for secret in sample.secrets if secret in text]


@pytest.mark.parametrize("sample", [s for s in SAMPLES if not s.secrets], ids=lambda s: s.format)
def test_what_only_looks_like_a_secret_stays(sample: SecretSample) -> None:
    assert redact(sample.text) == (sample.text, ())


def test_many_formats_are_known() -> None:
    assert len({kind for kind, _, _ in FORMATS}) >= 45


def test_the_place_and_the_kind_stay_readable() -> None:
    token = "gh" + "p_" + "a1B2" * 9
    assert redact(f"CI clones with {token}, daily.") == (
        "CI clones with [redacted:github_token], daily.",
        ("github_token",),
    )


def test_found_secrets_are_in_order_and_do_not_overlap() -> None:
    text = "postgres://app:" + "s3cr3tWord9" + "@db/x and password=" + "Tr0ub4dor&3x"
    found = find(text)
    assert [text[item.start : item.end] for item in found] == ["s3cr3tWord9", "Tr0ub4dor&3x"]


def test_redacting_twice_changes_nothing_more() -> None:
    for sample in SAMPLES:
        once, _ = redact(sample.text)
        assert redact(once) == (once, ())


def test_every_field_of_a_statement_is_looked_at() -> None:
    token = "gl" + "pat-" + "x9Y8" * 5
    fields = {"content": token, "problem": token, "solution": token, "key": token, "project": token}
    statement = Statement(**fields, tags=(token,), concepts=(token,), files=(f"/tmp/{token}",))
    clean, kinds = redact_statement(statement)
    assert kinds == ("gitlab_token",)
    assert token not in repr(clean)


@pytest.mark.requirement("SAVE-09")
def test_a_secret_that_one_field_gives_away_is_blanked_wherever_it_is_repeated() -> None:
    secret = "xK9mQ2vL7pR4"
    statement = Statement(
        content=f"The password: {secret} opens the vault; {secret} is typed twice",
        problem=f"Signing in with {secret} failed",
        tags=(secret, "vault"),
    )
    clean, kinds = redact_statement(statement)
    assert kinds == ("password",)
    assert secret not in repr(clean)
    assert clean.tags == ("[redacted:password]", "vault")


def test_a_short_password_is_not_looked_for_among_other_words() -> None:
    statement = Statement(content="connect to postgres://app:pr0d@db/x", tags=("pr0d",))
    clean, kinds = redact_statement(statement)
    assert kinds
    assert clean.tags == ("pr0d",)


def test_a_statement_without_secrets_is_the_same_object() -> None:
    statement = Statement(content="The gateway listens on port 8080.")
    assert redact_statement(statement) == (statement, ())
    assert redact_statement(statement)[0] is statement
