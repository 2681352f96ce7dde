"""What nvdisasm prints, decoded: the bits that schedule an instruction, its operands, and the line of PTX."""

import pytest

from simtmm.cuda.compilers.binaries.disassembly import Disassembly
from simtmm.cuda.ptx.syntax import Instruction, Location
from simtmm.cuda.sass.listing import control, parse_listing, with_lines_of_calls, with_lines_of_textures
from simtmm.cuda.sass.operands import operand, split
from simtmm.cuda.sass.syntax import (
    Constant,
    Control,
    Listing,
    MachineInstruction,
    MachineLabel,
    Memory,
    Number,
    Reg,
    Target,
    Word,
)
from simtmm.errors import SassError

# Of gemm's inner loop on sm_90, as nvdisasm 13.5 prints it.
TEXT = """
	.section	.text.other,"ax",@progbits
other:
        /*0000*/                   EXIT ;                                        /* 0x000000000000794d */
                                                                                 /* 0x000fea0003800000 */
	.section	.text.gemm,"ax",@progbits
        .global         gemm
gemm:
.text.gemm:
	//## File ".nv_debug_ptx_txt", line 21
        /*0000*/                   LDC R1, c[0x0][0x28] ;                        /* 0x00000a00ff017b82 */
                                                                                 /* 0x000ff00000000800 */
	//## File ".nv_debug_ptx_txt", line 49
        /*0010*/                   ISETP.GE.AND P0, PT, R0, 0x1, PT ;            /* 0x000000010000780c */
                                                                                 /* 0x001fe20003f06270 */
.L_x_4:
        /*0020*/                   IADD3 R4, R0.reuse, -0x1, RZ ;                /* 0xffffffff00047810 */
                                                                                 /* 0x040fe20007ffe0ff */
        /*0030*/              @!P0 BRA `(.L_x_4) ;                               /* 0x0000000800cc8947 */
                                                                                 /* 0x000fea0003800000 */
.L_x_5:
        /*0040*/                   BRX R6 -0x50 (*"BRANCH_TARGETS .L_x_4,.L_x_5"*);   /* 0x000000000000794d */
                                                                                 /* 0x000fea0003800000 */
"""


def _listing_of(kernel):
    return parse_listing(Disassembly(TEXT, {}, {}, {}, {}).code_of(kernel), kernel)


def test_a_kernel_s_instructions_come_with_labels_lines_and_what_schedules_them():
    listing = _listing_of("gemm")
    load, compare, add, branch, indirect = listing.instructions
    assert [each.address for each in listing.instructions] == [0, 0x10, 0x20, 0x30, 0x40]
    assert [each.ptx_line for each in listing.instructions] == [21, 49, 49, 49, 49]
    assert (load.opcode, load.operands) == ("LDC", (Reg("R1"), Constant(0, 0x28)))
    assert load.control == Control(8, False, None, None, ())
    assert (compare.opcode, compare.modifiers) == ("ISETP", ("GE", "AND"))
    assert compare.control.waits == (0,)
    assert add.operands == (Reg("R4"), Reg("R0"), Number(-1), Reg("RZ"))
    assert (branch.guard, branch.operands) == (Reg("P0", inverted=True), (Target(".L_x_4"),))
    assert branch.control.stall == 5
    assert indirect.targets == (".L_x_4", ".L_x_5")
    labels = {item.name: item.address for item in listing.items if isinstance(item, MachineLabel)}
    assert labels[".L_x_4"] == 0x20
    assert labels[".L_x_5"] == 0x40


def test_functions_of_the_assembler_have_the_line_that_calls_them_most():
    """As a remainder of 64 bits: its code comes behind the kernel's last line, and has none of its own."""
    name = "$__internal_0_$__cuda_sm20_rem_u64"
    rows = ['\t.section\t.text.powers,"ax",@progbits', ".text.powers:"]

    def add(address, line, text):
        rows.extend([f'\t//## File ".nv_debug_ptx_txt", line {line}'] if line else [])
        rows.append(f"        /*{address:04x}*/    {text} ;    /* 0x000000000000794d */")
        rows.append(f"{' ' * 40}/* 0x000fea0003800000 */")

    for number, line in enumerate([30, 40, 50]):
        add(16 * number, line, f"CALL.REL.NOINC `({name})")
    add(48, 99, "EXIT")
    rows += [f"        .type           {name},@function", f"{name}:"]
    add(64, 0, "MOV R1, R2")
    rows.append(".L_x_1:")
    add(80, 0, "RET.REL.NODEC R6 `(powers)")
    rows.append("$another:")
    add(96, 0, "EXIT")
    listing = parse_listing("\n".join(rows), "powers")
    assert [each.ptx_line for each in listing.instructions] == [30, 40, 50, 99, 99, 99, 99]
    unrolled = {30: Location(1, 7), 38: Location(1, 8), 40: None, 50: Location(1, 8), 99: Location(1, 9)}
    found = with_lines_of_calls(listing, unrolled)
    assert [each.ptx_line for each in found.instructions] == [30, 40, 50, 99, 38, 38, 99]
    assert [each.ptx_line for each in with_lines_of_calls(listing, {}).instructions][4:6] == [30, 30]
    assert [item for item in found.items if isinstance(item, MachineLabel)] == [
        item for item in listing.items if isinstance(item, MachineLabel)
    ]


@pytest.mark.parametrize(
    ("high", "expected"),
    [
        (0x000EA2000C1E1900, Control(1, False, 2, None, ())),  # LDG that sets scoreboard 2
        (0x000FC400078E02FF, Control(2, True, None, None, ())),
        (0x004FCC000F8E0204, Control(6, True, None, None, (2,))),  # waits for it
        (0x0001E2000C101906, Control(1, False, None, 0, ())),  # a store that tells when its operands are read
    ],
)
def test_the_upper_bits_say_when_to_issue(high, expected):
    assert control(high) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("-|R3|.reuse", Reg("R3", negative=True, absolute=True)),
        ("!PT", Reg("PT", inverted=True)),
        ("~URZ", Reg("URZ", inverted=True)),
        ("R2.H1_H1", Reg("R2", part="H1_H1")),
        ("-c[0x0][0x168]", Constant(0, 0x168, negative=True)),
        ("c[0x3][R4+0x10]", Constant(3, 0x10, Reg("R4"))),
        ("c[0x0][RZ]", Constant(0, 0)),
        ("desc[UR4][R2.64+-0x4]", Memory((Reg("R2", part="64"),), -4, Reg("UR4"))),
        ("[R8.X4+0x90]", Memory((Reg("R8", part="X4"),), 0x90)),
        ("[R7+UR4+0x8]", Memory((Reg("R7"), Reg("UR4")), 8)),
        ("1.5", Number(1.5)),
        ("-0x1", Number(-1)),
        ("+INF", Number(float("inf"))),
        ("SR_TID.X", Word("SR_TID.X")),
    ],
)
def test_operands(text, expected):
    assert operand(text) == expected


def test_operands_are_parted_by_commas_but_not_inside_brackets_and_before_a_label():
    assert split("R4, desc[UR4][R2.64], c[0x0][0x10]") == ["R4", "desc[UR4][R2.64]", "c[0x0][0x10]"]
    assert split("R20 `(k)") == ["R20", "`(k)"]
    assert split("") == []


@pytest.mark.parametrize("text", ["[R2", "R2.64]", "<R4>", "c[0x0]R2", "c[0x0][Rc]"])
def test_an_operand_of_another_form_is_refused(text):
    with pytest.raises(SassError, match="is not supported"):
        operand(text)


def test_a_number_that_python_does_not_read_is_refused():
    with pytest.raises(SassError, match="line 2: a number is too long"):
        parse_listing('.section .text.k,"ax"\n//## File "k.cu", line ' + "1" * 5000 + "\n", "k")


def test_a_kernel_that_is_not_there_is_refused():
    with pytest.raises(SassError, match="shows no code of scale"):
        _listing_of("scale")


def _read(opcode, line):
    return MachineInstruction(0, None, opcode, (), (), control(0), line, opcode)


def _of_ptx(opcode, line):
    return Instruction(opcode, (), (), None, line, None, "")


def test_accesses_of_textures_have_the_lines_of_their_kind_behind_the_one_that_is_told():
    sources = [_of_ptx("tex", 30), _of_ptx("mov", 25), _of_ptx("tex", 20), _of_ptx("suld", 22), _of_ptx("tld4", 40)]
    told = [("MOV", 10), ("TEX", 10), ("SULD", 10), ("TEX", 10), ("TEX", 10), ("TLD4", 30), ("TLD4", 33), ("SUST", 10)]
    listing = with_lines_of_textures(Listing(tuple(_read(*each) for each in told)), sources)
    assert [each.ptx_line for each in listing.instructions] == [10, 20, 22, 30, 30, 30, 40, 10]


def test_a_kernel_is_read_in_its_own_section():
    text = f'{TEXT}\n\t.section\t.text.k,"ax",@progbits\nof k\n\t.section\t.nv.info,""\nmore\n'
    disassembly = Disassembly(text, {}, {}, {}, {})
    assert disassembly.code_of("k") == '\t.section\t.text.k,"ax",@progbits\nof k\n'
    assert disassembly.code_of("more") == ""
    assert parse_listing(disassembly.code_of("gemm"), "gemm") == _listing_of("gemm")


def test_a_remark_on_spilled_registers_is_no_operand():
    text = """
	.section	.text.k,"ax",@progbits
        /*0000*/                   STL [R1+0xa0], R28 (*"SpillRefill"*) ;   /* 0x0000a01c01007387 */
                                                                            /* 0x000fe80000100800 */
"""
    (instruction,) = parse_listing(text, "k").instructions
    assert instruction.operands == (Memory((Reg("R1"),), 0xA0), Reg("R28"))
