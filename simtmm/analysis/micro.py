"""Micro-kernels on a machine: the time of a repetition, compared with its lower bound."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simtmm.engine import simulate
from simtmm.errors import StudyError
from simtmm.machine import Machine
from simtmm.measurement.micro.kernel import MicroKernel
from simtmm.measurement.micro.programs import by_file, pairs, program
from simtmm.measurement.micro.table import rows
from simtmm.program import open_program
from simtmm.watch import Watch

LEAST = (7, 0)  # compute capability: latencies of older GPUs are not known here


@dataclass(frozen=True)
class MicroResult:
    """A micro-kernel on a machine, in cycles of one repetition.

    simulated: in the steady state. whole: of the longer launch, its beginning and its end included, but not the
    overhead of a launch. measured: on a GPU, None where that was not given.
    """

    kernel: MicroKernel
    limit: float
    simulated: float
    whole: float
    measured: float | None = None

    @property
    def times(self) -> float:
        """The simulated time, in units of the limit."""
        return self.simulated / self.limit

    @property
    def is_below(self) -> bool:
        """Whether the launch is faster than the limit allows."""
        return self.whole < self.limit

    @property
    def is_far(self) -> bool:
        """Whether the limit is to be reached, and is not."""
        within = self.kernel.limit.within
        return within is not None and self.times > within

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        kernel, limit = self.kernel, self.kernel.limit
        return {
            "name": kernel.name,
            "source": kernel.source,
            "kernel": kernel.kernel,
            "block": list(kernel.block),
            "repetition": kernel.repetition,
            "limit": self.limit,
            "simulated": self.simulated,
            "whole_launch": self.whole,
            "measured": self.measured,
            "bytes_per_cycle": kernel.bytes / self.simulated if kernel.bytes else None,
            "below": self.is_below,
            "far": self.is_far,
            "limit_source": limit.source,
            "within": limit.within,
            "why": limit.why,
        }


@dataclass(frozen=True)
class Micro:
    """The micro-kernels of a machine. left_out: the names of the others, and why. notes: the architecture compiled
    for.
    """

    machine: Machine
    results: tuple[MicroResult, ...]
    left_out: tuple[str, ...]
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "machine": self.machine.name,
            "results": [each.to_dict() for each in self.results],
            "left_out": list(self.left_out),
            "notes": list(self.notes),
        }


def micro(machine: Machine, measured: Mapping[str, float] | None = None, watch: Watch | None = None) -> Micro:
    """Simulate the micro-kernels on a machine.

    measured: cycles of a repetition on a GPU, by name. watch: called with (stage, done, total).

    Raises StudyError for a machine that is no GPU of NVIDIA, or an older one than they are for.
    """
    capability = _capability(machine)
    files = by_file(capability)
    found: list[MicroResult] = []
    notes: dict[str, None] = {}
    for done, (source, of) in enumerate(files.items()):
        if watch:
            watch("micro-kernels", done, len(files))
        opened = open_program(program(source, of), machine=machine, form="compiled")
        notes |= dict.fromkeys(opened.notes)
        result = simulate(machine, opened.on(machine).workload, breakdown=False)
        ticks = [each - machine.durations.before_launch(number) for number, each in enumerate(result.launch_ticks)]
        for row, (fewer, more) in zip(of, pairs(ticks), strict=True):
            steady, whole = row.of_one(fewer, more), more / row.repetitions(row.trips[1])
            cycle, known = machine.ticks_per_cycle, (measured or {}).get(row.name)
            found.append(MicroResult(row, row.limit.cycles(machine), steady / cycle, whole / cycle, known))
    left_out = tuple(
        f"{row.name}: needs compute capability {'.'.join(map(str, row.capability))}"
        for row in rows()
        if row.capability > capability
    )
    return Micro(machine, tuple(found), left_out, tuple(notes))


def _capability(machine: Machine) -> tuple[int, int]:
    if machine.compute_capability is None:
        raise StudyError(
            f"machine {machine.name}: has no compute_capability: micro-kernels and their limits are for NVIDIA's GPUs"
        )
    major, _, minor = machine.compute_capability.partition(".")
    found = int(major), int(minor)
    if found < LEAST:
        raise StudyError(
            f"machine {machine.name}: compute_capability = {machine.compute_capability!r}: must be at least "
            f"{'.'.join(map(str, LEAST))} for micro-kernels"
        )
    return found
