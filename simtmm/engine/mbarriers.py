"""What both engines hold of mbarriers: how many a block may have, and what is refused."""

MOST_MBARRIERS = 64  # of a block: programs use two for each stage of a pipeline


def too_many() -> str:
    """That a block has more than there is room for."""
    return f"a block has more than {MOST_MBARRIERS} mbarriers: must be at most so many"


def not_initialised(number: int) -> str:
    """That a warp uses one that nobody has initialised."""
    return f"a warp uses mbarrier {number} of its block, which no warp of the block has initialised"


def waits_for_ever(warps: int) -> str:
    """That warps wait where nothing happens any more."""
    return (
        f"{warps:,} warps wait forever at mbarriers, for registers, or for warps that do: no arrivals or bytes are "
        "left to complete the phases that they wait for, or no warps to give registers back"
    )
