"""Variants of the fast engine: it is compiled for each kind of machine by itself, and what is there is noted."""

import contextlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from simtmm.compiled import announced, kept_folder
from simtmm.engine.fast.part import Part, is_coupled
from simtmm.engine.fast.tables import Integers, flags_of
from simtmm.machine import Machine
from simtmm.workload import Workload

LOOP = "simtmm.engine.fast.loop"  # the module whose cache the variants lie in

_called: set[str] = set()  # in this process; a timer takes longer than a small launch


def is_compiled(machine: Machine, workload: Workload) -> bool:
    """Whether all that a workload needs on a machine is there, in this process or in the user's cache."""
    needed = {
        _name(flags_of(machine, is_coupled(machine, Part.of(workload, launch)))) for launch in range(workload.launches)
    }
    return all(name in _called or ((mark := _mark(name)) is not None and mark.is_file()) for name in needed)


@contextlib.contextmanager
def compilation_announced(flags: Sequence[Integers]) -> Iterator[None]:
    """Say so where the first call with a set of flags compiles it, and note that it is there now."""
    name = _name(flags)
    if name in _called:
        yield
        return
    with announced("the fast engine for this kind of machine"):
        yield
    _called.add(name)
    mark = _mark(name)
    if mark is not None:
        with contextlib.suppress(OSError):  # a note that is not there costs time, and nothing else
            mark.touch()


def _name(flags: Sequence[Integers]) -> str:
    return "variant-" + "".join(str(flag.ndim) for flag in flags)


def _mark(name: str) -> Path | None:
    folder = kept_folder(LOOP)
    return None if folder is None else folder / name
