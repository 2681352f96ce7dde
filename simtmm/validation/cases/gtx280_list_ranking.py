"""Rehman's list ranking on the GTX 280: the local-ranking kernel of Table 6.2.

A list of n nodes in random order is cut into n / lg n sublists, each of which a thread walks: a load and two stores of
4 bytes a node, all scattered.
"""

from collections.abc import Mapping, Sequence

from simtmm.engine import simulate
from simtmm.machine import Machine, load_machine
from simtmm.model import predict
from simtmm.model.rehman import LOCAL_RANKING_WHOLE_BLOCKS
from simtmm.model.series import SIMULATED
from simtmm.recorder import record
from simtmm.trace.counts import count
from simtmm.trace.lower import lower
from simtmm.validation.accuracy import Accuracy, Measured
from simtmm.validation.cases import Tables
from simtmm.validation.cases.papers import of_launch, printed
from simtmm.watch import Watch

MACHINE = "gtx280"
KERNEL = "list-ranking-helman-jaja"
THREADS = 512  # of a block, section 4.2.1
LAUNCH = 1  # behind the one that splits the list
WITHOUT_ROWS = "simulated without rows"
COMPARED_MODELS = ("rehman", "tmm", "tmm-warps", "integrated", "mwp-cwp", "roofline")
TABLE = "rehman, as printed"
FORMULA = "rehman, section 6.3 mended"
PROMISED = 0.03
SAMPLED = slice(0, 3, 2)  # of the sizes

CALIBRATED = (
    "memory.rows.opening on the largest size, 82.542 ms for 3 * 2^24 scattered transfers. memory.rows was made for "
    "this table: memory.rows.open was searched on its four smallest sizes (60, 90, 116 and 150 rows tried, 116 the "
    "best) before 120 was found to be what the groups' scattered instructions keep waiting at a partition. So no size "
    "is held out. Latency and clock are the thesis's, service follows from the peak bandwidth."
)
NOTES = (
    "A time per element that rises with the list means that a transfer costs more where the arrays are larger: at "
    "16 M it takes a partition 17.0 cycles, at 256 K little more than the 9.37 that a chunk takes at peak bandwidth. "
    "The simulated machine has that from rows: few of a partition are open at once, 3.75 MB in all, and small lists "
    "lie in them (12 bytes a node). Without rows it takes 2.7 to 2.8 ns whatever the length.",
    "memory.rows.chunks and memory.rows.open are assumptions, no data sheet or measurement of them is at hand. The "
    "rise depends on their product, the memory that is open at once. The thesis has nothing that tells rows from "
    "another reach of that size, as of a translation of addresses.",
    "Rehman's model is flat at 4.8 ns an element but for whole blocks, and its agreement with the larger lists comes "
    "of two errors that offset one another (sublists of 4 lg n, transfers four times too fast).",
)


def reproduce(watch: Watch | None = None) -> Tables:
    """Time, and time per element, of all sizes."""
    return _tables(printed("gtx280-local-ranking")["n"], watch)


def sample(watch: Watch | None = None) -> Tables:
    """The same of the smallest sizes."""
    return _tables(printed("gtx280-local-ranking")["n"][SAMPLED], watch)


def _tables(sizes: Sequence[int], watch: Watch | None) -> Tables:
    measured = printed("gtx280-local-ranking")
    machine = load_machine(MACHINE)
    times, elements = [], []
    for done, n in enumerate(sizes):
        if watch:
            watch("list ranking on the GTX 280", done, len(sizes))
        place = measured["n"].index(n)
        values = {**milliseconds(n, machine), TABLE: measured["expected_ms"][place]}
        actual = measured["actual_ms"][place]
        case = f"n = {n}"
        times.append(Measured(case, actual, values, at=n))
        per_element = {name: value * 1e6 / n for name, value in values.items()}
        elements.append(Measured(case, actual * 1e6 / n, per_element, at=n))

    def table(name: str, title: str, quantity: str, unit: str, points: list[Measured]) -> Accuracy:
        return Accuracy(
            name=name,
            title=title,
            quantity=quantity,
            unit=unit,
            points=tuple(points),
            calibrated=CALIBRATED,
            origin=measured["source"],
            machine=MACHINE,
            along="elements of the list",
            promised={SIMULATED: PROMISED},
            notes=NOTES,
        )

    return (
        table("gtx280-local-ranking", "List ranking on a GTX 280: local ranking", "time", "ms", times),
        table(
            "gtx280-local-ranking-per-element",
            "List ranking on a GTX 280: local ranking, for each element",
            "time per element",
            "ns",
            elements,
        ),
    )


def milliseconds(n: int, machine: Machine) -> Mapping[str, float]:
    """The kernel's time, in ms, by series."""
    trace = record(KERNEL, {"n": n, "threads": THREADS, "phases": "local-ranking"})
    workload = lower(trace, machine)
    counts = of_launch(count(trace, machine, workload), LAUNCH)
    del trace  # 16 bytes an event; the simulations need room, too
    assert machine.clock_hz is not None
    clock = machine.clock_hz / 1e3  # cycles in a ms

    def simulated(on: Machine) -> float:
        return simulate(on, workload, breakdown=False).launch_ticks[LAUNCH] / on.ticks_per_cycle / clock

    formula = LOCAL_RANKING_WHOLE_BLOCKS.evaluate(
        N=n,
        T_B=THREADS,
        N_SM=machine.cores.groups,
        N_t=machine.cores.warp_width,
        N_C=machine.cores.cores_per_group,
        D=machine.issue_cycles,
        L=machine.memory.latency,
        R=machine.clock_hz,
    )
    return {
        SIMULATED: simulated(machine),
        WITHOUT_ROWS: simulated(machine.replace({"memory.rows": None})),
        **{name: predict(name, machine, counts).cycles / clock for name in COMPARED_MODELS},
        FORMULA: float(formula.total) * 1e3,
    }
