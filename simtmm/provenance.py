"""Provenance: where a file written by simtmm comes from, noted in the file."""

import functools
import hashlib
import platform
import sys
from pathlib import Path

VERSION = "0.1.0"

SOURCES = (".py", ".cuh", ".ll")
_given = ""  # the command that another process was given, which this one works for


@functools.cache
def sources(*parts: str) -> str:
    """A hash of what these parts of the package are, folders or modules: of the text of their sources.

    A version says too little of a checkout that is worked on: what was computed before an edit is not what would be
    computed now.
    """
    package, digest = Path(__file__).resolve().parent, hashlib.sha256()
    for part in parts:
        path = package / part
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.suffix in SOURCES:
                digest.update(f"{file.relative_to(package).as_posix()}\0".encode())
                digest.update(hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()[:16]


def computed_by() -> str:
    """A hash of the sources that decide what comes of a point: engines, models, lowering and counting."""
    return sources("engine", "model", "trace", "machine", "kernel.py", "parameter", "workload", "result.py")


def provenance() -> dict[str, str]:
    """Versions of what decides a result, and the command that was given."""
    import numpy as np  # late: `import simtmm` and --version need none

    return {
        "simtmm": VERSION,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "command": command(),
    }


def command() -> str:
    """The command that was given; in a process that carries out part of one, that of the whole."""
    return _given or " ".join([_program(Path(sys.argv[0])) if sys.argv else "", *sys.argv[1:]])


def carry_out(whole: str) -> None:
    """Have this process's command be that of another, of which it is a part.

    whole: the other command, as it was typed.
    """
    global _given
    _given = whole


def _program(path: Path) -> str:
    """What somebody writes to start it."""
    return f"python -m {path.parent.name}" if path.name == "__main__.py" else path.name
