"""How long things took on this computer, to be said beforehand the next time: compiling, stages, commands."""

import contextlib
import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path

from simtmm.cache import own_folder
from simtmm.errors import OutputError
from simtmm.files import cache_folder, write_text

FOLDER = "compiled"  # of the cache
PACE = "pace"  # of what was compiled last: its seconds over what is usual for it
MOST = 200  # things whose seconds are stored
FASTEST, SLOWEST = 0.1, 20.0  # paces that are believed
OF_STAGE = "pace of "


def expected(what: str, usual: float) -> float:
    """Seconds that it takes to compile something, about: as long as it took last, or by the pace of what was last.

    what: as messages call it. usual: seconds that it takes, about, on a computer like any.
    """
    known = _known()
    return known.get(what, usual * _believed(known.get(PACE, 1.0)))


def remember(what: str, usual: float, took: float) -> None:
    """Store the seconds that it took. Where they can't be stored the next time knows nothing of it."""
    _store({what: took, PACE: took / usual})


def paces() -> Mapping[str, float]:
    """How many times as long as foreseen each stage took here, on average, by stage: the later ones count most."""
    return {
        name.removeprefix(OF_STAGE): _believed(pace) for name, pace in _known().items() if name.startswith(OF_STAGE)
    }


def remember_paces(found: Mapping[str, float]) -> None:
    """Take in how many times as long as foreseen stages took. found: by stage, over what was foreseen by no pace."""
    before = paces()
    _store({OF_STAGE + stage: math.sqrt(pace * before.get(stage, pace)) for stage, pace in found.items() if pace > 0})


def of_command(words: Iterable[object]) -> float | None:
    """Seconds that a command took the last time; None where it has not run.

    words: what it is asked for, and where.
    """
    return _known().get(_name_of(words))


def remember_command(words: Iterable[object], took: float) -> None:
    """Store how long a command took.

    words: what it is asked for, and where. took: seconds.
    """
    _store({_name_of(words): took})


def _name_of(words: Iterable[object]) -> str:
    text = "\0".join(map(str, words))
    return f"command {hashlib.sha256(text.encode('utf-8', 'surrogatepass')).hexdigest()[:20]}"


def _believed(pace: float) -> float:
    return min(SLOWEST, max(FASTEST, pace))


def _store(new: Mapping[str, float]) -> None:
    """Store seconds and paces by name: all paces, and of what has seconds the latest."""
    known = {name: value for name, value in _known().items() if name not in new}
    fixed = {name: value for name, value in {**known, **new}.items() if name.startswith(PACE)}
    seconds = [(name, value) for name, value in {**known, **new}.items() if name not in fixed]
    with contextlib.suppress(OSError, OutputError):
        write_text(_path(), json.dumps({**dict(seconds[-MOST:]), **fixed}))


def _known() -> Mapping[str, float]:
    if not (cache_folder() / FOLDER).is_dir():
        return {}  # who only asks leaves no folder behind
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
    return own_folder(FOLDER) / "durations.json"
