"""What a save turns out to be: the outcomes. The deciding lives beside them (see ``decide``)."""

from __future__ import annotations
