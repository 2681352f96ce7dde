"""Where an operation comes from: its site and the array that it accesses; and how many threads did it."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.native import inlined
from simtmm.trace.warps.lanes import bytes_of
from simtmm.workload import LARGEST


@inlined
def place_at(walk, site):
    """The number of a site's place without an array; sites that the trace does not describe share the last one."""
    return min(site, walk.rules.sites) * walk.rules.places


@inlined
def place_of(walk, site, address):
    """The number of a site's place where it accesses an address."""
    first = np.int64(0)
    end = np.int64(walk.array.shape[0])
    while first < end:  # the first array that ends behind the address
        middle = (first + end) // 2
        if walk.array[middle].end > address:
            end = middle
        else:
            first = middle + 1
    number = np.int64(0)
    if first < walk.array.shape[0] and walk.array[first].begin <= address:
        number = walk.array[first].number
    return place_at(walk, site) + number


@inlined
def place_at_mbarrier(walk, place, number):
    """The number of a place where threads are at an mbarrier: its own, or that of the site if it has none."""
    first = np.int64(0)
    end = np.int64(walk.mbarrier.shape[0])
    while first < end:
        middle = (first + end) // 2
        if walk.mbarrier[middle] < number:
            first = middle + 1
        else:
            end = middle
    if first < walk.mbarrier.shape[0] and walk.mbarrier[first] == number:
        return place + walk.rules.first_mbarrier + first
    return place


@inlined
def note_threads(walk, w, g, place, times):
    """All lanes of a group did something at a place, so many times each."""
    lanes = walk.group[w, g].lanes
    walk.threads[place].times += 1
    walk.threads[place].lanes += lanes
    walk.threads[place].bytes += lanes * bytes_of(walk.group[w, g].what)
    if times > LARGEST // lanes:
        walk.threads[place].done = LARGEST
    else:
        note_done(walk, place, times * lanes)


@inlined
def note_done(walk, place, times):
    """Add to how often threads did what stands at a place; LARGEST, which is refused, where that does not fit."""
    if walk.threads[place].done > LARGEST - times:
        walk.threads[place].done = LARGEST
    else:
        walk.threads[place].done += times


@inlined
def note_lanes(walk, lanes, place, is_work):
    """The lanes that were gathered did something at a place; of work each as often as its value says."""
    walk.threads[place].times += 1
    walk.threads[place].lanes += lanes
    for index in range(lanes):
        walk.threads[place].bytes += walk.bytes[index]
        note_done(walk, place, walk.value[index] if is_work else np.int64(1))
