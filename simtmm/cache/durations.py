"""How long compiling took on this computer, so that it can be said beforehand the next time."""

import contextlib
import json
import math
from collections.abc import Mapping
from pathlib import Path

from simtmm.cache import own_folder
from simtmm.errors import OutputError
from simtmm.files import write_text

PACE = "pace"  # of what was compiled last: its seconds over what is usual for it
MOST = 200  # things whose seconds are stored
FASTEST, SLOWEST = 0.1, 20.0  # paces that are believed


def expected(what: str, usual: float) -> float:
    """Seconds that it takes to compile something, about: as long as it took last, or by the pace of what was last.

    what: as messages call it. usual: seconds that it takes, about, on a computer like any.
    """
    known = _known()
    return known.get(what, usual * min(SLOWEST, max(FASTEST, known.get(PACE, 1.0))))


def remember(what: str, usual: float, took: float) -> None:
    """Store the seconds that it took. Where they can't be stored the next time knows nothing of it."""
    known = {name: seconds for name, seconds in _known().items() if name not in {what, PACE}}
    latest = dict([*known.items(), (what, took)][-MOST:])
    with contextlib.suppress(OSError, OutputError):
        write_text(_path(), json.dumps({**latest, PACE: took / usual}))


def _known() -> Mapping[str, float]:
    try:
        stored = json.loads(_path().read_bytes())
    except (OSError, ValueError):
        return {}
    if not isinstance(stored, dict):
        return {}
    return {
        str(name): float(value)
        for name, value in stored.items()
        if isinstance(value, int | float) and math.isfinite(value) and value > 0
    }


def _path() -> Path:
    return own_folder("compiled") / "durations.json"
