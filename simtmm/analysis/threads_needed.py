"""Threads: how many a core needs to hide the latency, by simulation and by the TMM.

By the TMM (Ma, dissertation (2014), Eq (3.2)) the latency is hidden where M L / (T P) is no larger than the rest. In a
simulation it is where the run takes hardly longer than one in which memory answers in a cycle. For that the machine's
limits are lifted: a core group holds as many warps as the search says, whatever its registers, its shared memory and
its limit of blocks; so the answer may be more than the machine can hold, which is stated beside it.
"""

from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simtmm.display import Displayed
from simtmm.engine import simulate
from simtmm.errors import StudyError
from simtmm.extras import frame
from simtmm.machine import Machine
from simtmm.model.latency_hiding import Hiding, hiding_of_trace
from simtmm.program import Program, open_program
from simtmm.provenance import provenance
from simtmm.trace.counts import lower_and_count
from simtmm.trace.io import Trace
from simtmm.trace.lower import fit
from simtmm.watch import Watch, tell, telling, watched

if TYPE_CHECKING:
    import pandas

TOLERANCE = 0.05  # of the run without latency
ROOM = 1 + 1e-9  # so that rounding takes no warp away


@dataclass(frozen=True)
class ThreadsNeeded(Displayed):
    """How many threads per core hide the latency.

    by_simulation: the fewest found, None where all that the program has are not enough. all_threads: per core, if the
    machine held all of them. without_latency: cycles where memory answers in a cycle; as_it_is: cycles on the machine
    with its limits; with_all: cycles with all threads. model: by the TMM. probes: what was simulated, (threads per
    core, cycles), fewest first.

    More threads need not be faster (docs/anomalies.md), so the search can miss fewer threads that hide the latency,
    too. What is tried are the numbers of threads at which the blocks need a wave less.
    """

    program: str
    parameters: Mapping[str, Any]
    machine: Machine
    tolerance: float
    by_simulation: float | None
    all_threads: float
    without_latency: float
    as_it_is: float
    with_all: float
    model: Hiding
    probes: tuple[tuple[float, float], ...]
    provenance: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()  # what it was compiled for, where that is not the machine's own

    def to_frame(self) -> "pandas.DataFrame":
        """A row for each number of threads that was simulated. Raises OutputError if pandas is not installed."""
        return frame([{"threads_per_core": threads, "cycles": cycles} for threads, cycles in self.probes])

    def to_dict(self) -> dict[str, Any]:
        """The whole object, for JSON."""
        return {
            "program": self.program,
            "parameters": dict(self.parameters),
            "warnings": list(self.warnings),
            "machine": {"name": self.machine.name, **self.machine.to_dict()},
            "tolerance": self.tolerance,
            "by_simulation": self.by_simulation,
            "all_threads": self.all_threads,
            "cycles": {
                "without_latency": self.without_latency,
                "as_it_is": self.as_it_is,
                "with_all": self.with_all,
            },
            "tmm": {**asdict(self.model), "limit": self.model.limit},
            "probes": [{"threads_per_core": threads, "cycles": cycles} for threads, cycles in self.probes],
            "provenance": dict(self.provenance),
        }


def threads_needed(
    source: "str | Path | Trace",
    machine: Machine,
    parameters: Mapping[str, object] | None = None,
    tolerance: float = TOLERANCE,
    watch: Watch | None = None,
    form: str | None = None,
) -> ThreadsNeeded:
    """Find how many threads per core a program needs on a machine until latency is hidden, by bisection.

    source: a trace, its file (.parquet), or a kernel, which is recorded with `parameters` first. tolerance: how much
    longer a run may take than one without latency. form: "written", "compiled" or "ptx", how a kernel is recorded (see
    simtmm.record). Raises the errors of the steps (simtmm.errors).
    """
    if not 0 < tolerance < 10:
        raise StudyError(f"tolerance = {tolerance}: must be above 0 and below 10")
    with watched(watch):
        program = open_program(source, parameters, None, ("kernel", "trace"), machine, form)
        return _of_program(program, machine, tolerance)


def _of_program(program: Program, machine: Machine, tolerance: float) -> ThreadsNeeded:
    trace = program.trace
    assert trace is not None
    workload, counts = lower_and_count(trace, machine, telling("lowering"))
    steps = _warps(trace, machine)
    if not trace.info.launches:
        raise StudyError(f"{trace.info.kernel}: has no launches")
    probes: dict[int, float] = {}

    def cycles(on: Machine) -> float:
        tell("simulations", len(probes), len(steps).bit_length() + 3)
        return simulate(on, fit(workload, trace.info, on), breakdown=False, progress=telling("simulating")).cycles

    def hidden(warps: int) -> bool:
        if warps not in probes:
            probes[warps] = cycles(with_room(machine, warps))
        return probes[warps] <= limit

    free = cycles(without_latency(with_room(machine, steps[-1])))
    limit = free * (1 + tolerance)
    found = None
    if hidden(steps[-1]):
        found = steps[bisect_left(steps, True, key=hidden)]
    threads = {
        warps: warps * machine.cores.warp_width / machine.cores.cores_per_group for warps in {*probes, steps[-1]}
    }
    return ThreadsNeeded(
        program=trace.info.kernel,
        parameters=trace.info.parameters,
        machine=machine,
        tolerance=tolerance,
        by_simulation=None if found is None else threads[found],
        all_threads=threads[steps[-1]],
        without_latency=free,
        as_it_is=cycles(machine),
        with_all=probes[steps[-1]],
        model=hiding_of_trace(trace, machine, counts),
        probes=tuple((threads[warps], probes[warps]) for warps in sorted(probes)),
        provenance={**provenance(), "machine": machine.digest(), "trace": trace.info.digest},
        warnings=program.notes,
    )


def with_room(machine: Machine, warps: int) -> Machine:
    """The machine whose groups hold so many warps, and nothing else limits them."""
    cores = machine.cores
    threads = max(warps * cores.warp_width / cores.cores_per_group * ROOM, 1.0)
    limits = {"warps_per_group": warps}
    return machine.replace({"cores.max_threads_per_core": threads, "limits": limits, "resources": {}})


def without_latency(machine: Machine) -> Machine:
    """The machine whose memory and caches answer in a cycle."""
    changes: dict[str, float] = {"memory.latency": 1.0}
    for name in ("l1", "l2"):
        if getattr(machine.memory, name) is not None:
            changes[f"memory.{name}.latency"] = 1.0
    if machine.memory.store_latency is not None:
        changes["memory.store_latency"] = 1.0
    return machine.replace(changes)


def _warps(trace: Trace, machine: Machine) -> list[int]:
    """The numbers of warps of a group at which a launch needs a wave of blocks less, from one block to all at once.

    Between two of them the last wave is not full, hides less, and may make the run longer than with fewer warps.
    """
    width, groups = machine.cores.warp_width, machine.cores.groups
    shapes = {(launch.blocks, -(-launch.threads_per_block // width)) for launch in trace.info.launches}
    least = max((warps for _, warps in shapes), default=0)
    found = {least}
    for blocks, warps in shapes:
        of_group = -(-blocks // groups)
        found |= {max(warps * -(-of_group // waves), least) for waves in range(1, of_group + 1)}
    return sorted(found)
