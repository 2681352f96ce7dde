"""How to fix a finding. tests/cuda/checks/mended.py does it to each planted fault."""

from dataclasses import dataclass

from simtmm.cuda.checks import state

COPIED = (
    "wait for the copy in the thread that began it (cp.async.wait_group, __pipeline_wait_prior), or for the mbarrier "
    "or cuda::pipeline that was told of it, and put __syncthreads() behind that where others read it"
)
IN_BULK = (
    "wait for the mbarrier that the copy tells of its bytes (mbarrier.try_wait), in each thread that accesses "
    "them or in one that a barrier puts before it"
)
STILL_READ = (
    "wait until the copy has read it in the thread that began it (cp.async.bulk.commit_group and wait_group.read), and "
    "put a barrier behind that where others write"
)
MULTIPLIED = "wait for the products that read it (wgmma.commit_group, wgmma.wait_group), and tell who writes after that"
UNFENCED = (
    "copies in bulk and wgmma access shared memory by another proxy: put fence.proxy.async "
    "(cuda::ptx::fence_proxy_async, cutlass::arch::fence_view_async_shared) behind the write, in each thread that "
    "wrote, before the barrier or the arrival that tells of it"
)
WITHIN_A_BLOCK = "put __syncthreads() between the two, where all threads of the block reach it"
WITHIN_A_WARP = (
    "lanes of a warp need not run in lock step, and shuffles and votes order no memory: put __syncwarp() between the "
    "two, where all lanes of its mask reach it"
)
BETWEEN_BLOCKS = (
    "no barrier of a block orders blocks: use two launches or a grid-wide barrier; or a flag that is set and read "
    "atomically, with __threadfence() between it and the data: in each thread that wrote some, or in one behind "
    "__syncthreads()"
)
BLOCK_SCOPE = (
    "atomicAdd_block() and its kin, and cuda::thread_scope_block, are atomic within a block alone: use atomicAdd(), "
    "cuda::thread_scope_device"
)
HALF_ATOMIC = "one of the two is atomic and the other is not: let both be, as by atomicExch() and atomicAdd(p, 0)"
_UNWRITTEN = {
    "__shared__": "each block's shared memory is uninitialised: write it before it is read, as with zeros, and "
    "put __syncthreads() behind that where others read it",
    "__local__": "a variable of the thread is read before it has a value: give it one where it is declared",
}
_BARRIERS = {state.WITHIN_WARP: "__syncwarp()", state.WITHIN_BLOCK: "__syncthreads()",
             state.BETWEEN_BLOCKS: "a grid-wide barrier"}  # fmt: skip


@dataclass(frozen=True)
class Race:
    """What decides the hint for a race.

    who: of state.py. copied: whether what was written first was a copy that its thread must wait for. atomic: what does
    both accesses at once, where each thread reads the place and writes it anew; else empty. one_store: whether both are
    the same store. repeated: whether a thread may come to it again. block_scope: whether both are atomics of a block.
    beyond_warp: whether the same accesses race between warps as well. under_way: the hint for what was begun and not
    waited for. half_atomic: whether one of the two is strong, and the other is not.
    """

    who: int
    copied: bool = False
    atomic: str = ""
    one_store: bool = False
    repeated: bool = False
    block_scope: bool = False
    beyond_warp: bool = False
    under_way: str = ""
    half_atomic: bool = False

    @property
    def hint(self) -> str:
        """A sentence."""
        if self.who == state.WITHIN_THREAD:
            return COPIED
        if self.who == state.UNFENCED:
            return UNFENCED
        if self.who == state.UNDER_WAY:
            return self.under_way
        if self.who == state.BETWEEN_BLOCKS and self.block_scope:
            return BLOCK_SCOPE
        if self.atomic:
            return self._beside_rounds(
                "each of these threads reads the place and writes it anew, which no barrier between the two fixes: use "
                f"{self.atomic}, or give each thread its own place"
            )
        if self.one_store:
            return self._beside_rounds(
                "these threads write one place by the same store: let one of them write it, or give each its own place"
            )
        if self.copied:
            return COPIED
        if self.who == state.BETWEEN_BLOCKS:
            return f"{HALF_ATOMIC}; else {BETWEEN_BLOCKS}" if self.half_atomic else BETWEEN_BLOCKS
        return WITHIN_A_WARP if self._barrier == "__syncwarp()" else WITHIN_A_BLOCK

    @property
    def _barrier(self) -> str:
        return _BARRIERS[state.WITHIN_BLOCK if self.who == state.WITHIN_WARP and self.beyond_warp else self.who]

    def _beside_rounds(self, hint: str) -> str:
        """A hint for what threads do at once, with another for what they do in different rounds of a loop."""
        if not self.repeated:
            return hint
        return (
            f"{hint}; if they meet there in different iterations of a loop, put {self._barrier} between the iterations"
        )


def unwritten_hint(kind: int, space: str) -> str:
    """Of a read of what nobody has written."""
    if kind == state.PARTLY_WRITTEN:
        return (
            "a part of the vector, as padding of a structure or what lies behind an array's end, was never written: "
            "write all of it first, or read only the other parts"
        )
    return _UNWRITTEN.get(space, "nothing has written it: fill it first, by a copy, a memset or an earlier kernel")


def barrier_hint(kind: int) -> str:
    """Of barriers and masks."""
    if kind == state.NOT_IN_MASK:
        return "the mask of a *_sync function must name the lane that calls it: __activemask() is rarely right"
    if kind == state.COUNTS_DIFFER:
        return "all threads that meet at a barrier must give it the same number of threads: that of all of them"
    if kind == state.BARRIERS_DIFFER:
        return (
            "all threads of a block must reach the same __syncthreads(), in the same iterations of the loops around "
            "it: "
            "no condition, continue or break may separate them there"
        )
    return "move the barrier to where all threads of the block reach it"


STUCK = (
    "a barrier waits for all threads that it is for, and a *_sync function for all lanes of its mask: let all of them "
    "reach it, or name in the mask only lanes that do"
)
ROUND = "let a thread that can still run write the awaited value before it waits itself"
