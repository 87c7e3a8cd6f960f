"""What the use cases need from the world.

Knows the shape of each need and nothing about who meets it. Ports are synchronous. Implementations:
``store`` (Store), ``wire.clients`` (Embedder), ``jobs`` (JobQueue); fakes for tests in ``tests/support``.
"""

from perdure.ports.access import AccessUnit, AuditEvent, Namespace, Token
from perdure.ports.clock import Clock, Ids
from perdure.ports.embedding import Embedder, Embeddings, TrainingEmbedder
from perdure.ports.experience import (
    EpisodePage,
    ExperienceReader,
    ExperienceStore,
    ExperienceUnit,
    ProcedureVector,
    RunPage,
    ScreenshotFiles,
    SkillPage,
)
from perdure.ports.lifecycle import Departure, LifecycleReader, LifecycleUnit, LifePage, Summariser, VectorGroup
from perdure.ports.memories import ExportStream, MemoryReader, MemoryUnit, Page, Position, Replay, Stats
from perdure.ports.store import CheckReport, Finding, LifecycleStore, Progress, Store, StoreInfo
from perdure.ports.work import Job, JobKind, JobQueue, JobState, OutboxEvent, Pending, Use, WorkUnit

__all__ = [
    "AccessUnit",
    "AuditEvent",
    "CheckReport",
    "Clock",
    "Departure",
    "Embedder",
    "Embeddings",
    "EpisodePage",
    "ExperienceReader",
    "ExperienceStore",
    "ExperienceUnit",
    "ExportStream",
    "Finding",
    "Ids",
    "Job",
    "JobKind",
    "JobQueue",
    "JobState",
    "LifePage",
    "LifecycleReader",
    "LifecycleStore",
    "LifecycleUnit",
    "MemoryReader",
    "MemoryUnit",
    "Namespace",
    "OutboxEvent",
    "Page",
    "Pending",
    "Position",
    "ProcedureVector",
    "Progress",
    "Replay",
    "RunPage",
    "ScreenshotFiles",
    "SkillPage",
    "Stats",
    "Store",
    "StoreInfo",
    "Summariser",
    "Token",
    "TrainingEmbedder",
    "Use",
    "VectorGroup",
    "WorkUnit",
]
