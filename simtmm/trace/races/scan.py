"""The loop that looks for races, compiled (finding.py says what one is): word by word, who did what first."""

# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

from functools import partial
from typing import Annotated, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from simtmm.native import SPREAD, Columns, Loop, inlined
from simtmm.trace.schema import Events, Kind

LOAD, STORE, SAME, ATOMIC = range(4)  # what is done to a word; SAME: a store that changed nothing
ACTIONS = 4
OF_BLOCK, OF_LAUNCH = range(2)  # scopes
Pair = Columns("count harmful launch block other_block thread other_thread address pair")  # of sites
SITE_BITS = 29  # of a site's number in Pair.pair: the scope, one site, the other
PLACES = 1 << 20  # of a table of pairs
MOST_PAIRS = 7 * PLACES // 8
FULL = -1
NOBODY = -1
WHO_BITS, THREAD_BITS, LOW_16 = (
    32,
    16,
    0xFFFF,
)  # of who touched a word first: block or thread, its thread, its site's rank

_LOAD, _ASYNC, _ATOMIC, _BARRIER = int(Kind.LOAD), int(Kind.ASYNC), int(Kind.ATOMIC), int(Kind.BARRIER)
_SHARED_LOAD, _SHARED_ATOMIC = int(Kind.SHARED_LOAD), int(Kind.SHARED_ATOMIC)


class Pairs(NamedTuple):
    """The pairs of sites of a kernel that race."""

    ranks: Any  # int64, by site: its rank
    numbers: Any  # int64, by rank: its site
    rows: Annotated[Any, Pair]  # [PLACES], a hash table; the count is 0 where the place is free
    used: Any  # int64[1]: places taken


class Room(NamedTuple):
    """What the time of a call takes: of the events of the largest block."""

    stretch: Any  # int32[events]: the stretch that each lies in,
    position: Any  # int64[events + 2]: where those of each stretch go,
    order: Any  # int64[events]: and their places, stretch by stretch


def room_for(events: int) -> Room:
    """Room for blocks of at most so many events."""
    return Room(np.empty(events, np.int32), np.empty(events + 2, np.int64), np.empty(events, np.int64))


@partial(Loop, rows=("touched", "rows"))
def scan(  # noqa: PLR0913, PLR0917 - a compiled loop's arrays are its arguments
    events: Events,
    silent: npt.NDArray[np.uint8],
    starts: npt.NDArray[np.int64],
    ends: npt.NDArray[np.int64],
    blocks: npt.NDArray[np.int32],
    launch: int,
    stretches: int,
    unit: int,
    words: int,
    shared_unit: int,
    shared_base: npt.NDArray[np.int64],
    touched: npt.NDArray[np.int64],
    table: Pairs,
    room: Room,
) -> int:
    """Go through blocks of a launch, stretch between barriers by stretch; gives how many stretches there were so far,
    or FULL where there are more pairs than a table holds.

    Within a stretch threads come in the order of their numbers, and so do the blocks of a launch; so if anybody but
    the present one did something to a word, the first who did is not the present one. touched: of each word when it
    was touched last, then for each action the first thread or block (upper 32 bits), its thread (16) and the rank of
    its site (16), NOBODY for nobody. silent: of each event whether it is a store that changed nothing; empty where
    nobody knows.
    """
    for number in range(len(starts)):
        start, count, block = starts[number], ends[number] - starts[number], blocks[number]
        last = _find_stretches(events, start, count, room.stretch)
        _put_in_order(room, count, last + 1)
        present = -1
        for turn in range(count):
            place = room.order[turn]
            if room.stretch[place] != present:
                present = room.stretch[place]
                stretches += 1
            event = events[start + place]
            kind = event.kind
            if kind < _LOAD or kind > _SHARED_ATOMIC:
                continue
            action = _action(kind, len(silent) != 0 and silent[start + place] != 0)
            value = np.int64(event.value)
            if table.used[0] > MOST_PAIRS:
                return FULL
            if kind >= _SHARED_LOAD:
                offset = value & np.int64(0xFFFFFFFF)
                low = 2 * words + shared_base[value >> 32] + offset // shared_unit
                _touch(
                    event, action, OF_BLOCK, event.thread, stretches, low, shared_unit, touched, table, launch, block
                )
            else:
                low = value // unit
                _touch(event, action, OF_BLOCK, event.thread, stretches, low, unit, touched, table, launch, block)
                _touch(event, action, OF_LAUNCH, block, launch + 1, low + words, unit, touched, table, launch, block)
    return stretches


@inlined
def _find_stretches(events, start, count, stretch):
    """Write in which stretch each event of a block lies; gives the last one's number."""
    passed, last, of = 0, 0, -1
    for place in range(count):
        event = events[start + place]
        if event.thread != of:
            of, passed = event.thread, 0
        stretch[place] = passed
        if event.kind == _BARRIER:
            passed += 1
            last = max(last, passed)
    return last


@inlined
def _put_in_order(room, count, stretches):
    """Write the places of a block's events stretch by stretch, within one in their order."""
    stretch, position = room.stretch, room.position
    for number in range(stretches + 1):
        position[number] = 0
    for place in range(count):
        position[stretch[place] + 1] += 1
    for number in range(stretches):
        position[number + 1] += position[number]
    for place in range(count):
        room.order[position[stretch[place]]] = place
        position[stretch[place]] += 1


@inlined
def _action(kind, changed_nothing):
    """What an access does to a word."""
    if kind in (_LOAD, _ASYNC, _SHARED_LOAD):
        return LOAD
    if kind in (_ATOMIC, _SHARED_ATOMIC):
        return ATOMIC
    return SAME if changed_nothing else STORE


@inlined
def _races(action, other, scope):
    """Whether two actions on a word race: one stores; or, in a block, one is an atomic update and one a load."""
    if action in (SAME, STORE) or other in (SAME, STORE):
        return True
    return scope == OF_BLOCK and action != other


@inlined
def _is_harmful(action, other, changed):
    """Whether a race may do harm. changed: whether anybody's store has changed the word by now."""
    if action == SAME and other != ATOMIC:
        return other == LOAD and changed
    if action == LOAD and other == SAME:
        return changed
    return True


@inlined
def _touch(event, action, scope, me, now, low, size, touched, table, launch, block):  # noqa: PLR0913, PLR0917 - a compiled loop's arrays are its arguments
    """Note what an access does to each of its words, and what it races with.

    me: the thread of the block, or the block of the launch. now: the stretch or the launch; what lies before is
    forgotten. low: the first word's place in `touched`. size: of a word [bytes].
    """
    noted = 0  # a bit for each action that this access has been noted to race with
    for word in range(event.bytes // size):
        at = low + word
        if touched[at, 0] != now:
            touched[at, 0] = now
            for other in range(ACTIONS):
                touched[at, 1 + other] = NOBODY
        changed = touched[at, 1 + STORE] >= 0
        for other in range(ACTIONS):
            first = touched[at, 1 + other]
            if first == NOBODY or first >> WHO_BITS == me or noted >> other & 1:
                continue
            if (other == SAME and noted >> STORE & 1) or not _races(action, other, scope):
                continue
            noted |= 1 << other
            there = block if scope == OF_BLOCK else first >> WHO_BITS
            address = np.int64(event.value) + word * size
            _note(event, first, there, address, _is_harmful(action, other, changed), table, scope, launch, block)
        if touched[at, 1 + action] == NOBODY:
            touched[at, 1 + action] = me << WHO_BITS | event.thread << THREAD_BITS | table.ranks[event.site]


@inlined
def _place(table, pair):
    """Where a pair stands in the table, which it is put into if it is new."""
    rows = table.rows
    at = (pair * SPREAD >> 20) & (len(rows) - 1)
    while rows[at].count != 0 and rows[at].pair != pair:
        at = (at + 1) & (len(rows) - 1)
    if rows[at].count == 0:
        rows[at].pair = pair
        table.used[0] += 1
    return at


@inlined
def _note(event, first, there, address, harmful, table, scope, launch, block):  # noqa: PLR0913, PLR0917 - a compiled loop's arrays are its arguments
    """Count a race of an event with who came first, in block `there`; an example is stored, a harmful one if any is."""
    site, thread = table.numbers[first & LOW_16], first >> THREAD_BITS & LOW_16
    own = event.site
    forward = site <= own
    pair = (scope << SITE_BITS | min(site, own)) << SITE_BITS | max(site, own)
    rows, row = table.rows, _place(table, pair)
    rows[row].count += 1
    if rows[row].count == 1 or (harmful and rows[row].harmful == 0):
        rows[row].launch = launch
        rows[row].block = there if forward else block
        rows[row].other_block = block if forward else there
        rows[row].thread = thread if forward else event.thread
        rows[row].other_thread = event.thread if forward else thread
        rows[row].address = address
    if harmful:
        rows[row].harmful += 1
