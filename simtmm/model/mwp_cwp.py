"""MWP-CWP: how many warps can wait for memory at once, and how many can compute while one waits.

Source: Hong and Kim, "An analytical model for a GPU architecture with memory-level and thread-level parallelism
awareness", ISCA 2009; names are the paper's. It is written here from knowledge of the paper, which is not among the
documents that the other models cite by equation. Units: cycles, bytes, and what is counted is of one warp, but for N
(warps of a core group), blocks and groups.

MWP, memory warp parallelism: warps of a core group that access memory in the time that one warp waits for it; it is
limited by the departure delay between accesses, by bandwidth and by N. CWP, computation warp parallelism: warps that
execute while one waits, itself included. Which is larger decides what the rest hides behind.

Read so here: case 2 is for CWP >= MWP alone. "Or Comp_cycles > Mem_cycles", with which it is quoted too, would have a
program that computes most take less than its issue cycles; that form is MWP_CWP_PRINTED. In both, where bandwidth
presses MWP below 1, MWP - 1 counts as 0; without memory instructions, for which the paper has no case, only
Comp_cycles N remains.
"""

from collections.abc import Callable

import numpy as np

from simtmm.machine import Machine
from simtmm.model.equations.formula import Floats, Formula, Symbol
from simtmm.model.equations.functions import Value, is_symbolic, maximum, minimum
from simtmm.model.launch.sum_over_launches import of_launches, over_launches
from simtmm.model.model import Model
from simtmm.model.roofline import bandwidth
from simtmm.result import Prediction
from simtmm.trace.counts import Counts, LaunchCounts

# A program
N = Symbol("N", "active warps of a core group", "warps", minimum=1)
TOTAL_INSTS = Symbol("Total_insts", "instructions of a warp", "instructions", latex="I_{total}")
MEM_INSTS = Symbol("Mem_insts", "memory instructions of a warp", "instructions", latex="I_{mem}")
WEIGHT = Symbol("Weight_uncoal", "share of memory instructions that are uncoalesced", maximum=1.0, latex="w")
PER_MW = Symbol(
    "Uncoal_per_mw", "transactions of an uncoalesced instruction", "transactions", minimum=1, latex="u_{mw}"
)
LOAD_BYTES = Symbol("Load_bytes_per_warp", "bytes that a memory instruction asks for", "bytes", latex="B_{warp}")
SYNCH_INSTS = Symbol("Synch_insts", "barriers that a warp passes", "barriers", latex="I_{synch}")
ACTIVE_BLOCKS = Symbol("Active_blocks", "active blocks of a core group", "blocks", minimum=1, latex="B_a")
REP = Symbol("Rep", "blocks over those that the machine holds at once", latex="r")

# A machine
MEM_LD = Symbol("Mem_LD", "latency of global memory", "cycles", above=True, latex="L")
DELAY_COAL = Symbol(
    "Departure_del_coal", "departure delay of a coalesced instruction", "cycles", above=True, latex="d_{coal}"
)
DELAY_UNCOAL = Symbol(
    "Departure_del_uncoal", "departure delay of an uncoalesced transaction", "cycles", above=True, latex="d_{uncoal}"
)
ISSUE_CYCLES = Symbol("Issue_cycles", "cycles for which an instruction is issued", "cycles", above=True, latex="c")
MEM_BANDWIDTH = Symbol("Mem_Bandwidth", "bandwidth of global memory", "bytes per cycle", above=True, latex="\\beta")
ACTIVE_SM = Symbol("Active_SM", "core groups that have blocks", "core groups", minimum=1, latex="G")


def parallelism(  # noqa: PLR0913, PLR0917 - a letter of the equations each
    N: Value,
    Total_insts: Value,
    Mem_insts: Value,
    Weight_uncoal: Value,
    Uncoal_per_mw: Value,
    Load_bytes_per_warp: Value,
    Mem_LD: Value,
    Departure_del_coal: Value,
    Departure_del_uncoal: Value,
    Issue_cycles: Value,
    Mem_Bandwidth: Value,
    Active_SM: Value,
) -> dict[str, Value]:
    """MWP and CWP and what they are made of, by the paper's names, for values inside the symbols' domains."""
    Weight_coal = 1 - Weight_uncoal
    Mem_L_Uncoal = Mem_LD + (Uncoal_per_mw - 1) * Departure_del_uncoal
    Mem_L_Coal = Mem_LD
    Mem_L = Mem_L_Uncoal * Weight_uncoal + Mem_L_Coal * Weight_coal
    Departure_delay = Departure_del_uncoal * Uncoal_per_mw * Weight_uncoal + Departure_del_coal * Weight_coal
    MWP_without_BW_full = Mem_L / Departure_delay
    # BW_per_warp = Freq Load_bytes_per_warp / Mem_L bytes a second; here bytes a cycle
    MWP_peak_BW = _quotient(Mem_Bandwidth * Mem_L, Load_bytes_per_warp * Active_SM, np.inf)
    MWP = minimum(MWP_without_BW_full, MWP_peak_BW, N)
    Mem_cycles = Mem_L * Mem_insts
    Comp_cycles = Issue_cycles * Total_insts
    CWP_full = _quotient(Mem_cycles + Comp_cycles, Comp_cycles, np.inf)
    CWP = minimum(CWP_full, N)
    return {
        "Mem_L": Mem_L,
        "Departure_delay": Departure_delay,
        "MWP_without_BW_full": MWP_without_BW_full,
        "MWP_peak_BW": MWP_peak_BW,
        "MWP": MWP,
        "Mem_cycles": Mem_cycles,
        "Comp_cycles": Comp_cycles,
        "CWP_full": CWP_full,
        "CWP": CWP,
    }


def _terms(Synch_insts: Value, Active_blocks: Value, Rep: Value, **values: Value) -> dict[str, Value]:
    found = parallelism(**values)
    return _by_case(found["CWP"] >= found["MWP"], found, Synch_insts, Active_blocks, Rep, **values)


def _terms_printed(Synch_insts: Value, Active_blocks: Value, Rep: Value, **values: Value) -> dict[str, Value]:
    found = parallelism(**values)
    case_2 = _either(found["CWP"] >= found["MWP"], found["Comp_cycles"] > found["Mem_cycles"])
    return _by_case(case_2, found, Synch_insts, Active_blocks, Rep, **values)


def _by_case(
    case_2: Value, found: dict[str, Value], Synch_insts: Value, Active_blocks: Value, Rep: Value, **values: Value
) -> dict[str, Value]:
    N, Mem_insts = values["N"], values["Mem_insts"]
    MWP, CWP, Mem_L, Departure_delay = found["MWP"], found["CWP"], found["Mem_L"], found["Departure_delay"]
    Mem_cycles, Comp_cycles = found["Mem_cycles"], found["Comp_cycles"]
    others = maximum(MWP - 1, 0)
    # Case 1, MWP = CWP = N: Mem_cycles + Comp_cycles + Comp_cycles / Mem_insts (MWP - 1), too few warps for either.
    # Case 2, else CWP >= MWP: Mem_cycles N / MWP + Comp_cycles / Mem_insts (MWP - 1), memory in waves of MWP warps.
    # Case 3, else: Mem_L + Comp_cycles N, all but the first access hides behind computing.
    few = _both(MWP >= N, CWP >= N)
    memory = _where(few, Mem_cycles, _where(case_2, Mem_cycles * N / MWP, Mem_L))
    behind = _quotient(Comp_cycles, Mem_insts, 0.0) * others
    compute = _where(few, Comp_cycles + behind, _where(case_2, behind, Comp_cycles * N))
    synchronisation = Departure_delay * others * Synch_insts * Active_blocks  # Synch_cost
    waits = Mem_insts > 0
    return {
        "memory": _where(waits, memory, 0.0) * Rep,
        "compute": _where(waits, compute, Comp_cycles * N) * Rep,
        "synchronisation": _where(waits, synchronisation, 0.0) * Rep,
    }


_SYMBOLS = (
    N, TOTAL_INSTS, MEM_INSTS, WEIGHT, PER_MW, LOAD_BYTES, SYNCH_INSTS, ACTIVE_BLOCKS, REP,
    MEM_LD, DELAY_COAL, DELAY_UNCOAL, ISSUE_CYCLES, MEM_BANDWIDTH, ACTIVE_SM,
)  # fmt: skip
_PAPER = "Hong and Kim (ISCA 2009)"

MWP_CWP_PRINTED = Formula(
    "mwp-cwp-printed",
    _terms_printed,
    _SYMBOLS,
    f"{_PAPER}, case 2 also where Comp_cycles > Mem_cycles",
    combine="sum",
)


def departure_delays(machine: Machine) -> tuple[float, float]:
    """Departure_del_coal and Departure_del_uncoal of a machine, cycles: table hong_kim, or what follows without it.

    A coalesced instruction departs when the one before has been issued and the group's port has taken its chunk. An
    uncoalesced transaction departs, besides, no sooner than the group's share of the bandwidth has moved a chunk.
    """
    published = machine.hong_kim
    coalesced = published.departure_delay_coalesced if published else None
    uncoalesced = published.departure_delay_uncoalesced if published else None
    if coalesced is None:
        coalesced = max(float(machine.issue_cycles), machine.memory.port_interval / machine.memory.ports)
    if uncoalesced is None:
        uncoalesced = max(coalesced, machine.cores.groups * machine.chunk_bytes / bandwidth(machine))
    return coalesced, uncoalesced


def mwp_cwp(machine: Machine, counts: Counts) -> Prediction:
    """The cycles of all launches, one after another, each by its case and with the cost of its barriers.

    Of a warp all numbers are the launch's mean. An uncoalesced instruction is one of those that
    LaunchCounts.uncoalesced_instructions counts. Mem_LD is the machine's L, Issue_cycles its ceil(W / Q). A launch
    that does not touch global memory takes Comp_cycles N Rep.
    """

    def each(value: Callable[[LaunchCounts], float]) -> Floats:
        return of_launches("mwp-cwp", counts, value)

    W = machine.cores.warp_width
    blocks_in_use = each(lambda launch: launch.blocks_in_use)
    blocks = each(lambda launch: launch.blocks)
    warps = blocks * each(lambda launch: -(-launch.threads // launch.blocks // W))
    Active_SM = np.minimum(blocks_in_use, machine.cores.groups)
    memory = each(lambda launch: launch.memory_instructions)
    uncoalesced = each(lambda launch: launch.uncoalesced_instructions)
    coalesced_delay, uncoalesced_delay = departure_delays(machine)
    values = MWP_CWP.formula.evaluate(
        N=each(lambda launch: launch.warps_in_use) / Active_SM,
        Total_insts=each(lambda launch: launch.instructions) / warps,
        Mem_insts=memory / warps,
        Weight_uncoal=uncoalesced / np.maximum(memory, 1),
        Uncoal_per_mw=np.maximum(each(lambda launch: launch.uncoalesced_operations) / np.maximum(uncoalesced, 1), 1),
        Load_bytes_per_warp=each(lambda launch: launch.bytes_read + launch.bytes_written) / np.maximum(memory, 1),
        Synch_insts=each(lambda launch: launch.barriers),
        Active_blocks=blocks_in_use / Active_SM,
        Rep=blocks / blocks_in_use,
        Mem_LD=machine.memory.latency,
        Departure_del_coal=coalesced_delay,
        Departure_del_uncoal=uncoalesced_delay,
        Issue_cycles=machine.issue_cycles,
        Mem_Bandwidth=bandwidth(machine),
        Active_SM=Active_SM,
    )
    return over_launches(values, machine)


MWP_CWP = Model(
    label="MWP-CWP",
    formula=Formula("mwp-cwp", _terms, _SYMBOLS, _PAPER, combine="sum"),
    prediction=mwp_cwp,
)


def _where(condition: Value, yes: Value, no: Value) -> Value:
    if is_symbolic(condition, yes, no):
        import sympy

        return sympy.Piecewise((yes, condition), (no, True))
    return np.where(condition, yes, no)


def _both(one: Value, other: Value) -> Value:
    if is_symbolic(one, other):
        import sympy

        return sympy.And(one, other)
    return one & other


def _either(one: Value, other: Value) -> Value:
    if is_symbolic(one, other):
        import sympy

        return sympy.Or(one, other)
    return one | other


def _quotient(above: Value, below: Value, empty: float) -> Value:
    """above / below, and `empty` where nothing is below."""
    if is_symbolic(above, below):
        return above / below
    quotients = np.full(np.broadcast_shapes(np.shape(above), np.shape(below)), empty)
    return np.divide(above, below, out=quotients, where=np.not_equal(below, 0))
