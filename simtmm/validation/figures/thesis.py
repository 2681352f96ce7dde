"""Rehman's thesis: Table 2.1, Figs 3.4 to 3.6, 4.2 to 4.4, 4.6, 5.7 to 5.9, 6.2 and 6.4, Tables 4.1 and 6.2."""

from collections.abc import Iterable, Mapping
from typing import Any

from simtmm.machine import Machine, load_machine
from simtmm.model.rehman import LOCAL_RANKING, LOCAL_RANKING_WHOLE_BLOCKS, effective_bandwidth
from simtmm.validation.cases.gtx280_thesis import RANKING, TOUR, VARIANTS
from simtmm.validation.cases.papers import printed
from simtmm.validation.figures.figure import Cell, Curve, Figure, curve
from simtmm.validation.figures.programs import FITTED_NOTHING, NO_POINTS, launches_ms, seconds, simulated

MACHINE = "gtx280"
SIZES = (2**12, 2**14, 2**16, 2**18)
TREES = (2**12, 2**14, 2**16)
NO_HOST = "Times of CPUs and of launches are not simulated: no machine here has hosts."
ROWS = "memory.rows, to the local ranking of Table 6.2; all else nothing"
CELL_MS = {2**22: 106.0}  # section 2.5
LISTS: dict[str, Any] = {"x": "nodes of the list", "y": "ms", "logarithmic": "xy", "fitted": ROWS}


def _times(machine: Machine, kernel: str, sizes: Iterable[int], label: str, **parameters: Any) -> Curve:
    points = {n: seconds(machine, kernel, {"n": n, **parameters}) * 1e3 for n in sizes}
    return curve(f"simulated, {label}", "simulated", points)


def pointer_jumping() -> tuple[Figure, ...]:
    """Figs 3.4 to 3.6 and 4.2."""
    gtx280, c1060 = load_machine(MACHINE), load_machine("tesla-c1060")
    narrow = (2**10, 2**13, 2**16)
    wide = {
        version: _times(gtx280, VARIANTS, SIZES, version, version=version)
        for version in ("packed-64", "stepwise", "restricted")
    }
    order = "Blocks are recorded one after another, so loops in a kernel run longer at first and shorter at last."
    return (
        Figure(
            "rehman-fig-3.4",
            "Wyllie's algorithm on a Tesla C1060",
            "001 Fig 3.4",
            predicted="the curve",
            curves=(_times(c1060, VARIANTS, SIZES, "stepwise", version="stepwise"),),
            notes=(NO_HOST, NO_POINTS),
            **LISTS,
        ),
        Figure(
            "rehman-fig-3.5",
            "Wyllie's algorithm in 64 and 32 bits, Tesla C1060",
            "001 Fig 3.5",
            predicted="both curves",
            curves=tuple(
                _times(c1060, VARIANTS, narrow, version, version=version) for version in ("packed-64", "packed-32")
            ),
            notes=(order, "The text: 'up to 40 %' of time saved.", NO_POINTS),
            **LISTS,
        ),
        Figure(
            "rehman-fig-3.6",
            "Versions of Wyllie's algorithm",
            "001 Fig 3.6",
            predicted="all curves",
            curves=tuple(wide.values()),
            notes=(order, NO_HOST, NO_POINTS),
            **LISTS,
        ),
        Figure(
            "rehman-fig-4.2",
            "Wyllie's algorithm and Helman and JaJa's",
            "001 Fig 4.2",
            predicted="all curves",
            curves=(
                wide["restricted"],
                *(
                    _times(gtx280, RANKING, SIZES, f"Helman-JaJa, {rule}", splitters=rule)
                    for rule in ("n/log n", "n/(2 log^2 n)")
                ),
            ),
            notes=("The text: 'upto 3.5x speedup over the most optimized version'.", NO_POINTS),
            **LISTS,
        ),
    )


def orders() -> tuple[Figure, ...]:
    """Figs 4.3, 4.4 and 4.6, Tables 4.1 and 6.2 with Fig 6.4."""
    machine = load_machine(MACHINE)
    sizes = (2**14, 2**16, 2**18, 2**20)
    random, ordered = (_times(machine, RANKING, sizes, f"{order} list", order=order) for order in ("random", "ordered"))
    splitters = {
        "random list, equidistant splitters": "equidistant",
        "ordered list, random splitters": "drawn-splitters",
        "ordered list, random splitters, shuffled": "shuffled-splitters",
    }
    split = [_times(machine, RANKING, sizes, label, order=order) for label, order in splitters.items()]
    profile, ranking = printed("gtx280-profile"), printed("gtx280-local-ranking")
    total = curve(
        "printed, Table 4.1",
        "printed",
        [(n, us / 1e3) for n, us in zip(profile["n"], profile["total_us"], strict=True)],
    )
    return (
        Figure(
            "rehman-fig-4.3",
            "Helman and JaJa's algorithm on ordered lists, and a scan",
            "001 Fig 4.3",
            predicted="all curves",
            curves=(ordered, random, _times(machine, "scan", sizes, "scan")),
            notes=(
                "The text: ordered 5 to 10 times faster than random, a scan 8 to 10 times faster than ordered.",
                NO_POINTS,
            ),
            **LISTS,
        ),
        Figure(
            "rehman-fig-4.4",
            "Load balance and order in Helman and JaJa's algorithm",
            "001 Fig 4.4, from 16 K to 1 M nodes",
            predicted="all curves",
            curves=(random, *split, ordered),
            notes=(
                "The text doesn't say whether threads take the random splitters of an ordered list as they lie in "
                "memory; both are shown.",
                "The text: that one is marginally faster than equidistant splitters, and both are much closer to the "
                "random list than to the ordered one.",
                NO_POINTS,
            ),
            **LISTS,
        ),
        Figure(
            "rehman-fig-4.6",
            "Helman and JaJa's algorithm on a GTX 280 and a Cell",
            "001 Figs 4.5 and 4.6",
            predicted="the simulated curve",
            curves=(random, total, curve("printed, Cell BE", "printed", CELL_MS)),
            notes=("Of other machines the text has this one point.",),
            **LISTS,
        ),
        Figure(
            "rehman-table-4.1",
            "Profile of Helman and JaJa's algorithm",
            "001 Table 4.1",
            ROWS,
            "split, recombining, later iterations and total",
            columns=("n", "split us", "local ranking us", "recombine us", "total us", ""),
            rows=(
                *(_printed_profile(profile, place) for place in range(len(profile["n"]))),
                _profile(machine, 2**18),
                _profile(machine, 2**20),
            ),
            notes=("All four sizes beside one another: `simtmm paper reproduce gtx280-thesis`.",),
        ),
        Figure(
            "rehman-fig-6.4",
            "Local ranking, expected and taken",
            "001 Table 6.2 and Fig 6.4",
            predicted=(
                "the models, which are flat for each element; the simulated times were fitted: `simtmm paper reproduce "
                "gtx280-list-ranking`"
            ),
            curves=(
                *(
                    curve(
                        f"printed, {key}",
                        "printed",
                        [(n, ms) for n, ms in zip(ranking["n"], ranking[f"{key}_ms"], strict=True)],
                    )
                    for key in ("actual", "expected")
                ),
                *(
                    curve(label, "model", {n: float(_ranked(form, machine, n)) * 1e3 for n in ranking["n"]})
                    for label, form in (
                        ("section 6.3, mended", LOCAL_RANKING),
                        ("in whole blocks", LOCAL_RANKING_WHOLE_BLOCKS),
                    )
                ),
            ),
            notes=("The printed formula lacks 1 / log N: DEVIATIONS.md.",),
            **LISTS,
        ),
    )


def _ranked(form: Any, machine: Machine, n: int) -> float:
    return float(
        form.evaluate(
            N=n,
            T_B=512,
            N_SM=machine.cores.groups,
            N_t=machine.cores.warp_width,
            N_C=machine.cores.cores_per_group,
            D=machine.issue_cycles,
            L=machine.memory.latency,
            R=machine.clock_hz,
        ).total
    )


def _printed_profile(profile: Mapping[str, Any], place: int) -> tuple[Cell, ...]:
    split, local_rank, recombine, total = (
        float(profile[f"{key}_us"][place]) for key in ("split", "local_rank", "recombine", "total")
    )
    return float(profile["n"][place]), split, local_rank, recombine, total, "printed"


def _profile(machine: Machine, n: int) -> tuple[Cell, ...]:
    us = [(name, ms * 1e3) for name, ms in launches_ms(machine, RANKING, {"n": n})]
    return float(n), us[0][1], us[1][1], us[-1][1], sum(time for _, time in us), "simulated"


def trees() -> tuple[Figure, ...]:
    """Figs 5.7 to 5.9: Euler tours of random binary trees."""
    machine = load_machine(MACHINE)
    common: dict[str, Any] = {"x": "vertices of the tree", "y": "ms", "logarithmic": "xy", "fitted": ROWS}
    rooting, preorder = (
        {n: phases_of(launches_ms(machine, TOUR, {"n": n, "computation": what})) for n in TREES}
        for what in ("subtree-size", "preorder")
    )
    return (
        Figure(
            "rehman-fig-5.7",
            "Rooting a tree by its Euler tour, and breadth-first search",
            "001 Fig 5.7",
            predicted="all curves",
            curves=(
                curve("simulated, Euler tour", "simulated", {n: sum(of.values()) for n, of in rooting.items()}),
                _times(machine, "bfs", TREES, "breadth-first search", graph="binary-tree"),
            ),
            notes=("The text: about twice as fast as breadth-first search on the GPU.", NO_HOST, NO_POINTS),
            **common,
        ),
        *(
            Figure(
                name,
                title,
                source,
                predicted="all curves",
                curves=tuple(
                    curve(f"simulated, {phase}", "simulated", {n: of[phase] for n, of in by_size.items()})
                    for phase in next(iter(by_size.values()))
                ),
                notes=("The text: ranking dominates.", NO_POINTS),
                **common,
            )
            for name, title, source, by_size in (
                ("rehman-fig-5.8", "Rooting and subtree sizes: phases", "001 Fig 5.8", rooting),
                ("rehman-fig-5.9", "Preorder: phases", "001 Fig 5.9", preorder),
            )
        ),
    )


PHASES = {
    "map": "mapping",
    "split": "ranking",
    "local": "ranking",
    "rank": "ranking",
    "recombine": "ranking",
    "find": "finding parents",
    "subtree": "the rest",
    "scan": "scan",
    "add": "scan",
    "number": "the rest",
}


def phases_of(launches: list[tuple[str, float]]) -> dict[str, float]:
    """The time of each phase of an Euler tour, from its launches' kernels and times."""
    found: dict[str, float] = {}
    for kernel, ms in launches:
        phase = PHASES[kernel.split("_")[0]]
        found[phase] = found.get(phase, 0.0) + ms
    return found


def coalescing() -> tuple[Figure, ...]:
    """Fig 6.2: the effective bandwidth of a copy, Eq (6.6)."""
    machine = load_machine(MACHINE)
    n = 2**16

    def bandwidth(pattern: str, value: int) -> float:
        took = seconds(machine, "copy", {"pattern": pattern, "n": n, pattern: value})
        return float(effective_bandwidth(4.0 * n, 4.0 * n, took))

    return tuple(
        Figure(
            f"rehman-fig-6.2{part}",
            f"Effective bandwidth of a copy over its {pattern}",
            f"001 Fig 6.2 ({part}), Eq (6.6)",
            FITTED_NOTHING,
            "the curve",
            x=f"{pattern} in words",
            y="GB/s",
            curves=(curve("simulated", "simulated", {value: bandwidth(pattern, value) for value in values}),),
            notes=("A chunk moves whole on the simulated machine, so that an offset costs a chunk a warp.", NO_POINTS),
        )
        for part, pattern, values in (("a", "offset", (0, 1, 2, 4, 8, 16)), ("b", "stride", (1, 2, 4, 8, 16, 32)))
    )


def algorithms() -> tuple[Figure, ...]:
    """Table 2.1."""
    machine, n = load_machine(MACHINE), 2**16
    complexity = {
        "Serial": ("n", "n"),
        "Wyllie": ("n lg n / p + lg n", "n lg n"),
        "Randomized": ("n / p + lg n", "n"),
        "PRAM optimal": ("n / p + lg n", "n"),
        "Reid-Miller": ("n / p + lg^2 n", "n"),
        "Helman-JaJa": ("n / p + lg n", "n"),
    }
    programs: dict[str, tuple[str, dict[str, Any]]] = {
        "Serial": (RANKING, {"limit": n}),  # as short a list is ranked by one thread
        "Wyllie": ("list-ranking-wyllie", {}),
        "Randomized": ("list-ranking-randomized", {}),
        "PRAM optimal": ("list-ranking-cole-vishkin", {}),
        "Reid-Miller": ("list-ranking-reid-miller", {}),
        "Helman-JaJa": (RANKING, {}),
    }

    def row(name: str) -> tuple[Cell, ...]:
        kernel, given = programs[name]
        result = simulated(machine, kernel, {"n": n, **given})
        assert machine.clock_hz is not None
        return (
            name,
            *complexity[name],
            result.cycles / machine.clock_hz * 1e3,
            result.transactions / n,
            len(result.launch_ticks),
        )

    return (
        Figure(
            "rehman-table-2.1",
            "List-ranking algorithms",
            "001 Table 2.1",
            ROWS,
            "the times",
            columns=("algorithm", "time", "work", f"simulated ms, n = {n}", "transfers a node", "launches"),
            rows=tuple(row(name) for name in complexity),
            notes=(
                "Times and work as printed, to within constants.",
                "Gaps between launches are not simulated; with them algorithms of many launches are slower.",
                "PRAM optimal: Cole and Vishkin's; list-ranking-anderson-miller is the other that the text names. It "
                "calls their constants large.",
            ),
        ),
    )
