"""The changes that an earlier run of the same on this computer tried, of the source and of the machine, and what each
gained.

They are stored in the user's cache, no longer than the sources that they came of, by all that decides them.
"""

import contextlib
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from functools import partial
from pathlib import Path
from typing import Any, TypeVar, get_origin

import numpy as np

from simtmm.analysis.source_changes import Advice, advice
from simtmm.analysis.what_if import WhatIf, trials
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
_STORED = {Advice: ("changes", advice.__name__), WhatIf: ("trials", trials.__name__)}  # label, and module that tries it
_SUFFIX = ".json"
Change = TypeVar("Change", Advice, WhatIf)


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
    return _known(Advice, machine, workload, result, launches, is_left, tried)


def known_trials(
    machine: Machine, workload: AnyWorkload, result: Result, is_left: bool, tried: Callable[[], tuple[WhatIf, ...]]
) -> tuple[WhatIf, ...]:
    """Likewise, of changes of the machine.

    machine, workload, result, is_left, tried: as there.
    """
    return _known(WhatIf, machine, workload, result, (), is_left, tried)


def _known(
    kind: type[Change],
    machine: Machine,
    workload: AnyWorkload,
    result: Result,
    launches: Sequence[TraceLaunch],
    is_left: bool,
    tried: Callable[[], tuple[Change, ...]],
) -> tuple[Change, ...]:
    label, module = _STORED[kind]
    is_worth = result.engine == "fast" and result.stalls is not None and workload.operations >= WORTH
    folder = kept_folder(module) if is_worth else None
    if folder is None:
        return tried()
    key = changes_key(machine, workload, result, launches, is_left)
    path = find(folder, label, key, _SUFFIX)
    known = None if path is None else _read(kind, path)
    if known is None:
        known = tried()
        _store(folder, label, key, known)
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


def _store(folder: Path, label: str, key: str, found: Sequence[Advice | WhatIf]) -> None:
    """Store what was tried. What can't be stored is tried again the next time."""
    text = json.dumps([asdict(each) for each in found])
    with contextlib.suppress(OutputError, OSError):
        keep(folder, label, key, _SUFFIX, partial(Path.write_text, data=text))
        leave_latest(folder, f"{label}-*{_SUFFIX}", MOST)


def _read(kind: type[Change], path: Path) -> tuple[Change, ...] | None:
    """What is stored there; None where that is not sound."""
    try:
        rows: Any = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    if not isinstance(rows, list) or not all(_is_sound(kind, row) for row in rows):
        return None
    return tuple(kind(**{name: _given(value) for name, value in row.items()}) for row in rows)


def _given(value: Any) -> Any:
    """A value as a change has it: JSON has tuples as lists."""
    return tuple(value) if isinstance(value, list) else value


def _is_sound(kind: type[Change], row: Any) -> bool:
    """Whether this is what `_store` writes of a change."""
    if not isinstance(row, dict):
        return False
    found = {name: type(_given(value)) for name, value in row.items()}
    words = [word for value in row.values() if isinstance(value, list) for word in value]
    kinds = {each.name: get_origin(each.type) or each.type for each in fields(kind)}
    return found == kinds and all(isinstance(word, str) for word in words)
