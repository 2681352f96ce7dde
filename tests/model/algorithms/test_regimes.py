"""Where what binds changes, and where one algorithm overtakes another."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simtmm.errors import ModelError
from simtmm.model.algorithms import find
from simtmm.model.algorithms.regimes import _stretches, crossover, regimes
from simtmm.model.equations.formula import Formula, Symbol
from tests.model.algorithms.printed import same

X, A, B = Symbol("x", "a symbol"), Symbol("a", "one factor"), Symbol("b", "another factor")
LINE = Formula("line", lambda x, a: {"constant": a, "linear": x}, (X, A), "made up")
CURVE = Formula("curve", lambda x, b: {"square": b * x**2}, (X, B), "made up")
CLOSE = {"rel": 1e-11}  # terms count as equal within 1e-12, and here two differ as fast as x or faster


def test_one_term_binds_up_to_its_boundary_and_the_next_from_there():
    flat, rising = regimes(LINE, {"a": 50}, "x", 1, 1000)
    assert (flat.bound, flat.start, flat.stop) == ("constant", 1, 50)
    assert (rising.bound, rising.start, rising.stop) == ("linear", 50, 1000)
    assert flat.begins is None
    assert same(rising.begins, "a")


def test_a_term_that_binds_everywhere_is_one_regime():
    (only,) = regimes(LINE, {"a": 50}, "x", 60, 1000)
    assert (only.bound, only.start, only.stop) == ("linear", 60, 1000)


@settings(max_examples=25)  # a search each
@given(st.floats(2, 1e6), st.floats(1.001, 1.01))
def test_a_regime_narrower_than_the_grid_is_found_between_two_others(where, width):
    """A line that is above both of its neighbours just around their crossing."""
    formula = Formula(
        "three",
        lambda x: {"flat": where**2, "middle": where * x * width, "steep": x**2},
        (X,),
        "made up",
    )
    found = regimes(formula, {}, "x", 1, 1e8)
    assert [regime.bound for regime in found] == ["flat", "middle", "steep"]
    assert [regime.start for regime in found[1:]] == [
        pytest.approx(where / width, **CLOSE),
        pytest.approx(where * width, **CLOSE),
    ]


def test_a_boundary_that_has_no_closed_form_is_still_found():
    formula = Formula("quintic", lambda x, a: {"constant": a, "mixed": x**5 + x}, (X, A), "made up")
    flat, mixed = regimes(formula, {"a": 50}, "x")
    assert mixed.begins is None
    assert flat.stop == mixed.start
    assert mixed.start**5 + mixed.start == pytest.approx(50, **CLOSE)


def test_a_boundary_with_the_larger_of_two_is_solved_with_the_one_that_is_larger_there():
    """Johnson with arrays: M = max(n^3 / C, m n), and m n L / T = n^3."""
    formula = find("apsp-johnson-array").tmm()
    values = {"n": 8192, "P": 480, "L": 512, "C": 32, "Z": 12288, "T": 32}
    compute, memory = regimes(formula, values, "m", 8191, 8192**2)
    assert (compute.bound, memory.bound, memory.start) == ("compute", "memory", 8192**2 * 32 / 512)
    assert same(memory.begins, "n^2 T / L")


@given(st.floats(1.5, 1e3), st.floats(1, 1e3))
@settings(max_examples=25)  # a search each
def test_terms_that_are_one_and_the_same_are_one_regime(latency, queries):
    """With L = X, Eq (4.29)'s first and last terms are equal for every n, but for rounding."""
    values = {"k": queries, "P": 480, "L": latency, "X": latency}
    assert [regime.bound for regime in regimes(find("suffix-tree"), values, "n")] == ["chain", "compute"]


def test_an_end_at_which_all_terms_are_0_is_no_regime():
    found = regimes(find("list-ranking"), {"P": 480, "L": 512, "X": 48}, "n", 1, 1e6)
    assert [(regime.bound, regime.start) for regime in found] == [("chain", 1), ("memory", 480 * 48)]


@pytest.mark.parametrize(
    ("over", "values", "expected"),
    [  # along T: dynamic program, n = 1024, S_D = 16, P = 64, L = 512, C = 1
        ("T", {"L": 512}, [("memory", None), ("compute", "L / (S_D C)")]),
        ("L", {"T": 8}, [("compute", None), ("memory", "S_D C T")]),
    ],
)
def test_what_binds_changes_along_threads_and_latency(over, values, expected):
    formula = find("apsp-dynamic-programming").tmm(given=("S_D",))
    found = regimes(formula, {"n": 1024, "S_D": 16, "P": 64, "C": 1} | values, over, 1, 1e4)
    assert [regime.bound for regime in found] == [bound for bound, _ in expected]
    assert same(found[1].begins, expected[1][1])


def test_an_algorithm_is_meant_by_its_refined_time():
    values = {"k": 20, "P": 512, "L": 100, "X": 48}
    assert regimes(find("suffix-tree"), values, "n") == regimes(find("suffix-tree").refined(), values, "n")


@pytest.mark.parametrize(
    ("values", "over", "message"),
    [
        ({"a": 1}, "y", r"^line: y: unknown"),
        ({"a": 1, "z": 2}, "x", r"^line: z: unknown"),
        ({"a": 1, "x": 2}, "x", r"^line: x: can't both vary and be given$"),
        ({}, "x", r"^line: a: must be given"),
        ({"a": -1}, "x", r"^line: a = -1: must be at least 0"),
    ],
)
def test_a_wrong_symbol_is_refused_by_name(values, over, message):
    with pytest.raises(ModelError, match=message):
        regimes(LINE, values, over)


@pytest.mark.parametrize(("low", "high"), [(0, 10), (10, 10), (10, 1), (1, float("inf")), (float("nan"), 2)])
def test_a_range_must_be_one(low, high):
    with pytest.raises(ModelError, match=r"^line: x from .* must be a range above 0"):
        regimes(LINE, {"a": 1}, "x", low, high)


# Crossovers


def test_the_winner_changes_where_both_take_the_same_time():
    found = crossover(LINE, CURVE, "x", {"a": 1, "b": 0.01}, 1, 1e4)
    assert [stretch.winner for stretch in found.stretches] == ["curve", "line"]
    assert found.points == (pytest.approx(100, **CLOSE),)
    assert found.everywhere is None
    assert str(found) == "curve wins from x = 1 to 100; line wins from x = 100 to 10,000"


def test_there_may_be_several_points():
    """A parabola dips below a line and comes back."""
    parabola = Formula("parabola", lambda x: {"all": (x - 100) ** 2 + 64}, (X,), "made up")
    found = crossover(LINE, parabola, "x", {"a": 1}, 1, 1e4)
    roots = [(201 - (201**2 - 4 * 10064) ** 0.5) / 2, (201 + (201**2 - 4 * 10064) ** 0.5) / 2]  # of x^2 - 201 x + 10064
    assert [stretch.winner for stretch in found.stretches] == ["line", "parabola", "line"]
    assert found.points == tuple(pytest.approx(root, rel=1e-9) for root in roots)  # the two curves meet at a flat angle


def test_a_winner_everywhere_is_reported():
    found = crossover(LINE, CURVE, "x", {"a": 1, "b": 7}, 1, 1e4)
    assert (found.everywhere, found.points) == ("line", ())
    assert str(found) == "line wins everywhere"


def test_the_same_time_everywhere_is_reported():
    found = crossover(find("reduce"), find("scan"), "n", {"P": 32, "C": 8, "L": 100, "T": 4}, 2, 1e9)
    assert (found.everywhere, found.points) == ("both", ())
    assert str(found) == "both take the same time for every n"


def test_a_stretch_of_equal_times_is_no_crossing():
    """Two algorithms with one compute term: equal from the latency on at which neither waits any more."""
    other = Formula("twin", lambda x, a: {"constant": a / 2, "linear": x}, (X, A), "made up")
    found = crossover(LINE, other, "x", {"a": 50}, 1, 1000)
    assert [stretch.winner for stretch in found.stretches] == ["twin", "both"]
    assert found.points == (pytest.approx(50, **CLOSE),)


def test_each_takes_the_symbols_that_it_has_and_no_other_is_taken():
    with pytest.raises(ModelError, match=r"^line and curve: c: unknown"):
        crossover(LINE, CURVE, "x", {"a": 1, "b": 1, "c": 1})
    with pytest.raises(ModelError, match=r"^curve: b: must be given"):
        crossover(LINE, CURVE, "x", {"a": 1})


def test_one_of_the_two_may_not_depend_on_the_symbol():
    found = crossover(find("suffix-tree"), find("suffix-array"), "m", {"n": 1, "k": 8, **GTX_580}, 2, 2.0**100)
    assert [stretch.winner.split()[0] for stretch in found.stretches] == ["suffix-array", "suffix-tree"]
    assert found.points == (pytest.approx(2.0**32, rel=1e-9),)  # lg m = C; an error in lg m grows by m ln 2


GTX_580 = {"P": 512, "L": 100, "C": 32, "X": 48}


@given(st.floats(1e-6, 1e6), st.floats(1.001, 1e9))
def test_stretches_reach_from_one_end_of_the_range_to_the_other(low, factor):
    """To the last bit: a grid whose ends were rounded would leave a sliver out, or ask beyond the range."""
    high, asked = low * factor, []

    def label(values):
        asked.extend(values)
        return np.where(values < low * factor**0.5, "first", "second")

    found = _stretches(label, low, high)
    assert [name for name, _, _ in found] == ["first", "second"]
    assert (found[0][1], found[-1][2]) == (low, high)
    assert found[0][2] == found[1][1]
    assert (min(asked), max(asked)) == (low, high)
