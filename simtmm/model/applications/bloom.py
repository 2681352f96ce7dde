"""How often a Bloom filter says yes to what it does not hold.

Source: Ma, dissertation (2014), Eq (5.18), (5.19) and (5.22), Fig 5.7. The times of Bloom filters are in hashing.py.
"""

import numpy as np

from simtmm.errors import ModelError
from simtmm.model.equations.domain import checked
from simtmm.model.equations.formula import Symbol
from simtmm.model.equations.functions import Value, is_symbolic

BITS = Symbol("m", "Bloom vector", "bits", minimum=2, whole=True)
HASHES = Symbol("k", "hash functions", "", minimum=1, whole=True)
STORED = Symbol("n_e", "elements in the Bloom vector", "elements", whole=True)
TESTED = Symbol("n", "elements tested", "elements", whole=True)
FALSE_POSITIVES = Symbol("FP", "elements found that are not in the set", "elements", whole=True)
TRUE_POSITIVES = Symbol("TP", "elements found that are in the set", "elements", whole=True)


@checked("FPR", BITS, HASHES, STORED)
def false_positive_rate(m: Value, k: Value, n_e: Value) -> Value:
    """FPR of a vector of m bits with k independent, uniform hash functions and n_e elements in it.

    n_e: elements that the vector holds.
    """
    if is_symbolic(m, k, n_e):
        return (1 - (1 - 1 / m) ** (k * n_e)) ** k  # Eq. (5.18), again as Eq. (5.22)
    # The same; as printed, 1 - 1 / m and the outer difference would lose all digits of a large vector
    return (-np.expm1(k * n_e * np.log1p(-1 / m))) ** k


@checked("FPR", FALSE_POSITIVES, TRUE_POSITIVES, TESTED, numbers_only=True)
def measured_false_positive_rate(FP: Value, TP: Value, n: Value) -> Value:
    """FPR as counted: FP false and TP true positives among n elements tested; a filter has no false negatives.

    Raises ModelError for more positives than elements, and if all are true, since the rate is then undefined.
    """
    if np.any(n < FP + TP) or np.any(n == TP):
        raise ModelError("FPR: FP, TP: must be at most n together, and TP below n")
    return FP / (n - TP)  # Eq. (5.19)
