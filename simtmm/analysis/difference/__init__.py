"""Two runs compared.

side            a run, out of the JSON document that it was saved as
contributions   what explains the difference, by reason, by line and by array
"""

from simtmm.analysis.difference.contributions import NO_WARPS, OVERHEAD, Cause, Difference, Entry, difference
from simtmm.analysis.difference.side import Side, changed_keys, load_document

__all__ = [
    "NO_WARPS",
    "OVERHEAD",
    "Cause",
    "Difference",
    "Entry",
    "Side",
    "changed_keys",
    "difference",
    "load_document",
]
