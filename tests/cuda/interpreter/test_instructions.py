"""The interpreter gives what the PTX ISA says, worked out by hand."""

import math

import pytest

from tests.cuda.interpreter.applied import apply, one, reals

INFINITY, NAN = math.inf, math.nan


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        (0x80, 0b10000000),  # a & b & c
        (0xFE, 0b11111110),  # a | b | c
        (0x40, 0b01000000),  # a & b & ~c
        (0xEA, 0b11101010),  # (a & b) | c
        (0x1A, 0b00011010),  # (a & b | c) ^ a, of the ISA's description
    ],
)
def test_lop3_takes_its_table_as_the_function_of_0xf0_0xcc_0xaa(table, expected):
    assert apply(f"lop3.b32 %x, %a, %b, %c, {table};", ["b32"], ("b32", [0xF0]), ("b32", [0xCC]), ("b32", [0xAA])) == [
        [expected]
    ]


@pytest.mark.parametrize(
    ("mode", "selector", "expected"),
    [
        ("", 0x3210, 0x33221100),
        ("", 0x7654, 0xF7E6D5C4),
        ("", 0x0F4E, 0x00FFC4FF),  # bit 3: the sign of byte 7 (0xf7), of byte 6 (0xe6)
        ("", 0x888B, 0x00000000),  # bytes 0 and 3 are not negative
        (".f4e", 1, 0xC4332211),
        (".f4e", 3, 0xE6D5C433),
        (".b4e", 0, 0xD5E6F700),
        (".b4e", 2, 0xF7001122),
        (".rc8", 2, 0x22222222),
        (".ecl", 1, 0x33221111),
        (".ecr", 2, 0x22221100),
        (".rc16", 0, 0x11001100),
        (".rc16", 3, 0x33223322),
    ],
)
def test_prmt_picks_bytes(mode, selector, expected):
    found = one(f"prmt.b32{mode}", "b32", ("b32", [0x33221100]), ("b32", [0xF7E6D5C4]), ("b32", [selector]))
    assert found == [expected]


def test_bfe_extends_the_sign_of_the_field_or_of_the_number_where_the_field_goes_beyond_it():
    values, positions, lengths = [0x80, 0x80, 0x80000000, 0x80000000, 0xFF], [4, 4, 28, 40, 0], [4, 0, 8, 8, 300]
    given = ("u32", positions), ("u32", lengths)
    assert one("bfe.s32", "s32", ("s32", values), *given) == [0xFFFFFFF8, 0, 0xFFFFFFF8, 0xFFFFFFFF, 0xFF]
    assert one("bfe.u32", "u32", ("u32", values), *given) == [8, 0, 8, 0, 0xFF]


def test_bfi_drops_what_does_not_fit():
    found = one(
        "bfi.b32", "b32", ("b32", [0xF, 0xF, 0xF, 0xF]), ("b32", [0]), ("u32", [4, 30, 32, 0]), ("u32", [3, 4, 4, 0])
    )
    assert found == [0x70, 0xC0000000, 0, 0]


def test_shifts_are_clamped_at_the_width():
    assert one("shr.s32", "s32", ("s32", [-8, -8]), ("u32", [1, 99])) == [0xFFFFFFFC, 0xFFFFFFFF]
    assert one("shl.b16", "b16", ("b16", [1, 1]), ("u32", [15, 16])) == [0x8000, 0]
    given = ("b32", [0x01234567]), ("b32", [0x89ABCDEF]), ("u32", [8, 32, 36])
    assert one("shf.l.clamp.b32", "b32", *given) == [0xABCDEF01, 0x01234567, 0x01234567]
    assert one("shf.l.wrap.b32", "b32", *given) == [0xABCDEF01, 0x89ABCDEF, 0x9ABCDEF0]
    assert one("shf.r.clamp.b32", "b32", *given) == [0xEF012345, 0x89ABCDEF, 0x89ABCDEF]


def test_finding_bits():
    assert one("bfind.u32", "u32", ("u32", [0, 1, 0x90])) == [0xFFFFFFFF, 0, 7]
    assert one("bfind.s32", "u32", ("s32", [-1, -2, 5])) == [0xFFFFFFFF, 0, 2]
    assert one("bfind.shiftamt.u32", "u32", ("u32", [0, 1, 0x90])) == [0xFFFFFFFF, 31, 24]
    assert one("fns.b32", "b32", ("b32", [0b10110] * 5), ("u32", [0, 4, 2, 3, 0]), ("s32", [2, -2, 0, 0, 4])) == [
        2, 2, 2, 0xFFFFFFFF, 0xFFFFFFFF,
    ]  # fmt: skip


def test_masks_and_extensions():
    assert one("bmsk.clamp.b32", "b32", ("u32", [4, 30, 32, 0]), ("u32", [3, 8, 1, 40])) == [
        0x70,
        0xC0000000,
        0,
        0xFFFFFFFF,
    ]
    assert one("bmsk.wrap.b32", "b32", ("u32", [36, 0]), ("u32", [3, 40])) == [0x70, 0xFF]
    assert one("szext.clamp.s32", "s32", ("s32", [0x80, 0x7F, 5, 5]), ("u32", [8, 8, 0, 32])) == [
        0xFFFFFF80,
        0x7F,
        0,
        5,
    ]


def test_products_have_two_halves():
    assert one("mul.hi.s32", "s32", ("s32", [-1, 1 << 31]), ("s32", [1, 1 << 31])) == [0xFFFFFFFF, 1 << 30]
    assert one("mul.wide.s16", "s32", ("s16", [-3]), ("s16", [5])) == [0xFFFFFFF1]
    assert one("mul24.hi.u32", "u32", ("u32", [0xFFFFFF]), ("u32", [0xFFFFFF])) == [0xFFFFFE00]
    assert one("mad.hi.sat.s32", "s32", ("s32", [1 << 30]), ("s32", [16]), ("s32", [0x7FFFFFFF])) == [0x7FFFFFFF]


def test_the_carry_joins_words():
    a, b = 0xFFFFFFFF_FFFFFFFF, 0x00000001_00000001
    body = "add.cc.u32 %x, %a, %b;\n  addc.u32 %y, %c, %d;"
    given = [("u32", [a & 0xFFFFFFFF]), ("u32", [b & 0xFFFFFFFF]), ("u32", [a >> 32]), ("u32", [b >> 32])]
    low, high = apply(body, ["u32", "u32"], *given)
    assert high[0] << 32 | low[0] == (a + b) % (1 << 64)
    low, high = apply(body.replace("add", "sub"), ["u32", "u32"], *given)
    assert high[0] << 32 | low[0] == a - b


def test_a_difference_leaves_a_carry_where_nothing_is_borrowed():
    body = "sub.cc.u32 %x, %a, %b;\n  addc.u32 %x, 0, 0;"
    assert apply(body, ["u32"], ("u32", [5, 3, 4]), ("u32", [3, 5, 4])) == [[1, 0, 1]]
    body = "sub.cc.u32 %x, %a, %b;\n  subc.cc.u32 %x, %a, %b;\n  addc.u32 %x, 0, 0;"
    assert apply(body, ["u32"], ("u32", [5, 3, 4]), ("u32", [3, 5, 4])) == [[1, 0, 1]]


def test_dot_products_of_bytes_are_signed_each_for_itself():
    assert one("dp4a.s32.u32", "s32", ("b32", [0xFF01FF01]), ("b32", [0xFF02FF03]), ("s32", [10])) == [
        (10 - 255 + 2 - 255 + 3) & 0xFFFFFFFF
    ]
    assert one("dp2a.hi.s32.s32", "s32", ("b32", [0xFFFE0003]), ("b32", [0x02FF0000]), ("s32", [0])) == [0xFFFFFFF9]


def test_directed_rounding_of_a_third():
    third = [one(f"div.{mode}.f32", "f32", ("f32", [1.0, -1.0]), ("f32", [3.0])) for mode in ("rn", "rz", "rm", "rp")]
    assert third == [
        [0x3EAAAAAB, 0xBEAAAAAB], [0x3EAAAAAA, 0xBEAAAAAA], [0x3EAAAAAA, 0xBEAAAAAB], [0x3EAAAAAB, 0xBEAAAAAA],
    ]  # fmt: skip


def test_fma_rounds_once():
    given = ("f32", [1.0 + 2.0**-12]), ("f32", [1.0 + 2.0**-12]), ("f32", [-1.0 - 2.0**-11])
    assert reals("fma.rn.f32", "f32", *given) == [2.0**-24]


def test_a_difference_of_equals_is_minus_zero_only_when_rounded_down():
    given = ("f32", [1.0]), ("f32", [1.0])
    assert one("sub.rn.f32", "f32", *given) == [0]
    assert one("sub.rm.f32", "f32", *given) == [0x80000000]


def test_overflow_goes_to_infinity_or_to_the_largest():
    given = ("f32", [0x7F7FFFFF, 0xFF7FFFFF]), ("f32", [2.0])
    assert one("mul.rz.f32", "f32", *given) == [0x7F7FFFFF, 0xFF7FFFFF]
    assert one("mul.rp.f32", "f32", *given) == [0x7F800000, 0xFF7FFFFF]


def test_subnormal_numbers_are_flushed_on_both_sides():
    assert one("add.ftz.f32", "f32", ("f32", [0x80000001]), ("f32", [-0.0])) == [0x80000000]
    assert one("mul.ftz.f32", "f32", ("f32", [0x00800000]), ("f32", [-0.5])) == [0x80000000]
    assert one("mul.f32", "f32", ("f32", [0x00800000]), ("f32", [0.5])) == [0x00400000]


def test_saturation_makes_nan_zero():
    assert reals("add.sat.f32", "f32", ("f32", [NAN, 3.0, -2.0, 0.25]), ("f32", [0.0])) == [0.0, 1.0, 0.0, 0.25]


def test_min_and_max_lose_nan_unless_told_and_order_zeros():
    given = ("f32", [NAN, 2.0, 0.0, -0.0]), ("f32", [1.0, NAN, -0.0, 0.0])
    assert one("min.f32", "f32", *given) == [0x3F800000, 0x40000000, 0x80000000, 0x80000000]
    assert one("max.f32", "f32", *given) == [0x3F800000, 0x40000000, 0, 0]
    assert one("max.NaN.f32", "f32", *given)[:2] == [0x7FFFFFFF] * 2
    assert reals("max.xorsign.abs.f32", "f32", ("f32", [-3.0, -3.0]), ("f32", [1.0, -1.0])) == [-3.0, 3.0]


def test_relu_keeps_nan():
    found = reals("fma.rn.relu.f16", "f16", ("f16", [NAN, -1.0, 1.0]), ("f16", [1.0]), ("f16", [0.5]))
    assert math.isnan(found[0])
    assert found[1:] == [0.0, 1.5]


def test_division_by_huge_numbers_is_approximated_by_zero():
    given = ("f32", [1.0, INFINITY, 1.0]), ("f32", [2.0**127, 2.0**127, 2.0**126])
    found = reals("div.approx.f32", "f32", *given)
    assert found[0] == 0
    assert math.isnan(found[1])
    assert found[2] == 2.0**-126


def test_functions_at_their_edges():
    assert reals("rsqrt.approx.f32", "f32", ("f32", [4.0, -0.0, INFINITY])) == [0.5, -INFINITY, 0.0]
    assert reals("ex2.approx.f32", "f32", ("f32", [3.0, -INFINITY, 200.0])) == [8.0, 0.0, INFINITY]
    assert reals("lg2.approx.f32", "f32", ("f32", [8.0, 0.0])) == [3.0, -INFINITY]
    assert reals("sqrt.rn.f64", "f64", ("f64", [2.0, 2.25])) == [math.sqrt(2.0), 1.5]


@pytest.mark.parametrize(
    ("instruction", "kind", "given", "to", "expected"),
    [
        ("cvt.rni.s32.f32", "f32", [2.5, 3.5, -2.5, 3e9, -3e9, NAN], "s32", [2, 4, -2, 0x7FFFFFFF, 0x80000000, 0]),
        ("cvt.rzi.u8.f32", "f32", [255.9, 256.0, -1.0], "b32", [255, 255, 0]),
        ("cvt.rmi.s8.f32", "f32", [-0.5, -200.0], "b32", [0xFFFFFFFF, 0xFFFFFF80]),
        ("cvt.rpi.s64.f64", "f64", [0.1, NAN, INFINITY], "s64", [1, 1 << 63, (1 << 63) - 1]),
        ("cvt.rzi.u32.f64", "f64", [NAN, -5.0, 5e9], "u32", [1 << 31, 0, 0xFFFFFFFF]),
        ("cvt.s8.s32", "s32", [0x180, 0x7F], "b32", [0xFFFFFF80, 0x7F]),
        ("cvt.sat.u8.s32", "s32", [300, -5], "b32", [255, 0]),
        ("cvt.sat.s16.u32", "u32", [40000], "b32", [32767]),
        ("cvt.rn.f32.s32", "s32", [16777217, -16777219], "f32", [0x4B800000, 0xCB800002]),
        ("cvt.rp.f32.u64", "u64", [(1 << 64) - 1], "f32", [0x5F800000]),
        ("cvt.rn.f16.f32", "f32", [65519.0, 65520.0, 2.0**-25, 2.0**-24 * 1.5], "f16", [0x7BFF, 0x7C00, 0, 2]),
        ("cvt.rni.f32.f32", "f32", [-0.4, 2.5], "f32", [0x80000000, 0x40000000]),
        ("cvt.rna.tf32.f32", "f32", [0x3F801000, 0x3F800FFF], "b32", [0x3F802000, 0x3F800000]),
        ("cvt.rn.bf16.f32", "f32", [0x3F808000, 0x3F818000], "bf16", [0x3F80, 0x3F82]),
    ],
)
def test_conversions(instruction, kind, given, to, expected):
    assert one(instruction, to, (kind, given)) == [
        each & ((1 << 64) - 1 if to == "s64" else 0xFFFFFFFF) for each in expected
    ]


def test_pairs_have_their_first_source_above():
    assert one("cvt.rn.f16x2.f32", "b32", ("f32", [1.0]), ("f32", [2.0])) == [0x3C004000]
    assert one("cvt.rn.satfinite.e4m3x2.f32", "b16", ("f32", [1000.0]), ("f32", [-1.0])) == [0x7EB8]
    assert one("cvt.pack.sat.u8.s32.b32", "b32", ("s32", [300]), ("s32", [-1]), ("b32", [0xABCD])) == [0xABCDFF00]


def test_comparisons_with_nan_are_false_unless_unordered():
    given = ("f32", [1.0, NAN]), ("f32", [2.0, 2.0])
    body = "setp.{}.f32 %x|%y, %a, %b;"
    assert apply(body.format("lt"), ["pred", "pred"], *given) == [[1, 0], [0, 1]]
    assert apply(body.format("ltu"), ["pred", "pred"], *given) == [[1, 1], [0, 0]]
    assert apply(body.format("ne"), ["pred", "pred"], *given) == [[1, 0], [0, 1]]
    assert apply(body.format("nan"), ["pred", "pred"], *given) == [[0, 1], [1, 0]]


def test_a_second_predicate_combines_with_the_opposite_as_well():
    given = ("s32", [1, 1]), ("s32", [2, 2]), ("pred", [0, 1])
    assert apply("setp.lt.and.s32 %x|%y, %a, %b, %c;", ["pred", "pred"], *given) == [[0, 1], [0, 0]]
    assert apply("setp.lt.xor.s32 %x|%y, %a, %b, !%c;", ["pred", "pred"], *given) == [[0, 1], [1, 0]]


def test_set_gives_ones_or_one():
    given = ("s32", [1]), ("s32", [2])
    assert one("set.lt.u32.s32", "u32", *given) == [0xFFFFFFFF]
    assert one("set.lt.f32.s32", "f32", *given) == [0x3F800000]


def test_slct_takes_minus_zero_as_zero_and_nan_as_negative():
    assert one("slct.u32.f32", "u32", ("u32", [1]), ("u32", [2]), ("f32", [-0.0, NAN, -1.0, 0x80000001])) == [
        1,
        2,
        2,
        2,
    ]
    assert one("slct.ftz.u32.f32", "u32", ("u32", [1]), ("u32", [2]), ("f32", [0x80000001])) == [1]


def test_zero_is_normal():
    assert one("testp.normal.f32", "pred", ("f32", [-0.0, 1.0, 0x00000001, INFINITY])) == [1, 1, 0, 0]


def test_packed_halves_do_not_meet():
    assert one("add.f16x2", "b32", ("b32", [0x3C007BFF]), ("b32", [0x3C007BFF])) == [0x40007C00]
