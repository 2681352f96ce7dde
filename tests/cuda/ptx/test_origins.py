"""Which parameters and variables an address is made from."""

import pytest

from simtmm.cuda.ptx import parse_module
from simtmm.cuda.ptx.flow.origins import UNKNOWN, Origin, origins
from simtmm.cuda.ptx.syntax import Instruction

HEAD = """.version 8.0
.target sm_80
.address_size 64
.global .align 4 .b8 table[64];
"""
KERNEL = (
    HEAD
    + """.visible .entry k(.param .u64 a, .param .align 8 .b8 s[24])
{{
.reg .pred %p<4>; .reg .b32 %r<9>; .reg .b64 %rd<19>;
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [s+8]; mov.u32 %r1, %tid.x;
{0}
ret;
}}
"""
)
A, S, TABLE = Origin("a", 0), Origin("s", 8), Origin("table")


def of_last_load(text):
    module = parse_module(text)
    *_, load = (
        item for item in module.functions["k"].body
        if isinstance(item, Instruction) and item.opcode == "ld" and not item.has("param")
    )  # fmt: skip
    return origins(module, "k", load)


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("ld.global.u32 %r2, [%rd1+12];", {A}),
        ("ld.global.u32 %r2, [%rd2];", {S}),
        ("ld.global.u32 %r2, [table+4];", {TABLE}),
        ("mov.u64 %rd3, table; ld.global.u32 %r2, [%rd3];", {TABLE}),
        ("mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd1, %rd3; ld.global.u32 %r2, [%rd4];", {A}),
        ("mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd3, %rd1; ld.global.u32 %r2, [%rd4];", {A}),
        ("cvta.to.global.u64 %rd3, %rd2; ld.global.u32 %r2, [%rd3];", {S}),
        ("setp.eq.u32 %p1, %r1, 0; selp.b64 %rd3, %rd1, %rd2, %p1; ld.global.u32 %r2, [%rd3];", {A, S}),
        ("mov.u64 %rd3, %rd1; @%p1 mov.u64 %rd3, %rd2; ld.global.u32 %r2, [%rd3];", {A, S}),
        # Round a loop: it is made from itself, and from what came in
        ("mov.u64 %rd3, %rd1; $L: ld.global.u32 %r2, [%rd3]; add.s64 %rd3, %rd3, 4; @%p1 bra $L;", {A}),
        ("mov.u64 %rd3, %rd1; $L: mov.u64 %rd4, %rd3; add.s64 %rd3, %rd4, 4; @%p1 bra $L; ld.global.u32 %r2, [%rd3];",
         {A}),
        # Of a pointer that was loaded nobody knows what it points to; of a number that was, that it is a distance
        ("ld.global.u64 %rd3, [%rd1]; ld.global.u32 %r2, [%rd3];", {UNKNOWN}),
        ("ld.global.u64 %rd3, [%rd1]; add.s64 %rd4, %rd2, %rd3; ld.global.u32 %r2, [%rd4];", {S}),
        ("ld.global.u32 %r3, [%rd1]; mad.wide.u32 %rd4, %r3, 4, %rd2; ld.global.u32 %r2, [%rd4];", {S}),
        ("mul.wide.u32 %rd3, %r1, 4; ld.global.u32 %r2, [%rd3];", set()),
    ],
)  # fmt: skip
def test_an_address_is_followed_back_to_what_it_is_made_from(body, expected):
    assert of_last_load(KERNEL.format(body)) == expected


def test_a_function_s_parameter_is_what_its_callers_pass():
    function = """.func k(.param .b64 f_param_0, .param .b64 f_param_1)
{
.reg .b32 %r<3>; .reg .b64 %rd<3>;
ld.param.u64 %rd1, [f_param_1]; ld.global.u32 %r1, [%rd1];
ret;
}
"""
    caller = """.visible .entry c{0}(.param .u64 a, .param .u64 b)
{{
.reg .b64 %rd<5>;
ld.param.u64 %rd1, [a]; ld.param.u64 %rd2, [b];
{{ .param .b64 param0; .param .b64 param1; st.param.b64 [param0], %rd{0}; st.param.b64 [param1], %rd{1};
call.uni k, (param0, param1); }}
ret;
}}
"""
    text = HEAD + function + caller.format(1, 2)
    assert of_last_load(text) == {Origin("b", 0)}
    assert of_last_load(text + caller.format(2, 1)) == {Origin("a", 0), Origin("b", 0)}
    assert of_last_load(HEAD + function) == {UNKNOWN}  # nobody calls it
