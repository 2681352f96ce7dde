"""How long a workload takes on a machine, as an earlier simulation on this computer found it.

Changes are tried again each time that a program is run. What came of each is stored in the user's cache, beside the
compiled engine that simulated it and no longer than that, by digests of all that decides it.
"""

import contextlib
import functools
import hashlib
import json
import threading
from collections.abc import Mapping
from pathlib import Path

from simtmm.cache import find, keep
from simtmm.cache.compiled import kept_folder
from simtmm.engine import simulate
from simtmm.errors import OutputError
from simtmm.machine import Machine
from simtmm.trace.streamed import AnyWorkload

MODULE = "simtmm.engine.fast.steps.loop"  # by its sources and those that it imports: all of the engine
WORTH = 20_000  # operations: a few milliseconds, as long as it takes to look
MOST = 2_000  # that are stored, those stored last
_FILE = "cycles", "all", ".json"
_LOCK = threading.Lock()
_known: dict[Path, dict[str, int]] = {}  # ticks by key, of each folder that this process has looked into
_new: set[Path] = set()  # folders in which not all of it is stored


def cycles_of(machine: Machine, workload: AnyWorkload, engine: str) -> float:
    """Cycles that it takes.

    machine, workload, engine: as `simulate` takes them, which says what it raises.
    """
    return ticks_of(machine, workload, engine) / machine.ticks_per_cycle


def ticks_of(machine: Machine, workload: AnyWorkload, engine: str) -> int:
    """Likewise, in ticks.

    machine, workload, engine: as there.
    """
    folder = kept_folder(MODULE) if engine == "fast" and workload.operations >= WORTH else None
    if folder is None:
        return simulate(machine, workload, engine, breakdown=False).ticks
    key = key_of(machine, workload)
    with _LOCK:
        ticks = _of_folder(folder).get(key)
    if ticks is None:
        ticks = simulate(machine, workload, engine, breakdown=False).ticks
        with _LOCK:
            _of_folder(folder)[key] = ticks
            _new.add(folder)
    return ticks


def at_once(engine: str) -> int:
    """How many simulations to run at once, as `in_order` takes it: the fast engine alone lets others run.

    engine: of `simulate`.
    """
    return 0 if engine == "fast" else 1


def key_of(machine: Machine, workload: AnyWorkload) -> str:
    """A hash of all that decides how long a workload takes: of durations, too, which a change may halve by itself.

    machine, workload: what is simulated, on what.
    """
    text = f"{machine.digest()}\0{machine.durations!r}\0{workload.digest()}"
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def store() -> None:
    """Store what was simulated since the last time. What can't be stored is simulated again the next time."""
    with _LOCK:
        folders = list(_new)
        _new.clear()
        for folder in folders:
            found, before = _read(folder)
            merged = {**found, **_known[folder]}
            text = json.dumps(dict(list(merged.items())[-MOST:]))
            with contextlib.suppress(OutputError, OSError):
                after = keep(folder, *_FILE, functools.partial(Path.write_text, data=text))
                if before is not None and before != after:
                    before.unlink(missing_ok=True)


def _of_folder(folder: Path) -> dict[str, int]:
    if folder not in _known:
        _known[folder] = dict(_read(folder)[0])
    return _known[folder]


def _read(folder: Path) -> tuple[Mapping[str, int], Path | None]:
    """What is stored there, and in which file; nothing where there is none that is sound."""
    path = find(folder, *_FILE)
    if path is None:
        return {}, None
    try:
        stored = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}, path
    is_sound = isinstance(stored, dict) and all(type(ticks) is int and ticks >= 0 for ticks in stored.values())
    return (stored if is_sound else {}), path
