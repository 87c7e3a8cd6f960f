"""The canonical JSON form of experience, in one place: what the store, the wire, REST, MCP and files have in common.

Schema ``evermind.experience/1``: Builderforce's names, times in milliseconds since 1970. Lossless but for microseconds:
a document that was read is written again as the same document, unknown fields of episodes and skills included.
"""

from perdure.domain.experience.episode_documents import episode_from_json, episode_to_json
from perdure.domain.experience.run_documents import run_from_json, run_to_json
from perdure.domain.experience.skill_documents import (
    edits_from_json,
    routine_from_json,
    routine_to_json,
    schedule_from_json,
    schedule_to_json,
    skill_from_json,
    skill_to_json,
)

SCHEMA = "evermind.experience/1"
"""The form's name. Source: Builderforce Memory."""

__all__ = [
    "SCHEMA",
    "edits_from_json",
    "episode_from_json",
    "episode_to_json",
    "routine_from_json",
    "routine_to_json",
    "run_from_json",
    "run_to_json",
    "schedule_from_json",
    "schedule_to_json",
    "skill_from_json",
    "skill_to_json",
]
