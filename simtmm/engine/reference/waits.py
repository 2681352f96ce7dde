"""What warps sleep for: memory, asyncs, barriers, products and pauses (docs/machine.md, section 3)."""

from typing import TYPE_CHECKING

from simpy import Event

from simtmm.engine.reference.mbarriers import Opened
from simtmm.engine.reference.moment import Waiting
from simtmm.engine.reference.stalls import Path
from simtmm.stalls import Reason
from simtmm.timeline import COPIES, WarpState
from simtmm.workload import (
    LISTED,
    STEPS_SHIFT,
)

if TYPE_CHECKING:
    from simtmm.engine.reference.warp import Warp


def wait_for_memory(warp: "Warp", finish: int, place: int, path: Path) -> Waiting:
    """Sleep until an access of this warp has finished, which the wait is booked to."""
    reason = warp.bookings.wait(place, path, finish - int(warp.env.now))
    yield from wait(warp, finish, place, reason)


def wait_for_turn(warp: "Warp", finish: int) -> Waiting:
    """Sleep until the next async may start."""
    place = warp.places[warp.position]
    warp.bookings.book(place, Reason.OUTSTANDING, finish - int(warp.env.now))
    yield from wait(warp, finish, place, Reason.OUTSTANDING)


def wait(warp: "Warp", finish: int, place: int, reason: Reason) -> Waiting:
    """Sleep for an access."""
    warp.group.account()
    warp.turn(WarpState.MEMORY, place, reason)
    warp.group.waiting_for_memory += 1
    yield from warp.wake(finish)
    warp.group.account()
    warp.group.waiting_for_memory -= 1


def meet_grid(warp: "Warp") -> Waiting:
    """Wait until each living block has a warp here, and for what that takes."""
    warp.group.account()
    warp.turn(WarpState.BARRIER, warp.places[warp.position - 1])
    warp.group.waiting_at_barrier += 1
    tick = yield warp.run.grid_barrier.meet(warp)
    yield from warp.wake(tick)
    warp.group.account()
    warp.group.waiting_at_barrier -= 1


def wait_for_asyncs(warp: "Warp", but: int = 0) -> Waiting:
    """Sleep until all asyncs issued so far have finished but the latest `but`."""
    if warp.untaken > but:
        warp.untaken = but
        warp.run.memory.loaded.waited(warp.group.number, warp.slot)
    count = len(warp.latest_finish) - but
    if count > 0 and (finish := warp.latest_finish[count - 1]) > warp.env.now:
        yield from wait_for_memory(warp, finish, *warp.latest[count - 1])


def wait_for_shared(warp: "Warp", but: int) -> Waiting:
    """Sleep until all shared accesses issued so far have settled but the latest `but`."""
    now = int(warp.env.now)
    if len(warp.shared) <= but or warp.shared[-1 - but][0] <= now:
        return
    settled, own, conflicts, place = warp.shared[-1 - but]
    latency = min(settled - now, own)
    conflicts = min(settled - now - latency, conflicts)
    parts = {
        Reason.INSTRUCTION_LATENCY: latency,
        Reason.BANK_CONFLICTS: conflicts,
        Reason.PORT_QUEUE: settled - now - latency - conflicts,
    }
    for reason, ticks in parts.items():
        warp.bookings.book(place, reason, ticks)
    yield from wait(warp, settled, place, max(parts, key=lambda reason: parts[reason]))


def use_mbarrier(warp: "Warp", amount: int) -> Waiting:
    """Do something at an mbarrier of the block, and wait there for the end of a phase if that is what it is."""
    waits = warp.block.mbarriers.act(warp, amount, int(warp.env.now))
    if waits is None:
        return
    (barrier, parity), began, place = waits, int(warp.env.now), warp.places[warp.position - 1]
    if barrier.phases & 1 == parity:
        warp.group.account()
        warp.turn(WarpState.MEMORY, place, Reason.MBARRIER)
        warp.group.waiting_for_memory += 1
        warp.opened = Event(warp.env)
        barrier.waiting.append((warp, parity))
        opens, opened = yield warp.opened
        book_mbarrier(warp, began, opens, opened, place)
        yield from warp.wake(opens)
        warp.group.account()
        warp.group.waiting_for_memory -= 1
    elif barrier.opens > began:
        book_mbarrier(warp, began, barrier.opens, barrier.opened, place)
        yield from wait(warp, barrier.opens, place, Reason.MBARRIER)


def book_mbarrier(warp: "Warp", since: int, opens: int, opened: Opened, place: int) -> None:
    """Book a wait for a phase by what came last in it: bytes, which were on their way or had yet to begin, or the
    arrival of a warp, which had waited for something itself.
    """
    begun, (queue, at), (came, went, reason) = opened
    ticks = opens - since
    if begun >= 0:
        copies = min(ticks, opens - begun)
        latency = min(copies, max(0, opens - begun - queue))
        parts = {
            Reason.COPIES: latency,
            at: copies - latency,
            Reason.PRODUCER: ticks - copies,
        }
        warp.waited = since, opens, max(parts, key=lambda each: parts[each])
    else:
        inherited = max(0, min(went, opens) - max(came, since))
        parts = {reason: inherited}
        late = Reason.CONSUMER if warp.copies else Reason.MBARRIER
        parts[late] = parts.get(late, 0) + ticks - inherited
    for each, part in parts.items():
        warp.bookings.book(place, each, part)


def begin_product(warp: "Warp", amount: int) -> None:
    """Have matrices multiplied by the pipe of the warp's slot, while the warp goes on."""
    steps, passes, now = amount & LISTED, amount >> STEPS_SHIFT, int(warp.env.now)
    takes = warp.run.machine.durations
    taken = steps * takes.product_step
    if passes and warp.run.piped:
        warp.run.memory.take_banks(warp.group.number, passes, now)
        taken = max(taken, warp.group.products.count * passes * takes.shared_pass)
    end = warp.group.products.take(warp.slot, now, taken)
    warp.note_unit(COPIES + 1 + warp.slot % warp.group.products.count, end - taken, end)
    finish = end + takes.product_latency
    warp.run.memory.last_finish = max(warp.run.memory.last_finish, finish)
    warp.products.append((finish, taken + takes.product_latency, warp.places[warp.position]))


def wait_for_products(warp: "Warp", but: int) -> Waiting:
    """Sleep until all products begun so far are finished but the latest `but`."""
    now = int(warp.env.now)
    if len(warp.products) <= but or warp.products[-1 - but][0] <= now:
        return
    finish, own, place = warp.products[-1 - but]
    latency = min(finish - now, own)
    warp.bookings.book(place, Reason.INSTRUCTION_LATENCY, latency)
    warp.bookings.book(place, Reason.PIPE_QUEUE, finish - now - latency)
    warp.waited = now, finish, Reason.PIPE_QUEUE
    longest = Reason.INSTRUCTION_LATENCY if 2 * latency >= finish - now else Reason.PIPE_QUEUE
    yield from wait(warp, finish, place, longest)


def wait_for_drain(warp: "Warp", but: int) -> Waiting:
    """Sleep until all groups of its stores have left but the latest `but`."""
    now, place, latency = int(warp.env.now), warp.places[warp.position], warp.run.machine.durations.drain_latency
    if len(warp.store_groups) <= but or (finish := warp.store_groups[-1 - but] + latency) <= now:
        return
    latency = min(finish - now, latency)
    warp.bookings.book(place, Reason.INSTRUCTION_LATENCY, latency)
    warp.bookings.book(place, Reason.PORT_QUEUE, finish - now - latency)
    longest = Reason.INSTRUCTION_LATENCY if 2 * latency >= finish - now else Reason.PORT_QUEUE
    yield from wait(warp, finish, place, longest)


def wait_for_way(warp: "Warp", passes: int) -> Waiting:
    """Sleep until the way to other groups' shared memory takes an access of so many passes."""
    now, place = int(warp.env.now), warp.places[warp.position]
    begin = warp.group.take_way(passes)
    if begin > now:
        warp.bookings.book(place, Reason.PORT_QUEUE, begin - now)
        yield from wait(warp, begin, place, Reason.PORT_QUEUE)


def wait_for_stores(warp: "Warp") -> Waiting:
    """Sleep until all stores and reduces have finished."""
    finish, place, path = warp.stored
    if finish > warp.env.now:
        yield from wait_for_memory(warp, finish, place, path)


def sleep(warp: "Warp", cycles: int, place: int) -> Waiting:
    """Sleep for so many cycles, whatever is in flight."""
    warp.turn(WarpState.PAUSE, place)
    yield from warp.wake(int(warp.env.now) + cycles * warp.run.machine.ticks_per_cycle)


def may_start_async(warp: "Warp", tick: int) -> bool:
    """Whether fewer than `outstanding` asyncs are in flight at a tick, now or later."""
    if warp.run.outstanding is None:
        return True
    now = warp.env.now
    warp.in_flight = [finish for finish in warp.in_flight if finish > now]
    return sum(finish > tick for finish in warp.in_flight) < warp.run.outstanding
