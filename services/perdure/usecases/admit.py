"""What every statement passes before it is stored: cleaned, limits enforced, secrets found."""

from __future__ import annotations

from dataclasses import replace

from perdure.domain.memory import Statement
from perdure.domain.saving import Draft
from perdure.domain.secrets import redact_statement
from perdure.domain.statement import checked, checked_draft
from perdure.errors import InvalidArgument, Reason
from perdure.settings import SecretPolicy


class Admit:
    """Applies one policy for secrets: redact (and say so), refuse, or allow."""

    def __init__(self, policy: SecretPolicy) -> None:
        self._policy = policy

    def draft(self, draft: Draft) -> tuple[Draft, tuple[str, ...]]:
        """The draft as it may be stored, and the kinds of secrets that were blanked.

        Raises:
            InvalidArgument: a field is out of its range (details name it), or a secret was found and the policy is to
                refuse (SECRET_REFUSED).
        """
        clean = checked_draft(draft)
        statement, kinds = self.secrets(clean.statement)
        return (replace(clean, statement=statement), kinds) if kinds else (clean, ())

    def statement(self, statement: Statement) -> tuple[Statement, tuple[str, ...]]:
        """The statement as it may be stored, and the kinds of secrets that were blanked; errors as ``draft``."""
        return self.secrets(checked(statement))

    def secrets(self, statement: Statement) -> tuple[Statement, tuple[str, ...]]:
        """The statement without secrets, as the policy says, and their kinds; the rest is as it was."""
        if self._policy == "allow":
            return statement, ()
        blanked, kinds = redact_statement(statement)
        if kinds and self._policy == "refuse":
            raise InvalidArgument(
                f"The text holds what looks like a secret ({', '.join(kinds)}); nothing was stored.",
                reason=Reason.SECRET_REFUSED,
                details={"kinds": ", ".join(kinds)},
            )
        return blanked, kinds
