"""The other algorithms of chapter 4, and Table 4.1 to 4.4: Figs 4.9, 4.10 and 4.12 to 4.14 of Ma's dissertation."""

from typing import Any

from simtmm.machine import load_machine
from simtmm.model.algorithms import find, written
from simtmm.model.algorithms.regimes import regimes
from simtmm.validation.figures.figure import Figure, curve, powers
from simtmm.validation.figures.programs import CONSTANTS, FITTED_NOTHING, NO_POINTS, modelled, seconds

TEXT = "mississippi"
PRINTED_SUFFIXES = (11, 8, 4, 2, 1, 10, 8, 7, 4, 6, 3)  # Fig 4.9, two of them misprinted
OF_GTX_580 = {"P": 512, "L": 100, "C": 32, "X": 48}  # section 4.2.3, L in operations
SHORTEST_PATHS = ("apsp-dynamic-programming", "apsp-johnson-heap", "apsp-johnson-array", "apsp-bellman-ford")
CLASSIC = (
    "reduce",
    "scan",
    "merge",
    "merge-sort",
    "odd-even-sort",
    "connected-components",
    "boruvka",
    "suffix-tree",
    "suffix-array",
    "fft",
    "list-ranking",
    "apsp-dynamic-programming",
)
COMMON: dict[str, Any] = {"fitted": FITTED_NOTHING, "notes": (CONSTANTS, NO_POINTS)}


def suffixes() -> tuple[Figure, ...]:
    """Fig 4.9."""
    begins = sorted(range(len(TEXT)), key=lambda begin: TEXT[begin:])
    rows = tuple(
        (TEXT[begin:], float(begin + 1), float(printed), "" if begin + 1 == printed else "misprinted")
        for begin, printed in zip(begins, PRINTED_SUFFIXES, strict=True)
    )
    return (
        Figure(
            "ma-fig-4.9",
            "Suffix array of 'mississippi'",
            "000 Fig 4.9",
            FITTED_NOTHING,
            "all of it",
            columns=("suffix", "index", "printed", ""),
            rows=rows,
            notes=("`simtmm run suffix-array --param text=mississippi` searches it.",),
        ),
    )


def string_matching() -> tuple[Figure, ...]:
    """Fig 4.10, Tables 4.2 and 4.3."""
    machine = load_machine("gtx580")
    models = {name: {n: _of_letters(name, float(n)) for n in powers(6, 20)} for name in ("suffix-tree", "suffix-array")}
    simulated = {name: {n: seconds(machine, name, {"n": n}) for n in (512, 4096, 16384)} for name in models}
    one = [of["suffix-tree"] for of in (models, simulated)]  # of both: as long as a tree takes for the least batch
    in_trees = [
        {name: {n: t / first[min(first)] for n, t in of[name].items()} for name in of}
        for of, first in zip((models, simulated), one, strict=True)
    ]
    found = {name: _transition(name) for name in models}
    return (
        Figure(
            "ma-fig-4.10",
            "Suffix trees and suffix arrays over the queries",
            "000 Fig 4.10",
            x="queries n",
            y="time / that of a tree for the smallest n",
            logarithmic="xy",
            predicted="all curves",
            curves=(
                *(curve(f"TMM, {name}", "model", points) for name, points in in_trees[0].items()),
                *(curve(f"simulated, {name}, m = 4096", "simulated", points) for name, points in in_trees[1].items()),
            ),
            shrunk="simulated with m = 4096, modelled with 10 million as in the dissertation",
            **COMMON,
        ),
        Figure(
            "ma-table-4.2",
            "Batch of queries from which on time depends on it, GTX 580",
            "000 Table 4.2",
            FITTED_NOTHING,
            "all of it: X = 48, L = 100, C = 32, P = 512, m = 1e7",
            columns=("index", "n", "as a formula", "printed"),
            rows=tuple(
                (name, float(start), begins, printed)
                for (name, (start, begins, _, _)), printed in zip(found.items(), (24576.0, 1600.0), strict=True)
            ),
        ),
        Figure(
            "ma-table-4.3",
            "What binds behind that, GTX 580",
            "000 Table 4.3",
            FITTED_NOTHING,
            "all of it",
            columns=("index", "binds", "time"),
            rows=tuple((name, bound, term) for name, (_, _, bound, term) in found.items()),
        ),
    )


def _of_letters(name: str, n: float) -> float:
    formula = find(name).refined()
    values = {"n": n, "k": 20.0, "m": 1e7, **OF_GTX_580}
    return float(formula.evaluate(**{each.name: values[each.name] for each in formula.symbols}).total)


def _transition(name: str) -> tuple[float, str, str, str]:
    """Where the time of an index begins to depend on n: the number, its formula, what binds then, and that term."""
    formula = find(name).refined()
    values = {"k": 20.0, "m": 1e7, **OF_GTX_580}
    letters = {each.name for each in formula.symbols}
    rising = regimes(formula, {key: value for key, value in values.items() if key in letters}, "n")[1]
    return rising.start, written(rising.begins), rising.bound, written(formula.expressions[rising.bound])


def fourier() -> tuple[Figure, ...]:
    """Fig 4.12."""
    machine = load_machine("gtx280")
    latencies = (125, 250, 500, 1000, 2000)
    curves = []
    for n in (2**7, 2**14):
        for variant in ("printed", "mended"):
            points = {
                latency: modelled(machine.replace({"memory.latency": latency}), "fft", {"N": n}, variant=variant)
                for latency in latencies
            }
            curves.append(curve(f"TMM, {variant}, N = {n}", "model", points))
        of_n = {
            latency: seconds(machine.replace({"memory.latency": latency}), "fft", {"n": n})
            * float(machine.clock_hz or 1)
            for latency in latencies
        }
        curves.append(curve(f"simulated, N = {n}", "simulated", of_n))
    return (
        Figure(
            "ma-fig-4.12",
            "FFT over the latency of memory",
            "000 Fig 4.12",
            x="latency in cycles",
            y="cycles",
            logarithmic="xy",
            predicted="all curves; the paper varies the memory's clock",
            curves=tuple(curves),
            **COMMON,
        ),
    )


def sorting() -> tuple[Figure, ...]:
    """Fig 4.13."""
    machine = load_machine("gtx280")
    clock = float(machine.clock_hz or 1)
    sizes = list(powers(13, 24))
    return (
        Figure(
            "ma-fig-4.13",
            "Merge sort over the elements",
            "000 Fig 4.13",
            x="elements n",
            y="cycles for each element",
            logarithmic="xy",
            predicted="all curves",
            curves=(
                *(
                    curve(
                        f"TMM, {variant}",
                        "model",
                        {n: modelled(machine, "merge-sort", {"n": n}, variant=variant) / n for n in sizes},
                    )
                    for variant in ("printed", "mended")
                ),
                curve(
                    "simulated",
                    "simulated",
                    {n: seconds(machine, "merge-sort", {"n": n}) * clock / n for n in (2**10, 2**13, 2**16)},
                ),
            ),
            **COMMON,
        ),
    )


def list_ranking() -> tuple[Figure, ...]:
    """Fig 4.14."""
    machine = load_machine("gtx280")
    return (
        Figure(
            "ma-fig-4.14",
            "Wyllie's list ranking over the nodes",
            "000 Fig 4.14",
            x="nodes n",
            y="ms",
            logarithmic="xy",
            predicted="all curves",
            curves=(
                curve(
                    "TMM",
                    "model",
                    {
                        n: modelled(machine, "list-ranking", {"n": n}) / float(machine.clock_hz or 1) * 1e3
                        for n in powers(10, 24)
                    },
                ),
                curve(
                    "simulated",
                    "simulated",
                    {
                        n: seconds(machine, "list-ranking-wyllie", {"n": n}) * 1e3
                        for n in (2**10, 2**12, 2**14, 2**16, 2**18)
                    },
                ),
            ),
            **COMMON,
        ),
    )


def tables() -> tuple[Figure, ...]:
    """Tables 4.1 and 4.4."""
    rows = []
    for name in SHORTEST_PATHS:
        algorithm = find(name)
        rows.append(
            (name, written(algorithm.pram().expressions["compute"]), written(algorithm.tmm().expressions["memory"]))
        )
    classic = []
    for name in CLASSIC:
        algorithm = find(name)
        counted = algorithm.counts(None, tuple(algorithm.defaults)).expressions
        classic.append((name, *(written(counted[key]) for key in ("T1", "Tinf", "M"))))
    return (
        Figure(
            "ma-table-4.1",
            "Times of shortest paths on a PRAM and by the TMM",
            "000 Table 4.1",
            FITTED_NOTHING,
            "all of it",
            columns=("algorithm", "PRAM", "TMM, where memory binds"),
            rows=tuple(rows),
            notes=("`simtmm paper predict NAME --machine M` says what linear speedup asks of L: the other columns.",),
        ),
        Figure(
            "ma-table-4.4",
            "Work, span and memory operations of classic algorithms",
            "000 Table 4.4",
            FITTED_NOTHING,
            "all of it",
            columns=("algorithm", "work T1", "span Tinf", "memory operations M"),
            rows=tuple(classic),
            notes=("What is misprinted stands in DEVIATIONS.md; the forms here are those that follow.",),
        ),
    )
