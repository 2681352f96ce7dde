"""Lanes that wait at a barrier: which sites they wait at, and whether loads may stay in flight."""

# simtmm/native compiles these functions from the names of their arguments; annotations would repeat "array".
# mypy: disable-error-code="no-untyped-def,no-untyped-call"

import numpy as np

from simtmm.native import inlined
from simtmm.trace.runs.layout import SITE_MASK
from simtmm.trace.warps.layout import AT_BARRIER
from simtmm.trace.warps.places import note_done, place_at


@inlined
def note_barrier(walk, w, site):
    """All lanes that wait at a barrier's site passed it."""
    lanes = np.int64(0)
    for g in range(walk.warp[w].groups):
        if walk.group[w, g].site == AT_BARRIER and walk.group[w, g].what & SITE_MASK == site:
            lanes += walk.group[w, g].lanes
    place = place_at(walk, site)
    walk.threads[place].times += 1
    walk.threads[place].lanes += lanes
    note_done(walk, place, lanes)


@inlined
def leaves_loads_in_flight(walk, w):
    """Whether all sites that its lanes wait at say that their barrier is a sync."""
    for g in range(walk.warp[w].groups):
        site = walk.group[w, g].what & SITE_MASK
        if walk.group[w, g].site == AT_BARRIER and (site >= walk.sync.shape[0] or walk.sync[site] == 0):
            return False
    return True


def behind_cluster(walk, w):
    """Cycles that a barrier of the cluster takes a warp beyond one of its block, where its lanes wait at one."""
    what = np.int64(0)
    for g in range(walk.warp[w].groups):
        site = walk.group[w, g].what & SITE_MASK
        if walk.group[w, g].site == AT_BARRIER and site < walk.cluster.shape[0]:
            what = max(what, walk.cluster[site])
    if what == 0:
        return np.int64(0)
    found = walk.rules.cluster_barrier
    if what > 1:
        found += walk.rules.cluster_fence
        found += walk.warp[w].block_warps * walk.rules.cluster_fence_of_warp
    return (found + 500) // 1000


@inlined
def is_first_at(walk, w, g):
    """Whether a group is the first one that waits at its barrier's site."""
    site = walk.group[w, g].what & SITE_MASK
    for other in range(g):
        if walk.group[w, other].site == AT_BARRIER and walk.group[w, other].what & SITE_MASK == site:
            return False
    return True
