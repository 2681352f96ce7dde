"""The mutational runner: some cases of each kind, what is kept of one that fails, and totals that go on."""

import math
from pathlib import Path

import pytest

from simtmm.errors import StudyError
from tests.cuda.compilers.conftest import needs_ptxas
from tests.fuzz import cases, totals
from tests.fuzz.kinds import KINDS
from tests.fuzz.kinds.kind import Kind

COMPILING = {"ptx-compiled", "ptx-run", "signature", "machine-code", "binary", "launch"}
PARAMETERS = [pytest.param(name, marks=needs_ptxas) if name in COMPILING else name for name in KINDS]


@pytest.mark.parametrize("name", PARAMETERS)
def test_some_cases_of_each_kind_are_read_or_refused(name, tmp_path):
    found = cases.run_cases(name, 20, 3, math.inf, tmp_path)
    assert found.failures == []
    assert found.accepted + sum(found.refused.values()) == found.next == 3


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
    found = cases.run_cases(own, 1, 4, math.inf, tmp_path)
    (failure,) = found.failures
    assert (failure["number"], (tmp_path / str(failure["file"])).read_bytes()) == (1, b"1")
    assert "is wrong" in (tmp_path / "own-1-1.txt").read_text()
    assert (found.next, found.accepted, dict(found.refused)) == (4, 1, {"StudyError": 1})


def test_a_count_goes_on_where_it_stopped(own, tmp_path):
    assert cases.run_cases(own, 1, 3, math.inf, tmp_path).next == 3
    found = cases.run_cases(own, 1, 6, math.inf, tmp_path)
    assert (found.next, found.accepted) == (6, 3)
    assert list(found.messages) == ["s.toml: n = _ must be _"]


# Totals of all sessions


def _left(kind="set", seed=1, accepted=1, refused=2, failed=0, messages=2):
    words = {f"message {number}": 1 for number in range(messages)}
    counts = cases.Counter({"StudyError": refused}), cases.Counter(words)
    return cases.Totals(kind, seed, accepted + refused + failed, 1.0, accepted, *counts)


@pytest.fixture
def file(tmp_path):
    """Totals of one session."""
    path = tmp_path / "totals.csv"
    path.write_text("kind,seed,cases,accepted,refused,failed,messages\nset,1,10,4,5,1,3\n")
    return path


def test_totals_of_another_seed_are_added(file):
    totals.record([_left(seed=2), _left("range", 2, 100_000, 0)], file)
    lines = totals.table({name: KINDS[name] for name in ("set", "range", "name")}, file)
    assert [line.split(" | ")[2:] for line in lines[2:]] == [
        ["13", "5", "7", "1", "3 |"], ["100,000", "100,000", "0", "0", "2 |"], ["0", "0", "0", "0", "0 |"]
    ]  # fmt: skip
    assert totals.reached({name: KINDS[name] for name in ("set", "range", "name")}, file) == (
        ["range"], ["set", "name"]
    )  # fmt: skip


def test_a_seed_that_goes_on_replaces_its_row_and_fewer_cases_change_nothing(file):
    totals.record([_left(accepted=3, refused=0)], file)
    assert totals.rows_of(file)["set", 1].cases == 10
    totals.record([_left(accepted=6, refused=5, failed=1)], file)
    assert totals.rows_of(file)["set", 1] == totals.Row("set", 1, 12, 6, 5, 1, 2)


@pytest.mark.parametrize("row", ["set,1,10,4,5,0,3", "set,1,0,1,-1,0,0", "set,2,1,1,0,0,0\nset,2,1,1,0,0,0"])
def test_rows_that_can_not_be_are_refused(file, row):
    file.write_text(f"kind,seed,cases,accepted,refused,failed,messages\n{row}\n")
    with pytest.raises(ValueError, match=r"cases must be|two rows"):
        totals.rows_of(file)


def test_the_page_tells_the_totals_that_are_recorded():
    page = (Path(__file__).parents[2] / "docs" / "threats.md").read_text()
    assert "\n".join(totals.table(KINDS)) in page
    enough, fewer = totals.reached(KINDS)
    assert f"{len(enough)} of {len(KINDS)} kinds have them" in page
    assert {kind for kind, _ in totals.rows_of()} <= {*enough, *fewer}
