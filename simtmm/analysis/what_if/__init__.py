"""What would help: the same program simulated on a machine that has more of something, or that lacks a cost.

changes  what is changed
trials   how much faster the run is with it
"""

from simtmm.analysis.what_if.changes import CHANGES, MORE_WARPS
from simtmm.analysis.what_if.trials import ALONE, HELPS, SECONDS, WORTH_TRYING, WhatIf, best, considered, try_out

__all__ = [
    "ALONE",
    "CHANGES",
    "HELPS",
    "MORE_WARPS",
    "SECONDS",
    "WORTH_TRYING",
    "WhatIf",
    "best",
    "considered",
    "try_out",
]
