"""What is changed to see what would help: keys of the machine, or operations of the program."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from simtmm.engine import causes
from simtmm.machine import Machine
from simtmm.stalls import CLASSES
from simtmm.workload import BARRIER, JOIN, LARGEST, LISTED, PASSES_SHIFT, PAUSE, SHARED, SYNC, Workload

MORE_WARPS = "warps"  # no cause: what hides latency
SHARED_SERVICE = "banks.service"  # a whole number of cycles in a machine's file, which `faster_banks` halves


@dataclass(frozen=True)
class Change:
    """One change that relieves a cause.

    keys: of the machine, each to a multiple or a value.
    of_workload: what becomes of the operations.
    halves: whether the cost is halved, else it is taken away.
    parameters: by what each is called, the keys of a parameter that may be the one that limits.
    stalls: times as long as instructions' stalls are now.
    """

    cause: str
    words: str
    keys: Mapping[str, float | str]
    of_workload: Callable[[Workload], Workload] | None = None
    halves: bool = True
    parameters: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    stalls: float = 1.0

    def of_parameter(self, name: str) -> "Change":
        """The same with the keys of one parameter alone."""
        keys = {key: value for key, value in self.keys.items() if key in self.parameters[name]}
        return replace(self, keys=keys, parameters={})


def without_barriers(workload: Workload) -> Workload:
    """With joins instead of barriers, which wait for the asyncs that these wait for, and no pauses behind them."""
    chosen, without_waits = np.isin(workload.kind, (BARRIER, SYNC)), workload.kind == SYNC
    if not chosen.any():
        return workload
    what, amount = workload.kind.copy(), workload.amount.copy()
    what[chosen], amount[without_waits] = JOIN, LARGEST
    amount[1:][chosen[:-1] & (workload.kind[1:] == PAUSE)] = 1
    return replace(workload, kind=what, amount=amount)


def _without_conflicts(amount: np.ndarray) -> np.ndarray:
    """Amounts of shared accesses that take the passes that they would take without conflicts."""
    least = amount >> PASSES_SHIFT
    return 1 + least + (least << PASSES_SHIFT)


def faster_banks(machine: Machine, workload: Workload) -> tuple[Machine, Workload]:
    """Passes over the banks of shared memory take half as long; those that conflicts add take as long as before.

    So what binds a program whose accesses have conflicts stays the conflicts.
    """
    takes = machine.durations
    if not takes.shared_pass:
        return machine, workload
    faster = machine.model_copy()
    faster.__dict__["durations"] = replace(takes, shared_pass=takes.shared_pass // 2)
    return faster, with_amounts(workload, SHARED, _in_half_passes)


def _in_half_passes(amount: np.ndarray) -> np.ndarray:
    """Of shared accesses: two for each pass that conflicts add, one for each other."""
    least = amount >> PASSES_SHIFT  # less one
    return np.asarray(2 * (amount & LISTED) - 1 - least + (least << PASSES_SHIFT))


def _halved(parameters: Mapping[str, tuple[str, ...]]) -> dict[str, float | str]:
    """All keys of some parameters, each to half."""
    return dict.fromkeys((key for keys in parameters.values() for key in keys), "x0.5")


OF_MEMORY = {
    "DRAM": ("memory.service",),
    "turns between loads and stores": ("memory.turnaround",),
    "rows that open": ("memory.rows.opening",),
    "a core group's path": ("memory.fetch_interval",),
}
_OF_L2 = {
    "bytes of loads": ("memory.l2.service",),
    "bytes of stores": ("memory.l2.store_service",),
    "load requests": ("memory.l2.request_service",),
    "store requests": ("memory.l2.store_request_service",),
    "the way between its halves": ("memory.l2.far_service",),
}
_OF_PORTS = {
    "chunks that leave": ("memory.port_interval",),
    "stores": ("memory.store_interval",),
    "access rate": ("memory.pipe.access_interval",),
    "L1 tags": ("memory.pipe.tag_interval",),
    "L1 banks": ("memory.pipe.interval",),
    "L1 fills": ("memory.pipe.fill_interval",),
    "stores on their way out": ("memory.pipe.drain_interval",),
    "misses in flight": ("memory.pipe.misses",),
    "return path": ("memory.return_interval", "memory.return_delay"),  # a store waits for what its warp has loaded
    "shared memory's banks": (SHARED_SERVICE,),
}
_OF_PIPES = {name: (f"pipes.{name}.interval",) for name in CLASSES}
_OF_BLOCK_STARTS = ("scheduling.block_launch", "scheduling.block_interval", "scheduling.warp_launch")
_OF_LAUNCHES = ("scheduling.launch_overhead", "scheduling.graph_launch_overhead", "scheduling.first_launch")

CHANGES = (
    Change(
        causes.LATENCY,
        "the latency halved",
        dict.fromkeys(
            (
                "memory.latency",
                "memory.store_latency",
                "memory.l1.latency",
                "memory.shared_l1.latency",
                "memory.l2.latency",
                "memory.l2.far_latency",
                "memory.l2.atomic_latency",
                "memory.last_level.latency",
                "memory.first_access",
                "memory.tlb.miss",
            ),
            "x0.5",
        ),
    ),
    Change(causes.MEMORY_BANDWIDTH, "memory's bandwidth doubled", _halved(OF_MEMORY), parameters=OF_MEMORY),
    Change(causes.L2_BANDWIDTH, "the L2's bandwidth doubled", _halved(_OF_L2), parameters=_OF_L2),
    Change(
        causes.LAST_LEVEL_BANDWIDTH,
        "the last-level cache's bandwidth doubled",
        {"memory.last_level.service": "x0.5", "memory.last_level.bandwidth": "x2"},
    ),
    Change(causes.SHARED_L1_BANDWIDTH, "the shared L1s' bandwidth doubled", {"memory.shared_l1.service": "x0.5"}),
    Change(
        causes.PORT_BANDWIDTH,
        "the memory ports' bandwidth doubled",
        _halved(_OF_PORTS) | {"memory.pipe.misses": "x2"},
        parameters=_OF_PORTS,
    ),
    Change(causes.ATOMICS, "atomics twice as fast", {"memory.atomic_service": "x0.5"}),
    Change(causes.ISSUE, "twice the issue rate", {"cores.cores_per_group": "x2", "cores.issue_ports": "x2"}),
    Change(causes.PIPES, "pipes of instructions twice as fast", _halved(_OF_PIPES), parameters=_OF_PIPES),
    Change(
        causes.DEPENDENCE,
        "the latency of instructions halved",
        {"scheduling.pipeline_depth": "x0.5"},
        stalls=0.5,
    ),
    Change(
        causes.SHARED_MEMORY,
        "no bank conflicts",
        {},
        lambda workload: with_amounts(workload, SHARED, _without_conflicts),
        halves=False,
    ),
    Change(causes.BARRIERS, "no barriers", {}, without_barriers, halves=False),
    Change(
        causes.LAUNCHES,
        "launches that cost nothing",
        dict.fromkeys((*_OF_LAUNCHES, *_OF_BLOCK_STARTS), 0),
        halves=False,
    ),
)
# Of a cause, what it is called where these keys alone gain all that its change does
NARROWER = {
    causes.MEMORY_BANDWIDTH: Change(
        causes.GROUPS_PATH, "each core group's path to memory doubled", {"memory.fetch_interval": "x0.5"}
    ),
    causes.LAUNCHES: Change(
        causes.BLOCK_STARTS,
        "blocks that start at once",
        dict.fromkeys(_OF_BLOCK_STARTS, 0),
        halves=False,
    ),
}


def joined(changes: Sequence[Change]) -> Change:
    """All of them at once."""
    keys = {key: value for change in changes for key, value in change.keys.items()}
    of_workloads = [change.of_workload for change in changes if change.of_workload is not None]

    def change_all(workload: Workload) -> Workload:
        for each in of_workloads:
            workload = each(workload)
        return workload

    words, stalls = listed([change.words for change in changes]), math.prod(change.stalls for change in changes)
    of_workload = change_all if of_workloads else None
    return Change(listed([change.cause for change in changes]), words, keys, of_workload, stalls=stalls)


def listed(words: Sequence[str]) -> str:
    """As in "a, b and c"."""
    return f"{', '.join(words[:-1])} and {words[-1]}" if len(words) > 1 else "".join(words)


def with_amounts(workload: Workload, kind: int, change: Callable[[np.ndarray], np.ndarray]) -> Workload:
    """The workload with other amounts of one kind of operation; itself where it has none. change: of the amounts."""
    chosen = workload.kind == kind
    if not chosen.any():
        return workload
    amount = workload.amount.copy()
    amount[chosen] = change(amount[chosen])
    return replace(workload, amount=amount)
