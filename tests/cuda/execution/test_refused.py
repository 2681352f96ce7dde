"""Instructions that are known and not run end the translation in one line: instruction, line of PTX, line of source."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import pytest

from simtmm.cuda.execution.layout import ROOM
from simtmm.cuda.execution.runtime.assembly_file import assembly_file
from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.ptx import parse_module
from simtmm.cuda.ptx.reading.body import MOST_STATEMENTS
from simtmm.cuda.ptx.syntax import Immediate, Instruction, Operand, Register, Vector
from simtmm.errors import PtxError
from tests.cuda.cases import every_case
from tests.cuda.execution.kernels import kernel

REGISTERS = """.reg .b32 %r<8>; .reg .f32 %f<8>; .reg .f16 %h<4>; .reg .b64 %s<8>; .reg .pred %q<4>; .reg .b128 %x<8>;
.reg .f64 %d<8>;"""


def test_a_kernel_of_more_statements_than_are_translated_in_minutes_is_refused():
    body = "mov.u32 %r0, 1;\n" * MOST_STATEMENTS
    module = parse_module(f".version 8.0\n.target sm_80\n.visible .entry k()\n{{\n.reg .b32 %r<1>;\n{body}ret;\n}}\n")
    with pytest.raises(PtxError, match=r"^k: has 100,002 statements: must have at most 100,000$"):
        Program(module, "k")


def test_a_kernel_without_a_body_is_refused():
    module = parse_module(".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k;\n")
    with pytest.raises(PtxError, match="kernel k: is declared, and has no body"):
        Program(module, "k")


@pytest.mark.parametrize(
    ("instruction", "why"),
    [
        (
            "wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {%f0,%f1,%f2,%f3}, %s0, %s1, %r0, 2, %q0, 1, 1, 0,"
            " 0;",
            "has the selector 2: must be 0 to 1",
        ),
        ("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r0], 32;", "tensor memory"),
        ("multimem.ld_reduce.relaxed.gpu.global.add.f32 %f0, [%s0];", "the memory of several GPUs"),
        (
            "clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [%r0], [%r1];",
            "the work of another cluster",
        ),
        ("tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%s0], 4;", "gives swizzle_mode the number 4"),
        ("tensormap.replace.tile.box_dim.global.b1024.b32 [%s0], 5, %r0;", "names box_dim 5: must be 0 to 4"),
        ("istypep.texref %q0, %s0;", "an opaque handle"),
        ("tex.cube.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%s0, {%f4,%f5,%f5,%f5}];", "1d, 2d, 3d, a1d, a2d are"),
        ("tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%s0, %s1, {%f4,%f5}];", "a sampler apart"),
        ("tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%s0, {%f4,%f5}], {%r0,%r1};", "an offset or a comparison"),
        ("tex.1d.v2.f16x2.f32 {%r0,%r1}, [%s0, {%f4}];", "in a type that is not run"),
        ("tld4.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%s0, {%f4,%f5}];", "r, g, b and a of 2d, a2d are"),
        ("tld4.r.3d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%s0, {%f4,%f5,%f5,%f5}];", "r, g, b and a of 2d, a2d are"),
        ("tld4.r.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%s0, {%f4,%f5}], {%r0,%r1};", "an offset or a comparison"),
        ("txq.num_samples.b32 %r0, [%s0];", "sizes and normalized_coords are"),
        ("sust.p.2d.b32.trap [%s0, {%r0,%r1}], {%r2};", "by its format"),
        ("suld.b.acube.b32.trap {%r0}, [%s0, {%r0,%r1,%r2,%r2}];", "1d, 2d, 3d, a1d, a2d are"),
        ("sured.b.add.2d.u32.trap [%s0, {%r0,%r1}], %r2;", "updates a surface"),
        ("alloca.u32 %r0, 16;", "makes room on the stack"),
        ("stacksave.u32 %r0;", "makes room on the stack"),
        ("add.f32.f16 %f0, %h0, %f1;", "has no form with .f32.f16"),
        ("cvt.rs.f16x2.f32 %r0, %f0, %f1, %r1;", "rounds by random bits"),
        ("cvt.rn.satfinite.e2m1x2.f32 %r0, %f0, %f1;", "needs a register of .e2m1x2, but %r0 is of .b32"),
        ("atom.global.exch.v2.f32 {%f0,%f1}, [%s0], {%f2,%f3};", "has no form with .global.exch.v2.f32"),
        ("no_such.u32 %r0, %r1;", "is not known"),
    ],
)
def test_an_instruction_that_is_not_run_is_named(instruction: str, why: str) -> None:
    text = kernel(f".loc 1 27 3\n{instruction}", 0, REGISTERS, '.file 1 "mine.cu"')
    line = text[: text.index(instruction)].count("\n") + 1
    with pytest.raises(PtxError) as told:
        Program(
            parse_module(text), "k", place=lambda function, location: ("mine.cu", location.line if location else 0, "")
        ).assembly()
    message = str(told.value)
    assert message.startswith(f"mine.cu:27: PTX line {line}: `{instruction.rstrip(';')}`")
    assert why in message
    assert "\n" not in message


@pytest.mark.parametrize(
    ("instruction", "why"),
    [
        ("mov.b32 %r0, " + "(" * 5000 + ";", "operands may be nested 8 deep"),
        ("cp.async.ca.shared.global [%s0], [%s1];", "lacks an address or its size"),
        ("cp.async.wait_group %r0;", "lacks a number of groups"),
        ("cp.async.wait_group 1, 2;", "has operands that it does not take"),
        ("cp.async.wait_group -1;", "-1 is not a number of groups"),
        (
            "ld.global.v8.b128 {%x0,%x1,%x2,%x3,%x4,%x5,%x6,%x7}, [%s0];",
            "moves 128 bytes of a thread: must be at most 64",
        ),
        (
            "st.shared.v8.b128 [%s0], {%x0,%x1,%x2,%x3,%x4,%x5,%x6,%x7};",
            "moves 128 bytes of a thread: must be at most 64",
        ),
        (
            "atom.global.add.v8.f64 {%d0,%d1,%d2,%d3,%d4,%d5,%d6,%d7}, [%s0], {%d0,%d1,%d2,%d3,%d4,%d5,%d6,%d7};",
            "has no form with .global.add.v8.f64",
        ),
        ("st.global.b32 [%s0], {%r0,%r1};", "needs 1 register, but has 2"),
        ("ld.global.v4.b32 {%r0,%r1}, [%s0];", "needs 4 registers, but has 2"),
        ("atom.global.add.v2.f32 {%f0,%f1}, [%s0], %f2;", "needs 2 registers, but has 1"),
        ("tex.2d.v4.f32.f32 {%f0,%f1,%f2}, [%s0, {%f4,%f5}];", "has 3 registers for the 4 numbers of a texel"),
        ("bar.sync 16;", "names barrier 16: must be 0 to 15"),
        ("bar.arrive 2147483648, 32;", "must be 0 to 15"),
        ("cp.async.ca.shared.global [%s0], [%s1], 9214871658872686752;", "must be 4, 8 or 16"),
        ("add.rn.f32 %f0, %f1;", "has operands that it does not take"),
    ],
)
def test_an_instruction_whose_operands_are_of_no_form_is_refused(instruction: str, why: str) -> None:
    with pytest.raises(PtxError, match=why):
        Program(parse_module(kernel(instruction, 0, REGISTERS)), "k", checks=True).assembly()


@pytest.mark.parametrize(
    "instruction",
    ["pmevent 1;", "pmevent.mask 3;", "membar.gl;", "membar.sys;", "fence.acq_rel.gpu;", "fence.proxy.alias;",
     "nanosleep.u32 20;", "nanosleep.u32 %r0;", "prefetch.global.L2 [%s0];", "prefetchu.L1 [%s0];", "brkpt;",
     "discard.global.L2 [%s0], 128;", "applypriority.global.L2::evict_normal [%s0], 128;", "griddepcontrol.wait;",
     "griddepcontrol.launch_dependents;"],
)  # fmt: skip
def test_what_has_no_effect_here_is_translated(instruction):
    assert Program(parse_module(kernel(instruction, 0, REGISTERS)), "k").assembly()


CALLS = """{
.param .align 4 .b8 given[12];
.param .b32 got;
%s
call (got), callee, (given);
%s
}"""
CALLEE = """.func (.param .b32 got) callee(.param .align 4 .b8 given[12])
{
.reg .b32 %r<2>;
ld.param.b32 %r1, [given];
st.param.b32 [got], %r1;
ret;
}
"""


@pytest.mark.parametrize(
    ("stored", "loaded", "why"),
    [
        ("st.param.b32 [given+8], %r0;", "ld.param.b32 %r1, [got];", None),
        ("st.param.v2.b32 [given+4], {%r0,%r1};", "ld.param.b32 %r1, [got];", None),
        ("st.param.b32 [given+6], %r0;", "", "stores across the parts of a parameter"),
        ("st.param.b64 [given], %s0;", "", "stores across the parts of a parameter"),
        ("st.param.b32 [given+12], %r0;", "", "stores beyond the 12 bytes of given"),
        ("st.param.v2.b32 [given+8], {%r0,%r1};", "", "stores beyond the 12 bytes of given"),
        ("", "ld.param.b32 %r1, [got+2];", "loads across the parts of a parameter"),
        ("", "ld.param.b64 %s1, [got];", "loads across the parts of a parameter"),
        ("", "ld.param.b32 %r1, [got+4];", "loads what lies beyond the 4 bytes of got"),
        ("", "ld.param.v2.b32 {%r0,%r1}, [given+8];", "loads what lies beyond the 12 bytes of given"),
    ],
)
def test_parameters_of_a_call_are_accessed_part_by_part_and_within_their_bytes(stored, loaded, why):
    program = Program(parse_module(kernel(CALLS % (stored, loaded), 0, REGISTERS, CALLEE)), "k")
    if why is None:
        assert program.assembly()
        return
    with pytest.raises(PtxError, match=why):
        program.assembly()


@pytest.mark.parametrize(
    ("load", "is_within"),
    [("b32 %r0, [p0+4]", True), ("b32 %r0, [p0+8]", False), ("v2.b32 {%r0,%r1}, [p0]", True),
     ("v2.b32 {%r0,%r1}, [p0+8]", False), ("b64 %s0, [p0+400]", False)],
)  # fmt: skip
def test_a_kernel_s_parameters_end_where_the_last_one_does(load, is_within):
    text = kernel(f"ld.param.{load};", 0, REGISTERS).replace("k()", "k(.param .u64 p0)")
    if is_within:
        assert Program(parse_module(text), "k").assembly()
        return
    with pytest.raises(PtxError, match="beyond the kernel's 8 bytes of parameters"):
        Program(parse_module(text), "k").assembly()


def _others(operands: Sequence[Operand]) -> Iterator[tuple[Operand, ...]]:
    """Operands that an instruction is given instead: one less, one more, and each of other kinds."""
    yield ()
    yield (*operands, Immediate(7))
    for at in range(len(operands)):
        yield (*operands[:at], *operands[at + 1 :])
        for other in (Immediate(1 << 70), Register("%none"), Vector((Immediate(1), Immediate(2)))):
            yield (*operands[:at], other, *operands[at + 1 :])


def test_no_instruction_fails_by_its_operands_other_than_in_one_line() -> None:
    """One of each opcode and first modifiers in all cases, translated with checks as well."""
    seen: set[tuple[str, ...]] = set()
    refused = 0
    for case in every_case().values():
        module = parse_module(case.text)
        function = module.functions["k"]
        body = list(function.body or ())
        for at, item in enumerate(body):
            key = (item.opcode, *item.modifiers[:1]) if isinstance(item, Instruction) else ()
            if not key or key in seen:
                continue
            seen.add(key)
            for operands in _others(item.operands):
                other = replace(function, body=(*body[:at], replace(item, operands=operands), *body[at + 1 :]))
                try:
                    Program(replace(module, functions={"k": other}), "k", checks=True).assembly()
                except PtxError:
                    refused += 1
    assert len(seen) > 100
    assert refused > 500


def test_the_room_for_the_data_of_an_access_is_what_is_known() -> None:
    sizes = re.findall(r"(%\w+) = alloca \[(\d+) x i8\]", assembly_file("warp.ll"))
    assert {name: int(size) for name, size in sizes} == ROOM
