"""A trial: one configuration of a kernel, compiled, and simulated to some precision."""

import functools
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal, get_args

from simtmm.analysis.run import run
from simtmm.analysis.run.outcome import Run
from simtmm.analysis.tuning.t1 import is_problem, read_problem
from simtmm.errors import CompilerError, MachineError, SimtmmError, StudyError, WorkloadError, shown
from simtmm.kernel import Kernel
from simtmm.machine import Machine
from simtmm.model.launch.occupancy import occupancy
from simtmm.program import architecture_for
from simtmm.recorder import form_of
from simtmm.recorder.sources import opened_kernel
from simtmm.sampling.sources import DependsError
from simtmm.study.design.axes import Value, flattened
from simtmm.study.design.design import is_machine_key

Status = Literal["done", "bounded", "not compiled", "does not fit", "failed", "open"]
COUNTED = ("issued", "transactions", "l1_hits", "l2_hits")  # of a result
COUNTS = (  # of a program
    "work", "span", "memory_operations", "memory_instructions", "threads_per_core", "warps_in_use", "waits",
)  # fmt: skip
OF_LAUNCHES = ("accesses", "bytes_read", "bytes_written", "store_operations", "atomic_operations")  # their sums
TIMES = ("cycles", "seconds")
QUANTITIES = (*TIMES, "registers", "shared_bytes", "active_blocks", *COUNTED, *COUNTS, *OF_LAUNCHES)


@dataclass(frozen=True)
class Trial:
    """What came of a configuration.

    configuration: values by parameter, and by key of the machine.
    status: "does not fit" for one of which a core group can't hold a block, "failed" for what else went wrong, "open"
        for one that Ctrl-C came before, "bounded" for one that surely takes longer than the best, and is not simulated.
    reason: why, in a line; empty for one that is done or bounded.
    cycles, seconds: simulated; seconds are None if the machine has no clock rate.
    error: half of the interval in which the time lies, as a part of it; 0 where all blocks were simulated.
    precision: the requested error.
    bound: what binds it (simtmm.engine.causes).
    predictions: cycles, by model.
    registers: of a thread. shared_bytes: of a block. blocks: of a core group at once; all of the first launch.
    counted: by name, what was counted: COUNTED, COUNTS and OF_LAUNCHES; extrapolated where a sample was simulated.
    least: cycles that it surely takes at least (bounds.py); 0 where that was not looked at.
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
    counted: Mapping[str, float] = field(default_factory=dict)
    least: float = 0.0

    @property
    def low(self) -> float:
        """The lower end of the interval [cycles]."""
        return self.cycles * (1 - self.error)

    @property
    def high(self) -> float:
        """The upper end of the interval [cycles]."""
        return self.cycles * (1 + self.error)

    def serves(self, precision: float) -> bool:
        """Whether it is as precise as that, or as precise as it gets.

        precision: half of an interval over the time, 0 for a whole simulation.
        """
        return self.status != "done" or self.error <= precision or self.precision <= precision

    def quantities(self, factor: float = 1.0) -> dict[str, float]:
        """What it gave, by the names in QUANTITIES; no seconds where the machine has no clock.

        factor: of the time, as the ends of its interval have it.
        """
        times = {"cycles": factor * self.cycles}
        if self.seconds is not None:
            times["seconds"] = factor * self.seconds
        own = {"registers": self.registers, "shared_bytes": self.shared_bytes, "active_blocks": self.blocks}
        return {**times, **own, **self.counted}

    def to_dict(self) -> dict[str, Any]:
        """The whole object, for JSON."""
        mappings = {name: dict(getattr(self, name)) for name in ("configuration", "predictions", "counted")}
        return {**asdict(self), **mappings}


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

    def is_of_machine(self, name: str) -> bool:
        """Whether that is a key of the machine, and no parameter of the kernel."""
        return name not in self.kernel.parameters and _is_machine_key(name)

    def changes(self, configuration: Mapping[str, Value]) -> dict[str, Any]:
        """What of a configuration is the machine's, by key."""
        own = {key: value for key, value in configuration.items() if self.is_of_machine(key)}
        return {key: None if value == "none" else value for key, value in own.items()}

    def machine_of(self, configuration: Mapping[str, Value]) -> Machine:
        """The machine of a configuration. Raises MachineError for one that can't be."""
        return _changed(self.machine, tuple(self.changes(configuration).items()))

    def parameters_of(self, configuration: Mapping[str, Value]) -> dict[str, object]:
        """The kernel's parameters of a configuration, as far as they are given."""
        changes = self.changes(configuration)
        return {**self.fixed, **{name: value for name, value in configuration.items() if name not in changes}}

    def values(self, configuration: Mapping[str, Value]) -> dict[str, Any]:
        """All parameters and machine keys of a configuration, for expressions. Raises MachineError, KernelError."""
        machine = self.machine_of(configuration)
        return {**flattened(machine.to_dict()), **self.kernel.resolve(self.parameters_of(configuration))}


_is_machine_key = functools.lru_cache(maxsize=1024)(is_machine_key)


@functools.lru_cache(maxsize=4096)
def _changed(machine: Machine, changes: tuple[tuple[str, Any], ...]) -> Machine:
    return machine.replace(dict(changes)) if changes else machine


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


def screened(subject: Subject, configuration: Mapping[str, Value], is_bounded: bool = False) -> Trial | float:
    """A configuration compiled and held against the machine's limits: its trial where it can't run.

    Gives the cycles that it takes at least where it may; 0 where these are not known, or not asked for by `is_bounded`.
    """
    from simtmm.analysis.tuning.bounds import BoundedSource  # late: what it takes of compilers is slow to load

    kernel = subject.kernel
    try:
        machine = subject.machine_of(configuration)
        architecture, _ = architecture_for(kernel, machine, subject.form)
        form = subject.form or form_of(kernel)
        source = BoundedSource(kernel, subject.parameters_of(configuration), form, architecture)
        for launch in source.launches:
            occupancy(machine, launch)
        return source.least_time(machine).ticks / machine.ticks_per_cycle if is_bounded else 0.0
    except DependsError:
        return 0.0  # its launches are known when it has run
    except SimtmmError as error:
        return refused(configuration, error)


def tried(subject: Subject, configuration: Mapping[str, Value], precision: float) -> Trial:
    """A configuration simulated, by a sample that keeps within the precision where that is worth it."""
    try:
        found = run(
            subject.kernel, subject.machine_of(configuration), subject.parameters_of(configuration), "fast",
            models=subject.models, form=subject.form, what_if=False, sample="auto", error=precision,
        )  # fmt: skip
    except SimtmmError as error:
        return refused(configuration, error)
    first = found.info.launches[0] if found.info and found.info.launches else None
    return Trial(
        configuration,
        cycles=float(found.result.cycles),  # NumPy's, of samples, would make all that is counted of it NumPy's
        seconds=None if found.result.seconds is None else float(found.result.seconds),
        error=float(found.sampled.error) if found.sampled else 0.0,
        precision=precision,
        bound=found.verdict.cause,
        predictions={name: float(made.cycles) for name, made in found.predictions.items()},
        registers=first.registers_per_thread if first else 0,
        shared_bytes=first.shared_memory_bytes if first else 0,
        blocks=found.occupancies[0][0].active_blocks if found.occupancies else 0,
        counted=_counted(found),
    )


def _counted(found: Run) -> dict[str, float]:
    result, counts = found.result, found.counts
    assert counts is not None  # of a kernel
    return {
        **{name: float(getattr(result, name)) for name in COUNTED},
        **{name: float(getattr(counts, name)) for name in COUNTS},
        **{name: float(sum(getattr(launch, name) for launch in counts.launches)) for name in OF_LAUNCHES},
    }


def attempted(subject: Subject, configuration: Mapping[str, Value], precision: float) -> Trial:
    """A configuration compiled, and simulated where it may run."""
    found = screened(subject, configuration)
    return found if isinstance(found, Trial) else tried(subject, configuration, precision)


def checked(given: object, configuration: Mapping[str, Value]) -> Trial:
    """What came of a configuration, or an error, as somebody else computed it; a failure where it is neither."""
    if isinstance(given, SimtmmError):
        return refused(configuration, given)
    if not (isinstance(given, Trial) and _is_plain(given)):
        return refused(configuration, StudyError(f"its computation returned no result: {shown(given)}"))
    return replace(given, configuration=configuration)


def _is_plain(trial: Trial) -> bool:
    """Whether its fields have what they say."""
    numbers = (
        trial.cycles,
        trial.error,
        trial.precision,
        trial.registers,
        trial.shared_bytes,
        trial.blocks,
        trial.least,
    )
    times = (*numbers, 0 if trial.seconds is None else trial.seconds)
    tables = (trial.predictions, trial.counted)
    return (
        trial.status in get_args(Status)
        and all(isinstance(each, str) for each in (trial.reason, trial.bound))
        and all(isinstance(each, (int, float)) and 0 <= each < math.inf for each in times)
        and all(isinstance(each, Mapping) for each in tables)
        and all(isinstance(k, str) and isinstance(v, (int, float)) for each in tables for k, v in each.items())
    )
