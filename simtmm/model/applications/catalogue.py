"""The papers' single equations by name, to be evaluated: chapters 5 and 6 of the dissertation, 6 of the thesis.

Programs and algorithms are elsewhere (simtmm.model, simtmm.model.algorithms); these take their symbols
alone, a few of them from a machine.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from simtmm.errors import ModelError, nearest
from simtmm.machine import Machine
from simtmm.model import rehman
from simtmm.model.applications import bloom, hashing, integrated_apsp
from simtmm.model.cache import C_S, WORKING_SET, G, cache_factor, hit_rate
from simtmm.model.calibrated import A0, A1, ELEMENTS, TIME, throughput
from simtmm.model.equations.formula import Formula, Symbol
from simtmm.model.equations.functions import Value
from simtmm.model.equations.symbols import SUB_BLOCK, C, L, P, Q
from simtmm.model.launch import optimal_configuration as optimal
from simtmm.model.launch.occupancy import B_A, B_MAX, T_MAX_MP, T_R
from simtmm.model.launch.occupancy import R as REGISTERS
from simtmm.model.launch.scheduling import B_R, scheduling_factor

OfMachine = Callable[[Machine], float | None]
READ = Symbol("B_r", "bytes read", "bytes")
WRITTEN = Symbol("B_w", "bytes written", "bytes")
SECONDS = Symbol("time", "time of the kernel", "s", above=True)
MEMORY_CLOCK = Symbol("memory_clock", "clock of the memory", "Hz", above=True)
INTERFACE = Symbol("interface", "width of the memory's interface", "bits", above=True)


@dataclass(frozen=True)
class Equation:
    """An equation by its name.

    symbols: what it takes. values: what it gives, by name, for a value or an array of each symbol. units: of these.
    of_machine: the symbols that a machine gives where they are not given. formula: its terms as data, where it has.
    """

    name: str
    title: str
    source: str
    symbols: tuple[Symbol, ...]
    values: Callable[..., Mapping[str, Value]]
    units: Mapping[str, str]
    of_machine: Mapping[str, OfMachine] = field(default_factory=dict)
    formula: Formula | None = None


def _l1_bytes(machine: Machine) -> float | None:
    l1 = machine.memory.l1
    return None if l1 is None else float(l1.sets * l1.ways * machine.chunk_bytes)


def _threads_of_group(machine: Machine) -> float:
    return float(machine.cores.max_threads_per_core * machine.cores.cores_per_group)


def _blocks(machine: Machine) -> float | None:
    held = machine.limits.blocks_per_group
    return None if held is None else float(held * machine.cores.groups)


MACHINE: dict[str, OfMachine] = {
    "P": lambda machine: machine.processors,
    "Q": lambda machine: machine.cores.cores_per_group,
    "L": lambda machine: machine.memory.latency,
    "C": lambda machine: machine.memory.chunk_words,
    "W": lambda machine: machine.cores.warp_width,
    "C_s": _l1_bytes,
    "T_maxB": lambda machine: machine.resources.threads_per_block,
    "T_maxMP": _threads_of_group,
    "B_max": _blocks,
}
CLOCK: dict[str, OfMachine] = {
    "R": lambda machine: machine.clock_hz,
    "N_SM": lambda machine: machine.cores.groups,
    "N_t": lambda machine: machine.cores.warp_width,
    "N_C": lambda machine: machine.cores.cores_per_group,
    "D": lambda machine: machine.issue_cycles,
    "L": lambda machine: machine.memory.latency,
}


def _of_formula(name: str, title: str, formula: Formula, of_machine: Mapping[str, OfMachine] = MACHINE) -> Equation:
    def values(**symbols: Value) -> Mapping[str, Value]:
        evaluated = formula.evaluate(**symbols)
        return {"total": evaluated.total, **evaluated.terms}

    unit = {"": "cycles"}.get(formula.unit, formula.unit)
    parts = dict.fromkeys(formula.expressions, unit)
    return Equation(name, title, formula.source, formula.symbols, values, {"total": unit, **parts}, of_machine, formula)


def _of_function(
    name: str,
    title: str,
    source: str,
    symbols: tuple[Symbol, ...],
    gives: Callable[..., Value],
    called: str,
    unit: str = "",
    of_machine: Mapping[str, OfMachine] = MACHINE,
) -> Equation:
    return Equation(name, title, source, symbols, lambda **given: {called: gives(**given)}, {called: unit}, of_machine)


def _tradeoff(m: Value, a1: Value, a0: Value, k: Value, n_sub: Value, **launch: Value) -> Mapping[str, Value]:
    """Fig 5.14: the rate with as many elements as a sub-query has bases, and the time of Eq (5.24), mended."""
    time = hashing.BLOOM_MENDED.evaluate(a1=a1, a0=a0, k=k, n_sub=n_sub, **launch).total
    return {"FPR": bloom.false_positive_rate(m=m, k=k, n_e=n_sub), "time": time}


_THREADS = (
    T_R, optimal.W, optimal.LEAST_WARPS, optimal.T_MAX_B, T_MAX_MP, B_A, REGISTERS, optimal.SOME_REGISTERS, B_R, P, Q,
)  # fmt: skip
_A_T: dict[str, OfMachine] = {**MACHINE, "R": lambda machine: machine.resources.registers}

EQUATIONS: dict[str, Equation] = {
    equation.name: equation
    for equation in (
        _of_function(
            "block-scheduling", "f_sched: what part-filled waves cost", "000 Eq (5.13)", (B_R, B_A, P, Q),
            scheduling_factor, "f_sched",
        ),
        _of_function(
            "optimal-blocks", "A_B: do B_r blocks fill each wave?", "000 Eq (5.3) and (5.5)", (B_R, B_A, B_MAX, P, Q),
            optimal.blocks_are_optimal, "A_B",
        ),
        Equation(
            "optimal-threads", "A_T: are T_r threads of a block as many as they should be?", "000 Eq (5.4) and (5.6)",
            _THREADS,
            lambda **given: {"A_T": optimal.threads_are_optimal(**given), **optimal.thread_constraints(**given)},
            {}, _A_T,
        ),
        _of_function("hit-rate", "r_H: random accesses that hit", "000 Eq (5.10)", (WORKING_SET, C_S), hit_rate, "r_H"),
        _of_function(
            "cache-factor", "f_cache: time over that of accesses that all hit", "000 Eq (5.12)", (WORKING_SET, C_S, G),
            cache_factor, "f_cache",
        ),
        _of_function("throughput", "elements in a second", "000 Eq (5.14)", (ELEMENTS, TIME), throughput,
            "throughput", "1/s"),
        _of_formula("microbenchmark", "random accesses: their time, but for a constant", hashing.MICROBENCHMARK),
        _of_function(
            "false-positive-rate", "of a Bloom filter", "000 Eq (5.18) and (5.22)",
            (bloom.BITS, bloom.HASHES, bloom.STORED), bloom.false_positive_rate, "FPR",
        ),
        _of_formula("bloom", "BLAST's Bloom filter: its time, but for a constant", hashing.BLOOM),
        _of_formula("bloom-printed", "the same with a1 and a0, as printed", hashing.BLOOM_PRINTED),
        _of_formula("bloom-fit", "the same with the x that Fig 5.13's a1 and a0 are for", hashing.BLOOM_MENDED),
        Equation(
            "bloom-tradeoff", "false positive rate against time, Fig 5.14", "000 Eq (5.22) and (5.24), mended",
            (bloom.BITS, A1, A0, bloom.HASHES, hashing.N_SUB, B_R, B_A, P, Q), _tradeoff,
            {"FPR": "", "time": "s"}, MACHINE,
        ),
        _of_formula("facs", "classifying reads: its time, but for a constant", hashing.FACS),
        _of_formula("apsp-by-size", "shortest paths, with S_D", integrated_apsp.APSP_BY_SIZE),
        _of_formula("apsp", "shortest paths, with B_r", integrated_apsp.APSP),
        _of_formula("apsp-sum", "the same with a sum for the maximum", integrated_apsp.APSP_SUM),
        _of_formula("apsp-fit", "the line that was fitted to measured times", integrated_apsp.APSP_FITTED),
        _of_function(
            "apsp-threads", "T that hides the latency", "000 Eq (6.8) and (6.9)", (L, SUB_BLOCK, C),
            integrated_apsp.threads_that_hide_latency, "T",
        ),
        _of_formula("local-ranking", "Rehman's time of a local ranking, mended", rehman.LOCAL_RANKING, CLOCK),
        _of_formula("local-ranking-printed", "the same as printed", rehman.LOCAL_RANKING_PRINTED, CLOCK),
        _of_formula("local-ranking-blocks", "the same in whole blocks", rehman.LOCAL_RANKING_WHOLE_BLOCKS, CLOCK),
        _of_function(
            "peak-bandwidth", "of a memory that moves data twice a clock", "001 Eq (6.5)", (MEMORY_CLOCK, INTERFACE),
            rehman.peak_bandwidth, "bandwidth", "GB/s",
        ),
        _of_function(
            "effective-bandwidth", "that a kernel makes use of", "001 Eq (6.6)", (READ, WRITTEN, SECONDS),
            rehman.effective_bandwidth, "bandwidth", "GB/s",
        ),
    )
}  # fmt: skip


def find_equation(name: str) -> Equation:
    """The equation of this name.

    name: of an equation, as `simtmm paper equation` takes it.

    Raises ModelError for an unknown one.
    """
    if name not in EQUATIONS:
        raise ModelError(f"equation {name!r}: unknown{nearest(name, EQUATIONS)}")
    return EQUATIONS[name]
