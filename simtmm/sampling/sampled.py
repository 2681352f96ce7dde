"""A kernel or a program by a sample of it, or all of it where that takes no longer."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from simtmm.errors import EngineError
from simtmm.kernel import Kernel
from simtmm.machine import Machine
from simtmm.program import Program, architecture_for, open_program
from simtmm.recorder import form_of
from simtmm.sampling import DEFAULT_ERROR
from simtmm.sampling.outcome import Sampled
from simtmm.sampling.program import sampled
from simtmm.sampling.sources import DependsError, TraceSource


@dataclass(frozen=True)
class Found:
    """What came of sampling. sampled: None where all is to be simulated, of `program`, and `why`, in words."""

    sampled: Sampled | None
    program: Program
    why: str = ""


def sampled_kernel(
    kernel: Kernel,
    parameters: Mapping[str, object] | None,
    machine: Machine,
    form: str | None = None,
    error: float = DEFAULT_ERROR,
) -> Found:
    """A kernel's time from a sample of it; where its blocks are independent, no others run.

    kernel: with its parameters. form: "written", "compiled" or "ptx", how it is recorded (see simtmm.record). error:
    half of the requested interval, as a part of the time.
    parameters: values of some of the kernel's parameters, as texts or numbers.

    Raises the errors of recording, lowering and simulating.
    """
    from simtmm.sampling.recording import KernelSource  # late: what it takes of compilers is slow to load

    architecture, notes = architecture_for(kernel, machine, form)
    try:
        source = KernelSource(kernel, parameters or {}, form or form_of(kernel), architecture)
    except DependsError as why:
        program = open_program(kernel, parameters, machine=machine, form=form)
        found = sampled_program(program, machine, error)
        ran = f"all blocks ran and were recorded: {why}"
        if found.sampled is None:
            return found
        return replace(found, sampled=replace(found.sampled, notes=(ran, *found.sampled.notes)))
    sample = sampled(source, machine, error)
    if sample is None:
        return Found(None, open_program(kernel, parameters, machine=machine, form=form), _whole(error))
    return Found(sample, Program(kernel.name, source.parameters, kernel=kernel, notes=notes))


def sampled_program(program: Program, machine: Machine, error: float = DEFAULT_ERROR) -> Found:
    """A program's time from a sample of what was recorded of it. error: as `sampled_kernel` has it.

    Raises the errors of lowering and simulating.
    """
    if program.trace is None:
        return Found(None, program, "a workload can't be sampled: only traces and kernels can")
    if program.trace.info.sampling is not None:
        raise EngineError(
            f"{program.name}: its trace has only some of its blocks (info.sampling): --sample needs all of them"
        )
    found = sampled(TraceSource(program.trace), machine, error)
    return Found(found, program, "" if found else _whole(error))


def _whole(error: float) -> str:
    return (
        f"all blocks were simulated: a sample with an error below {error:.3g} would need at least half of them, or "
        "take "
        "as long"
    )
