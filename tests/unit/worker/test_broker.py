"""The broker's configuration."""

from pathlib import Path

import pytest

from perdure.worker.broker import quoted, write_config


@pytest.mark.requirement("JOB-03")
def test_configuration_keeps_work_on_disk_and_opens_no_port(tmp_path: Path) -> None:
    config = tmp_path / "valkey.conf"
    write_config(config, tmp_path / "broker.sock", tmp_path, tmp_path / "broker.log")
    lines = config.read_text("utf-8").splitlines()
    assert "port 0" in lines
    assert "appendonly yes" in lines
    assert "unixsocketperm 700" in lines
    assert config.stat().st_mode & 0o077 == 0


def test_a_home_with_spaces_and_quotes_is_written_so_that_the_server_reads_it_back() -> None:
    assert quoted(Path('/a b/"c"\\d')) == '"/a b/\\"c\\"\\\\d"'
