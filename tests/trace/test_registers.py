"""setmaxnreg as operations that give registers back to the block, and take them (docs/machine.md, section 9)."""

import pytest

from simtmm.trace.lower import lower
from simtmm.trace.schema import REGISTERS
from tests.trace.build import store, trace
from tests.trace.test_compiled import site
from tests.trace.test_lower import machine

SITES = [site(1, "product"), site(9, "store")]


def told(count):
    return 1, "product", REGISTERS + count, 0


def registers(*counts, of_launch):
    """What of them a warp's thread that sets these one after another comes to, of a launch with so many."""
    events = [event for count in counts for event in (told(count), store(9, 0))]
    (launch,) = lower(trace([[events]], sites=SITES, registers=of_launch), machine()).to_dict()["launches"]
    (warp,) = launch["blocks"][0]["warps"]
    return [each for each in warp if each[0].endswith("registers")]


@pytest.mark.parametrize("of_launch", [161, 168])
def test_a_warp_gives_or_takes_the_difference_from_what_the_launch_has_in_steps_of_eight(of_launch):
    assert registers(40, of_launch=of_launch) == [["give_registers", 128]]
    assert registers(232, of_launch=of_launch) == [["take_registers", 64]]


def test_the_next_differs_from_the_one_before():
    expected = [["give_registers", 128], ["take_registers", 16], ["take_registers", 112]]
    assert registers(40, 56, 168, of_launch=168) == expected


def test_as_many_as_there_are_and_registers_that_nobody_knows_are_no_operation():
    assert registers(168, 168, of_launch=168) == []
    assert registers(40, 232, of_launch=0) == []


def test_lanes_that_do_it_together_do_it_once():
    one = [[told(40), store(9, 4 * lane)] for lane in range(32)]
    (launch,) = lower(trace([one], sites=SITES, registers=64), machine()).to_dict()["launches"]
    assert [each[0] for each in launch["blocks"][0]["warps"][0]].count("give_registers") == 1
