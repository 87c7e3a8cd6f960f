"""``doctor``: what is wrong, and the command that mends it."""

from __future__ import annotations

from dataclasses import asdict

import click

from perdure.cli.failure import Exit, Failure
from perdure.cli.place import Place
from perdure.cli.terminal import clean, paint, say, say_json
from perdure.cli.words import folders_project, json_option

_COLOURS = {"ok": "green", "note": "yellow", "wrong": "red"}


@click.command()
@json_option
def doctor_command(as_json: bool) -> int:
    """Find what is wrong, and the command that mends it. Exit status 1: something is."""
    from perdure.cli.examinations import Finding, State, examine
    from perdure.cli.starting import load_settings

    folders_project()  # for its warning
    findings: list[Finding] = []
    try:
        findings.extend(examine(load_settings(), Place()))
    except Failure as failure:
        if failure.status != Exit.USAGE:
            raise
        findings.append(Finding("settings", State.WRONG, failure.message, "correct that variable"))
    wrong = [finding for finding in findings if finding.state is State.WRONG]
    if as_json:
        say_json({"well": not wrong, "findings": [asdict(finding) for finding in findings]})
        return Exit.ERROR if wrong else Exit.OK
    for finding in findings:
        mark = paint(finding.state.value.ljust(5), fg=_COLOURS[finding.state.value])
        say(f"{mark} {finding.about.ljust(12)} {clean(finding.text)}")
        if finding.mend and finding.state is not State.OK:
            say(f"{' ' * 19}mend it: {finding.mend}")
    say()
    say("All is well." if not wrong else f"{len(wrong)} {'thing is' if len(wrong) == 1 else 'things are'} wrong.")
    return Exit.ERROR if wrong else Exit.OK
