"""Figures and tables of the papers, each computed, or with the reason why not.

ITEMS has all that the five documents number. A maker is a function of this package that gives one figure or several;
what it gives goes by name. It is deterministic, simulates and evaluates models, and reads nothing but the project's own
files. `simtmm paper reproduce --list` tells all of ITEMS.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from importlib import import_module

from simtmm.computer import cores
from simtmm.errors import SimtmmError, StudyError, nearest
from simtmm.parallel.processes import Local
from simtmm.parallel.tasks import Task
from simtmm.validation.claims.bands import known_bands
from simtmm.validation.figures.figure import Figure
from simtmm.watch import Watch


@dataclass(frozen=True)
class Item:
    """A figure or table of a paper. makes: "module:function", with the argument of the function behind a blank if it
    takes one; or "" with `reason` saying why there is none, or `same` naming the item that is the same.
    """

    name: str
    title: str
    makes: str = ""
    reason: str = ""
    same: str = ""


DRAWING = "a drawing, without numbers"
OTHERS = "measurements of others, without numbers in the text"
HOST = "times of copies between host and GPU, which no machine here has"
SYMBOLS = "a list of symbols: docs/glossary.md and `simtmm paper predict NAME` have them"


def _items() -> tuple[Item, ...]:
    def drawn(makes: str, **titles: str) -> list[Item]:
        return [Item(name.replace("__", ".").replace("_", "-"), title, makes) for name, title in titles.items()]

    def none(reason: str, *names: str) -> list[Item]:
        return [Item(name, "", reason=reason) for name in names]

    return (
            *drawn("blocks:occupancy", ma_fig_1__1="Bloom filter over threads per core"),
            *none(DRAWING, "ma-fig-1.2", "ma-fig-2.1", "ma-fig-2.2", "ma-fig-3.1"),
            *none(SYMBOLS, "ma-table-3.1", "ma-table-3.2"),
            *drawn(
                "shortest_paths:speedups",
                ma_fig_4__1="Speedup of the dynamic program",
                ma_fig_4__4="Speedup for two sub-blocks",
                ma_fig_4__5="Their ratio and difference",
            ),
            *drawn(
                "shortest_paths:johnson",
                ma_fig_4__2="Speedup of Johnson's algorithm",
                ma_fig_4__3="Runtime of Johnson's algorithm",
                ma_fig_4__7="Dynamic program over Johnson's algorithm",
            ),
            *drawn("shortest_paths:generations", ma_fig_4__6="GTX 480 and GTX 680"),
            *none(f"{DRAWING}: `simtmm run suffix-tree --param text=mississippi` searches it", "ma-fig-4.8"),
            *drawn("algorithms:suffixes", ma_fig_4__9="Suffix array of 'mississippi'"),
            *drawn(
                "algorithms:string_matching",
                ma_fig_4__10="Suffix trees and arrays",
                ma_table_4__2="Batches from which on time depends on n",
                ma_table_4__3="What binds behind that",
            ),
            *none(DRAWING, "ma-fig-4.11"),
            *drawn("algorithms:fourier", ma_fig_4__12="FFT over latency"),
            *drawn("algorithms:sorting", ma_fig_4__13="Merge sort over n"),
            *drawn("algorithms:list_ranking", ma_fig_4__14="Wyllie's algorithm over n"),
            *drawn("algorithms:tables", ma_table_4__1="Times of shortest paths", ma_table_4__4="Classic algorithms"),
            *none(SYMBOLS, "ma-table-5.1", "ma-table-5.2", "ma-table-5.3"),
            *none("the machine: `simtmm machines gtx480`", "ma-table-5.4"),
            *none(DRAWING, "ma-fig-5.1"),
            *drawn(
                "blocks:zigzags",
                ma_fig_5__2a="Hashing over blocks, 8 KB",
                ma_fig_5__2b="Hashing over blocks, 32 KB",
                ma_fig_5__12a="Bloom filter over blocks, GTX 480",
                ma_fig_5__12b="Bloom filter over blocks, Tesla C1060",
            ),
            *drawn("blocks:caches", ma_fig_5__3="Hit rates", ma_fig_5__4="Time over the working set"),
            *none(DRAWING, "ma-fig-5.5", "ma-fig-5.6"),
            *drawn(
                "bloom:false_positives",
                ma_fig_5__7="False positive rates",
                ma_fig_5__8="Their errors",
            ),
            *none(HOST, "ma-fig-5.9"),
            *drawn(
                "bloom:bloom_times",
                ma_fig_5__10="Bloom filter over k",
                ma_fig_5__11="Bloom filter over sub-queries",
                ma_fig_5__13="The fitted line",
                ma_fig_5__14="False positive rate against time",
            ),
            *none(DRAWING, "ma-fig-5.15"),
            *drawn("bloom:facs", ma_fig_5__16="FACS over blocks"),
            *drawn("blocks:framework", ma_fig_6__1="f_sched over blocks"),
            *drawn(
                "integrated:framework",
                ma_fig_6__2="Shortest paths over sqrt(B_r) / T",
                ma_fig_6__3="over threads per core",
                ma_fig_6__4="over requested blocks",
                ma_fig_6__5="with fewer active blocks",
            ),
            *none(OTHERS, "rehman-fig-1.1"),
            *none(DRAWING, *(f"rehman-fig-1.{number}" for number in range(2, 7))),
            *none(OTHERS, "rehman-fig-2.1"),
            *none(DRAWING, *(f"rehman-fig-2.{number}" for number in range(2, 5))),
            *drawn("thesis:algorithms", rehman_table_2__1="List-ranking algorithms"),
            *none(DRAWING, "rehman-fig-3.1", "rehman-fig-3.2", "rehman-fig-3.3"),
            *drawn(
                "thesis:pointer_jumping",
                rehman_fig_3__4="Wyllie's algorithm, Tesla C1060",
                rehman_fig_3__5="in 64 and 32 bits",
                rehman_fig_3__6="its versions",
                rehman_fig_4__2="and Helman and JaJa's",
            ),
            *none(DRAWING, "rehman-fig-4.1"),
            *drawn(
                "thesis:orders",
                rehman_fig_4__3="Ordered lists and a scan",
                rehman_fig_4__4="Load balance and order",
                rehman_fig_4__6="GTX 280 and Cell",
                rehman_table_4__1="Profile of Helman and JaJa's algorithm",
                rehman_fig_6__4="Local ranking, expected and taken",
            ),
            *none(f"{OTHERS}; what the text has of the Cell is in rehman-fig-4.6", "rehman-fig-4.5"),
            *none(DRAWING, *(f"rehman-fig-5.{number}" for number in range(1, 7))),
            *drawn(
                "thesis:trees",
                rehman_fig_5__7="Euler tour and breadth-first search",
                rehman_fig_5__8="Rooting: phases",
                rehman_fig_5__9="Preorder: phases",
            ),
            *none(DRAWING, "rehman-fig-6.1", "rehman-fig-6.3"),
            *none(SYMBOLS, "rehman-table-6.1"),
            *drawn(
                "thesis:coalescing",
                rehman_fig_6__2a="Bandwidth over the offset",
                rehman_fig_6__2b="Bandwidth over the stride",
            ),
            Item("rehman-table-6.2", "", same="rehman-fig-6.4"),
            *(
                Item(f"asap-{own}", "", same=f"ma-{other}")
                for own, other in (
                    ("table-1", "table-5.1"), ("table-2", "table-5.2"), ("table-3", "table-5.3"),
                    ("table-4", "table-5.4"), ("fig-1", "fig-5.1"), ("fig-2", "fig-5.1"), ("fig-3", "fig-5.2a"),
                    ("fig-4", "fig-5.2b"), ("fig-5", "fig-5.3"), ("fig-6", "fig-5.4"), ("fig-7", "fig-5.12a"),
                    ("fig-8", "fig-5.15"), ("fig-9", "fig-5.16"),
                )
            ),
            *none("its first two pages alone are at hand, without figures", "fgcs"),
            Item("tmm-fig-1", "", same="ma-fig-1.1"),
            *(Item(band.name, band.title, f"bands:drawn {band.name}") for band in known_bands().values()),
    )  # fmt: skip


ITEMS: dict[str, Item] = {item.name: item for item in _items()}


def makers(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """The chosen names by the maker that draws them, in the order of ITEMS.

    Raises StudyError for an unknown name, and for one that isn't reproduced, with the reason.
    """
    wanted = set()
    for name in names:
        if name not in ITEMS:
            raise StudyError(f"figure {name!r}: unknown{nearest(name, ITEMS)}")
        item = ITEMS[ITEMS[name].same or name]
        if not item.makes:
            raise StudyError(f"{name}: is not reproduced: {item.reason}")
        wanted.add(item.name)
    by_maker: dict[str, list[str]] = {}
    for item in ITEMS.values():
        if item.name in wanted:
            by_maker.setdefault(item.makes, []).append(item.name)
    return {maker: tuple(of) for maker, of in by_maker.items()}


def drawable_names() -> tuple[str, ...]:
    """All that have a maker of their own."""
    return tuple(name for name, item in ITEMS.items() if item.makes)


def figures(
    names: Iterable[str],
    watch: Watch | None = None,
    workers: int | None = None,
    done: Callable[[Sequence[Figure]], None] | None = None,
) -> dict[str, Figure]:
    """The figures of these names, in the order of ITEMS. Raises StudyError, and what a simulation ends in.

    watch: called with (stage, done, total). workers: processes; one for each core if left out, 1 for this one. done:
    called with the wanted figures of each maker as it ends.
    """
    chosen = makers(names)
    if workers is not None and workers < 1:
        raise StudyError(f"workers = {workers}: must be at least 1")
    number = min(cores() if workers is None else workers, len(chosen))
    found: dict[str, Figure] = {}

    def take(maker: str, made: Sequence[Figure]) -> None:
        found.update({figure.name: figure for figure in made})
        if done is not None:
            done([found[name] for name in chosen[maker]])

    if number <= 1:
        for number_done, maker in enumerate(chosen):
            if watch is not None:
                watch("figures", number_done, len(chosen))
            take(maker, _call(maker))
    else:
        tasks = {Task(_call, (maker,), wanted=True): maker for maker in chosen}
        for number_done, (task, value) in enumerate(Local(number).run(list(tasks)), start=1):
            if isinstance(value, SimtmmError):
                raise value
            take(tasks[task], value)
            if watch is not None:
                watch("figures", number_done, len(chosen))
    wanted = {name for of in chosen.values() for name in of}
    return {name: found[name] for name in ITEMS if name in wanted}


def _call(maker: str) -> tuple[Figure, ...]:
    call, *arguments = maker.split(" ")
    module, _, function = call.partition(":")
    found: tuple[Figure, ...] = getattr(import_module(f"{__name__}.{module}"), function)(*arguments)
    return found
