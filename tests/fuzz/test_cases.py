"""The mutational runner: some cases of each kind, what is kept of one that fails, and totals that go on."""

import math

import pytest

from simtmm.errors import StudyError
from tests.cuda.compilers.conftest import needs_ptxas
from tests.fuzz import cases
from tests.fuzz.kinds import KINDS
from tests.fuzz.kinds.kind import Kind

COMPILING = {"ptx-compiled", "ptx-run", "signature", "machine-code", "binary", "launch"}
PARAMETERS = [pytest.param(name, marks=needs_ptxas) if name in COMPILING else name for name in KINDS]


@pytest.mark.parametrize("name", PARAMETERS)
def test_some_cases_of_each_kind_are_read_or_refused(name, tmp_path):
    totals = cases.run_cases(name, 20, 3, math.inf, tmp_path)
    assert totals.failures == []
    assert totals.accepted + sum(totals.refused.values()) == totals.next == 3


def test_a_case_is_the_same_each_time_and_another_is_another():
    assert cases.drawn("machine", 1, 7) == cases.drawn("machine", 1, 7) != cases.drawn("machine", 1, 8)


def _use(folder, content):
    if content in (b"1", b"3"):
        raise ValueError(f"{content!r} is wrong")
    if content == b"2":
        raise StudyError("s.toml: n = 2: must be 1")


@pytest.fixture
def own(monkeypatch):
    """A kind whose inputs are 0, 1, 2 and so on, of which 1 and 3 fail at one place, and 2 is refused."""
    numbers = iter(range(100))
    monkeypatch.setitem(KINDS, "own", Kind("own", "numbers", lambda random: str(next(numbers)).encode(), _use))
    return "own"


def test_what_fails_is_kept_once_for_each_place_and_the_rest_is_counted(own, tmp_path):
    totals = cases.run_cases(own, 1, 4, math.inf, tmp_path)
    (failure,) = totals.failures
    assert (failure["number"], (tmp_path / str(failure["file"])).read_bytes()) == (1, b"1")
    assert "is wrong" in (tmp_path / "own-1-1.txt").read_text()
    assert (totals.next, totals.accepted, dict(totals.refused)) == (4, 1, {"StudyError": 1})


def test_a_count_goes_on_where_it_stopped(own, tmp_path):
    assert cases.run_cases(own, 1, 3, math.inf, tmp_path).next == 3
    totals = cases.run_cases(own, 1, 6, math.inf, tmp_path)
    assert (totals.next, totals.accepted) == (6, 3)
    assert list(totals.messages) == ["s.toml: n = _ must be _"]
