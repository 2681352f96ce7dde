"""What contradicts a verdict: trials of its own that say something else."""

from simtmm.analysis.verdict import Verdict
from simtmm.analysis.what_if import HELPS
from simtmm.engine import causes

OF_IDLE_GROUPS = (causes.FEW_BLOCKS, causes.TAIL, causes.UNEVEN)


def says_that_it_binds(found: Verdict) -> bool:
    """Whether something is said to bind, alone or together."""
    beginning = found.words.split(", about")[0]
    is_one = not beginning.startswith("Nothing binds alone")
    return is_one and (" bind" in beginning or beginning.startswith("Too few blocks"))


def contradiction(found: Verdict) -> str:
    """What its trials contradict, in words; "" where nothing does.

    What binds, alone or with others that are named beside it, gains HELPS where it is relieved; where core groups have
    no work, sharing it out does. "No bank conflicts" gains only where there are any.
    """
    if not found.what_ifs:
        return ""
    of_cause = [each.speedup for each in found.what_ifs if each.cause == found.cause]
    if says_that_it_binds(found):
        if of_cause and max(of_cause) < HELPS:
            return f"relieving it gains {max(of_cause):.2f}x: {found.words}"
        # A run that takes no time without starting launches and blocks has no such trial; a chain of one warp can't be
        # shared out
        if not of_cause and found.cause not in (*OF_IDLE_GROUPS, causes.LAUNCHES, causes.BLOCK_STARTS):
            return f"nothing was tried: {found.words}"
    if found.is_tried and found.share >= causes.MOSTLY and not says_that_it_binds(found):
        return f"half of the time, and not said to bind: {found.words}"
    return ""
