"""Forms of common instructions that compilers use rarely: two f32 in a register, vectors of atomics, wide loads."""

import numpy as np
import pytest

from tests.cuda.execution.kernels import apply, kernel, run

RANDOM = np.random.default_rng(0)


def test_two_f32_in_a_register_are_computed_apart() -> None:
    a, b, c = (RANDOM.normal(size=(32, 2)).astype(np.float32) for _ in range(3))
    text = """add.rn.f32x2 %o0, %i0, %i1; sub.rn.f32x2 %o1, %i0, %i1; mul.rz.f32x2 %o2, %i0, %i1;
    fma.rn.f32x2 %o3, %i0, %i1, %i2;"""
    found = apply(text, [x.view(np.uint64).reshape(-1) for x in (a, b, c)], [np.uint64] * 4)
    add, sub, mul, fma = (x.view(np.float32).reshape(32, 2) for x in found)
    assert np.array_equal(add, a + b)
    assert np.array_equal(sub, a - b)
    exact = a.astype(np.float64) * b
    near = exact.astype(np.float32)
    toward_zero = np.where(np.abs(near.astype(np.float64)) > np.abs(exact), np.nextafter(near, np.float32(0)), near)
    assert np.array_equal(mul, toward_zero)
    # The product is exact in double precision; the sum there is rounded, but not to where two f32 are as near.
    assert np.array_equal(fma, (exact + c).astype(np.float32))


def test_lop3_tells_whether_a_bit_is_set_and_combines_it() -> None:
    a, b, c, d = (RANDOM.integers(0, 4, 64, dtype=np.uint32) for _ in range(4))
    text = """setp.ge.u32 %q0, %i3, 2;
    lop3.or.b32 %o0|%q1, %i0, %i1, %i2, 0x80, %q0; selp.u32 %o1, 1, 0, %q1;
    lop3.and.b32 _|%q2, %i0, %i1, %i2, 0xFE, !%q0; selp.u32 %o2, 1, 0, %q2;"""
    bits, either, both = apply(text, [a, b, c, d], [np.uint32] * 3)
    assert np.array_equal(bits, a & b & c)
    assert np.array_equal(either, ((a & b & c) != 0) | (d >= 2))
    assert np.array_equal(both, ((a | b | c) != 0) & (d < 2))


@pytest.mark.parametrize("kind", ["u16", "s16"])
def test_products_of_16_bits_may_be_wide(kind: str) -> None:
    a, b = (RANDOM.integers(0, 1 << 16, 32).astype(np.uint16) for _ in range(2))
    c = RANDOM.integers(0, 1 << 32, 32, dtype=np.uint32)
    wide, total = apply(
        f"mul.wide.{kind} %o0, %i0, %i1; mad.wide.{kind} %o1, %i0, %i1, %i2;", [a, b, c], [np.uint32] * 2
    )
    signed = np.int16 if kind == "s16" else np.uint16
    product = (a.view(signed).astype(np.int64) * b.view(signed)).astype(np.uint32)
    assert np.array_equal(wide, product)
    assert np.array_equal(total, product + c)


def test_registers_of_128_bits_and_vectors_of_8() -> None:
    given = RANDOM.integers(0, 1 << 32, (32, 8), dtype=np.uint32)
    turned, copied = np.zeros((32, 4), np.uint32), np.zeros((32, 8), np.uint32)
    body = """mad.wide.u32 %at, %lane, 32, %p0; ld.global.v8.b32 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [%at];
    ld.global.b128 %w, [%at]; mov.b128 {%s0, %s1}, %w; mov.b128 %w, {%s1, %s0};
    mad.wide.u32 %at, %lane, 16, %p1; st.global.b128 [%at], %w;
    mad.wide.u32 %at, %lane, 32, %p2; st.global.v8.b32 [%at], {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7};"""
    run(kernel(body, 3, ".reg .b32 %r<8>; .reg .b64 %s<2>; .reg .b128 %w;"), "k", [given, turned, copied])
    assert np.array_equal(copied, given)
    assert np.array_equal(turned, given[:, [2, 3, 0, 1]])


def test_vectors_of_f32_are_added_element_by_element() -> None:
    # All lanes add to one vector; small whole numbers, so that their order does not matter.
    given = RANDOM.integers(-9, 9, (32, 4)).astype(np.float32)
    total, before = np.array([1, 2, 3, 4], np.float32), np.zeros((32, 4), np.float32)
    body = """mad.wide.u32 %at, %lane, 16, %p0; ld.global.v4.f32 {%f0,%f1,%f2,%f3}, [%at];
    atom.global.add.v4.f32 {%f4,%f5,%f6,%f7}, [%p1], {%f0,%f1,%f2,%f3};
    mad.wide.u32 %at, %lane, 16, %p2; st.global.v4.f32 [%at], {%f4,%f5,%f6,%f7};
    red.global.add.v2.f32 [%p1], {%f0,%f1};"""
    run(kernel(body, 3, ".reg .f32 %f<8>;"), "k", [given, total, before])
    sums = np.array([1, 2, 3, 4]) + given.sum(0)
    assert np.array_equal(total, sums + np.array([*given[:, :2].sum(0), 0, 0]))
    assert np.array_equal(before, np.array([1, 2, 3, 4]) + np.cumsum(given, 0) - given)


@pytest.mark.parametrize(("operation", "expected"), [("min", np.fmin), ("max", np.fmax)])
def test_vectors_of_f16_have_their_extremes(operation: str, expected: np.ufunc) -> None:
    given = RANDOM.normal(size=(32, 4)).astype(np.float16)
    given[5, 1] = np.nan
    found = np.zeros(4, np.float16)
    body = f"""mad.wide.u32 %at, %lane, 8, %p0; ld.global.v2.b32 {{%r0,%r1}}, [%at];
    red.global.{operation}.noftz.v2.f16x2 [%p1], {{%r0,%r1}};"""
    run(kernel(body, 2, ".reg .b32 %r<2>;"), "k", [given, found])
    assert np.array_equal(found, expected.reduce(np.concatenate([given, np.zeros((1, 4), np.float16)]), axis=0))


def test_sums_of_f32_flush_small_numbers_in_global_memory_alone() -> None:
    tiny = np.float32(1e-40)
    total, shared = np.array([tiny], np.float32), np.zeros(1, np.float32)
    body = """setp.ne.u32 %q, %lane, 0; @%q ret;
    ld.global.f32 %f0, [%p0]; red.global.add.f32 [%p0], %f0;
    st.shared.f32 [cell], %f0; red.shared.add.f32 [cell], %f0; ld.shared.f32 %f1, [cell]; st.global.f32 [%p1], %f1;"""
    run(kernel(body, 2, ".reg .f32 %f<2>; .reg .pred %q; .shared .f32 cell;"), "k", [total, shared])
    assert total[0] == 0
    assert shared[0] == 2 * tiny


def test_128_bits_are_exchanged_and_compared_at_once() -> None:
    cell = np.array([7, 9], np.uint64)
    found = np.zeros((2, 2), np.uint64)
    body = """setp.ne.u32 %q, %lane, 0; @%q ret;
    mov.u64 %s0, 1; mov.u64 %s1, 2; mov.b128 %w0, {%s0, %s1};
    atom.global.exch.b128 %w1, [%p0], %w0; st.global.b128 [%p1], %w1;
    mov.u64 %s0, 3; mov.b128 %w2, {%s0, %s1};
    atom.global.cas.b128 %w1, [%p0], %w2, %w2;
    atom.global.cas.b128 %w1, [%p0], %w0, %w2; st.global.b128 [%p1+16], %w1;"""
    run(kernel(body, 2, ".reg .b64 %s<2>; .reg .b128 %w<3>; .reg .pred %q;"), "k", [cell, found])
    assert found.tolist() == [[7, 9], [1, 2]]
    assert cell.tolist() == [3, 2]


@pytest.mark.parametrize("nan", [False, True])
def test_extremes_of_f32_over_a_warp(nan: bool) -> None:
    a = RANDOM.normal(size=32).astype(np.float32)
    a[3] = np.nan
    how = ".NaN" if nan else ""
    text = "\n".join(
        f"redux.sync.{what}{how}.f32 %o{n}, %i0, -1;" for n, what in enumerate(("min", "max", "max.abs", "min.abs"))
    )
    found = [x.view(np.float32)[0] for x in apply(text, [a.view(np.uint32)], [np.uint32] * 4)]
    if nan:
        assert all(np.isnan(x) for x in found)
    else:
        assert found == [np.nanmin(a), np.nanmax(a), np.nanmax(np.abs(a)), np.nanmin(np.abs(a))]


def test_a_policy_of_the_cache_changes_nothing() -> None:
    text = """createpolicy.fractional.L2::evict_last.b64 %off, 1.0; ld.global.L2::cache_hint.b32 %o0, [%p0], %off;"""
    a = np.arange(32, dtype=np.uint32)
    assert np.array_equal(apply(text, [a], [np.uint32])[0], a)


def test_a_call_and_a_block_of_many_have_labels_of_their_own() -> None:
    outside = """.func (.param .b32 r) one(.param .b32 a) {
      .reg .b32 %x; ld.param.b32 %x, [a]; add.u32 %x, %x, 1; st.param.b32 [r], %x; ret; }"""
    call = "{ .param .b32 g; .param .b32 b; st.param.b32 [g], %n; call (b), one, (g); ld.param.b32 %n, [b]; }"
    # Each block looks whether there is room in the log, each call whether there is on the stack.
    blocks = "".join(f"M{number}: bar.sync 0; @%q bra M{number};\n" for number in range(70))
    body = f"""mov.u32 %n, %lane; setp.ne.u32 %q, %n, %n; {4 * call} {blocks}
    mad.wide.u32 %at, %lane, 4, %p0; st.global.u32 [%at], %n;"""
    found = np.zeros(32, np.uint32)
    run(kernel(body, 1, ".reg .b32 %n; .reg .pred %q;", outside), "k", [found])
    assert np.array_equal(found, np.arange(32) + 4)
