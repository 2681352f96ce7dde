"""Times of the micro-benchmark, BLAST's Bloom filter and FACS; dissertation, Eq (5.15) to (5.28)."""

# ruff: noqa: N806 - the letters of the equations

import numpy as np
import pytest
import sympy

from simtmm.errors import ModelError
from simtmm.model.applications.hashing import (
    BLOOM,
    BLOOM_MENDED,
    BLOOM_PRINTED,
    FACS,
    MICROBENCHMARK,
    bloom_complexity,
    facs_complexity,
    microbenchmark_complexity,
)
from tests.model.ma_chapters import published

FULL = {"B_r": 15, "B_a": 1, "P": 480, "Q": 32}  # a GTX 480 in one full wave: f_sched = 1
CLOSE = 1e-14  # a handful of roundings


def test_the_microbenchmark_grows_with_its_data_and_by_the_zigzag():
    assert microbenchmark_complexity(2**25) == 2**25
    result = MICROBENCHMARK.evaluate(n=2**25, **FULL | {"B_r": np.array([15, 16])}).total
    assert result.tolist() == [2**25, 1.875 * 2**25]


@published("ma.bloom_linear")
def test_bloom_time_is_linear_in_hashes_and_sub_queries(item):
    Q_s, n = item["Q_s"], item["n"]
    k = np.array(item["k"])[:, None]
    n_sub = np.array(item["n_sub"])
    result = BLOOM.evaluate(k=k, Q_s=Q_s, n_sub=n_sub, n=n, **FULL).total
    assert result / k == pytest.approx(np.broadcast_to(result[0] / k[0], result.shape), rel=CLOSE)
    assert result * n_sub == pytest.approx(np.broadcast_to(result[:, :1] * n_sub[0], result.shape), rel=CLOSE)
    assert bloom_complexity(4, Q_s, 10000, n) == 4 * 25000 * 50e6


@published("ma.bloom_fit")
def test_the_printed_form_does_not_follow(item):
    evaluated = BLOOM_PRINTED.evaluate(
        a1=item["a1"], a0=item["a0"], k=item["k_example"], n_sub=item["n_sub_example"],
        Q_s=item["Q_s"], n=item["n"], **FULL,
    )  # fmt: skip
    assert evaluated.total == pytest.approx(item["time_as_printed_s"], rel=0.01)  # one digit is printed
    assert evaluated.total > 1e10 * item["time_example_s"]


@published("ma.bloom_fit")
def test_the_mended_form_gives_the_figures_range_and_not_the_texts_throughput(item):
    constants = {"a1": item["a1"], "a0": item["a0"]}
    k, n_sub = np.array(item["k"])[:, None], np.array(item["n_sub"])
    times = BLOOM_MENDED.evaluate(**constants, k=k, n_sub=n_sub, **FULL).total
    assert [times.min(), times.max()] == pytest.approx(item["times_s"], abs=0.05)  # to a tenth of a second
    example = BLOOM_MENDED.evaluate(**constants, k=item["k_example"], n_sub=item["n_sub_example"], **FULL).total
    assert example == pytest.approx(item["time_example_s"], abs=0.05)
    throughput = item["n"] / example
    assert throughput == pytest.approx(item["wmers_per_s_example"], rel=1e-3)  # rounded to 10,000, we get 860,289
    assert throughput > 2.8 * item["wmers_per_s_printed"]


def test_the_mended_form_waits_for_whole_waves_too():
    waves = FULL | {"B_r": np.array([15, 16])}
    result = BLOOM_MENDED.evaluate(a1=1000, a0=7, k=4, n_sub=100, **waves).total
    assert result.tolist() == [47, 82]  # 40 + 7, and 40 * 1.875 + 7


@published("ma.bloom_speedup")
def test_the_speed_up_follows_from_the_printed_rates(item):
    speedup = item["gpu_wmers_per_s"] / item["cpu_wmers_per_s"]
    assert speedup == pytest.approx(item["speedup"], abs=0.5)  # printed as approximately 35
    hashes = item["Q_s"] / item["n_sub"] * item["k"] * item["gpu_wmers_per_s"]
    cycles = item["cores"] * item["clock_hz"] / hashes
    assert cycles == pytest.approx(item["cycles_per_hash"], abs=0.5)  # to a cycle


@published("ma.facs")
def test_a_larger_cache_changes_facs_a_little_where_the_text_says_not_at_all(item):
    m, (small, large) = item["working_set_kb"], item["C_s_kb"]
    assert [small / m, large / m] == item["hit_rates"]
    for G in (1.1, 4, 30, 1e6):
        values = {"k": 6, "n": 1e5, "m": m, "G": G, **FULL}
        slow = float(FACS.evaluate(C_s=small, **values).total)
        fast = float(FACS.evaluate(C_s=large, **values).total)
        assert 0 < 1 - fast / slow < (large - small) / (m - small)  # 6.5 % as G grows without end
    assert m < item["l2_kb"]  # so the second level holds it all, for which there is no term


@published("ma.eq5.28")
def test_facs_time_is_complexity_times_both_factors_of_the_calibrated_model(item):
    # As Eq (5.9) has it; Eq (6.3), which the text names, has neither f_app nor f_cache
    assert "(5.28)" in item["source"]
    k, n, m, C_s, G, B_r, B_a, P, Q = sympy.symbols("k n m C_s G B_r B_a P Q", positive=True)
    hit = sympy.Min(1, C_s / m)
    waves = sympy.ceiling(B_r / (B_a * P / Q)) * B_a * P / Q / B_r
    printed = k * n / (B_a * P / Q) * (hit + (1 - hit) * G) * waves
    result = FACS.terms(k=k, n=n, m=m, C_s=C_s, G=G, B_r=B_r, B_a=B_a, P=P, Q=Q)["run"]
    assert sympy.simplify(result - printed) == 0


def test_facs_complexity_is_of_passes_over_the_sequences():
    assert facs_complexity(6, 1e5, 2, 480, 32) == 6 * 1e5 / 30


@pytest.mark.parametrize(
    ("letter", "value", "allowed"), [("n_sub", 0, "at least 1"), ("k", 1.5, "whole and at least 1")]
)
def test_a_value_outside_the_domain_is_refused_by_name(letter, value, allowed):
    values = {"a1": 1, "a0": 0, "k": 4, "n_sub": 100, **FULL, letter: value}
    with pytest.raises(ModelError, match=rf"^bloom-mended: {letter} = {value}: must be {allowed}"):
        BLOOM_MENDED.evaluate(**values)
