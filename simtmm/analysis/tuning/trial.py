"""A trial: one configuration of a kernel, compiled, and simulated to some precision."""

import functools
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from simtmm.analysis.run import run
from simtmm.analysis.tuning.t1 import is_problem, read_problem
from simtmm.errors import CompilerError, MachineError, SimtmmError, WorkloadError
from simtmm.kernel import Kernel
from simtmm.machine import Machine
from simtmm.model.launch.occupancy import occupancy
from simtmm.program import architecture_for
from simtmm.recorder import form_of
from simtmm.recorder.sources import opened_kernel
from simtmm.sampling.sources import DependsError
from simtmm.study.design.axes import Value

Status = Literal["done", "not compiled", "does not fit", "failed"]


@dataclass(frozen=True)
class Trial:
    """What came of a configuration.

    configuration: values by parameter.
    status: "does not fit" for one of which a core group can't hold a block, "failed" for what else went wrong.
    reason: why, in a line; empty for one that is done.
    cycles, seconds: simulated; seconds are None where the machine has no clock.
    error: half of the interval in which the time lies, as a part of it; 0 where all blocks were simulated.
    precision: the requested error.
    bound: what binds it (simtmm.engine.causes).
    predictions: cycles, by model.
    registers: of a thread. shared_bytes: of a block. blocks: of a core group at once; all of the first launch.
    """

    configuration: Mapping[str, Value]
    status: Status = "done"
    reason: str = ""
    cycles: float = 0.0
    seconds: float | None = None
    error: float = 0.0
    precision: float = 0.0
    bound: str = ""
    predictions: Mapping[str, float] = field(default_factory=dict)
    registers: int = 0
    shared_bytes: int = 0
    blocks: int = 0

    @property
    def low(self) -> float:
        """The lower end of the interval [cycles]."""
        return self.cycles * (1 - self.error)

    @property
    def high(self) -> float:
        """The upper end of the interval [cycles]."""
        return self.cycles * (1 + self.error)

    def serves(self, precision: float) -> bool:
        """Whether it is as precise as that, or as precise as it gets."""
        return self.status != "done" or self.error <= precision or self.precision <= precision

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        return {**asdict(self), "configuration": dict(self.configuration), "predictions": dict(self.predictions)}


@dataclass(frozen=True)
class Subject:
    """What is tuned, as processes hand it to one another.

    source: a kernel's name or folder, a file of launches, or a problem in T1. fixed: parameters that all configurations
    share. form: how it is recorded, None for what suits it. models: that predict beside the simulation.
    """

    source: str
    fixed: Mapping[str, object]
    machine: Machine
    form: str | None
    models: tuple[str, ...]

    @property
    def kernel(self) -> Kernel:
        """The kernel, loaded once in a process."""
        return _opened(self.source)


@functools.lru_cache(maxsize=4)
def _opened(source: str) -> Kernel:
    return read_problem(source).kernel if is_problem(source) else opened_kernel(source)


def forget_kernels() -> None:
    """Have kernels loaded anew: their files may have changed since the search before."""
    _opened.cache_clear()


def refused(configuration: Mapping[str, Value], error: SimtmmError) -> Trial:
    """The trial of a configuration that ends in an error."""
    if isinstance(error, CompilerError):
        return Trial(configuration, "not compiled", str(error))
    is_too_large = isinstance(error, (MachineError, WorkloadError))
    return Trial(configuration, "does not fit" if is_too_large else "failed", str(error))


def screened(subject: Subject, configuration: Mapping[str, Value]) -> Trial | None:
    """A configuration compiled and held against the machine's limits; None where it may run."""
    from simtmm.sampling.recording import KernelSource  # late: what it takes of compilers is slow to load

    kernel, machine = subject.kernel, subject.machine
    try:
        architecture, _ = architecture_for(kernel, machine, subject.form)
        form = subject.form or form_of(kernel)
        source = KernelSource(kernel, {**subject.fixed, **configuration}, form, architecture)
        for launch in source.launches:
            occupancy(machine, launch)
    except DependsError:
        return None  # its launches are known when it has run
    except SimtmmError as error:
        return refused(configuration, error)
    return None


def tried(subject: Subject, configuration: Mapping[str, Value], precision: float) -> Trial:
    """A configuration simulated, by a sample that keeps within the precision where that is worth it."""
    parameters = {**subject.fixed, **configuration}
    try:
        found = run(
            subject.kernel, subject.machine, parameters, "fast", models=subject.models, form=subject.form,
            what_if=False, sample="auto", error=precision,
        )  # fmt: skip
    except SimtmmError as error:
        return refused(configuration, error)
    first = found.info.launches[0] if found.info and found.info.launches else None
    return Trial(
        configuration,
        cycles=found.result.cycles,
        seconds=found.result.seconds,
        error=found.sampled.error if found.sampled else 0.0,
        precision=precision,
        bound=found.verdict.cause,
        predictions={name: made.cycles for name, made in found.predictions.items()},
        registers=first.registers_per_thread if first else 0,
        shared_bytes=first.shared_memory_bytes if first else 0,
        blocks=found.occupancies[0][0].active_blocks if found.occupancies else 0,
    )
