"""What an instruction gives for numbers of a range lies in the range that is said of it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm.cuda.least.ranges import wrapped
from simtmm.cuda.least.values import Evaluation
from simtmm.cuda.ptx import parse_module
from simtmm.cuda.ptx.syntax import Instruction
from tests.cuda.interpreter.applied import apply
from tests.examples import examples

BINARY = ["add", "sub", "min", "max", "mul.lo", "mul.wide", "div", "rem"]
INSTRUCTIONS = [
    *(f"{name}.{kind}" for name in BINARY for kind in ("s32", "u32")),
    *(f"{name}.b32" for name in ("and", "or", "xor", "shl")), "shr.s32", "shr.u32",
    *(f"mad.lo.{kind}" for kind in ("s32", "u32")), "neg.s32", "abs.s32", "not.b32",
    "cvt.u64.u32", "cvt.s64.s32", "cvt.u32.u16", "cvt.s32.s8", "add.s64", "sub.u64", "shr.u64", "shl.b64", "and.b64",
]  # fmt: skip
OPERANDS = {"mad": 3, "neg": 1, "abs": 1, "not": 1, "cvt": 1}
PREDICATES = [f"setp.{name}.{kind}" for name in ("lt", "le", "gt", "ge", "eq", "ne") for kind in ("s32", "u32")]
ENDS = st.one_of(
    st.integers(-70, 70), st.sampled_from([2**31 - 1, -(2**31), 2**31 - 8, -(2**31) + 5, 2**16, 31, 32, -1])
)


def parsed(text, registers=".reg .b64 %x, %w; .reg .b32 %a, %b, %c, %x, %y; .reg .pred %q, %p;"):
    """An instruction."""
    registers = registers if "%w" not in registers else registers.replace(" %x, %w", " %w")
    body = f".version 8.7\n.target sm_90\n.address_size 64\n.entry k()\n{{\n{registers}\n{text}\n}}\n"
    return next(each for each in parse_module(body).functions["k"].body if isinstance(each, Instruction))


def ranged(text, **values):
    """The range of what an instruction gives."""
    evaluation = Evaluation({}, lambda name, offset, size: None)
    return evaluation.of(parsed(text), {f"%{name}": value for name, value in values.items()})


@st.composite
def ranges_with_a_number(draw):
    """A range of 32 bits, and a number in it."""
    low, high = sorted([draw(ENDS), draw(ENDS)])
    return (low, high), draw(st.sampled_from([low, high, (low + high) // 2]))


@examples(150)
@given(name=st.sampled_from(INSTRUCTIONS), drawn=st.lists(ranges_with_a_number(), min_size=3, max_size=3))
def test_what_an_instruction_gives_lies_in_its_range(name, drawn):
    count = OPERANDS.get(name.split(".")[0], 2)
    kinds = name.split(".")[1:]
    wide = "64" in kinds[-1]
    if name.startswith(("div", "rem")) and drawn[1][1] == 0:
        return
    out = 64 if "64" in kinds[0] or "wide" in kinds else 32
    operands = ", ".join(f"%{letter}" for letter in "abc"[:count])
    given_ranges = {letter: drawn[at][0] for at, letter in enumerate("abc"[:count])}
    target = "%w" if out == 64 else "%x"
    found = ranged(f"{name} {target}, {operands};", **given_ranges)[target]
    source = "b64" if wide else "b32"
    inputs = [("b32" if wide and name.startswith("sh") and at == 1 else source, [drawn[at][1]]) for at in range(count)]
    ((bits,),) = apply(f"{name} %x, {operands};", [f"b{out}"], *inputs)
    exact = wrapped(bits, bits, out)[0]
    if found is not None:
        assert found[0] <= exact <= found[1]
    if all(low == high for low, high in given_ranges.values()) and not name.startswith(("div", "rem")):
        assert found == (exact, exact)


@examples(60)
@given(name=st.sampled_from(PREDICATES), a=ranges_with_a_number(), b=ranges_with_a_number())
def test_what_a_comparison_gives_lies_in_its_range(name, a, b):
    found = ranged(f"{name} %q, %a, %b;", a=a[0], b=b[0])["%q"]
    ((bits,),) = apply(f"{name} %p, %a, %b;\nselp.u32 %x, 1, 0, %p;", ["b32"], ("b32", [a[1]]), ("b32", [b[1]]))
    assert found[0] <= bits <= found[1]
    if a[0][0] == a[0][1] and b[0][0] == b[0][1]:
        assert found == (bits, bits)


@examples(60)
@given(
    table=st.integers(0, 255),
    drawn=st.lists(
        st.one_of(ranges_with_a_number(), st.sampled_from([((0, 0), 0), ((-1, -1), -1)])), min_size=3, max_size=3
    ),
)
def test_what_lop3_gives_lies_in_its_range(table, drawn):
    found = ranged(
        f"lop3.b32 %x, %a, %b, %c, {table};", **{name: each[0] for name, each in zip("abc", drawn, strict=True)}
    )
    ((bits,),) = apply(f"lop3.b32 %x, %a, %b, %c, {table};", ["b32"], *(("b32", [each[1]]) for each in drawn))
    exact = wrapped(bits, bits, 32)[0]
    if found["%x"] is not None:
        assert found["%x"][0] <= exact <= found["%x"][1]


@pytest.mark.parametrize(
    ("text", "values", "expected"),
    [
        ("and.b32 %x, %a, 3;", {}, (0, 3)),
        ("and.b32 %x, %a, -32;", {"a": (5, 70)}, (0, 64)),
        ("shr.u32 %x, %a, 30;", {}, (0, 3)),
        ("min.u32 %x, %a, 5;", {}, (0, 5)),
        ("mad.lo.s32 %x, %a, 32, %b;", {"a": (0, 3), "b": (0, 31)}, (0, 127)),
        ("add.s32 %x, %a, 1;", {"a": (0, 2**31 - 1)}, None),  # some wrap round
        ("add.s32 %x, %a, 1;", {}, None),
        ("selp.b32 %x, 3, 8, %p;", {}, (3, 8)),
        ("selp.b32 %x, 3, 8, %p;", {"p": (1, 1)}, (3, 3)),
        ("lop3.b32 %x, %a, 3, 0, 0xc0;", {"a": (4, 6)}, (0, 2)),
        ("lop3.b32 %x, %a, 0, %c, 0xfc;", {"a": (4, 6)}, (4, 6)),
        ("rem.u32 %x, %a, 10;", {"a": (21, 25)}, (1, 5)),
        ("rem.u32 %x, %a, 10;", {"a": (5, 25)}, (0, 9)),
        ("mov.b64 %w, {%a, 0};", {"a": (3, 9)}, (3, 9)),
        ("popc.b32 %x, %a;", {"a": (1, 1)}, None),  # not followed
        ("mul.hi.s32 %x, %a, %b;", {"a": (3, 3), "b": (5, 5)}, None),
        ("mad.hi.u32 %x, %a, %b, %c;", {"a": (3, 3), "b": (5, 5), "c": (1, 1)}, None),
        ("add.sat.s32 %x, %a, 1;", {"a": (1, 1)}, None),
        ("mad.hi.sat.s32 %x, %a, %b, %c;", {"a": (3, 3), "b": (5, 5), "c": (1, 1)}, None),
        ("add.u16x2 %x, %a, %b;", {"a": (1, 1), "b": (2, 2)}, None),
        ("min.s16x2 %x, %a, %b;", {"a": (1, 1), "b": (2, 2)}, None),
        ("max.relu.s32 %x, %a, %b;", {"a": (-3, -3), "b": (-2, -2)}, None),
    ],
)
def test_ranges_by_hand(text, values, expected):
    (found,) = ranged(text, **values).values()
    assert found == expected


def test_a_comparison_joined_with_a_predicate_and_its_halves():
    assert ranged("setp.lt.and.s32 %q, %a, 5, %p;", a=(0, 3), p=(0, 0))["%q"] == (0, 0)
    assert ranged("setp.lt.or.s32 %q, %a, 5, %p;", a=(0, 3))["%q"] == (1, 1)
    assert ranged("mov.b64 {%x, %y}, %w;", w=(5, 9)) == {"%x": (5, 9), "%y": (0, 0)}
    assert ranged("mov.b64 {%x, %y}, %w;", w=(-1, -1)) == {"%x": (-1, -1), "%y": (-1, -1)}
    assert ranged("mov.b64 {%x, %y}, %w;", w=(0, 2**33)) == {"%x": None, "%y": (0, 2)}


NARROW = [(low, high) for low in range(1, 7) for high in range(low, 7)]


@pytest.mark.parametrize(
    ("name", "of"),
    [
        ("div.u32", lambda a, b: a // b), ("div.s32", lambda a, b: a // b), ("add.s32", lambda a, b: a + b),
        ("sub.s32", lambda a, b: a - b), ("mul.lo.s32", lambda a, b: a * b), ("min.s32", min), ("max.u32", max),
    ],
)  # fmt: skip
def test_both_ends_of_a_narrow_range_are_reached(name, of):
    for a in NARROW:
        for b in NARROW:
            every = [of(x, y) for x in range(a[0], a[1] + 1) for y in range(b[0], b[1] + 1)]
            assert ranged(f"{name} %x, %a, %b;", a=a, b=b)["%x"] == (min(every), max(every)), (a, b)


def test_of_lop3_with_a_predicate_no_range_is_known():
    given = {"a": (3, 3), "b": (5, 5), "c": (1, 1)}
    assert ranged("lop3.b32 %x, %a, %b, %c, 0xc0;", **given)["%x"] == (1, 1)
    assert ranged("lop3.or.b32 %x|%q, %a, %b, %c, 0xc0, %p;", **given)["%x"] is None
