"""Changes of how many blocks there are, and of what size: so that core groups have work, and room for more warps."""

from collections.abc import Iterator

import numpy as np

from simtmm.analysis.source_changes import blocks, regrouped
from simtmm.analysis.source_changes.changes import evened_out
from simtmm.analysis.source_changes.excerpt import Excerpt
from simtmm.analysis.source_changes.lines import BOUND, ESTIMATE, SIMULATED, Candidate
from simtmm.analysis.source_changes.operations import Operations, count_distinct
from simtmm.errors import MachineError
from simtmm.machine import Machine
from simtmm.trace.schema import TraceLaunch
from simtmm.workload import ASYNC, BARRIER, JOIN, LOAD, STORE, SYNC, Workload

SMALL = 64  # threads: smaller blocks than that leave warps or lanes unused on many machines
USUAL = 256  # threads
MANY = 1.5  # loads, or stores, for each wait: they are no chain then
EACH = 4  # blocks whose work one does
WAVES = 2  # blocks for each core group, at least, that are left then
MORE = 1.2  # times the resident warps, or the blocks that a core group has on average
BETTER = 1.1  # times as evenly that blocks are spread
PARTS = (2, 4)  # into which a block may be cut


def of_launch_shape(machine: Machine, part: Excerpt, launch: TraceLaunch | None) -> Iterator[Candidate]:
    """All of them that may help. launch: the longest one; None where its shape is not known."""
    own = part.workload
    has_barriers = bool(np.isin(own.kind, (BARRIER, SYNC)).any())
    is_apart = not any(tally.grid_barriers or tally.waits_for_warps for tally in own.tallies)
    if not is_apart or not own.blocks:
        return
    yield from _of_few(part.machine, own)
    yield from _of_one_warp(part.machine, own, launch)
    if launch is None or count_distinct(np.diff(own.block_warps)) != 1:
        return
    if launch.threads_per_block <= SMALL and not has_barriers:
        yield from _of_small(machine, launch, own)
    of_room = list(_of_room(machine, launch, has_barriers))
    yield from of_room
    if not part.words and not any(each.change == "smaller blocks" for each in of_room):
        yield from _of_tail(machine, launch, own, has_barriers)
    if not has_barriers:
        yield from _of_many(part.machine, own)


def _of_few(machine: Machine, own: Workload) -> Iterator[Candidate]:
    """Whether core groups have no block."""
    groups = machine.cores.groups
    of_launches = np.diff(own.launch_blocks)
    most = int(of_launches.max())
    if not 0 < most <= groups // 2 or own.warps < 2:
        return
    times = -(-groups // most)
    yield Candidate(
        "spread",
        f"share out the work among more blocks: {most:,} block{'s' * (most > 1)} for {groups:,} core groups leave"
        f"{'s' * (most == 1)} the others idle",
        ("", 0, ""), 2.0, BOUND, (),
        lambda of, _: evened_out(of, dict.fromkeys(range(of.workload.blocks), times)),
    )  # fmt: skip


def _of_one_warp(machine: Machine, own: Workload, launch: TraceLaunch | None) -> Iterator[Candidate]:
    """Whether one warp does all, and not one step after another: each load waits for the one before then."""
    waits = int(np.count_nonzero((own.kind == JOIN) & (own.amount == 0)))
    loads, stores = (int(np.count_nonzero(np.isin(own.kind, kinds))) for kinds in ((ASYNC, LOAD), (STORE,)))
    if own.warps != 1 or max(loads, stores) < MANY * max(1, waits):
        return
    threads, groups = 0 if launch is None else launch.threads_per_block, machine.cores.groups
    lanes = max(1, machine.cores.warp_width // max(1, threads))
    who = "one thread" if threads == 1 else "one warp"
    yield Candidate(
        "spread",
        f"share out the work among many threads and blocks: {who} does all of it, on one of {groups:,} core groups",
        ("", 0, ""), 2.0, ESTIMATE, (),
        lambda of, _: _in_usual_blocks(machine, evened_out(of, {0: lanes * groups})),
    )  # fmt: skip


def _in_usual_blocks(machine: Machine, pieces: Workload) -> Workload:
    """Blocks of a warp each, several at a time as one: a GPU starts so many blocks a second, however small."""
    limit = machine.warps_per_group * machine.cores.warp_width // USUAL
    if machine.limits.blocks_per_group is not None:
        limit = min(limit, machine.limits.blocks_per_group)
    return blocks.merged(Operations(pieces), max(1, USUAL // machine.cores.warp_width), 1, max(1, limit))


def _of_small(machine: Machine, launch: TraceLaunch, own: Workload) -> Iterator[Candidate]:
    """Whether blocks are so small that warps are not full, or that the number of blocks is what limits."""
    threads = launch.threads_per_block
    times = USUAL // threads
    limit = blocks_that_fit(machine, launch, times)
    if int(np.diff(own.launch_blocks).max()) < 2 * times or not limit:
        return
    in_a_warp = max(1, machine.cores.warp_width // threads)
    yield Candidate(
        "larger blocks",
        f"launch blocks of {times * threads} threads, say, instead of {threads}"
        + (f": {threads} of {machine.cores.warp_width} lanes of a warp have a thread" if in_a_warp > 1 else ""),
        ("", 0, ""), 1.5, SIMULATED, (),
        lambda of, _: blocks.merged(of, times, in_a_warp, limit),
    )  # fmt: skip


def _of_many(machine: Machine, own: Workload) -> Iterator[Candidate]:
    """Whether there are so many short blocks that they take long to begin."""
    durations, groups = machine.durations, machine.cores.groups
    blocks = int(np.diff(own.launch_blocks).max())
    takes = durations.block_interval * blocks  # however many groups there are
    if blocks < WAVES * EACH * groups or not takes + durations.block_launch + durations.warp_launch:
        return
    yield Candidate(
        "coarsen",
        f"let a thread do the work of {EACH} or more, in a loop with steps as long as the grid, so that there are "
        f"fewer blocks than {blocks:,}: each takes time to begin",
        ("", 0, ""), 1.0, ESTIMATE, (), lambda of, _: regrouped.coarsened(of, EACH),
    )  # fmt: skip


def _of_room(machine: Machine, launch: TraceLaunch, has_barriers: bool) -> Iterator[Candidate]:
    """Whether more warps of smaller blocks, or of blocks that take less, fit on a core group."""
    threads, warps = launch.threads_per_block, -(-launch.threads_per_block // machine.cores.warp_width)
    now = blocks_that_fit(machine, launch, 1)
    if not now:
        return
    resident = now * warps
    fitting = {
        times: limit * warps // times
        for times in PARTS
        if warps % times == 0 and (limit := blocks_that_fit(machine, launch, 1 / times)) is not None
    }
    best = max(fitting, key=lambda times: (fitting[times], -times), default=1)
    if fitting and fitting[best] >= MORE * resident:
        limit = fitting[best] * best // warps
        why = f"{fitting[best]} warps fit on a core group at a time then, {resident} do now"
        yield _smaller(threads, best, limit, why, 1.5, has_barriers)
        return
    terms = machine.block_limits(threads, launch.registers_per_thread, launch.shared_memory_bytes)
    bound = next(resource for resource, count in terms.items() if count == now)
    possible = min((count for resource, count in terms.items() if count is not None and resource != bound), default=now)
    possible = min(possible, 2 * now) if bound == "registers" else possible  # a thread may do with half of its own
    if bound not in LESS or possible <= now or MORE * resident > possible * warps:
        return
    yield Candidate(
        "occupancy",
        f"{LESS[bound]}: it keeps all but {now} block{'s' * (now > 1)} of {warps} warp{'s' * (warps > 1)} out of a "
        f"core group, which has room for {possible} otherwise",
        ("", 0, ""), 1.2, BOUND, (),
        lambda of, _: of.workload.limited(np.full(of.workload.launches, possible, np.int64), of.workload.origin),
    )  # fmt: skip


def _of_tail(machine: Machine, launch: TraceLaunch, own: Workload, has_barriers: bool) -> Iterator[Candidate]:
    """Whether some core groups have a block more than others, which smaller blocks would spread more evenly."""
    threads, warps = launch.threads_per_block, -(-launch.threads_per_block // machine.cores.warp_width)
    count, groups = int(np.diff(own.launch_blocks).max()), machine.cores.groups
    most = -(-count // groups)
    unevenness = {times: -(-count * times // groups) * groups / (count * times) for times in (1, *PARTS)}
    parts = [times for times in PARTS if warps % times == 0 and threads // times >= SMALL]
    best = min(parts, key=lambda times: unevenness[times], default=1)
    limit = blocks_that_fit(machine, launch, 1 / best)
    if count < groups or limit is None or unevenness[1] < max(MORE, BETTER * unevenness[best]):
        return
    why = (
        f"{count:,} blocks are {count / groups:.2f} for each of {groups} core groups, so that some have {most} to do, "
        "and the others wait for them"
    )
    yield _smaller(threads, best, limit, why, 1.0, has_barriers)


def _smaller(threads: int, times: int, limit: int, why: str, weight: float, has_barriers: bool) -> Candidate:
    """Blocks of so many threads cut into so many. limit: blocks that a core group has room for then."""
    return Candidate(
        "smaller blocks",
        f"launch blocks of {threads // times} threads instead of {threads}: {why}",
        ("", 0, ""), weight, BOUND if has_barriers else SIMULATED, (),
        lambda of, _: blocks.split(of, times, limit),
    )  # fmt: skip


LESS = {
    "registers": "let a thread have fewer registers (__launch_bounds__, -maxrregcount), or compute less in each",
    "shared memory": "let a block have less shared memory",
}


def blocks_that_fit(machine: Machine, launch: TraceLaunch, times: float) -> int | None:
    """Blocks that fit on a core group, if each had so many times the threads; None where none fits."""
    threads, shared = int(launch.threads_per_block * times), int(launch.shared_memory_bytes * times)
    try:
        return machine.active_blocks(threads, launch.registers_per_thread, shared)
    except MachineError:
        return None
