"""Time = max(T1 / P, M L / (T P)) f_sched; dissertation, Eq (6.1) to (6.3)."""

# ruff: noqa: N806 - the letters of the equations

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st

from simtmm import load_machine, predict
from simtmm.errors import ModelError
from simtmm.model.integrated import (
    INTEGRATED,
    INTEGRATED_SUM,
    integrated,
    integrated_sum,
    scheduled_time,
    time_by_groups,
    waves_per_core,
)
from simtmm.model.launch.scheduling import scheduling_factor
from tests.model.launch.test_scheduling import counted
from tests.model.ma_chapters import published

GTX480 = load_machine("gtx480")
VALUES = {"T1": 9600, "M": 480, "L": 512, "T": 32, "B_r": 20, "B_a": 1, "P": 480, "Q": 32}


def test_the_terms_by_hand():
    evaluated = INTEGRATED.formula.evaluate(**VALUES)
    assert evaluated.terms == {
        "compute": 20 * 1.5,
        "memory": 16 * 1.5,
    }  # 480 * 512 / (32 * 480) = 16, f_sched = 30 / 20
    assert (evaluated.total, evaluated.bound) == (30, "compute")
    assert INTEGRATED_SUM.formula.evaluate(**VALUES).total == 54
    assert scheduled_time(20, 1.5) == 30


programs = st.fixed_dictionaries(
    {
        "T1": st.integers(1, 10**12), "M": st.integers(0, 10**12), "L": st.floats(1, 1e4), "T": st.floats(0.1, 128),
        "B_r": st.integers(1, 10**6), "B_a": st.integers(1, 32), "P": st.integers(1, 64), "Q": st.integers(1, 64),
    }
).map(lambda values: values | {"P": values["P"] * values["Q"]})  # fmt: skip


@given(programs)
def test_both_printed_forms_are_the_same(values):
    evaluated = INTEGRATED.formula.evaluate(**values)
    assert evaluated.total == pytest.approx(time_by_groups(**values), rel=1e-14)  # a handful of roundings
    factors = {letter: values[letter] for letter in ("B_r", "B_a", "P", "Q")}
    T_P = max(values["T1"] / values["P"], values["M"] * values["L"] / (values["T"] * values["P"]))
    assert evaluated.total == pytest.approx(scheduled_time(T_P, scheduling_factor(**factors)), rel=1e-14)


def test_both_printed_forms_are_one_formula():
    letters = dict(zip(VALUES, sympy.symbols("T1 M L T B_r B_a P Q", positive=True), strict=True))
    terms = INTEGRATED.formula.terms(**letters)
    factor = waves_per_core(letters["B_r"], letters["B_a"], letters["P"], letters["Q"])
    assert sympy.simplify(terms["compute"] - letters["T1"] * factor) == 0
    assert sympy.simplify(terms["memory"] - letters["M"] * letters["L"] / letters["T"] * factor) == 0
    assert time_by_groups(**letters).has(sympy.Max)


@given(programs)
def test_the_sum_is_at_least_the_maximum_and_at_most_twice_it(values):
    larger, both = INTEGRATED.formula.evaluate(**values).total, INTEGRATED_SUM.formula.evaluate(**values).total
    assert larger <= both <= 2 * larger


@published("ma.fig6.1")
def test_time_over_blocks_is_least_at_multiples_of_the_groups(item):
    B_r = np.arange(1, 91)
    result = waves_per_core(B_r, item["B_a"], 480, 32)  # the maximum of Eq (6.3) set to 1, as in the figure
    assert B_r[np.isclose(result, result.min(), rtol=1e-12, atol=0)].tolist() == list(
        range(item["groups"], 91, item["groups"])
    )
    assert result.min() == pytest.approx(1 / 480, rel=1e-15)


@pytest.mark.parametrize(
    ("letter", "value", "allowed"),
    [("T", 0, "above 0"), ("M", -1, "at least 0"), ("B_a", 0, "whole and at least 1"), ("L", 0, "above 0")],
)
def test_a_value_outside_the_domain_is_refused_by_name(letter, value, allowed):
    with pytest.raises(ModelError, match=rf"^integrated: {letter} = {value}: must be {allowed} \("):
        INTEGRATED.formula.evaluate(**VALUES | {letter: value})
    with pytest.raises(ModelError, match=rf"^time: {letter} = {value}: must be {allowed} \("):
        time_by_groups(**VALUES | {letter: value})


# The prediction for a program


def test_launches_follow_one_another_each_with_its_own_factor():
    # T = 1024 / 32 = 32 threads a core; L / (T P) = 512 / (32 * 480) = 1 / 30
    program = counted((9600, 300, 15, 1, 1024), (480, 300, 20, 1, 1024))
    prediction = integrated(GTX480, program)
    assert prediction.cycles == pytest.approx(20 + 10 * 1.5, rel=1e-15)  # computing binds the first, memory the second
    assert prediction.terms == pytest.approx({"compute": 20 + 1.5, "memory": 10 + 15}, rel=1e-15)
    assert prediction.bound == "compute"  # for 20 of 35 cycles
    both = integrated_sum(GTX480, program)
    assert both.cycles == pytest.approx(21.5 + 25, rel=1e-15)
    assert (prediction.model, both.model) == ("integrated", "integrated-sum")
    assert prediction.symbols["f_sched"] == pytest.approx(35 / 30, rel=1e-15)
    assert (prediction.symbols["T"], prediction.symbols["L"], prediction.symbols["Q"]) == (32, 512, 32)


@given(st.integers(1, 10**9), st.integers(1, 10**9), st.integers(1, 6), st.sampled_from([64, 128, 256]))
def test_where_blocks_fill_the_machine_it_is_the_tmm_without_span(work, memory, waves, threads):
    program = counted((work, memory, 15 * 6 * waves, 6, threads))
    prediction = integrated(GTX480, program)
    T = 6 * threads / 32
    assert prediction.cycles == pytest.approx(max(work / 480, memory * 512 / (T * 480)), rel=1e-14)
    assert prediction.symbols["f_sched"] == pytest.approx(1, rel=1e-15)


@given(st.integers(1, 10**9), st.integers(1, 90))
def test_up_to_a_wave_memory_takes_what_the_resident_threads_make_it(memory, blocks):
    # The idle places are in f_sched and not in T: M L over the threads that are there
    prediction = integrated(GTX480, counted((0, memory, blocks, 6, 256)))
    assert prediction.cycles == pytest.approx(memory * 512 / (blocks * 256), rel=1e-14)


def test_fewer_blocks_at_once_may_be_forced():
    program = counted((480000, 30000, 16, 6, 256))
    free, forced = integrated(GTX480, program), integrated(GTX480, program, active_blocks=1)
    assert free.terms["compute"] == pytest.approx(1000 * 90 / 16, rel=1e-15)
    assert forced.terms["compute"] == pytest.approx(1000 * 30 / 16, rel=1e-15)  # f_sched is less
    assert free.symbols["T"] == pytest.approx(48, rel=1e-15)
    assert forced.symbols["T"] == pytest.approx(8, rel=1e-15)
    assert integrated(GTX480, program, active_blocks=6) == free
    with pytest.raises(ModelError, match=r"^active_blocks: B_a = 0"):
        integrated_sum(GTX480, program, active_blocks=0)


def test_counts_without_launches_are_one_that_fills_the_machine():
    program = counted()
    assert integrated(GTX480, program).cycles == 0
    prediction = integrated(GTX480, type(program)(**vars(program) | {"work": 4800, "memory_operations": 0}))
    assert (prediction.cycles, prediction.bound, prediction.symbols["f_sched"]) == (10, "compute", 1)


some_launches = st.lists(
    st.tuples(
        st.integers(480, 10**9), st.integers(1, 10**9), st.integers(1, 500), st.integers(1, 6), st.integers(1, 8)
    ).map(lambda launch: (*launch[:4], 32 * launch[4])),
    min_size=1,
    max_size=5,
)


@given(some_launches)
def test_no_program_is_faster_than_by_the_tmm(of):
    program = counted(*of)  # its span is 1, which does not bind
    # Waves and launches that follow one another only add; but for rounding
    assert integrated(GTX480, program).cycles >= predict("tmm", GTX480, program).cycles * (1 - 1e-14)
