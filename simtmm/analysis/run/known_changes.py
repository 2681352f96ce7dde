"""The changes of the source that an earlier run of the same on this computer tried, and what each gained.

They are stored in the user's cache, no longer than the sources that they came of, by all that decides them.
"""

import contextlib
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from simtmm.analysis.source_changes import Advice, advice
from simtmm.cache import find, keep
from simtmm.cache.compiled import kept_folder
from simtmm.cache.room import leave_latest
from simtmm.engine.known_results import result_key
from simtmm.errors import OutputError
from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.trace.schema import TraceLaunch
from simtmm.trace.streamed import AnyWorkload

WORTH = 20_000  # operations: to try changes of fewer takes as long as to look
MOST = 200  # runs whose changes are stored, those used last
_LABEL, _SUFFIX = "changes", ".json"
_KINDS = {each.name: each.type for each in fields(Advice)}


def known_changes(
    machine: Machine,
    workload: AnyWorkload,
    result: Result,
    launches: Sequence[TraceLaunch],
    is_left: bool,
    tried: Callable[[], tuple[Advice, ...]],
) -> tuple[Advice, ...]:
    """What `tried` gives, or has given before.

    machine, workload, result: what was simulated, and what came of it.
    launches: their shapes, in order; none where they are not known.
    is_left: whether the result is of less than the workload.
    tried: tries the changes.
    """
    is_worth = result.engine == "fast" and result.stalls is not None and workload.operations >= WORTH
    folder = kept_folder(advice.__name__) if is_worth else None
    if folder is None:
        return tried()
    key = changes_key(machine, workload, result, launches, is_left)
    path = find(folder, _LABEL, key, _SUFFIX)
    known = None if path is None else _read(path)
    if known is None:
        known = tried()
        _store(folder, key, known)
    return known


def changes_key(
    machine: Machine, workload: AnyWorkload, result: Result, launches: Sequence[TraceLaunch], is_left: bool
) -> str:
    """A hash of all that decides what is tried, and what that gains: of what reports call the machine, too.

    machine, workload, result, launches, is_left: as `known_changes` takes them.
    """
    stalls = result.stalls
    assert stalls is not None
    numbers = [getattr(result, each.name) for each in fields(Result) if each.name not in ("stalls", "timeline")]
    told = result_key(machine, workload, "changes"), machine.to_dict(), numbers, tuple(launches), is_left, stalls.levels
    digest = hashlib.sha256(repr(told).encode())
    tables = (stalls.ticks, stalls.counts, stalls.launches, stalls.launch_counts, stalls.active)
    for table in (*tables, stalls.places.threads, stalls.places.launches):
        shape = None if table is None else table.shape
        digest.update(f"\0{shape}\0".encode())
        if table is not None:
            digest.update(np.ascontiguousarray(table).view(np.uint8).data)
    return digest.hexdigest()[:32]


def _store(folder: Path, key: str, found: tuple[Advice, ...]) -> None:
    """Store what was tried. What can't be stored is tried again the next time."""
    text = json.dumps([asdict(each) for each in found])
    with contextlib.suppress(OutputError, OSError):
        keep(folder, _LABEL, key, _SUFFIX, partial(Path.write_text, data=text))
        leave_latest(folder, f"{_LABEL}-*{_SUFFIX}", MOST)


def _read(path: Path) -> tuple[Advice, ...] | None:
    """What is stored there; None where that is not sound."""
    try:
        rows: Any = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    if not isinstance(rows, list) or not all(_is_sound(row) for row in rows):
        return None
    return tuple(Advice(**row) for row in rows)


def _is_sound(row: Any) -> bool:
    """Whether this is what `_store` writes of a change."""
    return isinstance(row, dict) and {name: type(value) for name, value in row.items()} == _KINDS
