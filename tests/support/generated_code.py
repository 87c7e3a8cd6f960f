"""Fails when the committed gRPC code is not what proto/ generates today.

Generates into a temporary folder and compares file by file, so the work tree is never touched.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import grpc_tools
from grpc_tools import protoc

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """0 when every generated file is the committed one, else 1 with the names."""
    protos = sorted(str(path) for path in (ROOT / "proto").rglob("*.proto"))
    well_known = Path(grpc_tools.__path__[0]) / "_proto"  # `python -m grpc_tools.protoc` adds it by itself
    with tempfile.TemporaryDirectory() as folder:
        outputs = [f"--{kind}_out={folder}" for kind in ("python", "pyi", "grpc_python")]
        if protoc.main(["protoc", f"-I{ROOT / 'proto'}", f"-I{well_known}", *outputs, *protos]) != 0:
            return 1
        fresh = {path.relative_to(folder): path.read_bytes() for path in Path(folder).rglob("*_pb2*")}
    kept = {
        path.relative_to(ROOT / "services"): path.read_bytes()
        for path in (ROOT / "services/perdure/rpc").rglob("*_pb2*")
        if path.suffix in {".py", ".pyi"}
    }
    wrong = sorted(str(name) for name in fresh.keys() | kept.keys() if fresh.get(name) != kept.get(name))
    if wrong:
        print("Generated code is not in step with proto/ (run `make proto`):", *wrong, sep="\n  ", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
