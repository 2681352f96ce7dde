"""Controls: what a value changes of a machine."""

import pytest

from simtmm import load_machine
from simtmm.errors import MachineError
from simtmm.explorer.controls import BY_NAME, CONTROLS, bandwidth, changed, described, offered
from simtmm.explorer.state import Configuration


def under(machine, **controls):
    return changed(machine, Configuration("", "", controls))


@pytest.fixture(scope="module")
def classroom():
    return load_machine("classroom")


@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: control.name)
def test_a_control_at_a_value_has_that_value(classroom, control):
    for value in control.values(classroom, 5):
        text = value if isinstance(value, str) else f"{value:.12g}"
        got = control.own(under(classroom, **{control.name: text}))
        assert got == (value if isinstance(value, str) else pytest.approx(value, rel=0.02))  # of a cache, whole sets


@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: control.name)
def test_its_own_value_changes_nothing(classroom, control):
    own = control.own(classroom)
    moved = under(classroom, **{control.name: own if isinstance(own, str) else f"{own:.12g}"})
    assert moved.values() == classroom.values()
    assert own in [
        pytest.approx(value) if isinstance(value, float) else value for value in control.values(classroom, 5)
    ]


def test_a_bandwidth_is_in_bytes_whatever_the_chunk():
    machine = under(load_machine("classroom"), bandwidth="64", chunk="8")
    assert bandwidth(machine) == pytest.approx(64)
    assert machine.chunk_bytes == 32


def test_a_bandwidth_gets_ticks_that_can_tell_it_and_no_limit_is_no_limit():
    ideal = load_machine("ideal")
    assert bandwidth(ideal) is None
    assert under(ideal, bandwidth="300").durations.service > 0
    assert under(load_machine("gtx480"), bandwidth="unlimited").durations.service == 0
    with pytest.raises(MachineError, match=r"bandwidth = .*write unlimited"):
        under(ideal, bandwidth="1e9")


def test_sizes_of_caches_are_offered_where_there_are_caches():
    assert {"l1", "l2"} & {control.name for control in offered(load_machine("ideal"))} == set()
    assert {"l1", "l2"} <= {told["name"] for told in described(load_machine("gtx480"))}
    assert under(load_machine("gtx480"), l1="off").memory.l1 is None
    with pytest.raises(MachineError, match="has no L1"):
        under(load_machine("ideal"), l1="16")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("latency", "0"),
        ("latency", "nan"),
        ("latency", "-3"),
        ("latency", "much"),
        ("groups", "1.5"),
        ("chunk", "1e99"),
        ("scheduler", "lifo"),
        ("switch", "off"),
        ("l1", "unlimited"),
        ("latencie", "5"),
    ],
)
def test_what_is_no_value_is_refused_with_its_name(classroom, name, text):
    with pytest.raises(MachineError, match=name):
        under(classroom, **{name: text})


def test_what_the_machine_refuses_is_refused_as_of_a_file():
    machine = load_machine("ideal").replace({"memory.transfers": "serial"})
    with pytest.raises(MachineError, match=r"memory\.service"):
        under(machine, bandwidth="64")


def test_choices_are_those_of_machines():
    assert BY_NAME["scheduler"].choices == ("fifo", "oldest", "greedy-oldest", "round-robin")
    assert BY_NAME["switch"].choices == ("on-stall", "every-instruction")


@pytest.mark.parametrize(
    ("name", "choices"),
    [("scheduler", ("round-robin", "fifo", "oldest", "greedy-oldest")), ("switch", ("on-stall", "every-instruction"))],
)
def test_what_can_be_chosen_is_what_machines_take(classroom, name, choices):
    assert set(choices) <= set(BY_NAME[name].choices)
    for choice in BY_NAME[name].choices:
        assert BY_NAME[name].own(under(classroom, **{name: choice})) == choice
