import io
from collections.abc import Iterator

import pytest
import structlog

from perdure.observability.logging import configure_logging


@pytest.fixture(autouse=True)
def log() -> Iterator[io.StringIO]:
    """Everything the gateway logs in a test, as it would be written."""
    stream = io.StringIO()
    configure_logging(level="debug", fmt="json", process="gateway", stream=stream)
    yield stream
    structlog.reset_defaults()
