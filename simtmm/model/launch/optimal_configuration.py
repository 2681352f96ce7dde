"""Whether a launch's configuration is one that the calibrated model calls optimal: the indicators A_B and A_T.

Source: Ma, dissertation (2014), Eq (5.3) to (5.6); Ma and Chamberlain (ASAP 2012), Eq (2) to (5). Eq (5.6) prints R_t
where Table 5.1 has R_T, registers of a thread; it is read so. Its last line asks for as many threads as let a group's
registers hold no more blocks than the launch has for it.
"""

import numpy as np
import numpy.typing as npt

from simtmm.model.equations.domain import checked
from simtmm.model.equations.formula import Symbol
from simtmm.model.equations.functions import Value
from simtmm.model.equations.symbols import P, Q
from simtmm.model.launch.occupancy import B_A, B_MAX, T_MAX_MP, T_R, R
from simtmm.model.launch.scheduling import B_R

W = Symbol("W", "threads of a warp", "threads", minimum=1, whole=True)
LEAST_WARPS = Symbol("N_W", "least warps of a block", "warps", minimum=1, whole=True)
T_MAX_B = Symbol("T_maxB", "threads of a block at most", "threads", minimum=1, whole=True, latex="T_{\\max B}")
SOME_REGISTERS = Symbol("R_T", "registers of a thread", "registers", minimum=1, whole=True)


@checked("B_opt", B_R, B_A, P, Q, numbers_only=True)
def fills_waves(B_r: Value, B_a: Value, P: Value, Q: Value) -> Value:
    """Whether B_r is in B_opt: blocks that fill every core group in each wave."""
    return B_r * Q % (B_a * P) == 0  # Eq. (5.3)


@checked("T_opt", T_R, W, numbers_only=True)
def fills_warps(T_r: Value, W: Value) -> Value:
    """Whether T_r is in T_opt: whole warps."""
    return T_r % W == 0  # Eq. (5.4)


@checked("A_B", B_R, B_A, B_MAX, P, Q, numbers_only=True)
def blocks_are_optimal(B_r: Value, B_a: Value, B_max: Value, P: Value, Q: Value) -> Value:
    """A_B. B_max is what the machine holds at once, though later sections launch more."""
    return fills_waves(B_r, B_a, P, Q) & (B_r <= B_max)  # Eq. (5.5)


@checked("A_T", T_R, W, LEAST_WARPS, T_MAX_B, T_MAX_MP, B_A, R, SOME_REGISTERS, B_R, P, Q, numbers_only=True)
def thread_constraints(  # noqa: PLR0913, PLR0917 - a letter of the equations each
    T_r: Value, W: Value, N_W: Value, T_maxB: Value, T_maxMP: Value, B_a: Value,
    R: Value, R_T: Value, B_r: Value, P: Value, Q: Value,
) -> Value:  # fmt: skip
    """The parts of A_T, a dict of name to truth values."""
    return {  # Eq. (5.6), a line each
        "whole warps": fills_warps(T_r, W),
        "least warps": T_r >= N_W * W,
        "most threads": T_r <= np.minimum(T_maxB, T_maxMP / B_a),
        "registers": T_r >= (R / R_T) / (B_r / (P / Q) + 1),
    }


def threads_are_optimal(  # noqa: PLR0913, PLR0917 - a letter of the equations each
    T_r: Value, W: Value, N_W: Value, T_maxB: Value, T_maxMP: Value, B_a: Value,
    R: Value, R_T: Value, B_r: Value, P: Value, Q: Value,
) -> npt.NDArray[np.bool_]:  # fmt: skip
    """A_T: all of `thread_constraints`."""
    parts = thread_constraints(T_r, W, N_W, T_maxB, T_maxMP, B_a, R, R_T, B_r, P, Q)
    return np.asarray(np.logical_and.reduce(np.broadcast_arrays(*parts.values())))  # Eq. (5.6)
