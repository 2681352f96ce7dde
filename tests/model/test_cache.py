"""r_H = min(1, C_s / m), f_cache = r_H + r_M G; dissertation, Eq (5.7) and (5.10) to (5.12)."""

# ruff: noqa: N803, N806 - the letters of the equations

import random
from collections import OrderedDict

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from simtmm.errors import ModelError
from simtmm.model.cache import cache_factor, fits_cache, fits_shared_memory, hit_rate, miss_rate
from tests.model.ma_chapters import published


@pytest.mark.parametrize(("m", "rate"), [(1, 1), (16, 1), (32, 0.5), (64, 0.25), (512, 1 / 32)])
def test_the_hit_rate_by_hand(m, rate):
    assert hit_rate(m, 16) == rate
    assert miss_rate(m, 16) == 1 - rate


@published("ma.cache_rates")
@pytest.mark.parametrize("excess", [1.25, 2, 8])
def test_a_cache_that_forgets_the_least_recent_hits_as_often_as_the_equation_says(item, excess):
    for size in item["C_s_kb"]:
        lines = size * 1024 // 128
        drawn = random.Random(size)
        held = OrderedDict()
        hits, accesses = 0, 40_000
        for number in range(2 * accesses):
            line = drawn.randrange(int(lines * excess))
            if line in held:
                held.move_to_end(line)
                hits += number >= accesses  # the first half warms the cache
            else:
                held[line] = None
                if len(held) > lines:
                    held.popitem(last=False)
        rate = hit_rate(excess * size * 1024, size * 1024)
        deviation = (rate * (1 - rate) / accesses) ** 0.5
        assert hits / accesses == pytest.approx(rate, abs=5 * deviation)  # five standard deviations of a count


@published("ma.cache_rates")
def test_time_is_flat_where_the_set_fits_and_far_beyond(item):
    G = 4.0  # the document fits it and prints none
    for size in item["C_s_kb"]:
        assert cache_factor(np.array([0.1, 0.5, 1]) * size, size, G).tolist() == [1, 1, 1]
        far = cache_factor(np.array([1e3, 1e4, 1e6]) * size, size, G)
        assert np.all(np.diff(far) > 0)
        assert far == pytest.approx(G, rel=1e-3)  # C_s / m of it is left


@given(st.floats(1, 1e9), st.floats(1, 1e9), st.floats(0.01, 1000))
def test_the_factor_lies_between_all_hits_and_none(m, C_s, G):
    low, high = sorted((1, G))
    result = cache_factor(m, C_s, G)
    assert low * (1 - 1e-15) <= result <= high * (1 + 1e-15)  # two products, rounded


@published("ma.shared_vs_global")
def test_a_larger_set_slows_global_memory_and_not_shared(item):
    small, large = item["working_set_kb"]
    Z, C_s = item["Z_kb"], item["C_s_kb"]
    assert fits_shared_memory([small, large], Z).all()  # so f_cache is 1 for both
    assert fits_cache([small, large], C_s).tolist() == [True, False]
    for G in (1.5, 4, 30):  # whatever the slowdown, which is not printed
        assert cache_factor(small, C_s, G) == 1
        assert cache_factor(large, C_s, G) == (1 + G) / 2


def test_a_set_as_large_as_the_memory_does_not_fit_but_all_hit():
    assert not fits_cache(16, 16)
    assert not fits_shared_memory(48, 48)
    assert cache_factor(16, 16, 4) == 1


def test_the_factor_is_a_formula_too():
    m, C_s, G = sympy.symbols("m C_s G", positive=True)
    rate = sympy.Min(1, C_s / m)
    assert sympy.simplify(cache_factor(m, C_s, G) - (rate + (1 - rate) * G)) == 0


@pytest.mark.parametrize(("letter", "value"), [("m", 0), ("C_s", -1), ("G", 0)])
def test_a_value_outside_the_domain_is_refused_by_name(letter, value):
    with pytest.raises(ModelError, match=rf"^f_cache: {letter} = {value}: must be above 0"):
        cache_factor(**{"m": 1, "C_s": 1, "G": 1, letter: value})
