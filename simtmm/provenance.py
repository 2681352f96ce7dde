"""Provenance: what a file written by simtmm says of where it comes from."""

import platform
import sys
from importlib.metadata import version
from pathlib import Path

VERSION = "0.1.0"


def provenance() -> dict[str, str]:
    """Versions of what decides a result, and the command that was given."""
    return {
        "simtmm": VERSION,
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "command": " ".join([Path(sys.argv[0]).name if sys.argv else "", *sys.argv[1:]]),
    }
