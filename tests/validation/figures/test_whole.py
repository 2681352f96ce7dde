"""Every figure and table as a whole, of times that are made up: what is drawn of which run, how, and its words.

Simulating all takes half an hour; here a run takes what its kernel, its parameters and its machine's keys spell. Where
figures are meant to differ, `python -m tests.validation.figures.test_whole` writes figures-whole.json anew.
"""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import SimpleNamespace

import numpy as np
import pytest

from simtmm.machine import load_machine
from simtmm.recorder import record
from simtmm.validation.cases import zigzag
from simtmm.validation.cases.gtx480_apsp import FORCED, WITH_L2, WITHOUT_L1, Run
from simtmm.validation.figures import ITEMS, drawable_names
from simtmm.validation.figures.figure import Figure
from tests.whole import OUTPUTS, comparable

KEPT = OUTPUTS / "figures-whole.json"
MODULES = ("algorithms", "blocks", "bloom", "integrated", "shortest_paths", "thesis")
# Those with an argument are of bands: what comes out of them is kept in outcomes.csv, and test_bands.py compares it
MAKERS = sorted({ITEMS[name].makes for name in drawable_names() if " " not in ITEMS[name].makes})
LAUNCHES = ("map", "split_up", "local_ranking", "rank", "recombine", "find_parents", "subtree", "scan", "add", "number")


def made_up(*parts: object) -> float:
    """A number from 1 to 2 that is another for each other thing it is of."""
    digest = hashlib.sha256(repr(parts).encode()).digest()
    return 1 + int.from_bytes(digest[:6], "big") / 2**48


def run_of(machine, kernel, parameters):
    """What tells a run from others, of a machine what figures change."""
    memory = machine.memory
    caches = memory.l1 and memory.l1.sets, memory.l2 is None, memory.chunk_words, memory.service
    return (
        machine.name,
        machine.cores.groups,
        machine.limits.blocks_per_group,
        caches,
        kernel,
        sorted(parameters.items()),
    )


def simulated(machine, kernel, parameters):
    """A run of a million cycles or two."""
    of = run_of(machine, kernel, parameters)
    return SimpleNamespace(
        cycles=1e6 * made_up(*of), transactions=int(1e6 * made_up("transactions", *of)),
        l1_hits=int(4e5 * made_up("hits", *of)), launch_ticks=tuple(range(len(LAUNCHES))),
    )  # fmt: skip


def seconds(machine, kernel, parameters):
    """Its time."""
    return simulated(machine, kernel, parameters).cycles / machine.clock_hz


def launches_ms(machine, kernel, parameters):
    """Its launches' times."""
    of = run_of(machine, kernel, parameters)
    return [(name, made_up(at, *of)) for at, name in enumerate(LAUNCHES)]


def squarings(machine, n, of_side, watch=None) -> Iterator[Run]:
    """Runs of all shapes."""
    for side, shapes in of_side.items():
        for blocks, warps in shapes:
            said = {name: 100 * made_up(name, side, blocks, warps)
                    for name in ("simulated", WITH_L2, WITHOUT_L1, "tmm", "tmm-warps", "integrated-apsp",
                                 "integrated-apsp, C = 1", "integrated-apsp-sum, C = 1")}  # fmt: skip
            yield Run(side, blocks, 2.0 * blocks * warps / 2, (blocks, warps) in FORCED.get(side, ()), said)


def sweep(machine, kernel, parameters, most, watch=None):
    """Throughput over grids."""
    (launch,) = record("vector-add", {"n": 64}).info.launches
    of = machine, kernel, sorted(parameters.items())
    return zigzag.Sweep(
        load_machine(machine), launch, np.array([made_up(blocks, *of) for blocks in range(1, most + 1)])
    )


@contextmanager
def no_simulation():
    """What simulates is replaced in all modules of figures."""
    with pytest.MonkeyPatch.context() as patched:
        modules = [import_module(f"simtmm.validation.figures.{name}") for name in MODULES]
        for module in modules:
            for fake in (simulated, seconds, launches_ms, squarings, sweep):
                if hasattr(module, fake.__name__):
                    patched.setattr(module, fake.__name__, fake)
        import_module("simtmm.validation.figures.shortest_paths").runs.cache_clear()
        yield
        import_module("simtmm.validation.figures.shortest_paths").runs.cache_clear()


def figures_of(maker: str) -> list[dict[str, object]]:
    """What a maker makes."""
    module, _, function = maker.partition(":")
    with no_simulation():
        made: tuple[Figure, ...] = getattr(import_module(f"simtmm.validation.figures.{module}"), function)()
    return comparable([figure.to_dict() for figure in made])


@pytest.mark.parametrize("maker", MAKERS)
def test_a_figure_is_drawn_of_its_runs(maker):
    assert figures_of(maker) == json.loads(KEPT.read_text(encoding="utf-8"))[maker]


if __name__ == "__main__":
    KEPT.write_text(json.dumps({maker: figures_of(maker) for maker in MAKERS}) + "\n", encoding="utf-8")
