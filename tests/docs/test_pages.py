"""The documentation holds together: links, pointers from the code, length, words, nothing of one machine."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from support import reference_pages

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
LINES_MAX = 150
WRITTEN = {DOCS / "reference" / name for name in reference_pages.PAGES}
"""As long as there is something to name."""
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
SOURCES = ("services", "proto", "deploy", "Makefile", "CONTRIBUTING.md", "docker-compose.yml", "pyproject.toml")
POINTER = re.compile(r"\bdocs/[\w/-]+\.md")


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


def without_code(text: str) -> str:
    return re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.DOTALL)


def anchors(path: Path) -> set[str]:
    """Anchors of a page's headings, as GitHub makes them."""
    headings = re.findall(r"(?m)^#+ (.+)$", path.read_text(encoding="utf-8"))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.requirement("SKEL-07")
@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_every_relative_link_leads_somewhere(path: Path) -> None:
    for target in LINK.findall(without_code(path.read_text(encoding="utf-8"))):
        if "://" in target or target.startswith("mailto:"):
            continue
        file, _, anchor = target.partition("#")
        there = (path.parent / file).resolve() if file else path
        assert there.exists(), target
        if anchor:
            assert anchor in anchors(there), target


@pytest.mark.requirement("SKEL-07")
def test_every_page_that_the_sources_point_at_exists() -> None:
    for source in SOURCES:
        top = ROOT / source
        for path in (
            [top] if top.is_file() else [p for p in top.rglob("*") if p.suffix in (".py", ".proto", "", ".sql")]
        ):
            if path.is_file() and "__pycache__" not in path.parts:
                for pointer in POINTER.findall(path.read_text(encoding="utf-8", errors="replace")):
                    assert (ROOT / pointer).is_file(), f"{name_of(path)} points at {pointer}"


@pytest.mark.parametrize("path", sorted({*DOCS.rglob("*.md")} - WRITTEN), ids=name_of)
def test_a_page_is_short_enough_to_be_read(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LINES_MAX


def test_the_index_leads_to_every_page() -> None:
    linked = {
        (DOCS / target.partition("#")[0]).resolve()
        for target in LINK.findall((DOCS / "index.md").read_text(encoding="utf-8"))
        if "://" not in target
    }
    pages = {path.resolve() for path in DOCS.rglob("*.md")} - {(DOCS / "index.md").resolve()}
    assert {name_of(page) for page in pages - linked if page.parent.name != "adr"} == set()


def test_the_list_of_decisions_leads_to_every_decision() -> None:
    linked = set(LINK.findall((DOCS / "adr" / "README.md").read_text(encoding="utf-8")))
    assert {path.name for path in (DOCS / "adr").glob("*.md")} - linked - {"README.md"} == set()


@pytest.mark.parametrize("path", sorted((DOCS / "adr").glob("[0-9]*.md")), ids=name_of)
def test_a_decision_is_one_screen_of_context_decision_and_consequences(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    headings = re.findall(r"(?m)^## (.+)$", text)
    assert headings == ["Context", "Decision", "Consequences"]
    assert len(text.splitlines()) <= 45


@pytest.mark.parametrize("path", PAGES, ids=name_of)
def test_a_page_names_no_place_of_one_machine_and_no_package_host(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert not re.search(r"(?<![\w.~$}])/(?:work|home|root|Users)/", text)
    assert not re.search(r"(?i)\bpypi\b|pythonhosted|registry\.npmjs|artifactory|nexus\.", text)


TERMS = (
    "memory", "namespace", "project", "key", "vector", "embedding space", "search", "recall", "candidate", "arm",
    "similarity", "relevance", "score", "provenance", "tier", "confidence", "importance", "decay weight", "supersede",
    "merge", "consolidate", "compact", "archive", "purge", "episode", "skill", "run", "routine",
)  # fmt: skip


def test_the_glossary_has_every_term() -> None:
    defined = {
        term.strip().lower()
        for line in (DOCS / "glossary.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("| **")
        for term in re.findall(r"\*\*([^*]+)\*\*", line.split("|")[1])
    }
    assert set(TERMS) - defined == set()


@pytest.mark.parametrize("path", [page for page in PAGES if page.name != "glossary.md"], ids=name_of)
def test_a_page_uses_the_words_of_the_glossary(path: Path) -> None:
    """A memory is not a record, a namespace not a bucket, purging not deleting."""
    text = without_code(path.read_text(encoding="utf-8")).lower()
    assert not re.search(r"\b(?:delete|deletes|deleting) (?:a|the|that|one|old) memor", text)
    assert not re.search(r"\bmemory (?:record|document)s?\b", text)
