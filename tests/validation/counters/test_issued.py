"""Instructions behind the sites of a trace, by hand: those of threads, by class, and those that warps issue."""

from types import SimpleNamespace

import numpy as np
import pytest

from simtmm.validation.counters.issued import CLASSES, IssuedInstructions, SiteIssue

# Two blocks of code: a site that works and jumps over the second if a predicate says so; and there work, and a load.
SITES = (
    SiteIssue(always={"integer": 3, "fp32": 1}, mostly={"misc": 2}, jump="control"),
    SiteIssue(always={"fp32": 2}),
    SiteIssue(always={"integer": 1}, access="memory", is_predicated=True),
)
COUNTED = SimpleNamespace(  # of two blocks of threads
    blocks=np.arange(2),
    threads=np.array([[64, 40, 30], [32, 0, 0]]), onwards=np.array([[40, 0, 0], [0, 0, 0]]),
    warps=np.array([[2, 2, 1], [1, 0, 0]]),
)  # fmt: skip


@pytest.fixture
def issued():
    found = object.__new__(IssuedInstructions)
    found.sites, found._blocks = list(SITES), [range(1), range(1, 3)]
    return found


def test_threads_execute_what_their_predicates_let_them_and_the_jump_if_they_do_not_go_on(issued):
    found = {name: numbers.tolist() for name, numbers in issued.by_threads(COUNTED).items()}
    assert found == {
        "integer": [64 * 3 + 30, 32 * 3], "fp32": [64 + 40 * 2, 32], "misc": [64 * 2, 32 * 2],
        "control": [64 - 40, 32], "memory": [30, 0], "other": [0, 0],
    }  # fmt: skip
    assert set(found) == set(CLASSES)


def test_warps_issue_jumps_too_and_a_predicated_access_wherever_they_come(issued):
    assert issued.by_warps(COUNTED).tolist() == [2 * (3 + 1 + 2 + 1) + 2 * 2 + 1 + 2, 3 + 1 + 2 + 1]
