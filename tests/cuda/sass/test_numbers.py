"""Whole and real numbers: what machine code does to them is what its PTX does."""

import re
import struct

import numpy as np
import pytest

from simtmm.cuda.compilers.binaries.disassembly import Disassembly
from simtmm.cuda.compilers.wheels import find_tool
from simtmm.cuda.device import Device, DeviceLaunch
from simtmm.cuda.ptx import parse_module
from simtmm.cuda.sass.families import functions
from simtmm.cuda.sass.families.numbers import bits, conversion, double, half, integer, packed, real
from simtmm.cuda.sass.kernel import lifted_kernel
from simtmm.cuda.sass.launch_constants import LaunchConstants
from simtmm.cuda.sass.lifting import Lifting
from simtmm.cuda.sass.listing import control, parse_listing
from simtmm.cuda.sass.sources import Banks
from simtmm.cuda.sass.syntax import Listing, MachineInstruction, Number, Reg
from simtmm.errors import SassError
from tests.cuda.cases import comparison_cases, conversion_cases, float_cases, integer_cases
from tests.cuda.cases.interpreted import interpreted
from tests.cuda.cases.kernel import case
from tests.cuda.compilers.conftest import needs
from tests.cuda.execution.kernels import kernel
from tests.cuda.sass.lifted import machine_function, run_lifted, sample

needs_tools = needs(lambda: find_tool("ptxas"), lambda: find_tool("nvdisasm"))
ARCHITECTURES = (75, 80, 90, 120)
FAMILIES = (bits, conversion, double, functions, half, integer, packed, real)


def _special(architecture):
    """What no case of one instruction makes the compiler emit."""
    if architecture >= 90:  # results above others of the same instruction, and taken from there
        body = (
            "{ .reg .b16 %low, %high; cvt.rn.satfinite.e4m3x2.f32 %low, %a, %b; cvt.rn.satfinite.e4m3x2.f32 %high, "
            "%b, %a; mov.b32 %x, {%low, %high}; cvt.rn.f16x2.e4m3x2 %y, %high; }"
        )
        yield case("four of eight bits", body, ["b32", "f16x2"], ["f32", "f32"])
    body = (
        "{ .reg .b16 %low, %high; .reg .b32 %four; mov.b32 {%low, %high}, %a; cvt.f32.f16 %x, %high; "
        "shr.u32 %four, %a, 16; and.b32 %four, %four, 255; cvt.rn.f32.u32 %y, %four; }"
    )
    yield case("upper halves and bytes", body, ["f32", "f32"], ["b32"])
    yield case(  # a NaN of its own bits, which nvdisasm prints as any other
        "infinity as the upper half", "selp.f32 %x, %a, 0fFFF00000, %b;", ["b32"], ["b32", "pred"]
    )
    yield case("chosen pairs", "selp.b64 %x, %a, 0x123456789ABCDEF0, %b;", ["b64"], ["b64", "pred"])
    yield case("shifted and summed", "shl.b64 %y, %a, 3;\n add.s64 %x, %y, %b;", ["b64", "b64"], ["b64", "b64"])
    body = "shl.b64 %x, %a, 16;\n neg.s64 %x, %x;\n shr.u64 %x, %x, 12;"
    yield case("shifted and negated", body, ["b64"], ["b64"])
    body = "mul.wide.s32 %x, %a, %b;\n sub.s64 %x, %x, %c;\n neg.s32 %y, %a;"
    yield case("products and differences", body, ["b64", "b32"], ["s32", "s32", "s64"])


@needs_tools
@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_chains_through_the_carry_are_those_that_the_assembler_makes(architecture):
    # What sub.cc leaves is not in the manual: the assembler's own code is the witness for both interpreters.
    cases = list(integer_cases.carries())
    differences = []
    for each, found in zip(cases, run_lifted(cases, architecture), strict=True):
        differences += each.differences(interpreted(each), found)
    assert differences == []


@needs_tools
@pytest.mark.parametrize(("number", "architecture"), list(enumerate(ARCHITECTURES)))
def test_one_instruction_as_machine_code_does_what_the_interpreter_says(number, architecture):
    cases = [
        chosen
        for module in (integer_cases, comparison_cases, float_cases, conversion_cases)
        for chosen in sample(list(module.cases()), 4, 7 + 11 * number, architecture)
    ]
    cases += _special(architecture)
    for one, found in zip(cases, run_lifted(cases, architecture), strict=True):
        assert not one.differences(interpreted(one), found)


DIVISIONS = """\
.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p, .param .u64 q, .param .u64 r)
{{
  .reg .b64 %p, %q, %r, %at;
  .reg .{kind} %a, %b, %c, %d;
  .reg .b32 %i, %block, %size;
  ld.param.u64 %p, [p];
  ld.param.u64 %q, [q];
  ld.param.u64 %r, [r];
  mov.u32 %i, %tid.x;
  mov.u32 %block, %ctaid.x;
  mov.u32 %size, %ntid.x;
  mad.lo.u32 %i, %block, %size, %i;
  mad.wide.u32 %at, %i, {bytes}, %p;
  ld.global.{kind} %a, [%at];
  mad.wide.u32 %at, %i, {bytes}, %q;
  ld.global.{kind} %b, [%at];
  div.{name} %c, %a, %b;
  mad.wide.u32 %at, %i, {bytes}, %r;
  st.global.{kind} [%at], %c;
  ret;
}}
"""


def _quotients(kind, name, numerators, denominators, architecture=90):
    text = DIVISIONS.format(kind=kind, bytes=numerators.itemsize, name=name)
    device = Device()
    found = np.zeros_like(numerators)
    addresses = [device.memory.place(f"array {at}", each) for at, each in enumerate((numerators, denominators, found))]
    launch = DeviceLaunch((len(found) // 128, 1, 1), (128, 1, 1), struct.pack("<3Q", *addresses))
    device.launch(machine_function(text, architecture), launch)
    return found


@needs_tools
@pytest.mark.parametrize(("of", "architecture"), [(np.float32, 75), (np.float32, 90), (np.float64, 90)])
def test_quotients_of_any_two_real_numbers_are_rounded_once(of, architecture):
    random = np.random.default_rng(5)
    whole = np.uint32 if of is np.float32 else np.uint64
    a, b = (random.integers(0, np.iinfo(whole).max, 1 << 14, whole, endpoint=True).view(of) for _ in range(2))
    near = random.random(len(a)) < 0.5  # where the quotient's exponent is, or is not, of the range
    bits_of_type = 32 if of is np.float32 else 64
    with np.errstate(all="ignore"):
        b = np.where(near, a * random.uniform(0.5, 2.0, len(a)).astype(of), b).astype(of)
        expected = a / b
        found = _quotients(f"f{bits_of_type}", f"rn.f{bits_of_type}", a, b, architecture)
    assert np.array_equal(found, expected, equal_nan=True)


@needs_tools
@pytest.mark.parametrize("kind", ["u32", "s32", "u64", "s64"])
def test_quotients_of_any_two_whole_numbers_are_exact(kind):
    random = np.random.default_rng(6)
    of = np.dtype(f"{kind[0].replace('s', 'i')}{int(kind[1:]) // 8}")
    numbers = [random.integers(np.iinfo(of).min, np.iinfo(of).max, 1 << 13, of, endpoint=True) for _ in range(2)]
    a, b = (each >> random.integers(0, of.itemsize * 8 - 1, len(each)).astype(of) for each in numbers)
    b = np.where(b == 0, 7, b).astype(of)
    expected = np.where((a < 0) != (b < 0), -(np.abs(a) // np.abs(b)), np.abs(a) // np.abs(b)).astype(of)
    assert np.array_equal(_quotients(kind, kind, a, b), expected)


def _instruction(opcode, modifiers=(), operands=()):
    name = ".".join((opcode, *modifiers))
    return MachineInstruction(0, None, opcode, modifiers, operands, control(0), 0, name)


@pytest.mark.parametrize("opcode", [opcode for family in FAMILIES for opcode in family.HANDLERS])
def test_a_modifier_that_is_not_known_is_refused(opcode):
    (handler,) = (family.HANDLERS[opcode] for family in FAMILIES if opcode in family.HANDLERS)
    instruction = _instruction(opcode, ("ODD",), tuple(Reg(f"R{number}") for number in range(5)))
    lifting = Lifting(Banks(LaunchConstants(90, 0, ()), (), {}, {}), Listing((instruction,)), {})
    lifting.instruction = instruction
    with pytest.raises(SassError, match=r"with \.ODD is not supported"):
        handler(lifting, instruction)


def test_a_nan_keeps_the_bits_that_its_name_does_not_tell():
    text = """
	.section	.text.k,"ax",@progbits
        /*0000*/                   FSEL R16, R17, -QNAN , P3 ;   /* 0xfff0000011107808 */
                                                                 /* 0x000fea0001800000 */
"""
    (instruction,) = parse_listing(text, "k").instructions
    number = instruction.operands[2]
    assert isinstance(number, Number)
    assert number.bits == 0xFFF00000


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("LEA R5, R4, R0, 1.5", "needs a whole number"),
        ("LEA.HI R5, R4, R0, RZ, +INF", "needs a whole number"),
        ("LEA R5, R4, R0, R3", "needs a whole number|shifts by something other than a number"),
        ("LOP3.LUT R1, R2, R3, RZ, 0.5, !PT", "needs a whole number"),
        ("PLOP3.LUT P0, PT, P1, P2, PT, 1.5, 0x0", "needs a whole number"),
        ("P2R R0, PR, R1, 1.5", "needs a whole number"),
        ("R2P PR, R1, +INF", "needs a whole number"),
        ("IADD.64 R2, R4, 1.5", "needs a whole number"),
        ("DEPBAR.LE SB0, 1.5", "does not give a whole number of copies"),
        ("F2FP R1, R2, R3", "has unsupported operands"),
        ("IMNMX", "has unsupported operands"),
    ],
)
def test_an_instruction_with_operands_of_another_kind_is_refused(text, why):
    module = parse_module(kernel("ret;", 0))
    listing = f'\t.section\t.text.k,"ax",@progbits\n        /*0000*/ {text} ; /* 0x{0:016x} */\n /* 0x{0:016x} */\n'
    with pytest.raises(SassError, match=why) as told:
        lifted_kernel(module, "k", Disassembly(listing, {}, {}, {}, {}), 80, 0)
    assert f"`{text}`" in str(told.value)


SUM = """\
.version 8.7
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
  .reg .b64 %p, %at, %a, %b, %c;
  .reg .b32 %i;
  ld.param.u64 %p, [p];
  mov.u32 %i, %tid.x;
  mad.wide.u32 %at, %i, 24, %p;
  ld.global.u64 %a, [%at];
  ld.global.u64 %b, [%at+8];
  ld.global.u64 %c, [%at+16];
  add.s64 %a, %a, %b;
  add.s64 %a, %a, %c;
  st.global.u64 [%at], %a;
  ret;
}
"""


@needs_tools
@pytest.mark.parametrize("architecture", [75, 80, 90])
def test_a_sum_of_three_carries_up_to_two(architecture):
    """The upper halves are 0, so that the upper half of a sum is what the lower ones carry: 0, 1 or 2."""
    ends = [0, 1, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFE, 0xFFFFFFFF]
    given = np.array(np.meshgrid(ends, ends, ends), np.uint64).reshape(3, -1).T.copy()
    function = machine_function(SUM, architecture)
    listed = [each.text for each in function.lifted.listing.instructions]
    assert any(re.fullmatch(r"IADD3 R\d+, P\d, P\d, .*", text) for text in listed)
    assert any(re.fullmatch(r"IADD3\.X .*, P\d, P\d", text) for text in listed)
    expected = given.sum(axis=1)
    assert set(expected >> np.uint64(32)) == {0, 1, 2}
    device = Device()
    address = device.memory.place("terms", given)
    device.launch(function, DeviceLaunch((1, 1, 1), (len(given), 1, 1), struct.pack("<Q", address)))
    assert given[:, 0].tolist() == expected.tolist()
