"""Rehman's performance model: blocks one after another on a core group, each as slow as its slowest thread.

Source: Rehman, thesis (2010), chapter 6: Eq (6.1) to (6.6), Tables 6.1 and 6.2, sections 6.1 to 6.3; the sublists'
statistics are section 4.3's. Units: cycles, unless noted. A thread's compute and memory cycles overlap in the MAX
model and follow one another in the SUM model.

Where the thesis contradicts itself:

- Eq (6.4) divides by the clock rate, the text multiplies. Dividing is right.
- The formula displayed in section 6.3 lacks 1 / log N, the number of threads being N / log N, and gives 443.6 ms for
  N = 2^22. Mended it gives 20.2 ms, and with whole blocks 21.1 ms, the text's "21.0". LOCAL_RANKING_PRINTED is the
  displayed one, LOCAL_RANKING and LOCAL_RANKING_WHOLE_BLOCKS correct it.
- Table 6.2 follows from Eq (6.3) and (6.4) with the blocks per core group as printed there and a clock of 1.29654 GHz;
  that column is no rounding of blocks / 30.
- "4 log N is the most likely size" of a sublist: their mean is log N, their mode 1, and 1.8 % reach 4 log N. The factor
  stays, as the model needs it to agree with the measurement.
"""

import numpy as np

from simtmm.machine import Machine
from simtmm.model.equations.domain import checked
from simtmm.model.equations.formula import Formula, Symbol
from simtmm.model.equations.functions import Value, ceiling, floor, lg
from simtmm.model.equations.symbols import L
from simtmm.model.launch.sum_over_launches import of_launches, over_launches
from simtmm.model.model import Model
from simtmm.result import Prediction
from simtmm.trace.counts import Counts

SOURCE = "001 (Rehman, thesis), Eq (6.2) and (6.3)"

# A kernel
N_B = Symbol("N_B", "blocks that a core group runs one after another", "blocks")
N_w = Symbol("N_w", "warps of a block", "warps", minimum=1, whole=True)
N_t = Symbol("N_t", "threads of a warp", "threads", minimum=1, whole=True)
N_COMPUTE = Symbol("N_compute", "compute cycles of the thread with most", "cycles", latex="N_{compute}")
N_MEMORY = Symbol("N_memory", "memory cycles of the thread with most", "cycles", latex="N_{memory}")

# A machine
N_C = Symbol("N_C", "cores of a core group", "cores", minimum=1, whole=True)
D = Symbol("D", "pipeline depth of a core", "threads", minimum=1)
R = Symbol("R", "clock rate of a core", "Hz", above=True)


def _terms(
    N_B: Value, N_w: Value, N_t: Value, N_C: Value, D: Value, N_compute: Value, N_memory: Value
) -> dict[str, Value]:
    # Eq. (6.3), C(K) = N_B N_w N_t C_T / (N_C D), where C_T is the maximum or the sum of these two, Eq. (6.2)
    return {
        "compute": N_B * N_w * N_t * N_compute / (N_C * D),
        "memory": N_B * N_w * N_t * N_memory / (N_C * D),
    }


_SYMBOLS = (N_B, N_w, N_t, N_C, D, N_COMPUTE, N_MEMORY)


@checked("rehman, Eq (6.1)", Symbol("times", "times of the kernels", "s"))
def program_time(times: Value) -> Value:
    """The time of a program whose kernels take `times`, s."""
    return np.sum(times)  # Eq. (6.1)


@checked("rehman, Eq (6.4)", Symbol("C_K", "cycles of a kernel", "cycles"), R)
def kernel_time(C_K: Value, R: Value) -> Value:
    """The time of a kernel of C_K cycles at R Hz, s."""
    return C_K / R  # Eq. (6.4)


@checked(
    "rehman, Eq (6.5)",
    Symbol("memory_clock", "clock of the memory", "Hz", above=True),
    Symbol("interface", "width of the memory interface", "bits", above=True),
)
def peak_bandwidth(memory_clock: Value, interface: Value) -> Value:
    """The bandwidth of memory that moves data twice a clock, GB/s."""
    return memory_clock * (interface / 8 * 2) / 1e9  # Eq. (6.5)


@checked(
    "rehman, Eq (6.6)",
    Symbol("B_r", "bytes read", "bytes"),
    Symbol("B_w", "bytes written", "bytes"),
    Symbol("time", "time of the kernel", "s", above=True),
)
def effective_bandwidth(B_r: Value, B_w: Value, time: Value) -> Value:
    """The bandwidth that a kernel makes use of, GB/s; Counts.launches have its B_r and B_w.

    B_r, B_w: bytes that are read and written.
    time: of the kernel [s].
    """
    return (B_r + B_w) / 1e9 / time  # Eq. (6.6)


def rehman(machine: Machine, counts: Counts) -> Prediction:
    """The MAX model: T(P) = sum over launches of N_B N_w N_t / (N_C D) max(N_compute, N_memory) cycles.

    N_B: the blocks over the core groups, rounded up (section 6.3). N_w: a block's threads over W, rounded up. D: the
    cycles for which a warp's threads follow one another through a core, ceil(W / Q), which is Table 6.2's 4 for the
    GTX 280; on a machine that switches with every instruction at least its pipeline_depth. N_compute: the span of
    the launch. N_memory: L for each access of the thread with most accesses, times the transactions that an access of
    the launch makes on average: 1 without coalescing, as in section 6.3, and 1 / 32 where 32 threads share each.
    That is our reading, the thesis says only that coalescing is taken into account.
    """
    return _predict(REHMAN.formula, machine, counts)


def rehman_sum(machine: Machine, counts: Counts) -> Prediction:
    """The SUM model: as `rehman` with N_compute + N_memory."""
    return _predict(REHMAN_SUM.formula, machine, counts)


def _predict(formula: Formula, machine: Machine, counts: Counts) -> Prediction:
    W, L = machine.cores.warp_width, machine.memory.latency
    accesses = of_launches(formula.name, counts, lambda launch: launch.accesses)
    transactions = of_launches(formula.name, counts, lambda launch: launch.memory_operations)
    busiest = of_launches(formula.name, counts, lambda launch: launch.thread_accesses)
    blocks = of_launches(formula.name, counts, lambda launch: launch.blocks)
    threads = of_launches(formula.name, counts, lambda launch: launch.threads)
    depth = machine.scheduling.pipeline_depth if machine.scheduling.switch == "every-instruction" else 1.0
    values = formula.evaluate(
        N_B=ceiling(blocks / machine.cores.groups),
        N_w=ceiling(threads / blocks / W),
        N_t=W,
        N_C=machine.cores.cores_per_group,
        D=max(machine.issue_cycles, depth),
        N_compute=of_launches(formula.name, counts, lambda launch: launch.span),
        N_memory=busiest * L * transactions / np.maximum(accesses, 1),
    )
    return over_launches(values, machine)


REHMAN = Model(
    label="Rehman, MAX",
    formula=Formula("rehman", _terms, _SYMBOLS, f"{SOURCE}, MAX model", "max"),
    prediction=rehman,
)
REHMAN_SUM = Model(
    label="Rehman, SUM",
    formula=Formula("rehman-sum", _terms, _SYMBOLS, f"{SOURCE}, SUM model", "sum"),
    prediction=rehman_sum,
    form_of="rehman",
)

# List ranking by sublists, section 6.3

ACCESSES_PER_ELEMENT = 3  # reads and writes of global memory, none of them coalesced
LIKELY_SUBLIST = 4  # times log N: elements of a sublist as the thesis takes them

N = Symbol("N", "elements of the list", "elements", minimum=2)
T_B = Symbol("T_B", "threads of a block", "threads", minimum=1, whole=True)
N_SM = Symbol("N_SM", "core groups", "core groups", minimum=1, whole=True, latex="N_{SM}")
_LOCAL_RANKING = (N, T_B, N_SM, N_t, N_C, D, L, R)


def _memory_cycles(N: Value, L: Value) -> Value:
    return LIKELY_SUBLIST * lg(N) * ACCESSES_PER_ELEMENT * L  # N_memory, section 6.3


def _printed(
    N: Value, T_B: Value, N_SM: Value, N_t: Value, N_C: Value, D: Value, L: Value, R: Value
) -> dict[str, Value]:
    return {"memory": N / (T_B * N_SM) * (T_B / N_t) * (N_t / (N_C * D)) * _memory_cycles(N, L) / R}


def _mended(
    N: Value, T_B: Value, N_SM: Value, N_t: Value, N_C: Value, D: Value, L: Value, R: Value
) -> dict[str, Value]:
    return {"memory": N / lg(N) / (T_B * N_SM) * (T_B / N_t) * (N_t / (N_C * D)) * _memory_cycles(N, L) / R}


def _whole_blocks(
    N: Value, T_B: Value, N_SM: Value, N_t: Value, N_C: Value, D: Value, L: Value, R: Value
) -> dict[str, Value]:
    return {"memory": ceiling(N / lg(N) / (T_B * N_SM)) * (T_B / N_t) * (N_t / (N_C * D)) * _memory_cycles(N, L) / R}


_DISPLAYED = "001 (Rehman, thesis), section 6.3, displayed formula"
LOCAL_RANKING_PRINTED = Formula("rehman-local-ranking-printed", _printed, _LOCAL_RANKING, _DISPLAYED, unit="s")
LOCAL_RANKING = Formula(
    "rehman-local-ranking", _mended, _LOCAL_RANKING, f"{_DISPLAYED} with N / log N threads", unit="s"
)
LOCAL_RANKING_WHOLE_BLOCKS = Formula(
    "rehman-local-ranking-whole-blocks",
    _whole_blocks,
    _LOCAL_RANKING,
    f"{_DISPLAYED} with N / log N threads and N_B rounded up",
    unit="s",
)


@checked("rehman, Table 6.2", N, L)
def memory_cycles(N: Value, L: Value) -> Value:
    """Memory cycles of a thread that ranks a sublist of 4 log N elements."""
    return _memory_cycles(N, L)


@checked("rehman, Table 6.2", N, T_B)
def local_ranking_blocks(N: Value, T_B: Value) -> Value:
    """Blocks of N / log N threads, to the nearest whole number as Table 6.2 has them; section 6.3 says N / T_B."""
    return floor(N / (T_B * lg(N)) + 0.5)


# Sublists of a random list, section 4.3

EULER_MASCHERONI = float(np.euler_gamma)
_n = Symbol("n", "elements of the list", "elements", minimum=1)
_p = Symbol("p", "splitters, and so sublists", "sublists", minimum=1)


@checked("rehman, section 4.3", _n, _p, numbers_only=True)
def largest_sublist(n: Value, p: Value) -> Value:
    """Elements expected in the largest of p sublists of a random list of n: n / p (ln p + 0.5772).

    Lengths are geometric with mean n / p; this is the mean of the largest of p exponential ones, their limit.
    """
    return n / p * (np.log(p) + EULER_MASCHERONI)


@checked("rehman, section 4.3", _n, _p)
def singletons(n: Value, p: Value) -> Value:
    """Sublists of one element expected among p of a random list of n: each with probability p / n."""
    return p * (p / n)


@checked(
    "rehman, section 6.3",
    Symbol("length", "elements of a sublist", "elements", minimum=1),
    Symbol("mean", "elements of a sublist on average", "elements", minimum=1),
)
def share_of_at_least(length: Value, mean: Value) -> Value:
    """The share of sublists that have at least `length` elements, lengths being geometric."""
    return (1 - 1 / mean) ** (length - 1)
