"""FPR = (1 - (1 - 1/m)^(k n_e))^k; dissertation, Eq (5.18) and (5.19)."""

# ruff: noqa: N803 - the letters of the equations

import random
from decimal import Decimal, localcontext

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from simtmm.errors import ModelError
from simtmm.model.applications.bloom import false_positive_rate, measured_false_positive_rate
from tests.model.ma_chapters import published


@published("ma.fpr")
def test_the_rates_of_the_documents_filter(item):
    result = false_positive_rate(item["m_bits"], item["k"], item["n_sub"])
    assert result == pytest.approx(np.array(item["rates"]), rel=5e-3)  # three digits, and 0.1003 to four


@given(st.integers(2, 10**12), st.integers(1, 20), st.integers(0, 10**9))
def test_the_rate_is_the_printed_equations_in_many_digits(m, k, n_e):
    with localcontext() as context:
        context.prec = 60
        exact = float((1 - (1 - 1 / Decimal(m)) ** (k * n_e)) ** k)
    # A power of up to 20 multiplies the roundings of the logarithm and exponential
    assert false_positive_rate(m, k, n_e) == pytest.approx(exact, rel=1e-13, abs=1e-300)


def test_a_filter_built_at_random_has_the_rate():
    m, k, n_e, tested = 1024, 3, 200, 20_000
    drawn = random.Random(5)
    bits = {drawn.randrange(m) for _ in range(k * n_e)}
    found = sum(all(drawn.randrange(m) in bits for _ in range(k)) for _ in range(tested))
    rate = false_positive_rate(m, k, n_e)
    # The share of bits that are set varies by about 1.1 % from filter to filter, the rate by three times as much; the
    # count itself by 1.9 %. Four standard deviations of both
    assert measured_false_positive_rate(found, 0, tested) == pytest.approx(rate, rel=4 * (0.033**2 + 0.019**2) ** 0.5)


def test_an_empty_filter_finds_nothing_and_a_full_one_everything():
    assert false_positive_rate(1024, 4, 0) == 0
    assert false_positive_rate(1024, 4, 10**6) == 1


def test_more_elements_and_fewer_bits_give_more_false_positives_and_hashes_either():
    rates = false_positive_rate(2**18, 6, np.arange(0, 60000, 1000))
    assert np.all(np.diff(rates) > 0)
    assert false_positive_rate(2**17, 6, 30000) > false_positive_rate(2**18, 6, 30000)
    few, many = false_positive_rate(2**18, [4, 10], [[10000], [60000]])
    assert few[0] > few[1]
    assert many[0] < many[1]


def test_the_rate_is_a_formula_too():
    m, k, n_e = sympy.symbols("m k n_e", positive=True)
    assert false_positive_rate(m, k, n_e) == (1 - (1 - 1 / m) ** (k * n_e)) ** k


def test_the_measured_rate_leaves_true_positives_out():
    assert measured_false_positive_rate(3, 20, 50) == 0.1


@pytest.mark.parametrize(("FP", "TP", "n"), [(3, 48, 50), (0, 50, 50)])
def test_counts_that_cannot_be_are_refused(FP, TP, n):
    with pytest.raises(ModelError, match=r"^FPR: FP, TP: must be at most n together"):
        measured_false_positive_rate(FP, TP, n)


@pytest.mark.parametrize(("letter", "value"), [("m", 1), ("m", 2.5), ("k", 0), ("n_e", -1)])
def test_a_value_outside_the_domain_is_refused_by_name(letter, value):
    with pytest.raises(ModelError, match=rf"^FPR: {letter} = {value}: must be whole and at least"):
        false_positive_rate(**{"m": 2, "k": 1, "n_e": 1, letter: value})
