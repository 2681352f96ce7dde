"""Operations of a warp as they are written: computes and pauses are held, as the next one may join them."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.native import inlined
from simtmm.trace.warps.layout import NOTHING_HELD
from simtmm.workload import COMPUTE, LARGEST, PAUSE

MOST_TURNS = 32  # that work done often takes with its stalls: what is left of a loop is then at most 3 % of it


@inlined
def begin_turns(walk, w, times, work, alternates, stall, place):
    """What work is made of alternates as often as it is done, in as many turns as may be."""
    walk.warp[w].turns = min(times, MOST_TURNS) if alternates else np.int64(1)
    walk.warp[w].times = times
    walk.warp[w].work = work
    walk.warp[w].stall = stall
    walk.warp[w].turns_place = place


@inlined
def take_turn(walk, w, output):
    """The next turn's share of work, and of its stall; whether they can be counted."""
    turns, place = walk.warp[w].turns, walk.warp[w].turns_place
    times = walk.warp[w].times // turns
    walk.warp[w].turns = turns - 1
    walk.warp[w].times -= times
    if not hold(walk, w, output, COMPUTE, times * walk.warp[w].work, place):
        return False
    site = walk.warp[w].turns_site
    stall = times * walk.warp[w].stall
    if site >= 0:
        for index in range(walk.operations.shape[0]):
            stall -= hidden(walk, index, times * walk.piped[site, index])
            if not hold(walk, w, output, walk.operations[index], times * walk.piped[site, index], place):
                return False
    return hold(walk, w, output, PAUSE, max(np.int64(0), stall), place)


@inlined
def hidden(walk, index, instructions):
    """The cycles of stalls that pass while so many instructions of a class take their pipe one after another."""
    if instructions < 2 or walk.hides[index] == 0:
        return np.int64(0)
    return (instructions - 1) // 1000 * walk.hides[index] + (instructions - 1) % 1000 * walk.hides[index] // 1000


@inlined
def left_of_stall(walk, stall):
    """What is left of the stall of a step behind what is due of it in pipes."""
    for index in range(walk.due.shape[0]):
        stall -= hidden(walk, index, walk.due[index])
    return max(np.int64(0), stall)


@inlined
def add_due(walk, site):
    """Those of a site's instructions are due that are of a class with a pipe; how many there are."""
    total = np.int64(0)
    for index in range(walk.due.shape[0]):
        walk.due[index] += walk.piped[site, index]
        total += walk.piped[site, index]
    return total


@inlined
def hold_due(walk, w, output, place):
    """Computes of what is due; whether they can be counted."""
    for index in range(walk.due.shape[0]):
        if not hold(walk, w, output, walk.operations[index], walk.due[index], place):
            return False
    return True


@inlined
def hold(walk, w, output, kind, more, place):
    """Instructions, or cycles of a pause, which join those just before them, if there are any of that kind, and of that
    place where places are asked for; whether they can be counted.
    """
    if more == 0:  # work of no operations is nothing
        return True
    if kind != PAUSE:
        catch_up(walk, w, more)
    if walk.warp[w].held_kind == kind and (walk.rules.places == 0 or walk.warp[w].held_place == place):
        if walk.warp[w].held_amount > LARGEST - more:
            return False
        walk.warp[w].held_amount += more
        return True
    let_go(walk, w, output)
    walk.warp[w].held_kind = kind
    walk.warp[w].held_amount = more
    walk.warp[w].held_place = place
    return True


@inlined
def let_go(walk, w, output):
    """Write what is held, behind which something else comes."""
    kind = walk.warp[w].held_kind
    if kind != NOTHING_HELD:
        write(walk, output, kind, walk.warp[w].held_amount, walk.warp[w].held_place)
        walk.warp[w].held_kind = NOTHING_HELD


@inlined
def put(walk, w, output, kind, amount, place):
    """Write an operation behind what is held."""
    let_go(walk, w, output)
    write(walk, output, kind, amount, place)


@inlined
def write(walk, output, kind, amount, place):
    """Write an operation."""
    at = output.used.operations
    output.kind[at] = kind
    output.amount[at] = amount
    if walk.rules.places != 0:
        output.place[at] = place
    output.used.operations = at + 1


@inlined
def catch_up(walk, w, instructions):
    """The load/store units go on while the warp issues something else."""
    walk.warp[w].backlog = max(np.int64(0), walk.warp[w].backlog - instructions)
