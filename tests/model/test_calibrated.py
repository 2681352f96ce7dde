"""Time = a1 f_app f_cache f_sched + a0; dissertation, Eq (5.8), (5.9), (5.14) and the constants of Eq (5.24)."""

import pytest
import sympy

from simtmm import load_machine
from simtmm.errors import ModelError
from simtmm.model.calibrated import CALIBRATED_BY_LAUNCH, calibrated, proportional_time, throughput
from tests.model.launch.test_scheduling import counted

GTX480 = load_machine("gtx480")
FULL = {"B_r": 15, "B_a": 1, "P": 480, "Q": 32}


def test_time_is_least_with_both_factors_at_one():
    assert proportional_time(7, 1, 1) == 7  # Eq. (5.8)
    assert proportional_time(7, 2.5, 1.2) == 21  # Eq. (5.9)


def test_throughput_is_elements_over_time():
    assert throughput(2**25, 0.5) == 2**26
    with pytest.raises(ModelError, match=r"^throughput: Time = 0: must be above 0"):
        throughput(1, 0)


def test_the_formula_by_hand():
    evaluated = CALIBRATED_BY_LAUNCH.evaluate(a1=2, a0=5, f_app=100, m=32, C_s=16, G=3, **FULL | {"B_r": 20})
    assert evaluated.terms == {"run": 2 * 100 * 2 * 1.5, "constant": 5}  # f_cache = 1/2 + 3/2, f_sched = 30 / 20
    assert evaluated.total == 605


def test_a_set_that_fits_the_cache_needs_no_factor():
    result = CALIBRATED_BY_LAUNCH.evaluate(a1=2, a0=0, f_app=100, m=[8, 16], C_s=16, G=3, **FULL).total
    assert result.tolist() == [200, 200]


def test_the_formula_is_symbols_too():
    run = CALIBRATED_BY_LAUNCH.expressions["run"]
    assert {str(letter) for letter in run.free_symbols} == {"a1", "f_app", "m", "C_s", "G", "B_r", "B_a", "P", "Q"}
    numbers = {"a1": 2, "f_app": 100, "m": 32, "C_s": 16, "G": 3, "B_r": 20, "B_a": 1, "P": 480, "Q": 32}
    assert run.subs({letter: numbers[str(letter)] for letter in run.free_symbols}) == sympy.Integer(600)


@pytest.mark.parametrize(
    ("letter", "value", "allowed"),
    [("a1", -1, "at least 0"), ("G", 0, "above 0"), ("B_r", 1.5, "whole and at least 1"), ("a0", float("nan"), "at")],
)
def test_a_value_outside_the_domain_is_refused_by_name(letter, value, allowed):
    values = {"a1": 1, "a0": 0, "f_app": 1, "m": 1, "C_s": 1, "G": 1, **FULL, letter: value}
    with pytest.raises(ModelError, match=rf"^calibrated: {letter} = {value}: must be {allowed}|a number"):
        CALIBRATED_BY_LAUNCH.evaluate(**values)


# The prediction for a program


def test_each_launch_has_its_own_scheduling_factor():
    program = counted((300, 0, 15, 1, 1024), (100, 0, 20, 1, 1024))
    prediction = calibrated(GTX480, program, a1=2, a0=50, unit="cycles")
    assert prediction.terms == {"run": 2 * (300 + 100 * 1.5), "constant": 50}
    assert (prediction.cycles, prediction.bound, prediction.model) == (950, "run", "calibrated")
    assert prediction.symbols["f_sched"] == 450 / 400


def test_constants_in_seconds_give_seconds():
    prediction = calibrated(GTX480, counted((100, 0, 20, 1, 1024)), a1=0.01, a0=0.5)
    assert prediction.seconds == pytest.approx(2, rel=1e-15)  # times the clock, and over it again


def test_complexity_may_be_other_than_work():
    program = counted((100, 0, 20, 1, 1024))
    assert calibrated(GTX480, program, a1=1, a0=0, unit="cycles", f_app=8).cycles == 12


def test_a_program_without_work_takes_the_constant():
    assert calibrated(GTX480, counted((0, 0, 20, 1, 1024)), a1=1, a0=3, unit="cycles").cycles == 3


def test_a_working_set_slows_what_misses_the_machines_first_cache():
    program = counted((100, 0, 15, 1, 1024))
    prediction = calibrated(GTX480, program, a1=1, a0=0, unit="cycles", m=32 * 1024, G=3)  # 16 KB
    assert prediction.cycles == 200
    assert calibrated(GTX480, program, a1=1, a0=0, unit="cycles", m=32 * 1024, G=3, C_s=8 * 1024).cycles == 250


@pytest.mark.parametrize(
    ("changes", "options", "words"),
    [
        ({"clock_hz": None}, {}, "has no clock_hz"),
        ({}, {"unit": "ms"}, "unit = 'ms': must be 's' or 'cycles'"),
        ({}, {"m": 10}, "G: must be given"),
        ({"memory.l1": None, "memory.l2": None}, {"m": 10, "G": 2}, "C_s: must be given"),
        ({}, {"a1": -1}, "a1 = -1: must be at least 0"),
    ],
)
def test_what_is_needed_and_not_there_is_named(changes, options, words):
    with pytest.raises(ModelError, match=rf"^calibrated: .*{words}"):
        calibrated(GTX480.replace(changes), counted((100, 0, 15, 1, 1024)), **{"a1": 1, "a0": 0} | options)
