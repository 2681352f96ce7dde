"""When what a warp needs is there: asyncs that load it, and its own cycles until memory or an instruction gives it."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

from simtmm.native import inlined


@inlined
def latest_needed(walk, w, site, latest):
    """The largest of `latest` and of the asyncs that load the values, or end the groups, that a site needs."""
    for index in range(walk.needs_end[site], walk.needs_end[site + 1]):
        latest = max(latest, walk.latest[w, walk.needs[index]])
    left = walk.in_flight[site]
    if 0 <= left < walk.warp[w].committed:
        group = walk.warp[w].committed - 1 - left
        latest = max(latest, walk.group_end[w, group % walk.group_end.shape[1]])
    return latest


@inlined
def commit(walk, w, site, times):
    """A warp's copies so far are a group, so often; groups that no wait could leave out are not stored."""
    room = walk.group_end.shape[1]
    if room > 0:
        for index in range(walk.commits_end[site], walk.commits_end[site + 1]):
            for _ in range(min(times, room)):
                walk.group_end[w, walk.warp[w].committed % room] = walk.latest[w, walk.commits[index]]
                walk.warp[w].committed += 1


@inlined
def spend(walk, w, cycles):
    """Count a warp's own cycles, of a stretch no more than any value takes that it counts for."""
    walk.warp[w].cycles += min(cycles, walk.rules.longest)


@inlined
def last_arrival(walk, w, site, arrival):
    """The latest of `arrival` and of the cycles at which what a site needs of shared memory is there."""
    for index in range(walk.needs_end[site], walk.needs_end[site + 1]):
        arrival = max(arrival, walk.shared[w, walk.needs[index]])
    return arrival


@inlined
def last_ready(walk, w, site, ready):
    """The latest of `ready` and of the cycles at which instructions have given what a site needs."""
    for index in range(walk.needs_end[site], walk.needs_end[site + 1]):
        ready = max(ready, walk.ready[w, walk.needs[index]])
    return ready


@inlined
def give_results(walk, w, site):
    """A site's work and stall are over: what its instructions give is there some cycles later."""
    for index in range(walk.results_end[site], walk.results_end[site + 1]):
        there = walk.warp[w].cycles + walk.result_cycles[index]
        walk.ready[w, walk.results[index]] = max(walk.ready[w, walk.results[index]], there)
