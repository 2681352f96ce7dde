"""What the lanes of a step make of an operation: the chunks that it lists, or its amount."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.native import inlined
from simtmm.trace.local_memory import WORD
from simtmm.trace.schema import BEYOND
from simtmm.workload import MOST_SECTOR_BYTES, SECTOR_BITS

REFUSED = -1  # in the place of a count: a value is BEYOND, or negative


@inlined
def is_refused(value):
    """Whether an address or a count is none."""
    return value < 0 or value >= BEYOND


@inlined
def any_refused(walk, lanes):
    """Whether the value of one of the lanes is no valid address or count."""
    for index in range(lanes):
        if is_refused(walk.value[index]):
            return True
    return False


@inlined
def chunk_of(walk, address):
    """The chunk that a byte lies in."""
    shift = walk.rules.chunk_shift
    return address >> shift if shift >= 0 else address // walk.rules.chunk_bytes


@inlined
def list_chunk(chunks, start, count, chunk):
    """List a chunk that is not among those listed from a start on; how many there are then."""
    known = count - 1
    while known >= start and chunks[known] != chunk:
        known -= 1
    if known < start:
        chunks[count] = chunk
        count += 1
    return count


@inlined
def list_updates(walk, lanes, chunks, count):
    """List the chunk of each lane: updates of one word are not served together."""
    for index in range(lanes):
        chunks[count] = chunk_of(walk, walk.value[index])
        count += 1
    return count


@inlined
def list_updates_by_word(walk, lanes, chunks, count):
    """List each chunk as often as its most updated word is updated, in the order in which it comes to be."""
    start = count
    for index in range(lanes):
        before = np.int64(0)  # updates of this word
        for other in range(index):
            before += np.int64(walk.value[other] == walk.value[index])
        chunk = chunk_of(walk, walk.value[index])
        entry = start
        while entry < count and before >= 0:
            before -= np.int64(chunks[entry] == chunk)
            entry += 1
        if before >= 0:
            chunks[count] = chunk
            count += 1
    return count


@inlined
def list_chunks(walk, lanes, chunks, count):
    """List each chunk that a lane touches, once."""
    start = count
    for index in range(lanes):
        value = walk.value[index]
        last = chunk_of(walk, value + max(walk.bytes[index], np.int64(1)) - 1)
        count = list_from_to(chunks, start, count, chunk_of(walk, value), last)
    return count


@inlined
def clear_sectors(walk, sectors, start, count):
    """Chunks listed from a start on: nothing of any sector is accessed so far."""
    if walk.rules.sector_bytes != 0:
        for entry in range(start, count):
            sectors[entry] = 0


@inlined
def add_access(walk, chunks, sectors, entry, start, count, first, stop):
    """Add bytes that are accessed, from `first` up to `stop`, to sectors of the chunks listed from a start on.

    entry: of a chunk to look at first. The entry of the last chunk that was accessed, which most come to next.
    """
    size = walk.rules.sector_bytes
    while first < stop:
        chunk = chunk_of(walk, first)
        if chunks[entry] != chunk:
            entry = start
            while entry < count - 1 and chunks[entry] != chunk:
                entry += 1
        begin = chunk * walk.rules.chunk_bytes
        sector = (first - begin) // size
        end = min(stop, begin + (sector + 1) * size)
        shift = SECTOR_BITS * sector
        word = np.int64(sectors[entry])
        before = word >> shift & MOST_SECTOR_BYTES
        if chunks[entry] == chunk:  # else an update that goes beyond its chunk
            sectors[entry] = word + ((min(before + end - first, size) - before) << shift)
        first = end
    return entry


@inlined
def add_lanes(walk, lanes, chunks, sectors, start, count):
    """Add what lanes access to the sectors of the chunks listed from a start on, each as often as it is listed."""
    if walk.rules.sector_bytes == 0:
        return
    clear_sectors(walk, sectors, start, count)
    entry = start
    for index in range(lanes):
        value = walk.value[index]
        stop = value + max(walk.bytes[index], np.int64(1))
        entry = add_access(walk, chunks, sectors, entry, start, count, value, stop)
    for again in range(start, count):
        if sectors[again] == 0:
            first = start
            while chunks[first] != chunks[again]:
                first += 1
            sectors[again] = sectors[first]
    for index in range(start, count):
        forget_whole(walk, sectors, index)


@inlined
def forget_whole(walk, sectors, entry):
    """Where all of a chunk is accessed, say nothing."""
    size = walk.rules.sector_bytes
    word = np.int64(sectors[entry])
    for sector in range(walk.rules.chunk_bytes // size):
        if word >> SECTOR_BITS * sector & MOST_SECTOR_BYTES != size:
            return
    sectors[entry] = 0


@inlined
def list_from_to(chunks, start, count, first, last):
    """List chunks that are not among those listed from a start on; how many there are then."""
    while first <= last:
        # Lanes mostly touch what the lane before has touched.
        if count == start or chunks[count - 1] != first:
            count = list_chunk(chunks, start, count, first)
        first += 1
    return count


@inlined
def list_row(walk, value, by, lanes, moved, chunks, sectors, start, count):  # noqa: PLR0913, PLR0917 - a compiled loop's arrays are its arguments
    """List the chunks of lanes whose addresses go up by at most a chunk, all from the first to the last, and add what
    they access of sectors.
    """
    moved = max(moved, np.int64(1))
    stop = value + by * (lanes - 1) + moved
    before = count
    count = list_from_to(chunks, start, count, chunk_of(walk, value), chunk_of(walk, stop - 1))
    if walk.rules.sector_bytes != 0:
        clear_sectors(walk, sectors, before, count)
        if by == moved:
            add_access(walk, chunks, sectors, before if before < count else start, start, count, value, stop)
        else:
            entry = before if before < count else start
            for lane in range(lanes):
                first = value + by * lane
                entry = add_access(walk, chunks, sectors, entry, start, count, first, first + moved)
    return count


@inlined
def most_work(walk, lanes):
    """The operations of the lane with most."""
    most = np.int64(0)
    for index in range(lanes):
        most = max(most, walk.value[index])
    return most


@inlined
def most_words(walk, lanes):
    """The words of local memory of the lane that accesses most: those of a pass lie in a bank each."""
    most = np.int64(1)
    for index in range(lanes):
        last = walk.value[index] + max(walk.bytes[index], np.int64(1)) - 1
        most = max(most, last // WORD - walk.value[index] // WORD + 1)
    return most


@inlined
def least_left_out(walk, lanes):
    """The asyncs that a join leaves out, of the lane that leaves out fewest."""
    least = np.int64(BEYOND)
    for index in range(lanes):
        least = min(least, walk.value[index])
    return least


@inlined
def count_words(walk, lanes):
    """How many different words of 4 bytes the lanes read."""
    words = np.int64(0)
    for index in range(lanes):
        value = walk.value[index]
        last = (value + max(walk.bytes[index], np.int64(1)) - 1) // 4
        for number in range(value // 4, last + 1):
            words = list_chunk(walk.word, np.int64(0), words, number)
    return words


@inlined
def is_any_outside(walk, w, lanes):
    """Whether a lane accesses what lies outside of its thread's local memory."""
    size = walk.warp[w].local_bytes
    for index in range(lanes):
        value = walk.value[index]
        if value < 0 or value > size - max(walk.bytes[index], np.int64(1)):
            return True
    return False


@inlined
def list_local_chunks(walk, w, lanes, chunks, count):
    """List each chunk that the words of the lanes' local memory lie in, once."""
    start = count
    chunk_bytes = walk.rules.chunk_bytes
    for index in range(lanes):
        value = walk.value[index]
        last = (value + max(walk.bytes[index], np.int64(1)) - 1) // WORD
        for word in range(value // WORD, last + 1):
            address = local_address(walk, w, word, walk.lane[index])
            for chunk in range(address // chunk_bytes, (address + WORD - 1) // chunk_bytes + 1):
                count = list_chunk(chunks, start, count, np.int64(chunk))
    return count


@inlined
def local_address(walk, w, word, lane):
    """Where a word of a lane's local memory lies."""
    return walk.warp[w].region + WORD * (word * walk.rules.width + lane)
