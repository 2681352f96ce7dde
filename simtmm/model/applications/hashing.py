"""Times of applications that hash: the random-access micro-benchmark, BLAST's Bloom filter, and FACS.

Each is the calibrated model (calibrated.py) with its own f_app. Those with "proportional" in their unit have no
constants, so only ratios of their values mean something.

Source: Ma, dissertation (2014), sections 5.2.1 to 5.2.5; Ma and Chamberlain (ASAP 2012), Eq (14) to (23). Eq (5.28)
says that it substitutes into Eq (6.3); it substitutes into Eq (5.9).
"""

from simtmm.model.applications.bloom import HASHES
from simtmm.model.cache import C_S, WORKING_SET, G, cache_factor
from simtmm.model.calibrated import A0, A1, ELEMENTS
from simtmm.model.equations.domain import checked
from simtmm.model.equations.formula import Formula, Symbol
from simtmm.model.equations.functions import Value
from simtmm.model.equations.symbols import P, Q
from simtmm.model.launch.occupancy import B_A
from simtmm.model.launch.scheduling import B_R, scheduling_factor

Q_S = Symbol("Q_s", "query", "bases", minimum=1)
N_SUB = Symbol("n_sub", "sub-query", "bases", minimum=1, latex="n_{sub}")

_DOCUMENT = "000 (Ma, dissertation)"
_PROPORTIONAL = "proportional"


@checked("f_app", ELEMENTS)
def microbenchmark_complexity(n: Value) -> Value:
    """f_app of n random accesses."""
    return n  # Eq. (5.15)


@checked("f_app", HASHES, Q_S, N_SUB, ELEMENTS)
def bloom_complexity(k: Value, Q_s: Value, n_sub: Value, n: Value) -> Value:
    """f_app of BLAST's Bloom filter: every sub-query of Q_s hashes the whole database of n bases k times."""
    return k * (Q_s / n_sub) * n  # Eq. (5.20)


@checked("f_app", HASHES, ELEMENTS, B_A, P, Q)
def facs_complexity(k: Value, n: Value, B_a: Value, P: Value, Q: Value) -> Value:
    """f_app of FACS: n sequences, a block each, B_a P / Q blocks at once; k n / B_r times B_r / (B_a P / Q)."""
    return k * n / (B_a * (P / Q))  # Eq. (5.27)


def _microbenchmark(n: Value, B_r: Value, B_a: Value, P: Value, Q: Value) -> dict[str, Value]:
    return {"run": microbenchmark_complexity(n) * scheduling_factor(B_r, B_a, P, Q)}  # Eq. (5.16)


def _bloom(
    k: Value, Q_s: Value, n_sub: Value, n: Value, B_r: Value, B_a: Value, P: Value, Q: Value
) -> dict[str, Value]:
    return {"run": bloom_complexity(k, Q_s, n_sub, n) * scheduling_factor(B_r, B_a, P, Q)}  # Eq. (5.21) and (5.23)


def _bloom_printed(  # noqa: PLR0913, PLR0917 - a letter of the equation each
    a1: Value, a0: Value, k: Value, Q_s: Value, n_sub: Value, n: Value, B_r: Value, B_a: Value, P: Value, Q: Value
) -> dict[str, Value]:
    run = k / n_sub * Q_s * n * scheduling_factor(B_r, B_a, P, Q)
    return {"run": a1 * run, "constant": a0}  # Eq. (5.24)


def _bloom_mended(
    a1: Value, a0: Value, k: Value, n_sub: Value, B_r: Value, B_a: Value, P: Value, Q: Value
) -> dict[str, Value]:
    run = k / n_sub * scheduling_factor(B_r, B_a, P, Q)
    return {"run": a1 * run, "constant": a0}  # Eq. (5.24), without Q_s and n


def _facs(  # noqa: PLR0913, PLR0917 - a letter of the equation each
    k: Value, n: Value, m: Value, C_s: Value, G: Value, B_r: Value, B_a: Value, P: Value, Q: Value
) -> dict[str, Value]:
    run = facs_complexity(k, n, B_a, P, Q) * cache_factor(m, C_s, G) * scheduling_factor(B_r, B_a, P, Q)
    return {"run": run}  # Eq. (5.28)


MICROBENCHMARK = Formula(
    "microbenchmark", _microbenchmark, (ELEMENTS, B_R, B_A, P, Q), f"{_DOCUMENT}, Eq (5.16)", "sum", _PROPORTIONAL
)
BLOOM = Formula(
    "bloom", _bloom, (HASHES, Q_S, N_SUB, ELEMENTS, B_R, B_A, P, Q), f"{_DOCUMENT}, Eq (5.23)", "sum", _PROPORTIONAL
)

# The printed x. With the constants of Fig 5.13 it gives 6e17 s.
BLOOM_PRINTED = Formula(
    "bloom-printed",
    _bloom_printed,
    (A1, A0, HASHES, Q_S, N_SUB, ELEMENTS, B_R, B_A, P, Q),
    f"{_DOCUMENT}, Eq (5.24) as printed",
    "sum",
    "s",
)

# The x that the constants of Fig 5.13 are for: Q_s and n are those of the figure, and within a1. It gives 860,000
# w-mers a second where the text has 300,000.
BLOOM_MENDED = Formula(
    "bloom-mended",
    _bloom_mended,
    (A1, A0, HASHES, N_SUB, B_R, B_A, P, Q),
    f"{_DOCUMENT}, Eq (5.24) with x = k f_sched / n_sub",
    "sum",
    "s",
)
FACS = Formula(
    "facs",
    _facs,
    (HASHES, ELEMENTS, WORKING_SET, C_S, G, B_R, B_A, P, Q),
    f"{_DOCUMENT}, Eq (5.28)",
    "sum",
    _PROPORTIONAL,
)
