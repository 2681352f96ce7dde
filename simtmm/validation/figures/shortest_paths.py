"""All-pairs shortest paths: Figs 4.1 to 4.7 of Ma's dissertation.

Simulated times of the dynamic program are those of gtx480_apsp.py: one core group squares a matrix of n = 128, scaled
to n = 8192. Johnson's algorithm is simulated with 48 vertices on one group.
"""

from functools import cache
from math import log2
from typing import Any

from simtmm.machine import Machine, load_machine
from simtmm.model.series import SIMULATED
from simtmm.validation.cases.gtx480_apsp import CALIBRATED, SHAPES, Run, one_group, squarings
from simtmm.validation.figures.figure import Curve, Figure, curve
from simtmm.validation.figures.programs import CONSTANTS, FITTED_NOTHING, NO_POINTS, modelled, seconds

VERTICES = 8192
THREADS = tuple(2.0**power for power in range(1, 6))  # of a core: 2 to 32, as in the figures
DYNAMIC, JOHNSON = "apsp-dynamic-programming", "apsp-johnson-array"
SMALL_GRAPH = 48  # vertices of what is simulated by Johnson's algorithm
DEGREES = {32 * 1024: 4, 1024 * 1024: 8, 32 * 1024 * 1024: 24}  # of that graph, by the edges of the paper's
LATENCIES_680 = (200, 300, 512)  # cycles: the GTX 680's is not printed
SHRUNK = "simulated: a squaring of n = 128 on one core group, scaled to n = 8192 by n^3"
SCALED = ("Simulated: a thread waits for each load.", NO_POINTS)
C_IS_1 = "C = 1, by which the model has the knees that were measured; with the machine's C = 32 they lie below T = 2."


@cache
def runs() -> tuple[Run, ...]:
    """The squarings of all figures: with as many blocks of a group as fit, and with one and two for S_D = 32."""
    few = {side: [shape for shape in shapes if log2(shape[1]).is_integer()] for side, shapes in SHAPES.items()}
    few[32] = [*few[32], (1, 2), (1, 4), (1, 8), (1, 16), (1, 32), (2, 2), (2, 4), (2, 8), (2, 16)]
    return tuple(squarings(load_machine("gtx480"), VERTICES, {side: sorted(set(few[side])) for side in few}))


def automatic(side: int) -> list[Run]:
    """The runs with as many blocks of a group as fit, in the order of T."""
    chosen = [run for run in runs() if run.sub_block == side and (run.blocks, _warps(run)) in SHAPES[side]]
    return sorted(chosen, key=lambda run: run.threads)


def _warps(run: Run) -> int:
    return round(run.threads / run.blocks)


def _one_word(machine: Machine) -> Machine:
    """A machine whose transfers have one word."""
    return machine.replace({"memory.chunk_words": 1})


def _speedup(seconds_: float, clock: float, n: int = VERTICES) -> float:
    return n**3 * log2(n) / (seconds_ * clock)


def _modelled_speedup(machine: Machine, n: int, side: int) -> Curve:
    work = n**3 * log2(n)
    points = {T: work / modelled(machine, DYNAMIC, {"n": n, "S_D": side}, T) for T in THREADS}
    return curve(f"TMM, C = 1, n = {n}, S_D = {side}", "model", points)


def _simulated_speedup(side: int) -> Curve:
    clock = float(load_machine("gtx480").clock_hz or 1)
    points = [(run.threads, _speedup(run.said[SIMULATED], clock)) for run in automatic(side)]
    return curve(f"simulated, n = {VERTICES}, S_D = {side}", "simulated", points)


def speedups() -> tuple[Figure, ...]:
    """Figs 4.1, 4.4 and 4.5."""
    machine = _one_word(load_machine("gtx480"))
    large = 16384
    by_side = {side: _modelled_speedup(machine, large, side) for side in (64, 32)}
    simulated = {side: _simulated_speedup(side) for side in (64, 32)}
    at = {side: dict(zip(curve_.x, curve_.y, strict=True)) for side, curve_ in simulated.items()}
    common = sorted(set(at[64]) & set(at[32]))
    axes: dict[str, Any] = {
        "x": "threads per core",
        "fitted": CALIBRATED,
        "predicted": f"all curves. {CONSTANTS}",
        "shrunk": SHRUNK,
    }
    return (
        Figure(
            "ma-fig-4.1",
            "Speedup of the dynamic program over threads per core",
            "000 Fig 4.1, S_D = 64",
            y="speedup",
            curves=(*(_modelled_speedup(machine, n, 64) for n in (2048, 4096, 8192, 16384)), simulated[64]),
            notes=(*SCALED, C_IS_1),
            **axes,
        ),
        Figure(
            "ma-fig-4.4",
            "Speedup of the dynamic program for two sub-blocks",
            "000 Fig 4.4",
            y="speedup",
            curves=(*by_side.values(), *simulated.values()),
            notes=(*SCALED, C_IS_1),
            **axes,
        ),
        Figure(
            "ma-fig-4.5",
            "The two sub-blocks' speedups: ratio and difference",
            "000 Fig 4.5",
            y="ratio, and difference over its largest value",
            curves=(
                _spread("TMM, C = 1", "ratio", by_side[64], by_side[32]),
                _spread("TMM, C = 1", "difference", by_side[64], by_side[32]),
                curve("ratio, simulated", "simulated", {T: at[64][T] / at[32][T] for T in common}),
            ),
            notes=(*SCALED, "A constant ratio and a constant difference can't both follow from Eq (4.7): errata."),
            **axes,
        ),
    )


def _spread(label: str, how: str, one: Curve, other: Curve) -> Curve:
    pairs = list(zip(one.x, one.y, other.y, strict=True))
    if how == "ratio":
        return curve(f"ratio, {label}", "model", {T: a / b for T, a, b in pairs})
    largest = max(abs(a - b) for _, a, b in pairs)
    return curve(f"difference, {label}", "model", {T: (a - b) / largest for T, a, b in pairs})


def generations() -> tuple[Figure, ...]:
    """Fig 4.6: one block a group with 3, 12 or 48 KB of shared memory, on two machines."""
    curves = []
    for name, latencies in (("gtx480", (512,)), ("gtx680", LATENCIES_680)):
        machine = load_machine(name)
        clock, cores = float(machine.clock_hz or 1), machine.cores.cores_per_group
        for latency in latencies:
            at = machine.replace({"memory.latency": latency})
            for side, most in ((16, 8), (32, 32), (64, 32)):
                warps = [each for each in (1, 2, 4, 8, 16, 32) if each <= most]
                runs = squarings(at, VERTICES, {side: [(1, each) for each in warps]})
                points = [(run.threads, _speedup(run.said[SIMULATED], clock)) for run in runs]
                kb = 12 * side * side // 1024
                of = "" if name == "gtx480" else f", L = {latency}"
                curves.append(curve(f"simulated, {name}, {kb} KB, S_D = {side}{of}", "simulated", points))
        one_word = _one_word(machine)
        for side in (32, 64):
            most_threads = min(32.0, 1024 / cores)
            points_ = {
                T: VERTICES**3 * log2(VERTICES) / modelled(one_word, DYNAMIC, {"n": VERTICES, "S_D": side}, T)
                for T in THREADS
                if most_threads >= T
            }
            curves.append(curve(f"TMM, C = 1, {name}, S_D = {side}", "model", points_))
    return (
        Figure(
            "ma-fig-4.6",
            "Speedup of the dynamic program on two generations of GPUs",
            "000 Fig 4.6",
            x="threads per core",
            y="speedup",
            curves=tuple(curves),
            fitted=CALIBRATED,
            shrunk=SHRUNK,
            predicted="all curves; the latency of the GTX 680 is printed nowhere, so a range of it is simulated.",
            notes=(
                *SCALED,
                "One block a group: of at most 256 threads in 3 KB (S_D = 16), 8 threads a core on a GTX 480 and 1.3 "
                "on a GTX 680, and of at most 1024 in the others, 32 and 5.3.",
            ),
        ),
    )


def johnson() -> tuple[Figure, ...]:
    """Figs 4.2, 4.3 and 4.7."""
    machine = load_machine("gtx480")
    group = one_group(machine)
    clock = float(machine.clock_hz or 1)
    times: dict[int, dict[float, float]] = {}
    for edges, degree in DEGREES.items():
        parameters = {"n": SMALL_GRAPH, "degree": float(degree), "threads": 64}
        times[edges] = {
            2.0 * blocks: seconds(group.replace({"limits.blocks_per_group": blocks}), JOHNSON, parameters)
            for blocks in (1, 2, 4, 8)
        }
    dynamic = {
        T: seconds(
            group.replace({"limits.blocks_per_group": 1}),
            "apsp-minplus",
            {"n": SMALL_GRAPH, "sub_block": 48, "threads": int(32 * T), "loads": "one-by-one"},
        )
        for T in (4.0, 8.0, 16.0)
    }
    models = {
        edges: {T: modelled(machine, JOHNSON, {"n": VERTICES, "m": edges}, T) for T in THREADS} for edges in DEGREES
    }
    by_dynamic = {T: modelled(machine, DYNAMIC, {"n": VERTICES, "S_D": 64}, T) for T in THREADS}
    notes = (
        "Simulated: a block of 64 threads a source. The shape may be compared with the paper's, not the size.",
        NO_POINTS,
        CONSTANTS,
    )
    common: dict[str, Any] = {
        "x": "threads per core",
        "fitted": FITTED_NOTHING,
        "predicted": "all curves",
        "notes": notes,
        "shrunk": f"simulated: {SMALL_GRAPH} vertices with 4, 8 and 24 edges each on one core group; in the paper 8192 "
        "with 4 to 4096",
    }
    small = {edges: f"n = {SMALL_GRAPH}, {degree} edges each" for edges, degree in DEGREES.items()}
    return (
        Figure(
            "ma-fig-4.2",
            "Speedup of Johnson's algorithm with arrays",
            "000 Fig 4.2",
            y="speedup over its least",
            curves=(
                *(
                    curve(f"TMM, m = {m}", "model", {T: max(of.values()) / of[T] for T in of})
                    for m, of in models.items()
                ),
                *(
                    curve(f"simulated, {small[m]}", "simulated", {T: max(of.values()) / of[T] for T in of})
                    for m, of in times.items()
                ),
            ),
            **common,
        ),
        Figure(
            "ma-fig-4.3",
            "Runtime of Johnson's algorithm with arrays",
            "000 Fig 4.3",
            y="s",
            logarithmic="y",
            curves=(
                *(curve(f"TMM, m = {m}", "model", {T: of[T] / clock for T in of}) for m, of in models.items()),
                *(curve(f"simulated, {small[m]}", "simulated", of) for m, of in times.items()),
            ),
            **common,
        ),
        Figure(
            "ma-fig-4.7",
            "Runtime of the dynamic program over that of Johnson's algorithm",
            "000 Fig 4.7",
            y="ratio",
            logarithmic="y",
            curves=(
                *(
                    curve(f"TMM, m = {m}", "model", {T: by_dynamic[T] / of[T] for T in of if T >= 4})
                    for m, of in models.items()
                ),
                *(
                    curve(f"simulated, {small[m]}", "simulated", {T: dynamic[T] / of[T] for T in dynamic})
                    for m, of in times.items()
                ),
            ),
            **common,
        ),
    )
