"""Run the blocks of clusters: all blocks of a cluster together, taking turns."""

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

from simtmm.cuda.execution.launches.endings import StuckError
from simtmm.cuda.execution.launches.launch import LaunchState

if TYPE_CHECKING:
    from simtmm.cuda.execution.launches.run import Core, Piece


class _Cluster:
    """Blocks of a cluster under way. left: those that have not ended."""

    def __init__(self, state: LaunchState, numbers: tuple[int, ...]) -> None:
        self.numbers = numbers
        self.blocks = [state.new_block() for _ in numbers]
        for rank, block in enumerate(self.blocks):
            block.join(self.blocks, rank)
            block.block["living"] = state.threads  # of those that begin later, too
        self.left = dict(enumerate(self.blocks))

    @property
    def first(self) -> int:
        """The lowest number of a block that has not ended."""
        return min(self.numbers[rank] for rank in self.left)

    @property
    def waits(self) -> bool:
        """Whether no thread can continue until a thread of another cluster does something."""
        return not any(
            int(warp["living"]) & ~int(warp["blocked"]) for block in self.left.values() for warp in block.warps
        )


def in_clusters(core: "Core", resident: int) -> "Iterator[Piece]":
    """Run clusters, the blocks of each in turns. resident: blocks that run together, a multiple of a cluster."""
    state = core.state
    pending = deque(numbers for numbers in state.clusters() if numbers[0] < state.blocks)
    waiting: list[_Cluster] = []
    passes = 0

    def ended() -> int:
        begun = min((min(numbers) for numbers in pending), default=state.blocks)
        return min([begun, *(each.first for each in waiting if each.left)])

    while pending or waiting:
        if pending and (not waiting or (len(waiting) + 1) * state.cluster_blocks <= resident):
            cluster, passes = _Cluster(state, pending.popleft()), 0
            waiting.append(cluster)
            core.choose_turn_end(0)
            for rank, number in enumerate(cluster.numbers):
                state.forget()
                core.block = cluster.blocks[rank]
                yield from core.new_blocks(number, number + 1, ended)
                if not core.has_more(core.block, may_wait=True):
                    del cluster.left[rank]
        elsewhere = core.choose_turn_end(passes)
        passes += 1
        for cluster in waiting:
            for rank, block in list(cluster.left.items()):
                state.forget()
                yield from core.go_on(block, ended)
                if not core.has_more(block, may_wait=True):
                    del cluster.left[rank]
                    core.watch.went_on()
            if cluster.left and cluster.waits:
                raise StuckError(state, next(iter(cluster.left.values())))
        waiting = [each for each in waiting if each.left]
        state.forget()
        core.watch.yet = sum(len(numbers) for numbers in pending)
        if waiting and not elsewhere:
            core.watch.turn([block for each in waiting for block in each.left.values()])
    piece = core.logged()
    if piece is not None:
        yield piece, state.blocks
