"""Reproductions: published measurements, simulated and modelled anew; a module each.

A reproduction is a function `(watch) -> tuple[Accuracy, ...]`, a table for each question it asks. Its measured values
lie in traces/measured/ with their source; its machines are those of machines/. It is deterministic: the same version
gives the same numbers. Beside a `reproduce` stands a `sample`, which gives the same tables with few of their points, in
seconds: what a test can afford to compute anew. Beside a `reproduce_NAME` it is `sample_NAME`.
"""

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import TypeAlias

from simtmm.computer import cores
from simtmm.errors import SimtmmError, StudyError, nearest
from simtmm.parallel.processes import Local
from simtmm.parallel.tasks import Task
from simtmm.validation.accuracy import Accuracy
from simtmm.watch import Watch

Tables: TypeAlias = tuple[Accuracy, ...]

# Modules of this package and their functions; imported when they are called, since they pull in engines and models.
REPRODUCTIONS: dict[str, str] = {
    "stream-occupancy": "stream_occupancy:reproduce",
    "stream-left-out": "stream_left_out:reproduce",
    "h100-kernels": "h100_kernels:reproduce",
    "gtx280-list-ranking": "gtx280_list_ranking:reproduce",
    "gtx280-thesis": "gtx280_thesis:reproduce",
    "gtx480-apsp": "gtx480_apsp:reproduce",
    "zigzag": "zigzag:reproduce",
    "barrel": "barrel:reproduce",
    "h100-compiled": "h100_compiled:reproduce",
    "ladder": "ladder:reproduce",
    "l2-and-launches": "l2_and_launches:reproduce",
    "h100-sxm": "h100_sxm:reproduce",
    "convolution-counters": "convolution_counters:reproduce",
    "ablation": "ablation:reproduce",
    "contributed": "contributed:reproduce",
}
MAY_BE_EMPTY = ("contributed",)  # which has no tables before somebody sends a file
ONLY_IF_NAMED = (
    "h100-compiled",
    "ladder",
    "l2-and-launches",
    "h100-sxm",
    "convolution-counters",
    "ablation",
)  # NVIDIA's compilers work for minutes, or half an hour


def reproduce(
    names: Iterable[str] = (),
    watch: Watch | None = None,
    workers: int | None = None,
    done: Callable[[str, Tables], None] | None = None,
) -> dict[str, Tables]:
    """The tables of the reproductions named, or of all but ONLY_IF_NAMED, in the order of REPRODUCTIONS.

    watch: called with (stage, done, total). workers: processes; one for each core, and not more than there are
    reproductions, if left out; 1 runs in this process. done: called with each name and its tables as it ends.

    Raises StudyError for an unknown name, and whatever SimtmmError a reproduction ends in.
    """
    chosen = known(names)
    if workers is not None and workers < 1:
        raise StudyError(f"workers = {workers}: must be at least 1")
    number = min(cores() if workers is None else workers, len(chosen))
    tables: dict[str, Tables] = {}

    def take(name: str, made: Tables) -> None:
        tables[name] = made
        if done is not None:
            done(name, made)

    if number <= 1:  # one after another, and each tells how far it is
        for name in chosen:
            take(name, _call(REPRODUCTIONS[name], watch))
        return tables
    tasks = {Task(_call, (REPRODUCTIONS[name],), wanted=True): name for name in chosen}
    for task, value in Local(number).run(list(tasks)):
        if isinstance(value, SimtmmError):
            raise value
        take(tasks[task], value)
        if watch is not None:
            watch("reproductions", len(tables), len(chosen))
    return {name: tables[name] for name in chosen}


def sample(name: str) -> Tables:
    """The tables of a reproduction with few of their points, as `reproduce` computes them.

    Raises StudyError for an unknown name.
    """
    (name,) = known([name])
    module, _, function = REPRODUCTIONS[name].partition(":")
    return _call(f"{module}:{function.replace('reproduce', 'sample', 1)}")


def known(names: Iterable[str]) -> tuple[str, ...]:
    """The reproductions named, each once, in the order of REPRODUCTIONS; all but ONLY_IF_NAMED for no name.

    Raises StudyError for an unknown name.
    """
    wanted = set(names)
    for name in sorted(wanted - set(REPRODUCTIONS)):
        raise StudyError(f"reproduction {name!r}: unknown{nearest(name, REPRODUCTIONS)}")
    wanted = wanted or set(REPRODUCTIONS).difference(ONLY_IF_NAMED)
    return tuple(name for name in REPRODUCTIONS if name in wanted)


def _call(place: str, watch: Watch | None = None) -> Tables:
    """Call the function at "module:function"; a module without dots in its name is one of this package."""
    module, _, function = place.partition(":")
    found = import_module(module if "." in module else f"{__name__}.{module}")
    tables: Tables = getattr(found, function)(watch)
    return tables
