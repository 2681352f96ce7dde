"""Point: compute one, and what points share: a trace for each set of kernel parameters, a workload for each (W, C)."""

import contextlib
import functools
import hashlib
import json
import logging
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, time
from typing import Any

from simtmm import cache
from simtmm.engine import simulate
from simtmm.errors import CompilerError, ModelError, SimtmmError, WorkloadError
from simtmm.machine import Machine
from simtmm.model import predict
from simtmm.model.algorithm import predict_algorithm
from simtmm.model.algorithms import find
from simtmm.provenance import sources
from simtmm.recorder import record
from simtmm.study.layout import SIMULATED
from simtmm.study.subject import THREADS, VARIANT
from simtmm.trace.counts import Counts, count
from simtmm.trace.io import Trace, load_trace
from simtmm.trace.lower import fit, lower_with
from simtmm.trace.specification import CountingSpecification, LoweringSpecification
from simtmm.workload import Workload

logger = logging.getLogger("simtmm")

TRACES = "traces"  # the folder in the user's cache
MOST_KEPT = 8 << 30  # bytes of traces that stay there
STALE = 86_400.0  # seconds after which half a trace has been left behind by a killed process


@dataclass(frozen=True)
class Outcome:
    """What came of a point. results, errors: by quantity. skipped: why the point can't be; empty if it can."""

    results: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    skipped: str = ""
    seconds: float = 0.0


def compute(
    source: "Path | Trace",
    workload: Workload,
    counts: "Counts | Outcome | None",
    machine: Machine,
    quantities: Sequence[str],
    engine: str,
) -> Outcome:
    """Simulate and predict. workload: as `lowered_once` gives it; counts: as `counted` gives them, for models."""
    if isinstance(counts, Outcome):
        return counts
    begun = perf_counter()
    results, errors = {}, {}
    for quantity in quantities:
        try:
            if quantity == SIMULATED:
                own = fitted(workload, source, machine)
                threads = 1 if engine == "fast" else None  # the other cores are busy with other points
                results[quantity] = simulate(machine, own, engine, threads=threads).to_dict()
            else:
                assert counts is not None
                results[quantity] = predict(quantity, machine, counts).to_dict()
        except WorkloadError as error:
            return Outcome(skipped=str(error))
        except SimtmmError as error:
            errors[quantity] = str(error)
        except MemoryError:
            errors[quantity] = "memory ran out"
    return Outcome(results, errors, seconds=perf_counter() - begun)


def compute_algorithm(name: str, machine: Machine, parameters: Mapping[str, Any], quantities: Sequence[str]) -> Outcome:
    """What the models say of an algorithm of the papers; a point outside its domain is skipped."""
    begun = perf_counter()
    symbols = {key: value for key, value in parameters.items() if key not in (THREADS, VARIANT)}
    try:
        made = predict_algorithm(find(name), machine, symbols, parameters.get(THREADS), parameters.get(VARIANT))
    except ModelError as error:
        return Outcome(skipped=str(error))
    results = {quantity: made[quantity].to_dict() for quantity in quantities if quantity in made}
    return Outcome(results, seconds=perf_counter() - begun)


def lowering_key(machine: Machine) -> str:
    """All of a machine that decides what a trace is lowered to, the blocks that a group holds apart."""
    return LoweringSpecification.of(machine).digest


def counting_key(machine: Machine) -> str:
    """All of a machine that decides what is counted of a trace."""
    held = [table.model_dump() for table in (machine.cores, machine.limits, machine.resources)]  # blocks of a group
    return _key([CountingSpecification.of(machine).digest, held])


def _key(content: object) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:20]


def opened(source: "Path | Trace") -> Trace:
    """A trace, from where it lies."""
    return source if isinstance(source, Trace) else _loaded(source, source.stat().st_mtime_ns)


@functools.lru_cache(maxsize=8)
def _loaded(path: Path, changed: int) -> Trace:
    return load_trace(path)


def lowered_once(source: "Path | Trace", machine: Machine) -> Workload:
    """The workload of a trace on this machine and on all that have its lowering key.

    It is for `fitted`: without occupancy, which so refuses no block.
    """
    return lower_with(opened(source), LoweringSpecification.of(machine))


def fitted(workload: Workload, source: "Path | Trace", machine: Machine) -> Workload:
    """The workload as `lower` gives it for the machine itself: with its occupancy. Raises WorkloadError."""
    return fit(workload, opened(source).info, machine)


def counted(source: "Path | Trace", workload: Workload, machine: Machine) -> "Counts | Outcome":
    """The counts of a trace on this machine and on all that have its counting key."""
    trace = opened(source)
    try:
        return count(trace, machine, fitted(workload, trace, machine))
    except WorkloadError as error:
        return Outcome(skipped=str(error))


def recorded(kernel: str, digest: str, parameters: Mapping[str, Any]) -> Path:
    """The trace of a kernel as a file in the user's cache folder, recorded if it is not there yet.

    digest: of the kernel's content. Raises the errors of recording.
    """
    folder, place = cache.own_folder(TRACES), trace_key(kernel, digest, parameters)
    path = cache.find(folder, *place)
    if path is not None:
        with contextlib.suppress(OSError):
            os.utime(path)  # the least recently used go first
        for warning in load_trace(path).info.doubts:
            logger.warning("warning: %s: %s", Path(kernel).name, warning)
        return path
    return cache.keep(folder, *place, lambda temporary: record(kernel, parameters, output=temporary))


def is_recorded(kernel: str, digest: str, parameters: Mapping[str, Any]) -> bool:
    """Whether `recorded` need probably not record it."""
    return cache.is_kept(cache.own_folder(TRACES), *trace_key(kernel, digest, parameters))


def trace_key(kernel: str, digest: str, parameters: Mapping[str, Any]) -> tuple[str, str, str]:
    """What `recorded` keeps a trace by: the kernel's name, a hash of all that decides the trace, and a suffix."""
    key = _key([digest, dict(parameters), sources("recorder", "trace", "kernel.py")])
    return Path(kernel).name, key, ".parquet"


def prune_traces(keep: Collection[tuple[str, str, str]]) -> None:
    """Remove what killed processes left behind, and the traces used least recently beyond MOST_KEPT bytes.

    keep: by `trace_key`, those that are needed now.
    """
    folder = cache.own_folder(TRACES)
    needed = tuple(f"{label}-{key}-" for label, key, _ in keep)
    with contextlib.suppress(OSError):
        for path in folder.glob(".simtmm-*.part"):
            if time() - path.stat().st_mtime > STALE:
                path.unlink(missing_ok=True)
        found = sorted((path.stat().st_mtime, path.stat().st_size, path) for path in folder.glob("*.parquet"))
        total = sum(size for _, size, _ in found)
        for _, size, path in found:
            if total <= MOST_KEPT:
                return
            if not path.name.startswith(needed):
                path.unlink(missing_ok=True)
                total -= size


def is_fatal(error: BaseException) -> bool:
    """Whether every other point would fail likewise."""
    return isinstance(error, CompilerError) and "needs a C++ compiler" in str(error)
