"""The integrated framework for all-pairs shortest paths by repeated squaring of the matrix of distances.

n vertices; the matrix is cut into (n / S_D)^2 sub-blocks, a thread block each, of which three are in shared memory. A
squaring takes A_ij to min over k of A_ik + A_kj, Eq (6.4): kernels/apsp-minplus does it. Constants are taken as 1.

T * S_D = 512 at the knees of all three curves of Fig 6.3, which is L / C with C = 1: when the C threads that share a
transfer all wait for it, C cancels (see tmm.py). C = 1 therefore gives the measured knees, the machine's C the
printed equation.

Source: Ma, dissertation (2014), Eq (6.5) to (6.10), Fig 6.2 to 6.4.
"""

from simtmm.model.calibrated import A0, A1
from simtmm.model.equations.domain import checked
from simtmm.model.equations.formula import Formula, Symbol
from simtmm.model.equations.functions import Value, ceiling, lg, sqrt
from simtmm.model.equations.symbols import SUB_BLOCK, C, L, P, Q, T
from simtmm.model.integrated import waves_per_core
from simtmm.model.launch.occupancy import B_A
from simtmm.model.launch.scheduling import B_R

VERTICES = Symbol("n", "vertices", "vertices", minimum=1, whole=True)
WORD_BYTES = Symbol("word_bytes", "bytes of a distance", "bytes", minimum=1, whole=True)

_DOCUMENT = "000 (Ma, dissertation)"
_SYMBOLS = (VERTICES, L, C, T, B_R, B_A, P, Q)


@checked("T1", VERTICES)
def work(n: Value) -> Value:
    """T1, operations."""
    return n**3 * lg(n)


@checked("M", VERTICES, SUB_BLOCK, C)
def memory_operations(n: Value, S_D: Value, C: Value) -> Value:
    """M, transfers of C words."""
    return n**3 * lg(n) / (S_D * C)  # Eq. (6.5)


@checked("B_r", VERTICES, SUB_BLOCK)
def requested_blocks(n: Value, S_D: Value) -> Value:
    """B_r, a block for each sub-block; the last of a row or column may be cut short.

    n: vertices of the graph.
    S_D: rows and columns of a sub-block.
    """
    return ceiling(n / S_D) ** 2  # section 6.2: (n / S_D)^2


@checked("Z_B", SUB_BLOCK, WORD_BYTES)
def shared_memory(S_D: Value, word_bytes: Value) -> Value:
    """Z_B, bytes of shared memory of a block: three sub-blocks, as 3, 12 and 48 KB in Fig 4.6."""
    return 3 * S_D**2 * word_bytes


@checked("T", L, SUB_BLOCK, C)
def threads_that_hide_latency(L: Value, S_D: Value, C: Value) -> Value:
    """The T above which computing binds in Eq (6.8), and below which memory does in Eq (6.9).

    L: latency of global memory [cycles].
    S_D: rows and columns of a sub-block.
    C: words of a chunk.
    """
    return L / (S_D * C)


def _terms_by_size(  # noqa: PLR0913, PLR0917 - a letter of the equation each
    n: Value, S_D: Value, L: Value, C: Value, T: Value, B_r: Value, B_a: Value, P: Value, Q: Value
) -> dict[str, Value]:
    waves = waves_per_core(B_r, B_a, P, Q)
    return {"compute": n**3 * lg(n) * waves, "memory": n**3 * lg(n) * L / (S_D * C * T) * waves}  # Eq. (6.6)


def _terms(n: Value, L: Value, C: Value, T: Value, B_r: Value, B_a: Value, P: Value, Q: Value) -> dict[str, Value]:
    waves = waves_per_core(B_r, B_a, P, Q)
    return {
        "compute": n**3 * lg(n) * waves,  # Eq. (6.8)
        "memory": n**2 * lg(n) * L * sqrt(B_r) / (C * T) * waves,  # Eq. (6.9); their maximum is Eq. (6.7)
    }


def _line(a1: Value, a0: Value, B_r: Value, T: Value) -> dict[str, Value]:
    return {"memory": a1 * sqrt(B_r) / T, "constant": a0}  # Eq. (6.10)


APSP_BY_SIZE = Formula(
    "integrated-apsp-size", _terms_by_size, (VERTICES, SUB_BLOCK, *_SYMBOLS[1:]), f"{_DOCUMENT}, Eq (6.6)"
)
APSP = Formula("integrated-apsp", _terms, _SYMBOLS, f"{_DOCUMENT}, Eq (6.7)")
APSP_SUM = Formula(
    "integrated-apsp-sum", _terms, _SYMBOLS, f"{_DOCUMENT}, Eq (6.7), with the sum for the maximum", combine="sum"
)
APSP_FITTED = Formula(
    "integrated-apsp-fitted", _line, (A1, A0, B_R, T), f"{_DOCUMENT}, Eq (6.10)", combine="sum", unit="s"
)
