"""How long stored code runs before it is compiled for speed."""

import pytest

from simtmm.cuda.execution.translation import kept_code
from simtmm.cuda.execution.translation.machine_code import LONG, PayingCode, seconds_for_speed

LINES = 3_200


@pytest.fixture
def made(monkeypatch):
    """What was compiled, and what is stored: of a text, quickly or not."""
    compiled, stored = [], {}

    def new(assembly, label, quick):
        compiled.append(quick)
        return stored.setdefault(quick, f"quick: {quick}")

    monkeypatch.setattr(kept_code, "_kept", lambda assembly, label, quick: stored.get(quick))
    monkeypatch.setattr(kept_code, "_new", new)
    return compiled, stored


def test_code_that_has_run_before_is_compiled_for_speed_sooner(made):
    compiled, _ = made
    text = "\n" * LINES
    first, second = (kept_code.code_that_pays(text, "k") for _ in range(2))
    assert (type(first), first._code, first._left) == (PayingCode, "quick: True", seconds_for_speed(text))
    assert (type(second), second._code, second._left) == (PayingCode, "quick: True", seconds_for_speed(text) / 4)
    assert compiled == [True]
    assert second._for_speed() == "quick: False"
    assert kept_code.code_that_pays(text, "k") == "quick: False"
    assert compiled == [True, False]


def test_code_that_is_too_long_is_compiled_once(made):
    assert kept_code.code_that_pays("\n" * (LONG + 1), "k") == "quick: False"
    assert made[0] == [False]


def test_it_takes_a_fifth_of_a_second_to_compile_so_many_lines_for_speed():
    assert seconds_for_speed("\n" * LINES) == 0.2
