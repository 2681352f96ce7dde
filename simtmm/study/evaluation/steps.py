"""Steps to a point: what points share, a workload for each (W, C) and counts, and the simulation of one."""

import functools
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

from simtmm.documents import DEEPEST
from simtmm.engine import simulate
from simtmm.engine.causes import shares
from simtmm.errors import CompilerError, SimtmmError, StudyError, WorkloadError, shown
from simtmm.machine import Machine
from simtmm.model import predict
from simtmm.model.series import SIMULATED
from simtmm.study.design.by_sample import BySample
from simtmm.study.design.rules import Rule
from simtmm.study.evaluation.residence import HELD_BY, held_by
from simtmm.study.evaluation.sampled_cases import SAMPLED, sampled_case
from simtmm.trace.counts import Counts, count
from simtmm.trace.io import Trace, load_trace
from simtmm.trace.lower import MOST_HELD, check_fits, fit, lower_or_stream_with
from simtmm.trace.specification import CountingSpecification, LoweringSpecification
from simtmm.trace.streamed import AnyWorkload
from simtmm.watch import telling

CAUSES = "causes"  # of a simulated result: the part of the time of each of them


@dataclass(frozen=True)
class Outcome:
    """What came of a point. results, errors: by quantity. skipped: why the point can't be; empty if it can."""

    results: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    errors: Mapping[str, str] = field(default_factory=dict)
    skipped: str = ""
    seconds: float = 0.0


def checked(given: object) -> "Outcome | SimtmmError":
    """What came of a point, or an error, as somebody else computed it; a StudyError where it is neither."""
    if isinstance(given, SimtmmError):
        return given
    if not isinstance(given, Outcome):
        return StudyError(f"its computation returned no result: {shown(given)}")
    found, seconds = (given.results, given.errors, given.skipped), given.seconds
    is_time = type(seconds) in (int, float) and 0 <= seconds < math.inf
    if not (is_time and all(map(_is_plain, found)) and all(isinstance(text, str) for text in given.errors.values())):
        return StudyError(f"its computation returned no result: {shown(given)}")
    return given


def _is_plain(value: object, depth: int = 0) -> bool:
    """Whether a value is as JSON has them, and not deep."""
    if isinstance(value, Mapping | list | tuple):
        inner = [*value.keys(), *value.values()] if isinstance(value, Mapping) else value
        return depth < DEEPEST and all(_is_plain(each, depth + 1) for each in inner)
    return value is None or isinstance(value, str | int | float | bool)


def compute(
    source: "Path | Trace",
    workload: AnyWorkload,
    counts: "Counts | Outcome | None",
    machine: Machine,
    quantities: Sequence[str],
    engine: str,
    rule: Rule | None = None,
) -> Outcome:
    """Simulate and predict.

    workload: as `lowered_once` gives it. counts: as `counted` gives them, for models. rule: that schedules, on the
    engine that takes it.
    """
    if isinstance(counts, Outcome):
        return _own(counts, source, machine)
    begun = perf_counter()
    results, errors = {}, {}
    for quantity in quantities:
        try:
            if quantity == SIMULATED:
                own = fitted(workload, source, machine)
                by = None if rule else engine  # which of them takes the rule
                threads = 1 if by != "reference" else None  # the other cores are busy with other points
                progress = telling("simulating")
                result = simulate(
                    machine,
                    own,
                    by,
                    scheduler=rule.function() if rule else None,
                    stalls=True,
                    threads=threads,
                    progress=progress,
                )
                held = held_by(opened(source).info, machine)
                results[quantity] = {**result.to_dict(), CAUSES: shares(machine, result), HELD_BY: held}
            else:
                assert counts is not None
                results[quantity] = predict(quantity, machine, counts).to_dict()
        except WorkloadError as error:
            return Outcome(skipped=str(error))
        except SimtmmError as error:
            errors[quantity] = str(error)
        except MemoryError:
            errors[quantity] = "out of memory"
    return Outcome(results, errors, seconds=perf_counter() - begun)


def compute_by_sample(
    source: str, parameters: Mapping[str, Any] | None, machine: Machine, quantities: Sequence[str], by: BySample
) -> Outcome:
    """Simulate a sample, and predict from its counts. source, parameters: see `sampled_case`."""
    begun = perf_counter()
    try:
        found = sampled_case(source, parameters, None, machine, by, 1)  # the other cores are busy with other points
    except WorkloadError as error:
        return Outcome(skipped=str(error))
    except CompilerError as error:
        if is_fatal(error):
            raise
        return Outcome(errors=dict.fromkeys(quantities, str(error)))
    except SimtmmError as error:
        return Outcome(errors=dict.fromkeys(quantities, str(error)))
    except MemoryError:
        return Outcome(errors=dict.fromkeys(quantities, "out of memory"))
    results: dict[str, Mapping[str, Any]] = {}
    errors: dict[str, str] = {}
    for quantity in quantities:
        try:
            if quantity == SIMULATED:
                beside = {CAUSES: found.causes, HELD_BY: held_by(found.info, machine), SAMPLED: found.about}
                results[quantity] = {**found.result.to_dict(), **beside}
            else:
                results[quantity] = predict(quantity, machine, found.counts).to_dict()
        except SimtmmError as error:
            errors[quantity] = str(error)
    return Outcome(results, errors, seconds=perf_counter() - begun)


def _own(shared: Outcome, source: "Path | Trace", machine: Machine) -> Outcome:
    """What became of counts that several machines share, with the reason as it is for this machine, by its name."""
    try:
        check_fits(opened(source).info, machine)
    except WorkloadError as error:
        return Outcome(skipped=str(error))
    return shared


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


def lowered_once(source: "Path | Trace", machine: Machine) -> AnyWorkload:
    """The workload of a trace on this machine and on all that have its lowering key.

    It is for `fitted`: without occupancy, which so refuses no block.
    """
    most = MOST_HELD // 2  # each of several workers holds some workloads
    specification = LoweringSpecification.of(machine)
    return lower_or_stream_with(opened(source), specification, telling("lowering"), most_held=most)[0]


def fitted(workload: AnyWorkload, source: "Path | Trace", machine: Machine) -> AnyWorkload:
    """The workload as `lower` gives it for the machine itself: with its occupancy. Raises WorkloadError."""
    return fit(workload, opened(source).info, machine)


def counted(source: "Path | Trace", workload: AnyWorkload, machine: Machine) -> "Counts | Outcome":
    """The counts of a trace on this machine and on all that have its counting key."""
    trace = opened(source)
    try:
        return count(trace, machine, fitted(workload, trace, machine))
    except WorkloadError as error:
        return Outcome(skipped=str(error))


def is_fatal(error: BaseException) -> bool:
    """Whether every other point would fail likewise."""
    return isinstance(error, CompilerError) and "needs a C++ compiler" in str(error)
