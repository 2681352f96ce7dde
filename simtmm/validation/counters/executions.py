"""How often the warps and the threads of a trace came to each of its sites, and what their accesses took.

Warps are of 32 threads in lockstep, as lowering has them (simtmm/trace/lower.py); an access of a warp's threads at one
site is one request. That of shared memory takes as many wavefronts as a bank has to give different words; that of
global or local memory touches sectors of 32 bytes.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from simtmm.errors import TraceError
from simtmm.trace.io import Trace
from simtmm.trace.schema import Batch, Kind
from simtmm.validation.counters.lane_steps import MOST_WORDS, SECTOR, WARP, Counted, count_steps, lanes_of

Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Executions:
    """What the blocks of a trace's only launch did.

    blocks: int64[blocks], the numbers of those that have events. All else is int64[blocks, sites]:
    warps: how often warps did what stands at the site, with any of their threads. threads: how often threads did.
    onwards: of these, how often the thread's next event was that of the site which follows.
    wavefronts: of its accesses to shared memory. sectors: of its accesses to global and local memory, those of each
        request once.
    read_sectors: int64[blocks], different sectors of global memory that the block's loads touch.
    """

    blocks: Integers
    warps: Integers
    threads: Integers
    onwards: Integers
    wavefronts: Integers
    sectors: Integers
    read_sectors: Integers


def executions(trace: Trace, followers: Mapping[int, int] | None = None) -> Executions:
    """Count a trace of one launch. followers: of sites, those that `onwards` looks for behind them; none if left out.

    Raises TraceError for a trace of several launches, or of warps of another width.
    """
    info = trace.info
    if len(info.launches) != 1:
        raise TraceError(f"{info.kernel}: {len(info.launches)} launches: counters are counted of one")
    if info.warp_size not in (None, WARP):
        raise TraceError(f"{info.kernel}: warps of {info.warp_size} threads: counters are counted for {WARP}")
    sites = max((site.site for site in info.sites), default=-1) + 1
    behind = np.full(sites, -1, np.int64)
    for site, follower in (followers or {}).items():
        behind[site] = follower
    counts = [_of_batch(batch, behind, info.launches[0].threads_per_block) for batch in trace.batches()]
    if not counts:
        raise TraceError(f"{info.kernel}: has no events to be counted")
    columns = zip(*(vars(each).values() for each in counts), strict=True)
    return Executions(*(np.concatenate(column) for column in columns))


def _of_batch(batch: Batch, followers: Integers, threads: int) -> Executions:
    events, blocks = batch.events, len(batch.ends)
    loads = (events["kind"] == Kind.LOAD) | (events["kind"] == Kind.ASYNC)
    most = int(((events["bytes"][loads].astype(np.int64) + SECTOR - 2) // SECTOR + 1).sum())
    tables = np.zeros((5, blocks, len(followers)), np.int64)
    room = np.empty((2, most), np.int64)
    counted = Counted(tables[0], tables[1], tables[2], tables[3], tables[4], room[0], room[1])
    starts, words = np.empty(threads + 1, np.int64), np.empty(MOST_WORDS, np.int64)
    found = count_steps(lanes_of(events), batch.ends, threads, followers, counted, starts, words)
    each = np.unique(room[:, :found], axis=1)
    read = np.bincount(each[0], minlength=blocks).astype(np.int64)
    return Executions(batch.block.astype(np.int64), tables[0], tables[1], tables[2], tables[3], tables[4], read)
