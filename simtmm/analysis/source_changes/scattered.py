"""Accesses whose elements lie anywhere, as those whose indices are data do."""

from collections.abc import Sequence

import numpy as np

from simtmm.analysis.source_changes.operations import Operations
from simtmm.workload import Workload

MOST_LOOKED_AT = 4096  # chunks
LEAST = 8  # chunks of a request that say something
DIFFERENT = 0.5  # of the distances from chunk to chunk: where more differ, chunks lie anywhere


def are_scattered(workload: Workload, places: Sequence[int]) -> bool:
    """Whether the chunks of requests at some places are as far apart as chance has it.

    Rows, columns and fields of structures are at few distances from one another, and broadcasts at none.
    """
    of = Operations(workload)
    chosen = np.isin(workload.place, places) & (of.listed >= LEAST)
    here = of.chunks_of(chosen)[:MOST_LOOKED_AT]
    if not len(here):
        return False
    request = of.of_chunk[here]
    is_same = np.diff(request) == 0
    apart = np.diff(workload.chunks[here])[is_same]
    pairs = np.unique(np.stack([request[1:][is_same], apart]), axis=1)
    return bool(pairs.shape[1] > DIFFERENT * len(apart) > 0)
