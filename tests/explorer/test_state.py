"""The state in an address: what it means, and what is refused."""

import pytest

from simtmm.errors import StudyError
from simtmm.explorer.state import MOST_TEXT, State


def test_a_state_is_its_text_again():
    text = "k=copy&m=classroom&latency=800&p.stride=4&b.k=copy&b.m=ideal&b.p.stride=8&drag=p.stride"
    state = State.of(text, "other", "other")
    assert state.text() == text
    assert state.first.controls == {"latency": "800"}
    assert state.first.parameters == {"stride": "4"}
    assert state.other.machine == "ideal"
    assert state.drag == "p.stride"


def test_what_it_does_not_name_is_as_at_the_start_and_of_the_second_as_of_the_first():
    state = State.of("b.latency=10&v.group=3", "copy", "ideal")
    assert (state.first.program, state.first.machine, dict(state.first.controls)) == ("copy", "ideal", {})
    assert (state.other.program, state.other.machine) == ("copy", "ideal")
    assert State.of("", "copy", "ideal").other is None


@pytest.mark.parametrize(
    "text",
    [
        "k=" + "x" * MOST_TEXT,
        "&".join(f"p.{number}=1" for number in range(100)),
        "latency",
        "k=copy&k=gemm",
    ],
    ids=["long", "many", "no value", "twice"],
)
def test_states_that_nobody_sends_are_refused(text):
    with pytest.raises(StudyError, match="state: "):
        State.of(text, "copy", "ideal")
