"""Lays out the desktop extension: ``assemble.py FOLDER`` makes the folder that ``mcpb pack`` makes a ``.mcpb`` of.

The bridge's modules with what they need of the package (the standard library and little else), its catalogue, an entry
point, an icon, the licence, and the manifest with this version and the names of the tools. Prints the version.
"""

import ast
import json
import re
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PACKAGE = ROOT / "services" / "perdure"
SENTENCE = re.compile(r"(?<=[.!?])\s")


def needed(entry: Path) -> set[Path]:
    """The files of our package that a module needs, itself and the packages that hold them included."""
    found: set[Path] = set()
    waiting = [entry]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        waiting += [parent / "__init__.py" for parent in path.parents if parent.is_relative_to(PACKAGE)]
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            if isinstance(node, ast.ImportFrom):
                # a name that is imported from a package may be a module of it
                names = [node.module or "", *(f"{node.module}.{name}" for name in names)]
            for name in names:
                module = PACKAGE.parent.joinpath(*name.split("."))
                if name.split(".")[0] == PACKAGE.name:
                    waiting += [file for file in (module.with_suffix(".py"), module / "__init__.py") if file.is_file()]
    return found


def assemble(folder: Path) -> str:
    """The version of what now lies in ``folder``, which is emptied first."""
    shutil.rmtree(folder, ignore_errors=True)
    server = folder / "server"
    server.mkdir(parents=True)
    shutil.copy(HERE / "server" / "main.py", server)
    for source in sorted({*needed(PACKAGE / "bridge" / "main.py"), PACKAGE / "bridge" / "catalogue.json"}):
        target = server / source.relative_to(PACKAGE.parent)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)
    shutil.copy(ROOT / "LICENSE", folder)
    shutil.copy(ROOT / "deploy" / "claude-plugin" / ".claude-plugin" / "icon.png", folder)
    manifest = json.loads((HERE / "manifest.json").read_text(encoding="utf-8"))
    match = re.search(r'__version__ = "([^"]+)"', (PACKAGE / "__init__.py").read_text(encoding="utf-8"))
    if match is None:
        raise SystemExit("assemble: the package names no version")
    manifest["version"] = match[1]
    catalogue = json.loads((PACKAGE / "bridge" / "catalogue.json").read_text(encoding="utf-8"))
    manifest["tools"] = [
        {"name": tool["name"], "description": SENTENCE.split(tool["description"], maxsplit=1)[0]}
        for tool in catalogue["legacy"]["tools/list"]["tools"]
    ]
    text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"
    (folder / "manifest.json").write_text(text, encoding="utf-8")
    return match[1]


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("usage: assemble.py FOLDER")
    sys.stdout.write(f"{assemble(Path(sys.argv[1]))}\n")
