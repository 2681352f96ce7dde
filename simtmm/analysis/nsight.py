"""A run compared with Nsight Compute's measurements of the same launches on a GPU."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simtmm.errors import StudyError, nearest
from simtmm.measurement.nsight import COUNTED, NsightLaunch

if TYPE_CHECKING:
    from simtmm.analysis.run.outcome import Run
    from simtmm.trace.schema import TraceLaunch


@dataclass(frozen=True)
class Compared:
    """A quantity of a launch, by its name in COUNTED: in seconds, bytes, a share of 1, or a count."""

    name: str
    simulated: float
    measured: float

    @property
    def difference(self) -> float | None:
        """Simulated over measured, less 1; of shares simulated less measured. None where a count measured is 0."""
        if COUNTED[self.name].is_share:
            return self.simulated - self.measured
        return self.simulated / self.measured - 1 if self.measured else None


@dataclass(frozen=True)
class LaunchBeside:
    """A launch of a run, by its number, and what is known of it from both."""

    number: int
    kernel: str
    compared: tuple[Compared, ...]

    def to_dict(self) -> dict[str, Any]:
        """The whole object, for JSON."""
        rows = {
            each.name: {"simulated": each.simulated, "measured": each.measured, "difference": each.difference}
            for each in self.compared
        }
        return {"number": self.number, "kernel": self.kernel, **rows}


@dataclass(frozen=True)
class Beside:
    """A run beside an export.

    launches: those of both, in the order of the run. left_out: kernels that only the export has.
    """

    launches: tuple[LaunchBeside, ...]
    left_out: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """The whole object, for JSON."""
        return {"launches": [each.to_dict() for each in self.launches], "left_out": list(self.left_out)}


def beside(run: "Run", measured: Sequence[NsightLaunch]) -> Beside:
    """Match the launches of an export with a run's: by kernel, grid and block, and of those that are alike in order.

    Times are those behind a launch's overhead, which Nsight's are, too. Raises StudyError where the run has no launches
    of a trace, or none of the export's.

    run: one of a trace.
    measured: launches of the export, in order.
    """
    if run.info is None or run.result.stalls is None:
        raise StudyError(f"{run.program}: has no kernel launches to compare with Nsight Compute")
    open_launches = list(enumerate(run.info.launches))
    found: list[LaunchBeside] = []
    left_out: dict[str, None] = {}
    for each in measured:
        match = next((entry for entry in open_launches if _is_same(entry[1], each)), None)
        if match is None:
            left_out[each.kernel] = None
            continue
        open_launches.remove(match)
        found.append(LaunchBeside(match[0], each.kernel, tuple(_compared(run, match[0], each))))
    if not found:
        names = {launch.kernel for launch in run.info.launches}
        told = ", ".join(sorted({_shape(each.kernel, each.grid, each.block) for each in measured})[:5])
        mine = ", ".join(sorted({_shape(each.kernel, each.grid, each.block) for each in run.info.launches})[:5])
        hint = nearest(measured[0].kernel, names)
        raise StudyError(f"no measured launch matches this run: measured {told}; simulated {mine}{hint}")
    return Beside(tuple(sorted(found, key=lambda launch: launch.number)), tuple(left_out))


def _shape(kernel: str, grid: Iterable[int], block: Iterable[int]) -> str:
    return f"{kernel} {'x'.join(map(str, grid))} of {'x'.join(map(str, block))}"


def _plain(kernel: str) -> str:
    """A kernel's name without its result's type, arguments of a template, and namespaces."""
    return kernel.removeprefix("void ").partition("<")[0].partition("(")[0].rpartition("::")[2]


def _is_same(launch: "TraceLaunch", other: NsightLaunch) -> bool:
    shapes = (tuple(launch.grid), tuple(launch.block)) == (other.grid, other.block)
    return shapes and _plain(launch.kernel) == _plain(other.kernel)


def _compared(run: "Run", number: int, measured: NsightLaunch) -> Iterable[Compared]:
    machine = run.machine
    ticks = run.result.launch_ticks[number] - machine.durations.before_launch(number)
    seconds = None if machine.clock_hz is None else ticks / machine.ticks_per_cycle / machine.clock_hz
    row = dict(run.result.launches[number])
    if machine.memory.l2 is None or machine.memory.l2.writes != "back":
        row["memory_bytes"] = None  # which has stores, too
    for name, counted in COUNTED.items():
        simulated = counted.of(row, seconds)
        if name in measured.values and simulated is not None:
            yield Compared(name, simulated, measured.values[name])
