"""Kernels that never end are told: the line, the word that is spun upon, its value, and who waits."""

import pytest

from simtmm.cuda.execution.livelock import watch
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.machine_function import machine_function
from simtmm.errors import LivelockError
from tests.cuda.livelock import planted

OF_MACHINE = ("flag_that_nobody_sets", "lock_taken_twice", "grid_barrier_of_one_too_many", "flag_behind_a_barrier")


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    """When somebody looks is no part of these."""
    monkeypatch.setattr(watch, "LOOK_SECONDS", 0.0)


@pytest.mark.parametrize("name", planted.PLANTED)
def test_a_livelock_is_told_with_its_line_and_its_word(name):
    with pytest.raises(LivelockError) as told:
        planted.run(KernelFunction(planted.module(), name).quick)
    text = str(told.value)
    assert "livelock in" in text
    lines = planted.lines(name, "SPINS")[-1:] + planted.lines(name, "WAITS")
    assert [line for line in lines if f"planted.cu:{line}: " not in text] == []
    assert [words for words in planted.PLANTED[name] if words not in text] == []


@pytest.mark.parametrize("name", planted.PLANTED)
def test_it_is_told_while_it_is_recorded(name):
    with pytest.raises(LivelockError, match="no thread can continue"):
        planted.run(KernelFunction(planted.module(), name).quick, record=True)


@pytest.mark.parametrize("name", OF_MACHINE)
def test_it_is_told_of_machine_code(name):
    lifted, why = machine_function(KernelFunction(planted.module(), name))
    assert lifted is not None, why
    with pytest.raises(LivelockError) as told:
        planted.run(lifted.quick)
    assert f"planted.cu:{planted.lines(name, 'SPINS')[-1]}: " in str(told.value)


def test_it_is_told_while_it_is_checked():
    with pytest.raises(LivelockError, match="index 5 of a"):
        planted.run(KernelFunction(planted.module(), "flag_that_nobody_sets").checked.quick, record=True)
