"""The dissertation's equations, as printed, against those that the catalogue derives. Formulas, so no tolerances."""

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from simtmm.model.algorithms import find
from simtmm.model.algorithms.speedup import largest_latency, speedup_bounds, threads_for_linear_speedup
from tests.model.algorithms.printed import same, same_pieces

# tmm.core: Eq (3.1) to (3.3), for every algorithm through those that follow


numbers = st.floats(1e-3, 1e6)
ROUNDED = {"rel": 1e-14}  # a handful of roundings


@given(numbers, numbers, numbers, numbers, numbers, numbers)
def test_tmm_core_speedup_is_work_over_time(work, span, transfers, threads, cores, latency):
    effective_work = max(work, transfers * latency / threads)  # Eq (3.1)
    time = max(effective_work / cores, span)  # Eq (3.2)
    bounds = speedup_bounds(work, span, transfers, threads, cores, latency)  # Eq (3.3)
    assert min(bounds.values()) == pytest.approx(work / time, **ROUNDED)


@pytest.mark.parametrize("name", ["apsp-johnson-heap", "suffix-tree", "reduce", "boruvka"])
def test_tmm_core_terms_of_any_algorithm_are_eq_3_2(name):
    counts, terms = find(name).counts().expressions, find(name).tmm().expressions
    letters = {str(letter): letter for letter in terms["memory"].free_symbols}
    assert list(terms) == ["compute", "span", "memory"]
    assert sympy.simplify(terms["compute"] * letters["P"] / counts["T1"]) == 1
    assert sympy.simplify(terms["span"] / counts["Tinf"]) == 1
    assert sympy.simplify(terms["memory"] * letters["T"] * letters["P"] / (counts["M"] * letters["L"])) == 1


@given(numbers, numbers, numbers, numbers)
def test_tmm_core_largest_latency_and_threads_needed_are_one_equation(work, transfers, threads, latency):
    assert threads_for_linear_speedup(work, transfers, largest_latency(work, transfers, threads)) == pytest.approx(
        threads, **ROUNDED
    )
    needed = threads_for_linear_speedup(work, transfers, latency)
    assert largest_latency(work, transfers, needed) == pytest.approx(latency, **ROUNDED)
    assert speedup_bounds(work, 1.0, transfers, needed, 16.0, latency)["memory"] == pytest.approx(16, **ROUNDED)


def test_tmm_core_helpers_take_arrays():
    assert np.array_equal(threads_for_linear_speedup(100.0, np.array([10.0, 20.0]), 50.0), [5, 10])


TIMES = [  # equation, algorithm, formula, its terms
    ("4.2", "apsp-dynamic-programming", "pram", {"compute": "n^3 lg n / P", "span": "n lg n"}),
    (
        "4.5",
        "apsp-dynamic-programming",
        "tmm",
        {"compute": "n^3 lg n / P", "span": "n lg n", "memory": "n^3 lg n L / (sqrt(Z) C T P)"},
    ),
    ("4.8", "apsp-johnson-heap", "pram", {"compute": "m n lg n / P", "span": "m lg n"}),
    (
        "4.11",
        "apsp-johnson-heap",
        "tmm",
        {"compute": "m n lg n / P", "span": "m lg n", "memory": "m n lg n L / (T P)"},
    ),
    ("4.14", "apsp-johnson-array", "pram", {"compute": "n^3 / P", "span": "max(n lg n, m)"}),
    (
        "4.18",
        "apsp-johnson-array",
        "tmm",
        {"compute": "n^3 / P", "span": "n^2 lg Z / Z", "memory": "max(n^3 L / (C T P), m n L / (T P))"},
    ),
    ("4.20", "apsp-bellman-ford", "pram", {"compute": "m n^2 / P", "span": "n"}),
    ("4.23", "apsp-bellman-ford", "tmm", {"compute": "m n^2 / P", "span": "n", "memory": "m n^2 L / (C T P)"}),
    ("4.28", "suffix-tree", "tmm", {"compute": "n k / P", "span": "k", "memory": "n k L / (T P)"}),
    ("4.29", "suffix-tree", "refined", {"compute": "n k / P", "span": "k", "chain": "k L", "memory": "n k L / (X P)"}),
    (
        "4.30",
        "suffix-array",
        "refined",
        {
            "compute": "n k lg m / P",
            "span": "k lg m",
            "chain": "k lg m L / C",
            "memory": "n k lg m L / (C X P)",
        },
    ),
    (  # tmm.fft
        "4.32",
        "fft",
        "refined",
        {"compute": "N lg N / P", "span": "lg N", "chain": "lg N L / C", "memory": "N lg N L / (C X P)"},
    ),
    ("4.34", "merge", "tmm", {"compute": "n lg Z / P", "span": "lg n", "memory": "n L / (C T P)"}),
    (
        "4.35",
        "merge-sort",
        "refined",
        {
            "compute": "n lg Z lg(n/Z) / P",
            "span": "lg n lg(n/Z)",
            "chain": "lg(n/Z) L / C",
            "memory": "n lg(n/Z) L / (C X P)",
        },
    ),
    (  # tmm.listrank
        "4.36",
        "list-ranking",
        "refined",
        {"compute": "n lg n / P", "span": "lg n", "chain": "lg n L", "memory": "n lg n L / (X P)"},
    ),
]


def agree(ours, printed):
    return same_pieces(ours, printed) if printed.startswith("max") else same(ours, printed)


@pytest.mark.parametrize(
    ("name", "formula", "terms"), [row[1:] for row in TIMES], ids=[f"Eq {row[0]}: {row[1]}" for row in TIMES]
)
def test_time_is_the_printed_equation(name, formula, terms):  # tmm.apsp_dp, tmm.fft, tmm.listrank
    result = getattr(find(name), formula)().expressions
    assert list(result) == list(terms)
    for term, printed in terms.items():
        assert agree(result[term], printed), term


def test_eq_4_33_with_the_searches():
    result = find("merge").tmm("printed-4.33").expressions
    assert same(result["compute"], "(n lg Z + (n/Z) lg n) / P")
    assert same(result["memory"], "(n/C + (n/Z) lg n) L / (T P)")


MENDED = [  # errata on Eq (4.30), (4.32) and (4.35): the third term
    ("fft", "lg N L"),
    ("merge-sort", "lg(n/Z) L"),
]


@pytest.mark.parametrize(("name", "chain"), MENDED)
def test_the_mended_form_has_another_third_term_and_nothing_else(name, chain):  # tmm.fft, tmm.mergesort
    printed, mended = find(name).refined().expressions, find(name).refined("mended").expressions
    assert same(mended["chain"], chain)
    assert {term for term in printed if printed[term] != mended[term]} == {"chain"}


def test_the_mended_suffix_array_moves_whole_chunks():
    """A query shorter than a chunk costs a transfer a comparison; one of many chunks costs what is printed."""
    printed, mended = find("suffix-array").refined(), find("suffix-array").refined("mended")
    machine = {"n": 10.0, "m": 2.0**20, "P": 512, "L": 100, "C": 32, "X": 48}
    assert printed.evaluate(k=8, **machine).terms["chain"] == 8 * 20 * 100 / 32
    assert mended.evaluate(k=8, **machine).terms["chain"] == 20 * 100
    assert mended.evaluate(k=33, **machine).terms["chain"] == 2 * 20 * 100
    for whole in (32, 320):
        terms = (formula.evaluate(k=whole, **machine).terms for formula in (printed, mended))
        one, other = ({name: float(value) for name, value in each.items()} for each in terms)
        assert one == pytest.approx(other, rel=1e-14)  # rounded in another order


SPEEDUPS = [  # equation, algorithm, on a PRAM, what bounds it
    ("4.3", "apsp-dynamic-programming", True, {"span": "n^2"}),
    ("4.7", "apsp-dynamic-programming", False, {"span": "n^2", "memory": "sqrt(Z) C T P / L"}),  # tmm.apsp_dp
    ("4.9", "apsp-johnson-heap", True, {"span": "n"}),
    ("4.12", "apsp-johnson-heap", False, {"span": "n", "memory": "T P / L"}),
    ("4.19", "apsp-johnson-array", False, {"span": "n Z / lg Z"}),
    ("4.21", "apsp-bellman-ford", True, {"span": "m n"}),
    ("4.24", "apsp-bellman-ford", False, {"span": "m n", "memory": "C T P / L"}),
]


@pytest.mark.parametrize(
    ("name", "pram", "bounds"), [row[1:] for row in SPEEDUPS], ids=[f"Eq {row[0]}: {row[1]}" for row in SPEEDUPS]
)
def test_speedup_is_the_printed_equation(name, pram, bounds):
    counts = find(name).counts().expressions
    span = find(name).pram().expressions["span"] if pram else counts["Tinf"]
    letters = [sympy.Symbol(letter, positive=True) for letter in "TPL"]
    result = speedup_bounds(counts["T1"], span, counts["M"], *letters)
    assert result["compute"] == letters[1]
    for term, printed in bounds.items():
        assert same(sympy.simplify(result[term]), printed), term


def test_eq_4_15_and_the_last_terms_of_eq_4_19():
    """Where a span or M is the larger of two, speedup is the lesser of two."""
    algorithm = find("apsp-johnson-array")
    counts, pram = algorithm.counts().expressions, algorithm.pram().expressions
    one, other = (counts["T1"] / piece for piece in pram["span"].args)
    assert {same(one, "n^2 / lg n"), same(other, "n^2 / lg n")} == {True, False}
    assert {same(one, "n^3 / m"), same(other, "n^3 / m")} == {True, False}
    one, other = (counts["T1"] / piece for piece in counts["M"].args)  # times T P / L
    assert {same(one, "C"), same(other, "C")} == {True, False}
    assert {same(one, "n^2 / m"), same(other, "n^2 / m")} == {True, False}


def test_tmm_apsp_dp_with_sub_blocks():
    """Eq (6.5); work and span of section 4.1.1."""
    counts = find("apsp-dynamic-programming").counts(given=("S_D",)).expressions
    assert same(counts["T1"], "n^3 lg n")
    assert same(counts["Tinf"], "n lg n")
    assert same(counts["M"], "n^3 lg n / (S_D C)")


def test_tmm_apsp_dp_is_flat_from_l_over_s_d_c_threads_on():
    """Section 6.2: for T > L / (S_D C) the latency is hidden, whatever n."""
    counts = find("apsp-dynamic-programming").counts(given=("S_D",)).expressions
    assert same(threads_for_linear_speedup(counts["T1"], counts["M"], sympy.Symbol("L", positive=True)), "L / (S_D C)")


def test_tmm_apsp_dp_eq_6_7_in_blocks_requested():
    """With B_r = (n / S_D)^2 blocks, the memory term is n^2 lg n L sqrt(B_r) / (C T)."""
    counts = find("apsp-dynamic-programming").counts(given=("S_D",)).expressions
    vertices, sub_block, blocks = sympy.symbols("n S_D B_r", positive=True)
    transfers = counts["M"].subs(sub_block, vertices / sympy.sqrt(blocks))
    assert same(sympy.simplify(transfers), "n^2 lg n sqrt(B_r) / C")


@pytest.mark.parametrize(
    ("name", "variant", "printed"),
    [
        ("apsp-johnson-array", "vertices-fit", "m n"),
        ("apsp-bellman-ford", "edges-fit", "n^3 / C"),
    ],
)
def test_section_4_1_6_the_variants_that_fit_shared_memory(name, variant, printed):
    assert same(find(name).counts(variant).expressions["M"], printed)
