"""What an instruction gives for numbers of a range lies in the range that is said of it."""

import operator
from functools import cache
from itertools import combinations_with_replacement, product

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


OF_TESTS = ".reg .b64 %w; .reg .b32 %a, %b, %c, %x, %y; .reg .pred %q, %p, %r;"
OF_ALL_SIZES = f"{OF_TESTS} .reg .b64 %u, %v; .reg .b16 %h, %i, %j;"


@cache
def parsed(text, registers=OF_TESTS):
    """An instruction."""
    body = f".version 8.7\n.target sm_90\n.address_size 64\n.entry k()\n{{\n{registers}\n{text}\n}}\n"
    return next(each for each in parse_module(body).functions["k"].body if isinstance(each, Instruction))


def ranged(text, registers=OF_TESTS, **values):
    """The range of what an instruction gives."""
    evaluation = Evaluation({}, lambda name, offset, size: None)
    return evaluation.of(parsed(text, registers), {f"%{name}": value for name, value in values.items()})


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


SMALL = list(combinations_with_replacement((-3, -1, 0, 1, 2, 5), 2))
NATURAL = list(combinations_with_replacement((0, 1, 2, 3, 6), 2))
TRUTHS = [(0, 0), (1, 1), (0, 1)]
# What each gives of two numbers, and whether the range is no wider than it must be
OF_TWO = {
    "add.s32": (operator.add, True), "sub.s32": (operator.sub, True), "mul.lo.s32": (operator.mul, True),
    "min.s32": (min, True), "max.s32": (max, True), "and.b32": (operator.and_, False), "or.b32": (operator.or_, False),
    "xor.b32": (operator.xor, False), "add.u32": (operator.add, True), "mul.wide.s32": (operator.mul, True),
    "add.u16": (operator.add, True), "sub.s64": (operator.sub, True),
}  # fmt: skip
OF_NATURAL = {
    "div.u32": (operator.floordiv, True), "div.s32": (operator.floordiv, True), "rem.u32": (operator.mod, False),
    "rem.s32": (operator.mod, False), "min.u32": (min, True), "max.u32": (max, True),
    "shr.s32": (operator.rshift, True), "shr.u32": (operator.rshift, True), "mul.wide.u32": (operator.mul, True),
}  # fmt: skip
COMPARED = {
    "lt": operator.lt, "le": operator.le, "gt": operator.gt, "ge": operator.ge, "eq": operator.eq, "ne": operator.ne,
}  # fmt: skip
UNSIGNED = {"lo": "lt", "ls": "le", "hi": "gt", "hs": "ge"}


def numbers(ends):
    return range(ends[0], ends[1] + 1)


def hull_of(function, *ranges):
    """The least and the greatest that comes of numbers of these ranges."""
    found = [int(function(*each)) for each in product(*map(numbers, ranges))]
    return min(found), max(found)


def holds(found, exact, is_exact):
    return found == exact if is_exact else found is None or found[0] <= exact[0] <= exact[1] <= found[1]


@pytest.mark.parametrize("name", [*OF_TWO, *OF_NATURAL])
def test_the_range_of_two_numbers_has_all_that_may_come_of_them(name):
    function, is_exact = OF_TWO.get(name) or OF_NATURAL[name]
    wide = "wide" in name or "64" in name
    target, sources = ("%w", "%u, %v") if "64" in name else ("%w" if wide else "%h" if "16" in name else "%x", "%a, %b")
    sources = "%i, %j" if "16" in name else sources
    one, other = sources.replace("%", "").split(", ")
    for a, b in product(*([SMALL] * 2 if name in OF_TWO else [NATURAL] * 2)):
        if name.startswith(("div", "rem")) and b[0] < 1:
            continue
        found = ranged(f"{name} {target}, {sources};", OF_ALL_SIZES, **{one: a, other: b})[target]
        alone = a[0] == a[1] and b[0] == b[1]
        assert holds(found, hull_of(function, a, b), is_exact or (alone and not name.startswith("rem"))), (a, b, found)


@pytest.mark.parametrize(
    ("text", "function"),
    [
        ("neg.s32 %x, %a;", operator.neg), ("abs.s32 %x, %a;", abs), ("not.b32 %x, %a;", operator.invert),
        ("shl.b32 %x, %a, 3;", lambda a: a << 3), ("shr.s32 %x, %a, 1;", lambda a: a >> 1),
        ("shr.s32 %x, %a, 40;", lambda a: -1 if a < 0 else 0), ("shl.b32 %x, %a, 32;", lambda a: 0),
        ("cvt.s64.s32 %w, %a;", int), ("cvt.s32.s64 %x, %u;", int), ("mov.b32 %x, %a;", int),
        ("mov.b64 %w, {%a, -1};", lambda a: (a & 0xFFFFFFFF) - (1 << 32)),
        ("mad.lo.s32 %x, %a, -7, 2;", lambda a: 2 - 7 * a),
        ("mad.wide.s32 %w, %a, -7, 2;", lambda a: 2 - 7 * a), ("and.b32 %x, %a, 7;", lambda a: a & 7),
        ("and.b32 %x, %a, -2;", lambda a: a & -2),
    ],
)  # fmt: skip
def test_the_range_of_a_number_has_all_that_may_come_of_it(text, function):
    for ends in SMALL:
        (found,) = ranged(text, OF_ALL_SIZES, a=ends, u=ends).values()
        is_sure = (ends[0] < 0) == (ends[1] < 0) or not text.startswith(("mov.b64", "and"))
        assert holds(found, hull_of(function, ends), is_sure), (ends, found)


@pytest.mark.parametrize("name", [*COMPARED, *UNSIGNED])
@pytest.mark.parametrize("with_", ["", ".and", ".or", ".xor"])
def test_a_comparison_is_known_where_all_numbers_agree(name, with_):
    function = COMPARED[UNSIGNED.get(name, name)]
    join = {".and": operator.and_, ".or": operator.or_, ".xor": operator.xor}.get(with_)
    kind = "u32" if name in UNSIGNED else "s32"
    for a, b in product(NATURAL if name in UNSIGNED else SMALL, repeat=2):
        of_two = hull_of(function, a, b)
        if join is None:
            assert ranged(f"setp.{name}.{kind} %q, %a, %b;", a=a, b=b)["%q"] == of_two, (a, b)
            continue
        for truth in [*TRUTHS, None]:
            found = ranged(f"setp.{name}{with_}.{kind} %q, %a, %b, %p;", a=a, b=b, p=truth)["%q"]
            exact = hull_of(join, of_two, truth or (0, 1))
            assert found == (exact if with_ != ".xor" else (0, 1)), (a, b, truth)


@pytest.mark.parametrize("name", ["and", "or", "xor", "not", "mov"])
def test_predicates_are_known_where_all_that_they_are_made_of_agree(name):
    functions = {"and": operator.and_, "or": operator.or_, "xor": operator.xor, "not": lambda a: 1 - a, "mov": int}
    if name in ("not", "mov"):
        for a in TRUTHS:
            assert ranged(f"{name}.pred %q, %p;", p=a)["%q"] == hull_of(functions[name], a)
        assert ranged(f"{name}.pred %q, %p;")["%q"] == ((0, 1) if name == "not" else None)
        return
    for a, b in product([*TRUTHS, None], repeat=2):
        for negated in (False, True):
            found = ranged(f"{name}.pred %q, %p, {'!' * negated}%r;", p=a, r=b)["%q"]
            other = b or (0, 1)
            other = (1 - other[1], 1 - other[0]) if negated else other
            assert found == hull_of(functions[name], a or (0, 1), other)


@pytest.mark.parametrize("chosen", [*TRUTHS, None])
def test_a_selection_has_the_numbers_of_what_may_be_chosen(chosen):
    for a, b in product(SMALL, repeat=2):
        both = (min(a[0], b[0]), max(a[1], b[1]))
        assert ranged("selp.b32 %x, %a, %b, %p;", a=a, b=b, p=chosen)["%x"] == {(1, 1): a, (0, 0): b}.get(chosen, both)


def test_of_lop3_with_a_predicate_no_range_is_known():
    given = {"a": (3, 3), "b": (5, 5), "c": (1, 1)}
    assert ranged("lop3.b32 %x, %a, %b, %c, 0xc0;", **given)["%x"] == (1, 1)
    assert ranged("lop3.or.b32 %x|%q, %a, %b, %c, 0xc0, %p;", **given)["%x"] is None


def of_table(table, *words):
    """What lop3 gives of three words: of each bit the table's entry."""
    found = 0
    for entry in range(8):
        if table >> entry & 1:
            bits = [word if entry >> 2 - at & 1 else ~word for at, word in enumerate(words)]
            found |= bits[0] & bits[1] & bits[2]
    return found


@pytest.mark.parametrize("at", range(3))
def test_lop3_of_a_range_and_words_of_equal_bits(at):
    """It is known wherever it is the range, its operand turned into nothing or all, or depends on nothing."""
    for table in range(256):
        for others in product([(0, 0), (-1, -1)], repeat=2):
            drawn = [*others[:at], (4, 6), *others[at:]]
            found = ranged(f"lop3.b32 %x, %a, %b, %c, {table};", **dict(zip("abc", drawn, strict=True)))["%x"]
            exact = [of_table(table, *each) for each in product(*map(numbers, drawn))]
            if exact == [~4, ~5, ~6]:
                assert found is None
            else:
                assert found == (exact[0], exact[-1])


def test_lop3_of_two_ranges_is_their_and_or_or_xor():
    said = 0
    for table, hole in product(range(256), range(3)):
        for word in ((0, 0), (-1, -1)):
            drawn = [(4, 6), (1, 9)]
            drawn.insert(hole, word)
            found = ranged(f"lop3.b32 %x, %a, %b, %c, {table};", **dict(zip("abc", drawn, strict=True)))["%x"]
            exact = [of_table(table, *each) for each in product(*map(numbers, drawn))]
            said += found is not None
            assert holds(found, (min(exact), max(exact)), is_exact=False), (table, drawn)
    assert said == 3 * 2 * 16 * 7  # nothing, all, either operand, and, or, xor: whatever the other half of a table is


def test_a_parameter_is_asked_for_by_its_name_its_place_and_its_size():
    asked = []
    evaluation = Evaluation({}, lambda *words: asked.append(words) or (7, 7))
    head = ".version 8.7\n.target sm_90\n.address_size 64\n.entry k(.param .b8 n[16])\n{\n.reg .b64 %w; .reg .b32 %x;\n"
    found = parse_module(f"{head}ld.param.u64 %w, [n+8];\nld.param.u32 %x, [n];\nld.u32 %x, [%w];\n}}\n").functions["k"]
    steps = [each for each in found.body if isinstance(each, Instruction)]
    assert [evaluation.of(each, {}) for each in steps] == [{"%w": (7, 7)}, {"%x": (7, 7)}, {"%x": None}]
    assert asked == [("n", 8, 8), ("n", 0, 4)]
