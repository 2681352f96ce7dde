"""What most likely mends a finding."""

from simtmm.cuda.checks import state

COPIED = (
    "wait for the copy in the thread that began it (cp.async.wait_group, __pipeline_wait_prior), and put "
    "__syncthreads() behind that where others read it"
)


def hint_of(kind: int, who: int, space: str, same: bool) -> str:
    """A sentence; empty where there is none."""
    if kind in (state.RAW, state.WAR, state.WAW):
        if same:
            return ""
        if who == state.WITHIN_WARP:
            return "lanes of a warp need not run in lock step: put __syncwarp() between the two, or use shuffles"
        if who == state.BETWEEN_BLOCKS:
            return (
                "no barrier orders blocks: use atomics, a fence (__threadfence) and a flag that is read and written "
                "atomically, a grid-wide barrier, or two launches"
            )
        if kind == state.WAW:
            return "two threads write one place: give each its own, use an atomic, or put __syncthreads() between them"
        return "put __syncthreads() between the two, where all threads of the block reach it"
    if kind == state.UNWRITTEN:
        how = {
            "__shared__": "each block's shared memory holds anything at first: write it before it is read",
            "__local__": "a variable of the thread is read before it has a value",
        }
        return how.get(space, "nobody has written it: neither a copy, nor a memset, nor a kernel before")
    if kind == state.PARTLY_WRITTEN:
        return "the rest of a vector, as padding of a structure or what lies behind an array's end, was never written"
    if kind == state.NOT_IN_MASK:
        return "the mask of a *_sync function must name the lane that calls it: __activemask() is rarely right"
    if kind == state.BARRIERS_DIFFER:
        return "all threads of a block must come to the same __syncthreads(): no condition around it may part them"
    return "move the barrier to where all threads come by, or name the lanes that do in its mask"
