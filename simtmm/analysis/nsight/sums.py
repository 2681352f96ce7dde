"""The times of a kernel's launches together, compared with the sums of Nsight Systems."""

import statistics
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simtmm.analysis.nsight.instances import instances, names_of_launches
from simtmm.analysis.nsight.launches import Compared, is_sampled, launch_seconds
from simtmm.errors import StudyError, shown
from simtmm.measurement.nsight import TimeSum, kernel_name

if TYPE_CHECKING:
    from simtmm.analysis.run.outcome import Run


@dataclass(frozen=True)
class SumBeside:
    """A kernel's launches together. launches, measured_launches: how many are simulated, and were measured."""

    kernel: str
    launches: int
    measured_launches: int
    compared: tuple[Compared, ...]

    def to_dict(self) -> dict[str, Any]:
        """The whole object, for JSON."""
        numbers = {"launches": self.launches, "measured_launches": self.measured_launches}
        return {"kernel": self.kernel, **numbers, **{each.name: each.to_dict() for each in self.compared}}


def sums_beside(run: "Run", measured: Sequence[TimeSum]) -> tuple[tuple[SumBeside, ...], tuple[str, ...]]:
    """Kernels of both, in the order of the export, and those that only the export has.

    The total is compared only where as many launches were measured as are simulated. Raises StudyError where a name may
    be that of several kernels.

    run: one of a trace.
    measured: rows of the export.
    """
    assert run.info is not None
    own_names = names_of_launches(run.info)
    here = Counter(each.name.base for each in instances(run.info))
    found: list[SumBeside] = []
    left_out: dict[str, None] = {}
    for each in measured:
        name = kernel_name(each.name)
        numbers = [
            number
            for number, launch in enumerate(run.info.launches)
            if own_names[number].may_be(name)
            and (not each.grid or (tuple(launch.grid), tuple(launch.block)) == (each.grid, each.block))
        ]
        if not numbers:
            left_out[each.kernel] = None
            continue
        alike = [
            other
            for other in measured
            if (other.grid, other.block) == (each.grid, each.block)
            and own_names[numbers[0]].may_be(kernel_name(other.name))
        ]
        if here[name.base] > 1 or len(alike) > 1:
            raise StudyError(
                f"{each.place}: Name = {shown(each.name)}: {len(alike)} such kernels are measured, {here[name.base]} "
                "simulated, whose launches have one name here: give a trace (nsys stats --report cuda_gpu_trace)"
            )
        seconds = [launch_seconds(run, number) for number in numbers]
        compared = () if is_sampled(run) else tuple(_compared([s for s in seconds if s is not None], each))
        found.append(SumBeside(each.kernel, len(numbers), each.number, compared))
    return tuple(found), tuple(left_out)


def _compared(seconds: Sequence[float], measured: TimeSum) -> list[Compared]:
    if not seconds:
        return []
    values = {
        "mean": statistics.fmean(seconds),
        "median": statistics.median(seconds),
        "least": min(seconds),
        "most": max(seconds),
    }
    if len(seconds) == measured.number:
        values = {"total": sum(seconds), **values}
    return [Compared(name, value, measured.seconds[name]) for name, value in values.items() if name in measured.seconds]
