"""What a simulation came to, whole, as an earlier one on this computer found it: what is run again is not simulated.

A result is stored in the user's cache, beside the compiled engine that simulated it and no longer than that, by all
that decides it. The places of its operations are those of the workload at hand.
"""

import contextlib
import hashlib
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.cache import find, keep
from simtmm.cache.compiled import kept_folder
from simtmm.cache.room import leave_latest
from simtmm.engine.known_cycles import MODULE, key_of
from simtmm.errors import OutputError
from simtmm.machine import Machine
from simtmm.machine.levels import levels_of
from simtmm.result import Result
from simtmm.stalls import COUNTS, LAUNCH_COUNTS, REASONS, Stalls
from simtmm.trace.streamed import AnyWorkload
from simtmm.workload import Workload

WORTH = 200_000  # operations: some hundredths of a second, several times as long as it takes to look
MOST, MOST_BYTES = 100, 4 << 20  # that are stored, those used last, and of each
NUMBERS = (
    "ticks", "issued", "transactions", "l1_hits", "l2_hits", "port_busy", "l2_sectors", "last_level_hits",
    "last_level_sectors", "memory_sectors", "launches_in_graph", "shared_l1_hits", "shared_l1_sectors",
)  # fmt: skip
TABLES = ("ticks", "counts", "launches", "launch_counts", "active")  # of stalls
_LABEL, _SUFFIX = "result", ".npz"
_Integers = npt.NDArray[np.int64]
NOTHING: _Integers = np.zeros(0, np.int64)  # that was noted besides


@dataclass(frozen=True)
class Found:
    """What a simulation found. result: with stalls, without a timeline. seen: int64[...], what else was noted."""

    result: Result
    seen: _Integers


def found(
    machine: Machine, workload: AnyWorkload, operations: float, simulated: Callable[[], Found], how: str = ""
) -> Found:
    """What a simulation by the fast engine finds, or has found before.

    machine, workload: what is simulated, on what.
    operations: of the workload that are simulated, about.
    simulated: simulates it.
    how: what else decides it, as text.
    """
    folder = kept_folder(MODULE) if operations >= WORTH else None
    if folder is None:
        return simulated()
    key = result_key(machine, workload, how)
    path = find(folder, _LABEL, key, _SUFFIX)
    known = None if path is None else _read(path, machine, workload)
    if known is not None:
        return known
    now = simulated()
    _store(folder, key, now)
    return now


def result_key(machine: Machine, workload: AnyWorkload, how: str) -> str:
    """A hash of all that decides a result: where each operation comes from, too, which decides no tick.

    machine, workload, how: as `found` takes them.
    """
    places = workload.known_places
    text = (key_of(machine, workload), places.sites, places.arrays, how)
    digest = hashlib.sha256(repr(text).encode())
    if isinstance(workload, Workload):
        digest.update(str(workload.place.dtype).encode())
        digest.update(np.ascontiguousarray(workload.place).view(np.uint8).data)
    return digest.hexdigest()[:32]


def _store(folder: Path, key: str, now: Found) -> None:
    """Store what was found. What can't be stored is simulated again the next time."""
    result, stalls = now.result, now.result.stalls
    assert stalls is not None
    about = {name: getattr(result, name) for name in NUMBERS}
    about |= {"time": result.time, "launch_ticks": result.launch_ticks, "reached_memory": result.reached_memory}
    tables = {name: getattr(stalls, name) for name in TABLES} | {"seen": now.seen}
    text = json.dumps(about, default=int).encode()
    if len(text) + sum(table.nbytes for table in tables.values()) > MOST_BYTES:
        return

    def write(path: Path) -> None:
        with path.open("wb") as file:
            np.savez(file, about=np.frombuffer(text, np.uint8), **tables)

    with contextlib.suppress(OutputError, OSError):
        keep(folder, _LABEL, key, _SUFFIX, write)
        leave_latest(folder, f"{_LABEL}-*{_SUFFIX}", MOST)


def _read(path: Path, machine: Machine, workload: AnyWorkload) -> Found | None:
    """What is stored there; None where that is not sound."""
    try:
        with np.load(path, allow_pickle=False) as stored:
            tables = {name: stored[name] for name in (*TABLES, "seen")}
            about = json.loads(stored["about"].tobytes())
    except (OSError, ValueError, KeyError, EOFError):
        return None
    places, launches = workload.known_places, workload.launches
    shapes = {
        "ticks": (len(places) + 1, len(REASONS)), "counts": (len(places) + 1, len(COUNTS)),
        "launches": (launches, len(REASONS)), "launch_counts": (launches, len(LAUNCH_COUNTS)), "active": (launches,),
    }  # fmt: skip
    if any(table.dtype != np.int64 for table in tables.values()) or not _is_sound(about, launches):
        return None
    if any(tables[name].shape != shape for name, shape in shapes.items()):
        return None
    seen = tables.pop("seen")
    result = Result(
        **{name: about[name] for name in NUMBERS},
        time=about["time"],
        launch_ticks=tuple(about["launch_ticks"]),
        reached_memory=about["reached_memory"],
        ticks_per_cycle=machine.ticks_per_cycle,
        clock_hz=machine.clock_hz,
        engine="fast",
        stalls=Stalls(**tables, places=places, levels=levels_of(machine)),
    )
    return Found(result, seen)


def _is_sound(about: Any, launches: int) -> bool:
    """Whether this is what `_store` writes of so many launches."""
    if not isinstance(about, dict) or any(type(about.get(name)) is not int for name in NUMBERS):
        return False
    ticks, time = about.get("launch_ticks"), about.get("time")
    return (
        isinstance(ticks, list)
        and len(ticks) == launches
        and isinstance(time, dict)
        and all(type(number) is int for number in (*ticks, *time.values()))
        and isinstance(about.get("reached_memory"), bool)
    )
