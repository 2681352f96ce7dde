"""Launches of a run compared with the same launches on a GPU."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simtmm.analysis.nsight.instances import instances, names_of_launches
from simtmm.errors import StudyError, nearest
from simtmm.measurement.nsight import COUNTED, UNKNOWN, Device, KernelName, NsightLaunch, kernel_name, of_shape

if TYPE_CHECKING:
    from simtmm.analysis.run.outcome import Run
    from simtmm.trace.info import TraceInfo

SHOWN = 5  # launches that a message names
_UNITS = {"bytes_read": "bytes", **dict.fromkeys(("seconds", "total", "mean", "median", "least", "most"), "s")}


@dataclass(frozen=True)
class Compared:
    """A quantity, by its name in COUNTED or LINES: in seconds, bytes, a share of 1, or a count."""

    name: str
    simulated: float
    measured: float
    is_share: bool = False

    @property
    def difference(self) -> float | None:
        """Simulated over measured, less 1; of shares simulated less measured. None where a count measured is 0."""
        if self.is_share:
            return self.simulated - self.measured
        return self.simulated / self.measured - 1 if self.measured else None

    @property
    def unit(self) -> str:
        """What both values are in: "s", "bytes", "share" (a part of 1), or "count"."""
        return "share" if self.is_share else _UNITS.get(self.name, "count")

    def to_dict(self) -> dict[str, Any]:
        """The values, for JSON."""
        return {"simulated": self.simulated, "measured": self.measured, "difference": self.difference}


@dataclass(frozen=True)
class LaunchBeside:
    """A launch of a run, by its number, and what is known of it from both.

    tool: that measured it. device: the GPU, as far as the export says.
    """

    number: int
    kernel: str
    compared: tuple[Compared, ...]
    tool: str = ""
    device: Device = UNKNOWN

    def to_dict(self) -> dict[str, Any]:
        """The whole object, for JSON."""
        rows = {each.name: each.to_dict() for each in self.compared}
        return {"number": self.number, "kernel": self.kernel, "tool": self.tool, "gpu": self.device.name, **rows}


def launches_beside(
    run: "Run", measured: Sequence[tuple[str, NsightLaunch]]
) -> tuple[tuple[LaunchBeside, ...], tuple[str, ...]]:
    """Launches of both, in the order of the run, and the kernels that only the export has.

    Launches match by kernel, grid and block, and of those that are alike in order. Times are those behind a launch's
    overhead, which Nsight's are, too. Raises StudyError where several instances of a template may be meant.

    run: one of a trace.
    measured: launches of exports with the tool that measured them, in order.
    """
    assert run.info is not None
    found: list[LaunchBeside] = []
    left_out: dict[str, None] = {}
    for tool in dict.fromkeys(tool for tool, _ in measured):
        own = [launch for each, launch in measured if each == tool]
        names = {launch.name: kernel_name(launch.name or launch.kernel) for launch in own}
        open_launches = list(range(len(run.info.launches)))
        is_same = _matching(run.info, own, names)
        for each in own:
            match = next((number for number in open_launches if is_same(number, each)), None)
            if match is None:
                left_out[each.kernel] = None
                continue
            open_launches.remove(match)
            compared = tuple(_compared(run, match, each))
            found.append(LaunchBeside(match, each.kernel, compared, tool, each.device))
    return tuple(sorted(found, key=lambda launch: launch.number)), tuple(left_out)


def no_match(run: "Run", measured: Sequence[NsightLaunch]) -> StudyError:
    """The error of an export without a launch of the run.

    run: one of a trace.
    measured: launches of the export.
    """
    launches = run.info.launches if run.info else ()
    told = ", ".join(sorted({_shape(each.kernel, each.grid, each.block) for each in measured})[:SHOWN])
    mine = ", ".join(sorted({_shape(each.kernel, each.grid, each.block) for each in launches})[:SHOWN])
    hint = nearest(measured[0].kernel, {launch.kernel for launch in launches})
    return StudyError(f"no measured launch matches this run: measured {told}; simulated {mine}{hint}")


def _shape(kernel: str, grid: Iterable[int], block: Iterable[int]) -> str:
    sizes = f"{'x'.join(map(str, grid))} of {'x'.join(map(str, block))}"
    return f"{kernel} {sizes}" if grid else kernel


def _matching(
    info: "TraceInfo", measured: Sequence[NsightLaunch], names: dict[str, KernelName]
) -> Callable[[int, NsightLaunch], bool]:
    """Whether a launch, by its number, may be a measured one.

    A trace's launches have the names of functions alone: which instance of a template one is, their order says. So all
    of them must have been measured where there are several. Likewise where an export has no shapes.
    """
    own_names = names_of_launches(info)
    here = Counter(each.name.base for each in instances(info))

    def is_same(number: int, other: NsightLaunch) -> bool:
        launch = info.launches[number]
        return of_shape(other, launch.grid, launch.block) and own_names[number].may_be(names[other.name])

    groups: dict[tuple[Any, ...], list[NsightLaunch]] = defaultdict(list)
    for launch in measured:
        groups[names[launch.name].base, launch.grid, launch.block].append(launch)
    for (base, grid, block), own in groups.items():
        mine = [launch for number, launch in enumerate(info.launches) if any(is_same(number, each) for each in own)]
        there = {(names[each.name].template, names[each.name].parameters) for each in own}
        if not mine or len(own) == len(mine):
            continue
        if here[base] > 1:
            raise StudyError(
                f"{_shape(base, grid, block)}: {len(own)} launches of {len(there)} instances of the template are "
                f"measured, {len(mine)} of {here[base]} simulated: which is which? measure all of the program"
            )
        if not grid and len({(each.grid, each.block) for each in mine}) > 1:
            raise StudyError(
                f"{base}: the export has no grid and block, and launches here differ in theirs: "
                f"measure all {len(mine)}, or export --page raw"
            )
    return is_same


def _compared(run: "Run", number: int, measured: NsightLaunch) -> Iterable[Compared]:
    machine = run.machine
    seconds = launch_seconds(run, number)
    row = dict(run.result.launches[number])
    if machine.memory.l2 is None or machine.memory.l2.writes != "back":
        row["memory_bytes"] = None  # which has stores, too
    for name, counted in COUNTED.items():
        if is_sampled(run) and not counted.is_share:
            continue  # the counts of some blocks are none of a launch
        simulated = counted.of(row, seconds)
        if name in measured.values and simulated is not None:
            yield Compared(name, simulated, measured.values[name], counted.is_share)


def launch_seconds(run: "Run", number: int) -> float | None:
    """The time of a launch behind its overhead [s]; None where the machine has no clock.

    run: one of a trace.
    number: of the launch.
    """
    machine = run.machine
    in_graph = run.info is not None and run.info.launches[number].in_graph
    ticks = run.result.launch_ticks[number] - machine.durations.before_launch(number, in_graph)
    return None if machine.clock_hz is None else ticks / machine.ticks_per_cycle / machine.clock_hz


def is_sampled(run: "Run") -> bool:
    """Whether only some blocks of the launches were simulated, so that counts and times are not those of launches.

    run: of a program.
    """
    return run.sampling is not None or run.sampled is not None
