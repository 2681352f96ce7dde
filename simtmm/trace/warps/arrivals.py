"""When what a warp needs is there: the asyncs that load it, and its own cycles until it comes from shared memory."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from simtmm.native import inlined
from simtmm.trace.warps.layout import RULE_SHARED_LATENCY, WARP_CYCLES


@inlined
def latest_needed(walk, w, site, latest):
    """The largest of `latest` and of the asyncs that load the values that a site needs."""
    for index in range(walk.needs_end[site], walk.needs_end[site + 1]):
        latest = max(latest, walk.latest[w, walk.needs[index]])
    return latest


@inlined
def spend(walk, w, cycles):
    """Count a warp's own cycles, of a stretch no more than any value of shared memory takes."""
    walk.warp[w, WARP_CYCLES] += min(cycles, walk.rules[RULE_SHARED_LATENCY])


@inlined
def last_arrival(walk, w, site, arrival):
    """The latest of `arrival` and of the cycles at which what a site needs of shared memory is there."""
    for index in range(walk.needs_end[site], walk.needs_end[site + 1]):
        arrival = max(arrival, walk.shared[w, walk.needs[index]])
    return arrival
