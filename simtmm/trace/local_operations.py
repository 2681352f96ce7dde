"""What a warp's accesses to its threads' local memory list (local_memory.py says where that lies)."""

# Numba compiles these functions from the names of their arguments; annotations would only repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call,untyped-decorator"

import numpy as np

from simtmm.compiled import inlined
from simtmm.trace.lanes import go_on, takes_part
from simtmm.trace.local_memory import WORD, WORDS_BITS
from simtmm.trace.warp_operations import REFUSED


@inlined
def is_outside(event, size):
    """Whether an access lies outside the thread's local memory of so many bytes."""
    value = np.int64(event.value)
    return value < 0 or value > size - np.int64(max(event.bytes, 1))


@inlined
def list_local_chunks(lanes, step, chunks, count, chunk_bytes, region, size, width):
    """List each chunk that the lanes' words lie in, once; how many entries there are then, or REFUSED."""
    start = count
    for lane in range(step.leader, step.width):
        if takes_part(lanes, step, lane):
            event = lanes.events[lanes.position[lane]]
            if is_outside(event, size):
                return np.int64(REFUSED)
            value = np.int64(event.value)
            last = (value + np.int64(max(event.bytes, 1)) - 1) // WORD
            for word in range(value // WORD, last + 1):
                address = region + WORD * (word * width + lane)
                for chunk in range(address // chunk_bytes, (address + WORD - 1) // chunk_bytes + 1):
                    known = count - 1
                    while known >= start and chunks[known] != chunk:
                        known -= 1
                    if known < start:
                        chunks[count] = chunk
                        count += 1
            go_on(lanes, lane)
    return np.int64(count)


@inlined
def list_local_words(lanes, step, chunks, count, size):
    """Likewise each lane's words, one by one, numbered from the first of its access: see `local_memory.events_of`."""
    for lane in range(step.leader, step.width):
        if takes_part(lanes, step, lane):
            event = lanes.events[lanes.position[lane]]
            if is_outside(event, size):
                return np.int64(REFUSED)
            value = np.int64(event.value)
            words = (value % WORD + np.int64(max(event.bytes, 1)) - 1) // WORD + 1
            for word in range(words):
                chunks[count] = -1 - (lanes.position[lane] << WORDS_BITS | word)
                count += 1
            go_on(lanes, lane)
    return np.int64(count)
