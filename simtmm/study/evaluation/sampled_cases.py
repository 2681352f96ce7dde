"""Sampled cases: a program on a machine by a sample of its blocks and launches, as `simtmm run --sample` takes one."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simtmm.engine import simulate
from simtmm.engine.causes import shares
from simtmm.machine import Machine
from simtmm.program import open_program
from simtmm.recorder.sources import opened_kernel
from simtmm.result import Result
from simtmm.sampling.outcome import Sampled
from simtmm.sampling.sampled import sampled_kernel, sampled_program
from simtmm.study.design.by_sample import ENGINE, BySample
from simtmm.trace.counts import Counts, lower_and_count
from simtmm.trace.info import TraceInfo
from simtmm.watch import telling

SAMPLED = "sampled"  # what is kept of a case that was sampled: its interval


@dataclass(frozen=True)
class SampledCase:
    """What came of one. about: its interval, and of how much it was simulated."""

    info: TraceInfo
    result: Result
    counts: Counts
    causes: Mapping[str, float]
    about: Mapping[str, Any]


def sampled_case(
    source: str,
    parameters: Mapping[str, Any] | None,
    form: str | None,
    machine: Machine,
    by: BySample,
    threads: int | None,
) -> SampledCase:
    """A program on a machine, from a sample, or whole where a sample is not worth it.

    source: a kernel's name or folder, a file of launches, or a trace's file. parameters: of a kernel; None for a trace.
    threads: see simtmm.simulate.

    Raises the errors of recording, lowering and simulating.
    """
    if parameters is None:
        found = sampled_program(open_program(source), machine, by.error)
    else:
        found = sampled_kernel(opened_kernel(source), parameters, machine, form, by.error)
    if found.sampled is not None:
        whole, sample = found.sampled, found.sampled.sample
        return SampledCase(whole.info, whole.result, whole.counts, shares(machine, sample.part), _about(whole))
    trace = found.program.trace
    assert trace is not None
    workload, counts = lower_and_count(trace, machine, telling("lowering"))
    result = simulate(machine, workload, ENGINE, stalls=True, threads=threads, progress=telling("simulating"))
    about = {"error": 0.0, "counts_error": 0.0, "words": found.why}
    return SampledCase(trace.info, result, counts, shares(machine, result), about)


def _about(sampled: Sampled) -> dict[str, Any]:
    words = "; ".join([sampled.words, *sampled.notes])
    return {"error": sampled.error, "counts_error": sampled.counts_error, "words": words}
