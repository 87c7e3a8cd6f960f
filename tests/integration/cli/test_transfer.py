from __future__ import annotations

import json
import stat
from pathlib import Path

from integration.cli.conftest import Command
from support.rest_gateway import Answered, RestGateway, problem

LINES = b'{"id":"a","content":"one"}\n{"id":"b","content":"\xe4\xba\x8c"}\n'
REPORT = {"read": 2, "created": 2, "unchanged": 0, "merged": 0, "failed": 0, "problems": [], "dry_run": False}


def test_export_writes_the_lines_to_a_file_of_this_user_alone(
    perdure: Command, gateway: RestGateway, tmp_path: Path
) -> None:
    gateway.routes["GET /memories/export"] = Answered(raw=LINES, content_type="application/x-ndjson")
    target = tmp_path / "out.jsonl"
    ran = perdure("export", str(target), "-p", "shop", "--without-history")
    assert ran.status == 0, ran.err
    assert target.read_bytes() == LINES
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert gateway.last.query == [("project", "shop"), ("history", "false")]
    assert perdure("export", str(target)).status == 2
    assert perdure("export", str(target), "--force").status == 0
    assert list(tmp_path.glob(".out*")) == []


def test_an_export_that_breaks_off_leaves_no_file(perdure: Command, gateway: RestGateway, tmp_path: Path) -> None:
    gateway.routes["GET /memories/export"] = Answered(raw=LINES, cut=True)
    ran = perdure("export", str(tmp_path / "out.jsonl"))
    assert ran.status == 5
    assert "broke off" in ran.err
    assert [path.name for path in tmp_path.iterdir() if path.name != "home"] == []


def test_import_sends_the_file_and_reports(perdure: Command, gateway: RestGateway, tmp_path: Path) -> None:
    gateway.routes["POST /memories/import"] = REPORT
    (tmp_path / "in.jsonl").write_bytes(LINES)
    ran = perdure("import", str(tmp_path / "in.jsonl"), "--dry-run")
    assert ran.status == 0, ran.err
    assert gateway.last.raw == LINES
    assert gateway.last.headers["content-type"] == "application/x-ndjson"
    assert gateway.last.query == [("dry_run", "true")]
    assert "2 created" in ran.out


def test_import_reads_standard_input_and_an_array_as_nan_forget_exports_it(
    perdure: Command, gateway: RestGateway
) -> None:
    gateway.routes["POST /memories/import"] = REPORT
    perdure("import", "-", stdin='\n[{"content": "one"}, {"content": "二"}]')
    assert [json.loads(line)["content"] for line in gateway.last.raw.splitlines()] == ["one", "二"]


def test_lines_that_failed_are_named_and_make_the_status_an_error(
    perdure: Command, gateway: RestGateway, tmp_path: Path
) -> None:
    trouble = {"line": 2, "reason": "field_invalid", "message": "content is missing"}
    gateway.routes["POST /memories/import"] = {**REPORT, "failed": 1, "problems": [trouble]}
    (tmp_path / "in.jsonl").write_bytes(LINES)
    ran = perdure("import", str(tmp_path / "in.jsonl"))
    assert ran.status == 1
    assert "line 2: content is missing" in ran.err


def test_a_refused_or_missing_import_says_why(perdure: Command, gateway: RestGateway, tmp_path: Path) -> None:
    gateway.routes["POST /memories/import"] = problem(401, "No token.", "unauthenticated")
    (tmp_path / "in.jsonl").write_bytes(LINES)
    assert perdure("import", str(tmp_path / "in.jsonl")).status == 4
    missing = perdure("import", str(tmp_path / "none.jsonl"))
    assert missing.status == 2
    assert "none.jsonl" in missing.err
    assert perdure("import", "-", stdin="[{").status == 2
