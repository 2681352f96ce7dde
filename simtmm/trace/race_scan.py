"""The loop that looks for races, compiled (races.py says what one is): word by word, who did what first."""

import numpy as np
import numpy.typing as npt

from simtmm.compiled import Compiled
from simtmm.trace.schema import Events, Kind

LOAD, STORE, SAME, ATOMIC = range(4)  # what is done to a word; SAME: a store that changed nothing
COLUMNS = 8  # of a pair of sites, these:
COUNT, HARMFUL, LAUNCH, BLOCK, OTHER_BLOCK, THREAD, OTHER_THREAD, ADDRESS = range(COLUMNS)

_LOAD, _ASYNC, _ATOMIC, _BARRIER = int(Kind.LOAD), int(Kind.ASYNC), int(Kind.ATOMIC), int(Kind.BARRIER)
_SHARED_LOAD, _SHARED_ATOMIC = int(Kind.SHARED_LOAD), int(Kind.SHARED_ATOMIC)


@Compiled
def scan(
    events: Events,
    silent: npt.NDArray[np.bool_],
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
    pairs: npt.NDArray[np.int64],
) -> int:
    """Go through blocks of a launch, stretch between barriers by stretch; gives how many stretches there were so far.

    Within a stretch threads come in the order of their numbers, and so do the blocks of a launch; so if anybody but
    the present one did something to a word, the first who did is not the present one. touched: of each word when it
    was touched last, then for each action the first thread or block (upper 32 bits), its thread (16) and site (16),
    -1 for nobody.
    """
    for number in range(len(starts)):
        start, count, block = starts[number], ends[number] - starts[number], blocks[number]
        # In which stretch each event lies, then their order by stretch.
        stretch = np.zeros(count, np.int32)
        passed, last, of = 0, 0, -1
        for place in range(count):
            event = events[start + place]
            if event.thread != of:
                of, passed = event.thread, 0
            stretch[place] = passed
            if event.kind == _BARRIER:
                passed += 1
                last = max(last, passed)
        position = np.zeros(last + 2, np.int64)
        for place in range(count):
            position[stretch[place] + 1] += 1
        for place in range(last + 1):
            position[place + 1] += position[place]
        order = np.empty(count, np.int64)
        for place in range(count):
            order[position[stretch[place]]] = place
            position[stretch[place]] += 1

        present = -1
        for turn in range(count):
            place = order[turn]
            if stretch[place] != present:
                present = stretch[place]
                stretches += 1
            event = events[start + place]
            kind = event.kind
            if kind < _LOAD or kind > _SHARED_ATOMIC:
                continue
            if kind in (_LOAD, _ASYNC, _SHARED_LOAD):
                action = LOAD
            elif kind in (_ATOMIC, _SHARED_ATOMIC):
                action = ATOMIC
            else:
                action = SAME if len(silent) and silent[start + place] else STORE
            value = np.int64(event.value)
            shared = kind >= _SHARED_LOAD
            if shared:
                offset = value & np.int64(0xFFFFFFFF)
                low = 2 * words + shared_base[value >> 32] + offset // shared_unit
                size = shared_unit
            else:
                low = value // unit
                size = unit
            for scope in range(1 if shared else 2):
                me = np.int64(event.thread) if scope == 0 else np.int64(block)
                now = stretches if scope == 0 else launch + 1
                told = 0  # a bit for each action that this access has been noted to race with
                for word in range(event.bytes // size):
                    at = low + scope * words + word
                    if touched[at, 0] != now:
                        touched[at, 0] = now
                        for other in range(1, 5):
                            touched[at, other] = -1
                    changed = touched[at, 1 + STORE] >= 0
                    for other in range(4):
                        first = touched[at, 1 + other]
                        if first < 0 or first >> 32 == me or told >> other & 1 or (other == SAME and told >> STORE & 1):
                            continue
                        stores = action in (SAME, STORE) or other in (SAME, STORE)
                        if not stores and (scope == 1 or action == other):
                            continue
                        harmful = True
                        if action == SAME and other != ATOMIC:
                            harmful = other == LOAD and changed
                        elif action == LOAD and other == SAME:
                            harmful = changed
                        told |= 1 << other
                        site, thread = first & 0xFFFF, first >> 16 & 0xFFFF
                        forward = site <= event.site
                        row = pairs[scope, site, event.site] if forward else pairs[scope, event.site, site]
                        row[COUNT] += 1
                        if row[COUNT] == 1 or (harmful and row[HARMFUL] == 0):
                            there = np.int64(block) if scope == 0 else first >> 32
                            row[LAUNCH] = launch
                            row[BLOCK] = there if forward else block
                            row[OTHER_BLOCK] = block if forward else there
                            row[THREAD] = thread if forward else event.thread
                            row[OTHER_THREAD] = event.thread if forward else thread
                            row[ADDRESS] = value + word * size
                        if harmful:
                            row[HARMFUL] += 1
                    if touched[at, 1 + action] < 0:
                        touched[at, 1 + action] = me << 32 | np.int64(event.thread) << 16 | np.int64(event.site)
    return stretches
