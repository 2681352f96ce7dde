"""Bloom filters and FACS: Figs 5.7, 5.8, 5.10, 5.11, 5.13, 5.14 and 5.16 of Ma's dissertation, and 002's."""

from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np

from simtmm.kernel import load_kernel
from simtmm.machine import load_machine
from simtmm.model.applications.bloom import false_positive_rate
from simtmm.model.applications.hashing import BLOOM_MENDED
from simtmm.model.fit import fit_line
from simtmm.validation.figures.figure import Figure, curve
from simtmm.validation.figures.programs import FITTED_NOTHING, NO_POINTS, seconds

LINE = {"a1": 4.01e5, "a0": 10.0}  # Fig 5.13
SMALL_FILTER: dict[str, Any] = {"n": 2048, "sub_queries": 15, "blocks": 15, "threads": 256, "m": 65536, "stop": "never"}


def false_positives() -> tuple[Figure, ...]:
    """Figs 5.7 and 5.8: the rate by Eq (5.18), and counted with the kernel's own hash functions."""
    sizes = (10_000, 20_000, 30_000, 50_000)
    cases = [(m, 6) for m in (2**16, 2**17, 2**18)] + [(2**18, k) for k in (4, 8, 10)]
    model = {case: {n: float(false_positive_rate(case[0], case[1], n)) for n in sizes} for case in cases}
    counted = {case: {n: _counted_rate(*case, n) for n in sizes[::2]} for case in ((2**16, 6), (2**18, 6), (2**18, 10))}
    off = [abs(rate / model[case][n] - 1) for case, of in counted.items() for n, rate in of.items() if rate]
    return (
        Figure(
            "ma-fig-5.7",
            "False positive rate over the sub-query",
            "000 Fig 5.7",
            FITTED_NOTHING,
            "all curves",
            x="bases of a sub-query n_sub",
            y="false positive rate",
            logarithmic="y",
            curves=(
                *(curve(f"Eq (5.18), m = {m}, k = {k}", "model", of) for (m, k), of in model.items()),
                *(
                    curve(f"counted, m = {m}, k = {k}", "simulated", {n: rate for n, rate in of.items() if rate})
                    for (m, k), of in counted.items()
                ),
            ),
            notes=(
                "Counted: random w-mers that are in no sub-query, hashed by kernels/bloom-filter's functions.",
                NO_POINTS,
            ),
        ),
        Figure(
            "ma-fig-5.8",
            "Relative errors of the false positive rate",
            "000 Fig 5.8",
            FITTED_NOTHING,
            "all of it",
            columns=("error up to", "cases"),
            rows=tuple((limit, float(sum(error <= limit for error in off))) for limit in (0.05, 0.1, 0.25, 1.0)),
            notes=("Of the points counted for Fig 5.7.",),
        ),
    )


def _counted_rate(m: int, k: int, n_sub: int, tested: int = 20_000) -> float:
    kernel = load_kernel("bloom-filter")
    host = kernel.host
    p = SimpleNamespace(**kernel.resolve({"m": m, "k": k, "sub_query": n_sub, "sub_queries": 1, "w": 16}))
    random = np.random.default_rng(1)
    query, others = (random.integers(0, 4, size, dtype=np.uint8) for size in (n_sub, tested))
    (rows,) = random.integers(0, m, (1, k, 2 * p.w), dtype=np.uint32)
    stored = set(host.w_mers(query, p.w).tolist())
    new = np.array([each not in stored for each in host.w_mers(others, p.w).tolist()])
    bits = np.unpackbits(host.vector(p, query, rows).view(np.uint8), bitorder="little").astype(bool)
    found = bits[host.addresses(others, rows, p).astype(np.int64)].all(axis=0)
    return float(found[new].mean())


def bloom_times() -> tuple[Figure, ...]:
    """Figs 5.10, 5.11, 5.13 and 5.14."""
    machine = load_machine("gtx480")
    times = {
        (k, queries): seconds(machine, "bloom-filter", {**SMALL_FILTER, "k": k, "sub_queries": queries}) * 1e3
        for k, queries in ((2, 15), (4, 15), (8, 15), (4, 30), (4, 60))
    }
    by_k = {k: time for (k, queries), time in times.items() if queries == 15}
    by_queries = {queries: time for (k, queries), time in times.items() if k == 4}
    x = {case: case[0] * case[1] / 60 for case in times}
    line = fit_line(list(x.values()), list(times.values()))
    symbols = {"B_r": 15, "B_a": 1, "P": 480, "Q": 32}
    printed = {
        k / n_sub: float(BLOOM_MENDED.evaluate(**LINE, k=k, n_sub=n_sub, **symbols).total)
        for k in (4, 6, 8, 10)
        for n_sub in (10_000, 50_000, 300_000)
    }
    tradeoff = [
        (
            float(false_positive_rate(2**18, 6, n)),
            float(BLOOM_MENDED.evaluate(**LINE, k=6, n_sub=n, **symbols).total),
        )
        for n in range(10_000, 60_000, 5_000)
    ]
    small = "simulated: 2,048 w-mers against 15 to 60 sub-queries on 15 blocks; in the dissertation 50 million"
    by_printed = "a1 = 401,000 and a0 = 10, by the paper, on points in Fig 5.13 alone"
    return (
        Figure(
            "ma-fig-5.10",
            "Bloom filter over the hash functions",
            "000 Fig 5.10",
            FITTED_NOTHING,
            "the curve",
            x="hash functions k",
            y="ms",
            curves=(curve("simulated", "simulated", by_k),),
            shrunk=small,
            notes=(NO_POINTS,),
        ),
        Figure(
            "ma-fig-5.11",
            "Bloom filter over the sub-queries",
            "000 Fig 5.11",
            FITTED_NOTHING,
            "the curve",
            x="sub-queries Q_s / n_sub",
            y="ms",
            curves=(curve("simulated", "simulated", by_queries),),
            shrunk=small,
            notes=(NO_POINTS,),
        ),
        Figure(
            "ma-fig-5.13",
            "Bloom filter: the line of Eq (5.24)",
            "000 Fig 5.13",
            f"{by_printed}; the other line, a1 = {line.a1:.4g} and a0 = {line.a0:.3g} ms with r^2 = "
            f"{line.r_squared or 0:.4f}, to the simulated times",
            "the simulated times",
            x="k / n_sub / its largest",
            y="time / its largest",
            logarithmic="xy",
            curves=(
                curve("simulated", "simulated", _shares((x[case], times[case]) for case in times)),
                curve("fitted to the simulated", "fitted", _shares((at, line.a1 * at + line.a0) for at in x.values())),
                curve("Eq (5.24), mended, as printed", "fitted", _shares(printed.items())),
            ),
            shrunk=small,
            notes=("The printed x has Q_s and n in it, with which the line gives 6e17 s: DEVIATIONS.md.",),
        ),
        Figure(
            "ma-fig-5.14",
            "False positive rate against time",
            "000 Fig 5.14, k = 6, m = 256 Kbit",
            by_printed,
            "the rate, by Eq (5.22)",
            x="false positive rate",
            y="s",
            logarithmic="x",
            curves=(curve("Eq (5.22) and (5.24), mended", "fitted", tradeoff),),
            notes=("n_sub is 10,000 to 55,000; `simtmm paper equation bloom-fit` has the line for any.",),
        ),
    )


def _shares(points: Iterable[tuple[float, float]]) -> list[tuple[float, float]]:
    """Each x and y over the largest of them, so that both have one unit whatever was simulated."""
    listed = sorted(points)
    widest, longest = max(x for x, _ in listed), max(y for _, y in listed)
    return [(x / widest, y / longest) for x, y in listed]


def facs() -> tuple[Figure, ...]:
    """Fig 5.16."""
    machine = load_machine("gtx480")
    reads = 90
    points = {
        blocks: reads / seconds(machine, "facs", {"n": reads, "blocks": blocks, "m": 2**20, "reference": 20_000}) / 1e6
        for blocks in (5, 10, 15, 20, 30, 45)
    }
    return (
        Figure(
            "ma-fig-5.16",
            "FACS over the blocks",
            "000 Fig 5.16, 002 Fig 9",
            FITTED_NOTHING,
            "the curve",
            x="requested blocks B_r",
            y="reads in a us",
            curves=(curve("simulated", "simulated", points),),
            shrunk=f"simulated: {reads} reads, of which blocks beyond {reads} would have none; in the paper 100,000",
            notes=(NO_POINTS,),
        ),
    )
