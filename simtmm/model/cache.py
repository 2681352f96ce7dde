"""The cache's part in the time of random accesses over a working set.

Source: Ma, dissertation (2014), Eq (5.7) and (5.10) to (5.12), Fig 5.3 and 5.4; Ma and Chamberlain (ASAP 2012),
Eq (9) to (11). For independent, uniform accesses the hit rate is exact: a cache that is full holds C_s of m bytes,
whichever they are. There is one cache only: a GTX 480's second level has no term.
"""

import numpy as np

from simtmm.model.equations.domain import checked
from simtmm.model.equations.formula import Symbol
from simtmm.model.equations.functions import Value, minimum
from simtmm.model.equations.symbols import Z_BYTES

WORKING_SET = Symbol("m", "working set", "bytes", above=True)
C_S = Symbol("C_s", "cache of a core group", "bytes", above=True)
G = Symbol("G", "slowdown where no access hits, fitted", "", minimum=0, above=True)


@checked("r_H", WORKING_SET, C_S)
def hit_rate(m: Value, C_s: Value) -> Value:
    """r_H: the part of random accesses to m bytes that hits a cache of C_s bytes."""
    return minimum(1, C_s / m)  # Eq. (5.10)


@checked("r_M", WORKING_SET, C_S)
def miss_rate(m: Value, C_s: Value) -> Value:
    """r_M: the part that misses."""
    return 1 - hit_rate(m, C_s)  # Eq. (5.11)


@checked("f_cache", WORKING_SET, C_S, G)
def cache_factor(m: Value, C_s: Value, G: Value) -> Value:
    """f_cache of a working set in global memory: time over that of accesses that all hit.

    Eq (5.12) has 1 where the set fits (A_C); r_H = 1 gives the same. In shared memory, where it fits, f_cache is 1.

    m: bytes of the working set.
    C_s: bytes of the cache.
    G: time of an access that misses over that of one that hits.
    """
    return hit_rate(m, C_s) + miss_rate(m, C_s) * G  # Eq. (5.12)


@checked("A_C", WORKING_SET, Z_BYTES, numbers_only=True)
def fits_shared_memory(m: Value, Z: Value) -> Value:
    """A_C of a working set in shared memory."""
    return np.less(m, Z)  # Eq. (5.7), first line


@checked("A_C", WORKING_SET, C_S, numbers_only=True)
def fits_cache(m: Value, C_s: Value) -> Value:
    """A_C of a working set in global memory."""
    return np.less(m, C_s)  # Eq. (5.7), second line
