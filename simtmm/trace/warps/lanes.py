"""The values of the lanes that take part in a step, one by one."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.native import inlined
from simtmm.trace.runs.layout import BYTES_MASK, BYTES_SHIFT, KIND_MASK, KIND_SHIFT, LISTED, Step
from simtmm.trace.warps.accesses import REFUSED, forget_whole, is_refused, list_row
from simtmm.trace.warps.layout import NO_SITE, PLAIN_NODE, Group

NOT_SO = -2  # in the place of a count


@inlined
def next_site(walk, w):
    """The lowest site at which a group of a warp is, NO_SITE if there is none."""
    site = np.int64(NO_SITE)
    for g in range(walk.warp[w].groups):
        site = min(site, walk.group[w, g].site)
    return site


@inlined
def leader_at(walk, w, site):
    """The group at a site that has the first lane there."""
    leader = np.int64(-1)
    for g in range(walk.warp[w].groups):
        if walk.group[w, g].site == site:
            if leader < 0 or walk.group[w, g].first < walk.group[w, leader].first:
                leader = np.int64(g)
    return leader


@inlined
def kind_of(what):
    """What an event is."""
    return (what >> KIND_SHIFT) & KIND_MASK


@inlined
def bytes_of(what):
    """How much an event moves."""
    return (what >> BYTES_SHIFT) & BYTES_MASK


@inlined
def takes_part(walk, w, g, site, kind):
    """Whether a group is at the step's site, and about to do what its first lane there does."""
    return walk.group[w, g].site == site and kind_of(walk.group[w, g].what) == kind


@inlined
def base_of(walk, runs, values, w, g):
    """What the values of a group's step are counted from: its value, or how much has been added to those listed."""
    step = walk.group[w, g].step
    base = np.int64(0)
    deep = walk.group[w, g].deep
    for around in range(deep):
        base += runs.step[step, Step.inner + deep - 1 - around] * walk.group[w, g, Group.nest + 3 * around + 2]
    if runs.step[step].form != LISTED:
        base += values[walk.warp[w].value + runs.step[step].value]
    return base


@inlined
def is_alone(walk, w, site, kind):
    """Whether one group alone takes part."""
    count = np.int64(0)
    for g in range(walk.warp[w].groups):
        if takes_part(walk, w, g, site, kind):
            count += 1
    return count == 1


@inlined
def is_even(walk, runs, w, g):
    """Whether a group has neighbours only, whose values are in even steps."""
    if walk.group[w, g].dense == 0 or walk.group[w, g].node == PLAIN_NODE:
        return False
    return runs.step[walk.group[w, g].step].form != LISTED


@inlined
def plain_or_even_value(walk, runs, values, w, g):
    """The first lane's value in a group, -1 where it would have to be looked up among listed ones."""
    if walk.group[w, g].node == PLAIN_NODE:
        return np.int64(values[walk.group[w, g].step])
    if is_even(walk, runs, w, g):
        return np.int64(first_value(walk, runs, values, w, g))
    return np.int64(-1)


@inlined
def is_same(walk, runs, w, g):
    """Whether all lanes of a group have the same value."""
    if walk.group[w, g].node == PLAIN_NODE:
        return False
    step = walk.group[w, g].step
    return (
        runs.step[step].form != LISTED and runs.step[step].x == 0 and runs.step[step].y == 0 and runs.step[step].z == 0
    )


@inlined
def list_rows(walk, runs, values, w, g, chunks, sectors, count):
    """List the chunks of a group whose values are in even steps of at most a chunk, row by row of its block.

    How many are listed then; REFUSED for what is no address, and NOT_SO for other steps.
    """
    step = walk.group[w, g].step
    by_x = runs.step[step].x
    if by_x < 0 or by_x > walk.rules.chunk_bytes:
        return np.int64(NOT_SO)
    start = count
    left = walk.group[w, g].lanes
    moved = bytes_of(walk.group[w, g].what)
    base = base_of(walk, runs, values, w, g)
    extent = walk.warp[w].x
    thread = walk.warp[w].thread + walk.group[w, g].first
    x = thread
    y = np.int64(0)
    z = np.int64(0)
    if thread >= extent:
        x = thread % extent
        y = thread // extent % walk.warp[w].y
        z = thread // (extent * walk.warp[w].y)
    while left > 0:
        lanes = min(left, extent - x)
        value = base + by_x * x + runs.step[step].y * y + runs.step[step].z * z
        if is_refused(value) or is_refused(value + by_x * (lanes - 1)):
            return np.int64(REFUSED)
        count = list_row(walk, value, by_x, lanes, moved, chunks, sectors, start, count)
        left -= lanes
        x = np.int64(0)
        y += 1
        if y == walk.warp[w].y:
            y = np.int64(0)
            z += 1
    if walk.rules.sector_bytes != 0:
        for entry in range(start, count):
            forget_whole(walk, sectors, entry)
    return count


@inlined
def gather(walk, runs, values, w, site, kind, leader, alone):
    """Gather the value of each lane that takes part, in the order of lanes; how many there are."""
    for g in range(walk.warp[w].groups):
        if takes_part(walk, w, g, site, kind):
            walk.group[w, g].taken = 0
            if walk.group[w, g].node != PLAIN_NODE:
                walk.group[w, g].base = base_of(walk, runs, values, w, g)
    if alone and walk.group[w, leader].dense != 0 and walk.group[w, leader].node != PLAIN_NODE:
        return gather_dense(walk, runs, values, w, leader)
    count = np.int64(0)
    for lane in range(walk.warp[w].lanes):
        g = walk.of_lane[w, lane]
        if g >= 0 and takes_part(walk, w, g, site, kind):
            walk.value[count] = value_at(walk, runs, values, w, g, lane)
            walk.bytes[count] = bytes_of(walk.group[w, g].what)
            walk.lane[count] = lane
            count += 1
    return count


@inlined
def gather_dense(walk, runs, values, w, g):
    """Likewise of a group whose lanes are neighbours, and alone."""
    step = walk.group[w, g].step
    count = walk.group[w, g].lanes
    first = walk.group[w, g].first
    base = walk.group[w, g].base
    moved = bytes_of(walk.group[w, g].what)
    if runs.step[step].form == LISTED:
        place = walk.warp[w].value + runs.step[step].value + walk.group[w, g].before
        for index in range(count):
            walk.value[index] = values[place + index] + base
            walk.bytes[index] = moved
            walk.lane[index] = first + index
        return count
    by_x = runs.step[step].x
    by_y = runs.step[step].y
    by_z = runs.step[step].z
    thread = walk.warp[w].thread + first
    x = thread
    y = np.int64(0)
    z = np.int64(0)
    if by_y != 0 or by_z != 0 or walk.warp[w].x > 1:
        x = thread % walk.warp[w].x
        y = thread // walk.warp[w].x % walk.warp[w].y
        z = thread // (walk.warp[w].x * walk.warp[w].y)
    else:
        x = np.int64(0)
    value = base + by_x * x + by_y * y + by_z * z
    for index in range(count):
        walk.value[index] = value
        walk.bytes[index] = moved
        walk.lane[index] = first + index
        x += 1
        value += by_x
        if x == walk.warp[w].x:
            value += by_y - by_x * x
            x = np.int64(0)
            y += 1
            if y == walk.warp[w].y:
                value += by_z - by_y * y
                y = np.int64(0)
    return count


@inlined
def first_value(walk, runs, values, w, g):
    """The first lane's value in a group whose values are in even steps."""
    walk.group[w, g].base = base_of(walk, runs, values, w, g)
    return value_at(walk, runs, values, w, g, walk.group[w, g].first)


@inlined
def value_at(walk, runs, values, w, g, lane):
    """The value of a lane; called for each of a group's lanes in turn."""
    step = walk.group[w, g].step
    if walk.group[w, g].node == PLAIN_NODE:
        return values[step]
    if runs.step[step].form == LISTED:
        taken = walk.group[w, g].taken
        walk.group[w, g].taken = taken + 1
        place = walk.warp[w].value + runs.step[step].value + walk.group[w, g].before
        return values[place + taken] + walk.group[w, g].base
    value = walk.group[w, g].base
    thread = walk.warp[w].thread + lane
    if runs.step[step].x != 0:
        value += runs.step[step].x * (thread % walk.warp[w].x)
    if runs.step[step].y != 0:
        value += runs.step[step].y * (thread // walk.warp[w].x % walk.warp[w].y)
    if runs.step[step].z != 0:
        value += runs.step[step].z * (thread // (walk.warp[w].x * walk.warp[w].y))
    return value
