"""Issue: what holds a port, for how long, and what leaves it (docs/machine.md, section 5)."""

from typing import TYPE_CHECKING

from simtmm.engine.reference.moment import RELEASE, Waiting
from simtmm.engine.reference.waits import may_start_async, wait_for_memory
from simtmm.stalls import QUEUES, Count, Reason
from simtmm.timeline import COPIES, WarpState
from simtmm.workload import (
    ASYNC,
    ATOMIC,
    BARRIER,
    COMPUTE,
    COPY,
    DRAIN,
    FINISH,
    GIVE_REGISTERS,
    GRID_BARRIER,
    JOIN,
    LISTED,
    LOAD,
    MBARRIER,
    OF_CLASS,
    PASSES_SHIFT,
    PAUSE,
    PRODUCT,
    REDUCE,
    REMOTE,
    SETTLE,
    SHARED,
    STORE,
    STORE_GROUP,
    SYNC,
    TAKE_REGISTERS,
)

if TYPE_CHECKING:
    from simtmm.engine.reference.warp import Warp

CONTROL = (
    JOIN, BARRIER, PAUSE, SYNC, SETTLE, GRID_BARRIER, MBARRIER, PRODUCT, FINISH, STORE_GROUP, DRAIN, REMOTE,
    GIVE_REGISTERS, TAKE_REGISTERS,
)  # fmt: skip


def computes(kind: int) -> bool:
    """Whether an operation is a compute, of any class or of none."""
    return kind == COMPUTE or kind >= OF_CLASS


def hold_segment(warp: "Warp", port: int) -> Waiting:
    """Switch on a stall: the port is held up to the next wait or control operation (section 5)."""
    while True:
        ticks, last = next_segment(warp)
        warp.run.report.port_busy += ticks
        yield from warp.until(int(warp.env.now) + ticks, RELEASE, port)
        finish = act(warp, last)
        start = pass_pipe(warp, last, warp.amounts[warp.position - 1]) if last else int(warp.env.now)
        if finish is not None or start > warp.env.now or last is None or not next_issues(warp):
            break
    warp.group.release(port)
    if finish is not None:
        yield from wait_for_memory(warp, finish, warp.places[warp.position - 1], warp.run.memory.way.access)
    elif start > warp.env.now:
        yield from wait_for_pipe(warp, int(warp.env.now), start, warp.places[warp.position - 1])


def next_segment(warp: "Warp") -> tuple[int, int | None]:
    """Take the operations of a segment that starts now: its length in ticks, and the operation that ends it, if it
    does more than compute: that of memory, or of a class with a pipe.
    """
    ticks, issue = 0, warp.run.issue_ticks
    now = int(warp.env.now)
    while warp.position < len(warp.kinds):
        kind, amount = warp.kinds[warp.position], warp.amounts[warp.position]
        if kind in CONTROL or (kind == ASYNC and not may_start_async(warp, now + ticks)):
            break
        instructions = amount if computes(kind) else 1
        held = amount & LISTED if kind == SHARED and not warp.run.piped else 1
        book_issuing(warp, instructions, held)
        warp.position += 1
        warp.run.report.issued += instructions
        ticks += issue * held * instructions
        if warp.group.pipes.has(kind) or not (computes(kind) or (kind == SHARED and not warp.run.piped)):
            return ticks, kind
    return ticks, None


def book_issuing(warp: "Warp", instructions: int, degree: int) -> None:
    """Book what the operation at `position` takes its port for."""
    place, issue = warp.places[warp.position], warp.run.issue_ticks
    warp.issued += instructions
    warp.bookings.book(place, Reason.ISSUING, instructions * issue)
    warp.bookings.book(place, Reason.BANK_CONFLICTS, (degree - 1) * issue)
    warp.bookings.count(place, Count.INSTRUCTIONS, instructions)
    warp.bookings.count(place, Count.CONFLICTS, degree - 1)


def next_issues(warp: "Warp") -> bool:
    """Whether the next operation needs a port and may start now."""
    if warp.position == len(warp.kinds):
        return False
    kind = warp.kinds[warp.position]
    return kind not in CONTROL and (kind != ASYNC or may_start_async(warp, int(warp.env.now)))


def hold_instruction(warp: "Warp", port: int) -> Waiting:
    """Switch on every instruction: the port is held for one, the next grant waits out the pipeline."""
    warp.granted_at, warp.port = int(warp.env.now), port
    warp.in_port = kind = warp.kinds[warp.position]
    amount = warp.amounts[warp.position]
    held = amount & LISTED if kind == SHARED and not warp.run.piped else 1
    ticks = warp.run.issue_ticks * held
    book_issuing(warp, 1, held)
    warp.computed += 1
    if not computes(kind) or warp.computed == amount:
        warp.position += 1
        warp.computed = 0
    warp.run.report.issued += 1
    warp.run.report.port_busy += ticks
    yield from warp.until(warp.granted_at + ticks, RELEASE, port)
    finish = act(warp, kind)
    start = pass_pipe(warp, kind, 1)
    warp.group.release(port)
    if finish is not None:
        yield from wait_for_memory(warp, finish, warp.place, warp.run.memory.way.access)
    else:
        wakes = warp.granted_at + max(ticks, warp.run.pipeline_depth)
        yield from wait_for_pipe(warp, wakes, max(wakes, start), warp.place)


def pass_pipe(warp: "Warp", kind: int, instructions: int) -> int:
    """So many instructions that have just left their port pass their pipe: the start of the last (section 5)."""
    now = int(warp.env.now)
    if not warp.group.pipes.has(kind):
        return now
    return warp.group.pipes.take(kind, warp.slot, now - (instructions - 1) * warp.run.issue_ticks, instructions)


def wait_for_pipe(warp: "Warp", wakes: int, start: int, place: int) -> Waiting:
    """Wait out the pipeline, and from there on for the start of an instruction in its pipe."""
    now = int(warp.env.now)
    pipeline, queue = wakes - now, start - wakes
    warp.bookings.book(place, Reason.INSTRUCTION_LATENCY, pipeline)
    warp.bookings.book(place, Reason.PIPE_QUEUE, queue)
    warp.piped += queue
    longest = Reason.PIPE_QUEUE if queue > pipeline else Reason.INSTRUCTION_LATENCY
    warp.turn(WarpState.PIPELINE, place, longest)
    yield from warp.wake(start)


def act(warp: "Warp", access: int | None) -> int | None:
    """The memory instruction just taken, if any, leaves its port: its finish if the warp waits for it."""
    if access is None or computes(access):
        return None
    if access == SHARED:
        act_on_shared(warp, warp.amounts[warp.position - 1])
        return None
    amount = warp.amounts[warp.position - 1]
    count, passes = amount & LISTED, 1 + (amount >> PASSES_SHIFT)
    chunks, sectors = (of[warp.chunk_position : warp.chunk_position + count] for of in (warp.chunks, warp.sectors))
    warp.chunk_position += count
    place, memory = warp.places[warp.position - 1], warp.run.memory
    before, hits = memory.counted.by_place, memory.counted.l1_hits
    finish = memory.access(warp.group.number, warp.slot, access, chunks, sectors, passes, int(warp.env.now))
    warp.bookings.access(place, count, memory.counted.by_place - before)
    if access in (LOAD, ASYNC):
        warp.hits += memory.counted.l1_hits - hits
        warp.misses += count - (memory.counted.l1_hits - hits)
    if access == ASYNC:
        is_last = not warp.latest_finish or finish > warp.latest_finish[-1]
        warp.latest.append((place, memory.way.access) if is_last else warp.latest[-1])
        warp.in_flight.append(finish)
        warp.untaken += 1
        warp.latest_finish.append(max(finish, warp.latest_finish[-1]) if warp.latest_finish else finish)
    if access == COPY:
        warp.note_unit(COPIES, memory.copy_free[warp.group.number] - memory.copy_interval, finish)
        warp.copies, warp.copying = True, warp.copying if warp.copied else int(warp.env.now)
        if finish > warp.copied:
            queues = {reason: memory.way.access.get(reason, 0) for reason in QUEUES}
            warp.copied, warp.queued = finish, (sum(queues.values()), max(QUEUES, key=lambda each: queues[each]))
    if access == STORE:
        warp.left = memory.out_free(warp.group.number, int(warp.env.now))
    if access in (STORE, REDUCE) and finish > warp.stored[0]:
        warp.stored = finish, place, memory.way.access
    waits = access in (LOAD, ATOMIC) or (access == STORE and warp.run.blocking_stores)
    return finish if waits else None


def act_on_shared(warp: "Warp", amount: int) -> None:
    """The shared access just taken leaves its port: it passes the group's pipe, if that has one."""
    if not warp.run.piped:
        return
    passes, least = amount & LISTED, 1 + (amount >> PASSES_SHIFT)
    place, takes = warp.places[warp.position - 1], warp.run.machine.durations
    settled = warp.run.memory.access_shared(warp.group.number, passes, int(warp.env.now))
    own = takes.shared_latency + (least - 1) * takes.shared_pass
    warp.bookings.count(place, Count.CONFLICTS, passes - least)
    warp.shared.append((settled, own, (passes - least) * takes.shared_pass, place))
