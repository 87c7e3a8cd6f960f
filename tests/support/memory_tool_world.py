"""Random command sequences for the memory tool, the SDK's own backend to compare with, and documents in memory."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError
from anthropic.tools import BetaLocalFilesystemMemoryTool as Reference

from perdure.domain.text import clean, one_line
from perdure.memory_tool.documents import Document, MovedOn, Written
from perdure.memory_tool.exact import packed, unpacked
from perdure.memory_tool.paths import key_of, path_of

NAMES = [
    "a",
    "b",
    "notes.md",
    "Ünïcode.txt",
    "日記",
    "a b",
    "a  b ",
    "100%",
    "%41",
    ".hidden",
    "e\u0301.md",
    "a-b",
    "Δ#2",
]
TEXTS = [
    "",
    "\n",
    "one line",
    "one line\n",
    "x\ny\nx\n",
    "  indented\n\ttabbed  \n\n",
    "windows\r\nlines\r\n",
    "cafe\u0301 and \u212b and \u1112\u1161\u11ab",
    '"quoted"',
    'back\\slash \\u0041 "',
    "control \x00\x1b[31m\x85\u2028 end",
    "日本語のメモ\n二行目\n",
    "x" * 2000 + "\n",
    "👩‍👩‍👧 family\n",
    "\ufeffmarked",
    " ",
]
PIECES = ["x", "line", "\n", "", "日", "one line", "\r\n", "absent", "x\n", '"', "e"]


class DocumentsInMemory:
    """Documents kept as the gateway keeps them: keys and contents cleaned, tags and revisions."""

    def __init__(self) -> None:
        self.kept: dict[str, tuple[str, tuple[str, ...], int]] = {}

    def find(self, paths: Sequence[str]) -> Mapping[str, Document]:
        return {path: self._document(key_of(path)) for path in paths if key_of(path) in self.kept}

    def under(self, directory: str) -> Sequence[Document]:
        found = [self._document(key) for key in self.kept]
        return [item for item in found if item.path.startswith(f"{directory}/") and item.path != f"{directory}/"]

    def create(self, path: str, text: str) -> Written:
        assert key_of(path) not in self.kept
        self._put(path, text, 1)
        return Written(text)

    def edit(self, document: Document, text: str) -> Written:
        self._put(document.path, text, self._same(document) + 1)
        return Written(self._document(key_of(document.path)).text)

    def move(self, document: Document, path: str) -> None:
        revision = self._same(document)
        content, tags, _ = self.kept.pop(key_of(document.path))
        assert key_of(path) not in self.kept
        self.kept[key_of(path)] = (content, tags, revision + 1)

    def delete(self, document: Document) -> None:
        self.kept.pop(key_of(document.path), None)

    def _same(self, document: Document) -> int:
        found = self.kept.get(key_of(document.path))
        if found is None or found[2] != document.revision:
            raise MovedOn
        return found[2]

    def _put(self, path: str, text: str, revision: int) -> None:
        content, tags = packed(text)
        assert clean(content).strip() == content != ""
        assert all(one_line(tag) == tag for tag in tags)
        assert one_line(key_of(path)) == key_of(path)
        self.kept[key_of(path)] = (content, tags, revision)

    def _document(self, key: str) -> Document:
        content, tags, revision = self.kept[key]
        document = Document(path_of(key), unpacked(content, tags), key, revision)
        return replace(document, text="") if document.path.endswith("/") else document


def sequence(seed: int, length: int) -> list[dict[str, Any]]:
    """Commands of one seed; most are about few paths, so that they meet."""
    dice = random.Random(seed)
    names = dice.sample(NAMES, 4)
    made: list[tuple[str, str]] = []

    def path() -> str:
        chosen = "/".join(["/memories", *dice.choices(names, k=dice.choice([1, 1, 1, 2, 2, 3]))])
        odd = dice.random()
        if odd < 0.02:
            return dice.choice(
                ["/memories", "/memories/", "/etc/passwd", "memories/a", "/memories/../x", "/memories/../.."]
            )
        if odd < 0.05:
            beside = f"{chosen}/../{names[0]}"
            return dice.choice([f"{chosen}/", chosen.replace("/memories/", "/memories//./"), beside])
        if odd < 0.06:
            return f"/memories{names[1]}"
        return chosen

    def text() -> str:
        return (
            dice.choice(TEXTS)
            if dice.random() < 0.7
            else "\n".join(dice.choices([*PIECES, *TEXTS], k=dice.randint(1, 8)))
        )

    def known() -> tuple[str, str]:
        """A path that a command made, perhaps, and what it wrote."""
        return dice.choice(made) if made and dice.random() < 0.7 else (path(), "")

    commands: list[dict[str, Any]] = []
    for _ in range(length):
        match dice.choices(("create", "view", "str_replace", "insert", "delete", "rename"), (6, 4, 5, 4, 2, 4))[0]:
            case "create":
                made.append((path(), text()))
                commands.append({"command": "create", "path": made[-1][0], "file_text": made[-1][1]})
            case "view":
                span = dice.choice([None, None, [1, 2], [2, -1], [0, 1], [3, 2], [5, 99], [1]])
                commands.append({"command": "view", "path": known()[0]} | ({"view_range": span} if span else {}))
                commands.append({"command": "view", "path": "/memories"})
            case "str_replace":
                where, wrote = known()
                start = dice.randrange(len(wrote) + 1)
                old = dice.choice(PIECES) if dice.random() < 0.4 else wrote[start : start + dice.randint(1, 9)]
                new = dice.choice([*PIECES, *TEXTS])
                commands.append({"command": "str_replace", "path": where, "old_str": old, "new_str": new})
            case "insert":
                line = dice.choice([0, 0, 1, 1, 2, 3, -1, 50])
                commands.append({"command": "insert", "path": known()[0], "insert_line": line, "insert_text": text()})
            case "delete":
                commands.append({"command": "delete", "path": known()[0]})
            case "rename":
                old, new = known()[0], path()
                made.append((new, dict(made).get(old, "")))
                commands.append({"command": "rename", "old_path": old, "new_path": new})
    return commands


def outcome(tool: BetaAbstractMemoryTool, command: dict[str, Any]) -> tuple[str, str]:
    """What the model is told, and whether as an error.

    Two differences are meant, and made equal here: the size of a directory is the file system's, and an error of the
    operating system reaches the model as a sentence of ours.
    """
    try:
        said = str(tool.call(command))
    except ToolError as error:
        said = str(error.content)
        if re.match(r"A directory in the path .* is a file$", said, re.DOTALL):
            return "error", "a file where a directory should be"
        if re.match(r"The directory .* cannot be moved into itself$", said, re.DOTALL):
            return "error", "a directory into itself"
        return "error", said
    except NotADirectoryError:
        return "error", "a file where a directory should be"
    except OSError as error:
        return "error", "a directory into itself" if error.errno == 22 else repr(error)
    if said.startswith("Here're the files"):
        header, top, *lines = said.split("\n")
        lines = [re.sub(r"^[^\t]*(?=\t.*/$)", "<size>", line) for line in lines]
        said = "\n".join([header, "<size>\t" + top.split("\t", 1)[1], *lines])
    return "answer", said


def snapshot(tool: BetaAbstractMemoryTool, folder: Path) -> dict[str, tuple[str, str]]:
    """What ``tool`` says of every file and directory of ``folder``, which the reference filled."""
    paths = [
        "/memories",
        *(f"/{path.relative_to(folder).as_posix()}" for path in sorted((folder / "memories").rglob("*"))),
    ]
    return {path: outcome(tool, {"command": "view", "path": path}) for path in paths}


__all__ = ["DocumentsInMemory", "Reference", "outcome", "sequence", "snapshot"]
