"""What becomes of a case that can not be simulated: it is left out, or told with what went wrong."""

from types import SimpleNamespace

import pytest

from simtmm import load_machine, load_trace
from simtmm.errors import EngineError, TraceError, WorkloadError
from simtmm.study.evaluation import cases
from simtmm.study.evaluation.cases import SIMULATED, computed, computed_by_sample

MACHINE = load_machine("gtx480")
ENDS = {
    "does not fit": (WorkloadError("too large"), ("too large", {})),
    "can't be read": (TraceError("damaged"), (None, {SIMULATED: "damaged"})),
    "can't be run": (EngineError("no room"), (None, {SIMULATED: "no room"})),
    "no memory": (MemoryError(), (None, {SIMULATED: "out of memory"})),
}


def ended(outcome):
    assert not outcome.results
    return outcome.skipped or None, dict(outcome.errors)


@pytest.mark.parametrize(("error", "expected"), ENDS.values(), ids=ENDS)
def test_a_case_that_fails_says_why(error, expected, monkeypatch):
    def fail(*arguments, **more):
        raise error

    monkeypatch.setattr(cases, "lower_and_count", fail)
    trace = load_trace("list-ranking-wyllie")
    assert ended(computed(trace, MACHINE, [SIMULATED], "fast", 1)) == expected
    monkeypatch.setattr(cases, "sampled_case", fail)
    ran = SimpleNamespace(source="list-ranking", parameters={}, form="written")
    assert ended(computed_by_sample(ran, MACHINE, None, 1)) == expected
