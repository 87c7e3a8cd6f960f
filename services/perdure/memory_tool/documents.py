"""What the memory tool needs of a store: documents by path, each a text with a revision.

Paths here are normal (``paths.normal``) and absolute under ``/memories``. A directory is a document whose path ends in
``/`` and whose text is empty; one that has children need not have a document of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol


class Refused(Exception):
    """A command cannot be carried out; the text is a sentence for the model."""


class MovedOn(Exception):
    """The document was changed or taken away by somebody else since it was read."""


@dataclass(frozen=True, slots=True)
class Document:
    """One file or directory.

    Attributes:
        path: Normal path; a directory's ends in ``/``.
        text: Content of a file, exactly; empty for a directory.
        id: The store's name for it.
        revision: Rises with every change, >= 1.
    """

    path: str
    text: str
    id: str = ""
    revision: int = 1


@dataclass(frozen=True, slots=True)
class Written:
    """What the store holds after a write.

    Attributes:
        text: The text as it is stored.
        blanked: Kinds of secrets that were blanked in it; empty where it is what was sent.
    """

    text: str
    blanked: tuple[str, ...] = ()


class Documents(Protocol):
    """The documents of one caller in one project.

    Every method raises ``Refused`` where the store is away or unwilling.
    """

    def find(self, paths: Sequence[str]) -> Mapping[str, Document]:
        """The documents of exactly these paths, by path; what there is none of is left out."""

    def under(self, directory: str) -> Sequence[Document]:
        """Every document below ``directory`` (without ``/`` at its end), in no order; not the directory itself."""

    def create(self, path: str, text: str) -> Written:
        """Store a new document.

        Raises:
            Refused: also where the text is too long to be kept.
        """

    def edit(self, document: Document, text: str) -> Written:
        """Replace the text of a document as it was read; the text before stays in its history.

        Raises:
            MovedOn: it is no longer what was read.
            Refused: also where the text is too long to be kept.
        """

    def move(self, document: Document, path: str) -> None:
        """Give a document as it was read another path.

        Raises:
            MovedOn: it is no longer what was read.
        """

    def delete(self, document: Document) -> None:
        """Take a document away; one that is gone already is no error."""
