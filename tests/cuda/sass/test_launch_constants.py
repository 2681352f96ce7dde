"""What stands in constant bank 0: two halves of 64 bits make the whole, and each parameter lies where ptxas has it."""

import pytest

from simtmm.cuda.execution.layout import LOCAL_WINDOW, SHARED_WINDOW
from simtmm.cuda.ptx.syntax import Immediate, Register, Symbol, Variable
from simtmm.cuda.sass.launch_constants import HOLE, SHARED_HEAD, LaunchConstants

PARAMETERS, LAUNCH = 0x7F12_3456_89AB_CDE0, 0x0123_4567_89AB_CDEF  # where parameters lie; %gridid


class Computed:
    """Takes the place of what writes PTX: values are computed at once."""

    def value(self, name, kind, first, *more):
        """What an instruction gives."""
        one = {Symbol("parameters"): PARAMETERS, Register("%gridid"): LAUNCH}.get(first, first)
        others = [each.value if isinstance(each, Immediate) else each for each in more]
        of = {
            "mov.b64": lambda: one, "cvta.param.u64": lambda: one, "cvt.u32.u64": lambda: one & 0xFFFFFFFF,
            "sub.s64": lambda: one - others[0], "shr.u64": lambda: one >> others[0],
        }  # fmt: skip
        return of[name]()

    def refuse(self, text):
        """The complaint that is raised."""
        return AssertionError(text)


def whole(constants, offset):
    """The 64 bits at an offset, of both of its halves."""
    low, high = (constants.read(Computed(), offset + half) for half in (0, 4))
    low, high = (each.value if isinstance(each, Immediate) else each for each in (low, high))
    assert max(low, high) < 2**32
    return low | high << 32


@pytest.mark.parametrize(
    ("architecture", "offset", "expected"),
    [
        (75, 0x20, LOCAL_WINDOW), (75, 0x18, SHARED_WINDOW), (75, 0x50, HOLE), (75, 0x118, 0), (75, 0x30, LAUNCH),
        (90, 0x20, LOCAL_WINDOW), (90, 0xD0, HOLE), (90, 0x208, 0), (90, 0x30, LAUNCH), (90, 0x198, PARAMETERS),
        (100, 0x2F8, LOCAL_WINDOW), (100, 0x120, HOLE), (100, 0x358, 0), (100, 0x140, LAUNCH),
    ],
)  # fmt: skip
def test_two_halves_of_a_constant_make_it(architecture, offset, expected):
    assert whole(LaunchConstants(architecture, 0, ()), offset) == expected


@pytest.mark.parametrize(("size", "align", "ahead"), [(4, 4, 0), (64, 16, 0), (64, 64, 0x30)])
def test_parameters_are_reached_by_their_address_however_far_on_the_bank_has_them(size, align, ahead):
    """The bank's begin at 0x210, which is no multiple of 64; those of a launch at 0."""
    constants = LaunchConstants(90, 0, (Variable("p", "param", "b8", align, size),))
    assert whole(constants, 0x198) == PARAMETERS - ahead
    assert constants.parameter_at(0x210 + ahead) == 0
    assert constants.parameter_at(0x210 + ahead + size - 1) == size - 1
    assert constants.parameter_at(0x210 + ahead + size) is None


@pytest.mark.parametrize(
    ("architecture", "places"),
    [
        (75, {0x88: 0, 0x8C: 1, 0x104: 31}), (89, {0x90: 2}), (90, {0x40: 0, 0x48: 2, 0xBC: 31}),
        (100, {0x250: 0, 0x28C: 15, 0xD0: 16, 0x10C: 31}), (120, {0x258: 2}),
    ],
)  # fmt: skip
def test_the_environment_stands_where_ptxas_reads_it(architecture, places):
    constants = LaunchConstants(architecture, 0, ())
    found = {offset: constants.read(Computed(), offset) for offset in places}
    assert found == {offset: Register(f"%envreg{number}") for offset, number in places.items()}


def test_the_drivers_shared_memory_comes_before_the_environment_on_hopper():
    assert LaunchConstants(90, 0, ()).read(Computed(), 0x68) == Immediate(SHARED_HEAD)
