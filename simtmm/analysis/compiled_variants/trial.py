"""Variants of a kernel, each compiled, run and simulated; those that compute something else are left out."""

import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from simtmm.analysis.compiled_variants.variants import Variant, variants_of
from simtmm.analysis.cost import cost
from simtmm.analysis.source_changes import Advice
from simtmm.analysis.source_changes.lines import COMPILED
from simtmm.cuda.compilers import architecture_of_today
from simtmm.engine.known_cycles import cycles_of
from simtmm.errors import SimtmmError
from simtmm.kernel import Array, Kernel
from simtmm.machine import Machine
from simtmm.program import Program, architecture_for
from simtmm.recorder.compiled.launches import CompiledLaunches
from simtmm.recorder.compiled.module import module_of
from simtmm.recorder.compiled.record import recorded
from simtmm.recorder.limits import most_events
from simtmm.result import Result
from simtmm.sampling.sampled import sampled_kernel
from simtmm.temporary import own_prefix
from simtmm.trace.io import Trace
from simtmm.trace.streamed import AnyWorkload
from simtmm.watch import telling

WORTH_TELLING = 1.02  # a variant is the program itself, and no estimate of it
SECONDS = 3.0  # that a variant may take to be simulated as a whole; of a longer one a sample is
CLOSE = 1e-3  # relative: results of real numbers that differ by no more are the same


@dataclass(frozen=True)
class _Base:
    """The unmodified kernel: what it computes, and how long that takes [cycles]."""

    kernel: Kernel
    parameters: Mapping[str, Any]
    machine: Machine
    answer: Mapping[str, Array]
    cycles: float
    engine: str
    is_long: bool
    architecture: int


def tried(
    kernel: Kernel, program: Program, machine: Machine, workload: AnyWorkload, result: Result
) -> tuple[Advice, ...]:
    """What each variant of a compiled kernel gains, as `try_variants` has it. program: the kernel's own."""
    assert program.trace is not None
    architecture, _ = architecture_for(kernel, machine)
    number = architecture or architecture_of_today()
    try:
        answer = _answer(kernel, program.parameters, number)
    except SimtmmError:
        return ()
    is_long = cost(machine, workload, result) > SECONDS
    base = _Base(kernel, program.parameters, machine, answer, result.cycles, result.engine, is_long, number)
    found = []
    for variant in variants_of(kernel, machine, program.trace.info.launches, _hottest(kernel, result)):
        telling(f"trying {variant.change}")
        found += list(_tried(base, variant))
    return tuple(sorted((each for each in found if each.gain >= WORTH_TELLING), key=lambda each: -each.gain))


def _hottest(kernel: Kernel, result: Result) -> int:
    """The line of the kernel's file that takes most time; 0 where none is known."""
    stalls, name = result.stalls, kernel.source_paths[0].name
    if stalls is None:
        return 0
    rows = [row for row in stalls.rows() if row["line"] and Path(str(row["file"])).name == name]
    return int(max(rows, key=lambda row: row["ticks"])["line"]) if rows else 0


def _tried(base: _Base, variant: Variant) -> Iterator[Advice]:
    """What a variant gains; nothing where it does not compile, fails, or computes something else."""
    with tempfile.TemporaryDirectory(prefix=own_prefix("variant")) as folder:
        kernel = variant.kernel(base.kernel, Path(folder))
        try:
            answer, cycles, part = _run_in_part(base, kernel) if base.is_long else _run(base, kernel)
        except SimtmmError:
            return
    same = how_equal(base.answer, answer)
    if same is None or not cycles:
        return
    words = f"{variant.words} ({same})"
    yield Advice(variant.change, words, *variant.at, "", base.cycles / cycles, COMPILED, part)


def _run(base: _Base, kernel: Kernel) -> tuple[dict[str, Array], float, str]:
    """The arrays once it has run, how long that takes [cycles], and of what part of it, in words."""
    answer, trace = _recorded(kernel, base.parameters, base.architecture)
    workload = Program(kernel.name, trace=trace).on(base.machine).workload
    return answer, cycles_of(base.machine, workload, base.engine), ""


def _run_in_part(base: _Base, kernel: Kernel) -> tuple[dict[str, Array], float, str]:
    """Likewise, by a sample where that is worth it."""
    answer = _answer(kernel, base.parameters, base.architecture)
    found = sampled_kernel(kernel, base.parameters, base.machine, "compiled")
    if found.sampled is not None:
        return answer, found.sampled.result.cycles, "a sample"
    workload = found.program.on(base.machine).workload
    return answer, cycles_of(base.machine, workload, base.engine), ""


def how_equal(before: Mapping[str, Array], after: Mapping[str, Array]) -> str | None:
    """How the arrays of two runs are the same, in words; None where they are not."""
    is_exact = True
    for name, array in before.items():
        other = after[name]
        if array.tobytes() == other.tobytes():
            continue
        is_exact = False
        is_real = array.dtype.kind in "fc"
        if not is_real or not np.allclose(array, other, rtol=CLOSE, atol=_small(array), equal_nan=True):
            return None
    return "the same result" if is_exact else f"results differ by {CLOSE:g} at most"


def _small(array: Array) -> float:
    """What sums may have cancelled from."""
    finite = np.abs(array[np.isfinite(array)])
    return CLOSE * float(finite.mean()) if finite.size else 0.0


def _arrays(kernel: Kernel, parameters: Mapping[str, Any]) -> dict[str, Array]:
    inputs = kernel.inputs(parameters)
    return {name: np.array(array, array.dtype.newbyteorder("="), order="C") for name, array in inputs.items()}


def _answer(kernel: Kernel, parameters: Mapping[str, Any], architecture: int) -> dict[str, Array]:
    """The arrays once it has run."""
    arrays = _arrays(kernel, parameters)
    execution = CompiledLaunches(module_of(kernel, parameters, architecture), arrays, 0, f"kernel {kernel.name}")
    for number, launch in enumerate(kernel.launches(parameters, arrays)):
        execution.just_run(launch, number)
    return arrays


def _recorded(kernel: Kernel, parameters: Mapping[str, Any], architecture: int) -> tuple[dict[str, Array], Trace]:
    """Likewise, with its trace. Raises RecordingError where its own check fails, too."""
    arrays = _arrays(kernel, parameters)
    linked, limit = module_of(kernel, parameters, architecture), most_events(None, in_memory=True)
    execution = CompiledLaunches(linked, arrays, limit, f"kernel {kernel.name}")
    return arrays, recorded(kernel, dict(parameters), execution, arrays)
