"""Ladders of versions: what is advised for one names what the next one does, and gains what that gains."""

from pathlib import Path

import pytest

from simtmm import load_machine
from simtmm.analysis.run import run
from simtmm.recorder.compiled.cuda_file import cuda_program
from simtmm.sampling.part_of_machine import part_of
from simtmm.validation.compiled.programs import program
from tests.cuda.compilers.conftest import needs_machine_code

pytestmark = needs_machine_code
MACHINE = "rtx-3080"
HERE = Path(__file__).parent
N = 1 << 18
# A version and the next, what that does, and whether the gain stands for it: else it is a bound, or the step does more
STEPS = [
    ("sum_divergent", "sum_compact", N, "compact", False),  # which also takes a remainder out of the loop
    ("sum_compact", "sum_sequential", N, "pad", True),  # 1.03 of 1.09: its indices are shorter, too
    ("sum_sequential", "sum_while_loading", N, "coarsen", False),  # of two blocks, where four are tried
    ("sum_while_loading", "sum_last_warp", 2 * N, "last warp", True),
    ("sum_last_warp", "sum_many", N, "coarsen", False),  # of as many as there are for each of 1024 blocks
    ("add_by_columns", "add", 512, "coalesce", True),
    ("histogram", "histogram_of_blocks", 1 << 17, "privatize", False),  # whose set-up is left out
]
PRODUCTS = [
    ("by_rows", "by_columns", "coalesce", True),
    ("by_columns", "in_tiles", "tile", False),
    ("in_tiles", "column_of_registers", "registers", False),
    ("column_of_registers", "square_of_registers", "registers", False),
    ("square_of_registers", "in_vectors", "vectorize", False),
]
# Results of a block's side, and its threads
SHAPES = {"column_of_registers": (64, 512), "square_of_registers": (64, 64), "in_vectors": (64, 64)}
SIDE, GROUPS = 192, 2  # core groups, with their share of the rest: several blocks for each


@pytest.fixture(scope="module")
def ran():
    kept = {}

    def of(name, n):
        if (name, n) not in kept:
            kept[name, n] = run(program(name, {"n": n}), load_machine(MACHINE), form="compiled")
        return kept[name, n]

    return of


@pytest.fixture(scope="module")
def product():
    kept = {}

    def of(name):
        if name not in kept:
            side, threads = SHAPES.get(name, (32, (32, 32)))
            square = f"random:float32:{SIDE * SIDE}"
            given = [f"n={SIDE}", f"A={square}", f"B={square}", f"C=zeros:float32:{SIDE * SIDE}"]
            kernel = cuda_program(HERE / "products.cu", (SIDE // side, SIDE // side), threads, given, kernel=name)
            kept[name] = run(kernel, part_of(load_machine(MACHINE), GROUPS))
        return kept[name]

    return of


def is_advised(before, after, change, stands_for_it):
    gains = [each.gain for each in before.advice if each.change == change]
    assert gains, [(each.change, each.gain) for each in before.advice]
    if stands_for_it:
        assert max(gains) == pytest.approx(before.result.ticks / after.result.ticks, rel=0.3)  # as issue 48 asks


@pytest.mark.parametrize(("version", "better", "n", "change", "stands_for_it"), STEPS)
def test_the_next_version_of_a_measured_ladder_is_advised(version, better, n, change, stands_for_it, ran):
    is_advised(ran(version, n), ran(better, n), change, stands_for_it)


@pytest.mark.parametrize(("version", "better", "change", "stands_for_it"), PRODUCTS)
def test_the_next_version_of_a_product_is_advised(version, better, change, stands_for_it, product):
    is_advised(product(version), product(better), change, stands_for_it)


@pytest.mark.parametrize(("version", "better", "change", "stands_for_it"), PRODUCTS)
def test_a_bound_is_no_less_than_what_the_next_version_gains(version, better, change, stands_for_it, product):
    gain = max(each.gain for each in product(version).advice if each.change == change)
    if not stands_for_it:
        assert gain >= product(version).result.ticks / product(better).result.ticks


def test_a_bound_for_divergent_sums_is_no_less_than_what_compact_ones_gain(ran):
    """Which takes the remainder, by which threads are chosen, out of the loop as well."""
    gain = max(each.gain for each in ran("sum_divergent", N).advice if each.change == "compact")
    assert gain >= ran("sum_divergent", N).result.ticks / ran("sum_compact", N).result.ticks
