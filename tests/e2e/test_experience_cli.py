"""Teach it once, by the command line: what a person types, reads and gets as an exit status."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.builderforce_experience import snapshot
from support.stack import Stack, running, wait_until

pytestmark = pytest.mark.e2e

OK, ERROR, USAGE, NOT_FOUND, NO_MATCH = 0, 1, 2, 3, 6
CANARY = "tulip-garden-canary-7"
PNG = bytes.fromhex("89504e470d0a1a0a0000000d4948445200000001000000010802000000907753de0000000049454e44ae426082")


@pytest.fixture(scope="module")
def stack() -> Iterator[Stack]:
    with running() as stack:
        yield stack


@pytest.fixture
def empty(stack: Stack) -> Stack:
    """Without experience, as it is before anything was shown."""
    says(stack, "experience", "forget-all", "--yes")
    return stack


def says(stack: Stack, *arguments: str, status: int = OK, stdin: str | None = None) -> str:
    """What the command prints, both streams; its exit status is ``status``."""
    done = stack.perdure(*arguments, stdin=stdin)
    said = done.stdout + done.stderr
    assert done.returncode == status, f"{arguments}: {done.returncode}\n{said}"
    assert "Traceback" not in said
    return said


def answers(stack: Stack, *arguments: str, status: int = OK, stdin: str | None = None) -> Any:
    """The command's JSON."""
    done = stack.perdure(*arguments, "--json", stdin=stdin)
    assert done.returncode == status, f"{arguments}: {done.returncode}\n{done.stdout}{done.stderr}"
    return json.loads(done.stdout)


def _report(id_: str = "weekly") -> dict[str, Any]:
    return {
        "id": id_,
        "name": "Send the weekly report",
        "program": "reports.exe",
        "args": ["--fast"],
        "steps": [
            {"id": "s1", "action": {"kind": "setValue", "target": {"name": "Password"}, "value": CANARY}},
            {"id": "s2", "action": {"kind": "setValue", "target": {"name": "Week"}, "value": "48"}},
            {"id": "s3", "action": {"kind": "click", "target": {"name": "Send"}}, "screenshot": "s3.png"},
        ],
    }


def _recorded(stack: Stack, id_: str = "weekly") -> str:
    says(stack, "episode", "add", "-", stdin=json.dumps(_report(id_)))
    return id_


def _compiled(stack: Stack, id_: str = "weekly") -> str:
    _recorded(stack, id_)
    return str(answers(stack, "skill", "compile", id_)["id"])


# ---------------------------------------------------------------- nothing there, and nothing of that id


@pytest.mark.requirement("I5-CLI-1")
@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        ("episode list", OK, "perdure episode add FILE"),
        ("skill list", OK, "perdure skill compile EPISODE"),
        ("skill record", OK, "No run has ended yet."),
        ("run list", OK, "perdure run start SKILL"),
        ("routine due --holder here", NO_MATCH, "Nothing is due."),
        ("experience overview", OK, "perdure episode add FILE"),
        ("model show", OK, "Model: none"),
        ("model train --dry-run", OK, "would learn 0 procedures"),
        ("model train", OK, "nothing new to learn"),
        ("model rollback --yes", NOT_FOUND, "no version of the private model"),
    ],
)
def test_before_anything_was_shown_each_command_says_so_and_what_to_do(
    empty: Stack, arguments: str, status: int, said: str
) -> None:
    assert said in says(empty, *arguments.split(), status=status)


@pytest.mark.requirement("I5-CLI-1")
@pytest.mark.parametrize(
    "arguments",
    [
        "episode show nope",
        "episode forget nope --yes",
        "skill preview nope",
        "skill compile nope",
        "skill show nope",
        "skill diff nope",
        "skill forget nope --yes",
        "routine set nope --every 5",
        "routine unset nope",
        "routine heartbeat nope --holder here",
        "routine release nope --holder here",
        "run start nope",
        "run step nope 0 s1 ok",
        "run finish nope succeeded",
        "run cancel nope",
        "run show nope",
        "model show --training nope",
    ],
)
def test_what_is_not_there_is_said_in_one_sentence_with_status_3(stack: Stack, arguments: str) -> None:
    said = says(stack, *arguments.split(), status=NOT_FOUND)
    assert re.fullmatch(r"perdure: There is no .+\.\n", said)


def test_nothing_is_erased_or_undone_without_a_yes(stack: Stack) -> None:
    skill = _compiled(stack, "careful")
    for arguments in (
        ("episode", "forget", "careful"),
        ("skill", "forget", skill),
        ("experience", "forget-all"),
        ("model", "rollback"),
    ):
        assert "--yes" in says(stack, *arguments, status=USAGE)
    assert answers(stack, "episode", "show", "careful")["id"] == "careful"
    assert answers(stack, "skill", "show", skill)["id"] == skill


# ---------------------------------------------------------------- demonstrations


@pytest.mark.requirement("I5-CLI-1")
def test_a_demonstration_is_kept_with_its_picture_listed_shown_and_erased(empty: Stack, tmp_path: Path) -> None:
    (tmp_path / "pictures").mkdir()
    (tmp_path / "pictures" / "s3.png").write_bytes(PNG)
    (tmp_path / "report.json").write_text(json.dumps(_report()))
    said = says(empty, "episode", "add", f"{tmp_path}/report.json", "--screenshots", f"{tmp_path}/pictures")
    assert "Kept: weekly  Send the weekly report, 3 steps" in said
    assert "1 picture kept with it" in said
    assert "Secrets were blanked: password" in said
    assert empty.call("GET", "/episodes/weekly/screenshots/s3.png").body == PNG

    _recorded(empty, "another")
    listed = answers(empty, "episode", "list", "--limit", "1")
    assert len(listed["episodes"]) == 1 and listed["next_cursor"]
    rest = answers(empty, "episode", "list", "--cursor", listed["next_cursor"])
    assert {one["id"] for one in listed["episodes"] + rest["episodes"]} == {"weekly", "another"}

    shown = says(empty, "episode", "show", "weekly")
    assert "reports.exe --fast" in shown
    assert 'set "Password" to <a secret>' in shown and 'set "Week" to "48"' in shown and 'click "Send"' in shown
    assert CANARY not in shown + json.dumps(answers(empty, "episode", "show", "weekly"))

    assert "Erased" in says(empty, "episode", "forget", "weekly", "--yes")
    assert empty.call("GET", "/episodes/weekly/screenshots/s3.png").status == 404
    says(empty, "episode", "forget", "weekly", "--yes", status=NOT_FOUND)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "holds no JSON"),
        ("[]", "as a JSON object"),
        ("{}", "'episode.name' is missing"),
        (json.dumps({**_report(), "id": "../escape"}), "'episode.id'"),
        (
            json.dumps({**_report(), "steps": [{"id": "a", "action": {"kind": "hover"}}]}),
            "'episode.steps[0].action.kind'",
        ),
    ],
)
def test_a_demonstration_that_is_none_is_refused_by_what_is_wrong(stack: Stack, text: str, said: str) -> None:
    assert said in says(stack, "episode", "add", "-", stdin=text, status=USAGE)


def test_a_demonstration_is_not_kept_where_its_picture_is_missing(empty: Stack, tmp_path: Path) -> None:
    (tmp_path / "report.json").write_text(json.dumps(_report()))
    said = says(empty, "episode", "add", f"{tmp_path}/report.json", "--screenshots", str(tmp_path), status=USAGE)
    assert "s3.png cannot be read" in said
    assert not answers(empty, "episode", "list")["episodes"]


# ---------------------------------------------------------------- skills


@pytest.mark.requirement("I5-CLI-1")
def test_a_skill_is_previewed_compiled_compared_and_erased(empty: Stack) -> None:
    _recorded(empty)
    preview = says(empty, "skill", "preview", "weekly")
    assert "password  Password (secret, asked for each time)" in preview
    assert 'week  Week ("48" by default)' in preview
    assert 'click "Send"  asks first' in preview
    assert not answers(empty, "skill", "list")["skills"]

    compiled = says(empty, "skill", "compile", "weekly", "--name", "Weekly report")
    skill = re.findall(r"Compiled: (\S+), version 1", compiled)[0]
    edits = ("--param", "s2=number", "--no-approve", "s3", "--fix", "s1")
    assert f"Compiled: {skill}, version 2" in says(empty, "skill", "compile", "weekly", *edits)
    (line,) = answers(empty, "skill", "list")["skills"]
    assert (line["id"], line["version"], line["params"]) == (skill, 2, ["password", "number"])

    changed = says(empty, "skill", "diff", skill)
    assert "From version 1 to version 2:" in changed
    assert "parameter number" in changed and "~ name: Weekly report" in changed
    assert answers(empty, "skill", "diff", skill, "2", "2")["lines"] == []
    assert "asks first" not in says(empty, "skill", "show", skill)
    old = says(empty, "skill", "show", skill, "--version", "1")
    assert "asks first" in old and "Weekly report" in old
    says(empty, "skill", "show", skill, "--version", "9", status=NOT_FOUND)

    assert "--param takes STEP=NAME" in says(empty, "skill", "preview", "weekly", "--param", "s2", status=USAGE)
    unknown = says(empty, "skill", "preview", "weekly", "--remove", "s9", status=USAGE)
    assert "names a step that the episode lacks" in unknown
    assert "Erased" in says(empty, "skill", "forget", skill, "--yes")
    says(empty, "skill", "show", skill, status=NOT_FOUND)


# ---------------------------------------------------------------- routines and runs


@pytest.mark.requirement("I5-CLI-1")
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--every", "5"), "every 5 minutes"),
        (("--every", "1"), "every minute"),
        (("--daily", "07:30", "--zone", "Europe/Berlin"), "daily at 07:30 Europe/Berlin"),
        (("--cron", "*/5 9-17 * * 1-5", "--zone", "Asia/Tokyo"), 'at cron "*/5 9-17 * * 1-5" Asia/Tokyo'),
        (("--every", "60", "--off"), "every 60 minutes (off)"),
    ],
)
def test_a_skill_is_scheduled_in_each_way(stack: Stack, options: tuple[str, ...], said: str) -> None:
    skill = _compiled(stack, "scheduled")
    assert f"Scheduled: Send the weekly report {said}" in says(stack, "routine", "set", skill, *options)
    assert f"runs {said}" in says(stack, "skill", "show", skill)
    says(stack, "routine", "unset", skill)
    assert "runs " not in says(stack, "skill", "show", skill)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "Say one of --every, --daily and --cron."),
        (("--every", "5", "--daily", "07:30"), "Say one of"),
        (("--daily", "7"), "a time such as 07:30"),
        (("--daily", "25:00"), "from 0 to 23"),
        (("--daily", "07:30", "--zone", "Berlin"), "Europe/Berlin"),
        (("--cron", "often"), "five fields"),
        (("--every", "5", "--value", "week"), "NAME=TEXT"),
        (("--every", "5", "--value", "year=2026"), "it has password, week"),
    ],
)
def test_a_schedule_that_is_none_is_refused_with_what_would_be_one(
    stack: Stack, options: tuple[str, ...], said: str
) -> None:
    assert said in says(stack, "routine", "set", _compiled(stack, "scheduled"), *options, status=USAGE)


@pytest.mark.requirement("I5-CLI-1")
def test_a_routine_is_run_by_the_host_that_took_it_with_an_approval(empty: Stack) -> None:
    skill = _compiled(empty)
    says(empty, "routine", "set", skill, "--every", "5", "--value", "week=49", "--value", f"password={CANARY}")
    assert 'every 5 minutes with week="49"' in says(empty, "skill", "show", skill)
    assert skill in says(empty, "routine", "due", "--look", "--holder", "desktop")
    assert skill in says(empty, "routine", "due", "--holder", "laptop")
    says(empty, "routine", "due", "--holder", "desktop", status=NO_MATCH)
    for command in ("heartbeat", "release"):
        said = says(empty, "routine", command, skill, "--holder", "desktop", status=ERROR)
        assert "Another host has claimed this routine." in said
    assert "Another host" in says(empty, "run", "start", skill, "--routine", "--holder", "desktop", status=ERROR)
    assert "until" in says(empty, "routine", "heartbeat", skill, "--holder", "laptop")
    says(empty, "routine", "release", skill, "--holder", "laptop")
    assert skill in says(empty, "routine", "due", "--holder", "desktop")

    run = says(empty, "run", "start", skill, "--routine", "--holder", "desktop", "--model", "some-model").strip()
    assert "the run is running" in says(empty, "run", "step", run, "0", "s1", "ok")
    says(empty, "run", "step", run, "1", "s2", "fallback", "--detail", "typed by position")
    refused = says(empty, "run", "step", run, "2", "s3", "ok", status=ERROR)
    assert "nobody approved it" in refused
    assert "no such step at that place" in says(empty, "run", "step", run, "2", "s1", "ok", status=USAGE)
    assert "waiting for approval" in says(empty, "run", "step", run, "2", "s3", "waiting")
    assert "waiting for approval" in says(empty, "run", "list")
    says(empty, "run", "step", run, "2", "s3", "approved")
    says(empty, "run", "step", run, "2", "s3", "ok")
    ended = says(empty, "run", "finish", run, "succeeded", "--tokens", "900", "--cost", "0.02")
    assert "The run of Send the weekly report succeeded." in ended
    assert "The run ended" in says(empty, "run", "step", run, "2", "s3", "ok", status=ERROR)
    assert "The run ended" in says(empty, "run", "finish", run, "failed", status=ERROR)

    shown = says(empty, "run", "show", run)
    assert "succeeded: version 1 of Send the weekly report" in shown
    assert "some-model, 900 tokens, $0.0200" in shown
    assert re.findall(r"\d  (s\d)  (\w+)", shown) == [
        ("s1", "ok"),
        ("s2", "fallback"),
        ("s3", "waiting"),
        ("s3", "approved"),
        ("s3", "ok"),
    ]
    assert "1 of 1 run succeeded (100%;" in says(empty, "skill", "record", skill)
    assert "a success costs $0.0200" in says(empty, "skill", "record")
    says(empty, "routine", "due", "--holder", "laptop", status=NO_MATCH)

    other = says(empty, "run", "start", skill).strip()
    assert f"Stopped: {other}" in says(empty, "run", "cancel", other)
    assert [one["status"] for one in answers(empty, "run", "list", "--skill", skill)["runs"]] == [
        "stopped",
        "succeeded",
    ]
    assert [one["outcome"] for one in answers(empty, "run", "show", run)["steps"]][-1] == "ok"


# ---------------------------------------------------------------- the model, and the whole


@pytest.mark.requirement("I5-CLI-1")
def test_a_model_is_trained_searched_through_shown_and_gone_back_from(empty: Stack) -> None:
    for number in range(8):
        document = _report(f"task-{number}")
        document["name"] = f"Task number {number}"
        document["steps"][2]["action"]["target"]["name"] = f"Button {number}"
        says(empty, "episode", "add", "-", stdin=json.dumps(document))
        says(empty, "skill", "compile", f"task-{number}")
    assert "would learn 8 procedures" in says(empty, "model", "train", "--dry-run")
    report = answers(empty, "model", "train")
    assert report["status"] in ("trained", "kept_old")
    shown = says(empty, "model", "show")
    if report["status"] == "trained":
        assert report["version"] in shown and "8 procedures learned, 0 pending" in shown
        assert "nothing new" in says(empty, "model", "train")
        assert "to the embedder as it is" in says(empty, "model", "rollback", "--yes")
    else:
        assert "Model: none" in shown
    assert "8 pending" in says(empty, "model", "show")
    job = answers(empty, "model", "train", "--no-wait")["job"]
    ended = ("trained", "kept_old")
    wait_until(lambda: answers(empty, "model", "show", "--training", job)["status"] in ended, what="the training")


@pytest.mark.requirement("I5-CLI-1")
def test_the_overview_shows_counts_days_and_what_happened_last(empty: Stack) -> None:
    skill = _compiled(empty)
    run = says(empty, "run", "start", skill).strip()
    says(empty, "run", "step", run, "2", "s3", "denied")
    said = says(empty, "experience", "overview")
    for part in (
        "demonstrations 1   skills 1   runs 1 denied",
        "0 given, 1 denied",
        "0 of 1",
        "Send the weekly report",
    ):
        assert part in said
    whole = answers(empty, "experience", "overview", "--days", "3")
    assert (whole["episodes"], whole["skills"], len(whole["days"])) == (1, 1, 3)


@pytest.mark.requirement("I5-CLI-1")
def test_skills_are_found_beside_memories_and_what_was_served_is_counted(empty: Stack) -> None:
    _compiled(empty)
    says(empty, "add", "The weekly report goes to Anna", "--project", "shop")
    found = says(empty, "search", "Send the weekly report", "--skills")
    assert "How it is done" in found and "Send the weekly report  [skill]" in found
    assert "How it is done" not in says(empty, "search", "weekly report Anna")
    said = says(empty, "usage")
    assert re.search(r"^[\d,]+ tokens served in \d+ answers?, [\d,]+ saved$", said, re.MULTILINE)
    assert "perdure-cli" in said
    assert answers(empty, "usage", "--days", "1")["calls"] >= 1


def test_all_experience_is_erased_and_memories_stay(empty: Stack) -> None:
    _compiled(empty)
    memory = answers(empty, "add", "Erasing experience leaves this", "--project", "shop")["id"]
    assert "Erased: all episodes, skills and runs" in says(empty, "experience", "forget-all", "--yes")
    for command in ("episode", "skill", "run"):
        assert not answers(empty, command, "list")[f"{command}s"]
    assert answers(empty, "get", memory)["id"] == memory


# ---------------------------------------------------------------- in and out


@pytest.mark.requirement("I5-MOVE-1")
def test_a_file_and_its_pictures_go_in_and_come_out(empty: Stack, tmp_path: Path) -> None:
    file, pictures = tmp_path / "experience.json", tmp_path / "episodes"
    file.write_text(json.dumps(snapshot()), encoding="utf-8-sig")
    folder = pictures / "a1b2c3d4e5f60718"
    folder.mkdir(parents=True)
    for name, extra in (("s1.png", b"one"), ("s5.png", b"five")):
        (folder / name).write_bytes(PNG + extra)
    (pictures / "unrelated").mkdir()
    (pictures / "unrelated" / "x.png").write_bytes(PNG)
    arguments = ("experience", "import", str(file), "--screenshots", str(pictures))

    assert "Would take in: 2 episodes, 2 skills, 3 runs" in says(empty, *arguments, "--dry-run")
    assert not answers(empty, "episode", "list")["episodes"]
    assert "Taken in: 2 episodes, 2 skills, 3 runs, 2 pictures" in says(empty, *arguments)
    assert "7 were there already" in says(empty, *arguments)

    out, back = tmp_path / "out" / "experience.json", tmp_path / "back"
    said = says(empty, "experience", "export", str(out), "--screenshots", str(back))
    assert "2 episodes, 2 skills, 3 runs written to" in said and "2 pictures" in said
    assert out.stat().st_mode & 0o777 == 0o600
    assert {path.relative_to(back): path.read_bytes() for path in back.rglob("*.png")} == {
        Path("a1b2c3d4e5f60718/s1.png"): PNG + b"one",
        Path("a1b2c3d4e5f60718/s5.png"): PNG + b"five",
    }
    assert "--force" in says(empty, "experience", "export", str(out), status=USAGE)
    whole = json.loads(out.read_text())
    assert whole["adaptations"] == snapshot()["adaptations"]
    says(empty, "experience", "forget-all", "--yes")
    assert "Taken in: 2 episodes" in says(empty, "experience", "import", str(out))
    says(empty, "experience", "export", str(out), "--force")
    assert json.loads(out.read_text()) == whole


@pytest.mark.requirement("I5-MOVE-2")
def test_a_file_of_another_schema_is_refused_and_stays_byte_for_byte(empty: Stack, tmp_path: Path) -> None:
    file = tmp_path / "experience.json"
    before = json.dumps(snapshot(schema="evermind.experience/9"), indent=1).encode() + b"\n\n"
    file.write_bytes(before)
    said = says(empty, "experience", "import", str(file), status=ERROR)
    assert "not experience of the schema evermind.experience/1" in said and "newer Perdure" in said
    assert file.read_bytes() == before
    assert not answers(empty, "episode", "list")["episodes"]


@pytest.mark.requirement("I5-MOVE-3")
def test_what_is_malformed_in_a_file_is_named_and_the_rest_comes_in(empty: Stack, tmp_path: Path) -> None:
    whole = snapshot()
    whole["episodes"].insert(0, "no object")
    whole["episodes"].append({**copy.deepcopy(whole["episodes"][1]), "id": "bad", "name": " "})
    file, pictures = tmp_path / "experience.json", tmp_path / "episodes"
    file.write_text(json.dumps(whole))
    (pictures / "a1b2c3d4e5f60718").mkdir(parents=True)
    (pictures / "a1b2c3d4e5f60718" / "s1.png").write_bytes(b"<svg/>")
    said = says(empty, "experience", "import", str(file), "--screenshots", str(pictures), status=ERROR)
    assert "Taken in: 2 episodes, 2 skills, 3 runs" in said
    assert "episodes[0]" in said and "episodes[3].name" in said and "a1b2c3d4e5f60718/s1.png" in said
    whole["skills"] = {}
    file.write_text(json.dumps(whole))
    assert "'skills' is not a list" in says(empty, "experience", "import", str(file), status=USAGE)


def test_a_file_larger_than_one_request_comes_in_and_its_places_stay_those_of_the_file(
    empty: Stack, tmp_path: Path
) -> None:
    base = snapshot()["episodes"][1]
    episodes = [
        {**base, "id": f"large-{number}", "samples": [[1_234_567_890_123_456] * 900] * 20} for number in range(30)
    ]
    episodes[25]["program"] = ""
    file = tmp_path / "experience.json"
    file.write_text(json.dumps(snapshot(episodes=episodes, skills=[], runs=[])))
    assert file.stat().st_size > 9 * 1024 * 1024
    said = says(empty, "experience", "import", str(file), status=ERROR)
    assert "Taken in: 29 episodes" in said and "episodes[25].program" in said


@pytest.mark.parametrize("text", ["", "[1]", "not json"])
def test_a_file_that_is_no_experience_is_refused(stack: Stack, tmp_path: Path, text: str) -> None:
    file = tmp_path / "experience.json"
    file.write_text(text)
    says(stack, "experience", "import", str(file), status=USAGE)
    says(stack, "experience", "import", str(tmp_path / "missing.json"), status=USAGE)


@pytest.mark.requirement("I5-DONE-2")
def test_the_password_is_in_no_file_after_all_of_this(stack: Stack) -> None:
    skill = _compiled(stack, "last")
    run = says(stack, "run", "start", skill).strip()
    says(stack, "run", "step", run, "0", "s1", "failed", "--detail", f"typed password={CANARY}")
    says(stack, "run", "finish", run, "failed", "--error", f"login --password {CANARY} was refused")
    assert "[redacted:" in says(stack, "run", "show", run)
    holding = [path.name for path in stack.home.rglob("*") if path.is_file() and CANARY.encode() in path.read_bytes()]
    assert holding == []
