"""Documents as memories behind the gateway: the key is the path, the content the text, revisions the versions.

Type ``context``; tier ``core``, so that a file never fades. Refuses to know what a command is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from perdure.cli.failure import Exit, Failure
from perdure.cli.gateway_client import Gateway
from perdure.cli.place import Place
from perdure.domain.memory import CONTENT_BYTES_MAX
from perdure.domain.provenance import CORE_CONFIDENCE
from perdure.memory_tool.documents import Document, MovedOn, Refused, Written
from perdure.memory_tool.exact import packed, unpacked
from perdure.memory_tool.paths import ROOT, key_of, path_of

PROJECT = "memory-tool"
TAG = "memory-tool"
DIRECTORY_TAG = "memory-tool-directory"
PAGE = 500
_MOVED = frozenset({"revision_moved", "memory_not_found"})


class GatewayDocuments:
    """The documents of the namespace that the token says, in one project."""

    def __init__(
        self, *, url: str | None = None, token: str | None = None, project: str = PROJECT, purge: bool = False
    ) -> None:
        """Find the gateway; nothing is sent yet.

        Raises:
            ValueError: the address or the token cannot be used.
        """
        try:
            self._place = _place(url, token)
        except Failure as failure:
            raise ValueError(failure.message) from None
        self._project = project
        self._purge = purge

    def find(self, paths: Sequence[str]) -> Mapping[str, Document]:
        """The documents of exactly these paths, in one request."""
        query = [("project", self._project), ("limit", PAGE), *(("key", key_of(path)) for path in paths)]
        found = (_document(memory) for memory in self._get(query)["memories"])
        return {document.path: document for document in found if document.path in paths}

    def under(self, directory: str) -> Sequence[Document]:
        """Every document below a directory: a walk over all documents of the project."""
        found: list[Document] = []
        cursor: str | None = None
        while True:
            answer = self._get([("project", self._project), ("limit", PAGE), ("cursor", cursor)])
            found += (_document(memory) for memory in answer["memories"] if memory.get("key"))
            cursor = answer.get("next_cursor")
            if not cursor:
                break
        prefix = f"{directory}/"
        return [document for document in found if document.path.startswith(prefix) and document.path != prefix]

    def create(self, path: str, text: str) -> Written:
        """A new memory. One that another writer's at this very moment became is edited, so that it says this."""
        fields = _fields(path, text)
        body = {
            "key": key_of(path),
            "type": "context",
            "project": self._project,
            "confidence": CORE_CONFIDENCE,
            "importance": 0.0 if path.endswith("/") else 0.5,
            "origin": {"agent": TAG},
        }
        saved = self._call("POST", "/memories", body | fields)
        if saved["outcome"] not in {"created", "replaced"}:
            # said before by a memory without a key: united with it, and perhaps not in these words
            return self._changed(saved["id"], {"key": key_of(path), **fields}, None)
        return Written(text, tuple(saved["redacted"]))

    def edit(self, document: Document, text: str) -> Written:
        """The next revision of the memory."""
        return self._changed(document.id, _fields(document.path, text), document.revision)

    def move(self, document: Document, path: str) -> None:
        """The memory under another key."""
        fields = _fields(path, document.text) if path.endswith("/") else {"files": [path]}
        self._changed(document.id, {"key": key_of(path), **fields}, document.revision)

    def delete(self, document: Document) -> None:
        """The memory archived, or purged; a directory's own is always purged, since it says nothing."""
        purge = self._purge or document.path.endswith("/")
        try:
            self._call("DELETE", f"/memories/{document.id}", query=[("purge", "true")] if purge else ())
        except MovedOn:
            return

    def _changed(self, memory: str, fields: dict[str, Any], revision: int | None) -> Written:
        headers = {"If-Match": f'"{revision}"'} if revision is not None else {}
        answer = self._call("PATCH", f"/memories/{memory}", fields, headers=headers)
        return Written(_document(answer["memory"]).text, tuple(answer["redacted"]))

    def _get(self, query: Sequence[tuple[str, object]]) -> dict[str, Any]:
        return self._call("GET", "/memories", query=query)

    def _call(
        self,
        method: str,
        path: str,
        body: object = None,
        *,
        query: Sequence[tuple[str, object]] = (),
        headers: dict[str, str] | None = None,
    ) -> dict[str, Any]:
        try:
            # a connection of its own each, so that threads do not meet
            answer = Gateway(self._place).call(method, path, body, query=query, headers=headers)
        except Failure as failure:
            if failure.reason in _MOVED:
                raise MovedOn from None
            raise Refused(_sentence(failure)) from None
        return dict(answer)


def _place(url: str | None, token: str | None) -> Place:
    place = Place()
    if url is not None:
        place = Place({"PERDURE_HOME": str(place.home), "PERDURE_URL": url})
        # the token of the local Perdure is for the local Perdure
        place.token = token or ""
    elif token is not None:
        place.token = token
    return place


def _fields(path: str, text: str) -> dict[str, Any]:
    if path.endswith("/"):
        return {"content": f"Directory {path_of(key_of(path))!r} of the memory tool.", "tags": [TAG, DIRECTORY_TAG]}
    content, tags = packed(text)
    size = len(content.encode("utf-8", "surrogatepass"))
    if size > CONTENT_BYTES_MAX:
        raise Refused(
            f"The file {path} would take {size} bytes; Perdure keeps files of up to {CONTENT_BYTES_MAX}. "
            "Split it into several files."
        )
    return {"content": content, "tags": [TAG, *tags], "files": [path]}


def _document(memory: Mapping[str, Any]) -> Document:
    path = path_of(memory.get("key", ""))
    text = "" if path.endswith("/") else unpacked(memory["content"], memory.get("tags", ()))
    return Document(path, text, memory["id"], memory["revision"])


def _sentence(failure: Failure) -> str:
    if failure.status == Exit.AWAY:
        return f"The memory cannot be reached now. {failure.message}"
    return failure.message


__all__ = ["DIRECTORY_TAG", "PROJECT", "ROOT", "TAG", "GatewayDocuments"]
