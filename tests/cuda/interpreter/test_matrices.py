"""Matrix instructions give matrix products, whatever lane holds what."""

import numpy as np
import pytest

from tests.cuda.interpreter.test_launches import cuda, launch, needs_nvrtc, written


def _registers(name, count):
    return ", ".join(f"%{name}{at}" for at in range(count))


def test_m16n8k16_of_halves_is_a_product_of_matrices_laid_out_as_the_isa_draws_them():
    random = np.random.default_rng(0)
    a, b = (random.integers(-4, 5, size).astype(np.float16) for size in ((16, 16), (16, 8)))
    c, d = random.integers(-9, 10, (16, 8)).astype(np.float32), np.zeros((16, 8), np.float32)
    body = """mov.u32 %r0, %laneid; shr.u32 %r1, %r0, 2; and.b32 %r2, %r0, 3;
    mad.lo.u32 %r3, %r1, 32, 0; mad.lo.u32 %r3, %r2, 4, %r3; cvt.u64.u32 %p4, %r3; add.u64 %p4, %p4, %p0;
    .reg .b32 %a<4>, %b<2>, %h<4>; .reg .b16 %s<4>; .reg .f32 %f<4>;
    ld.global.b32 %a0, [%p4]; ld.global.b32 %a1, [%p4+256]; ld.global.b32 %a2, [%p4+16]; ld.global.b32 %a3, [%p4+272];
    mad.lo.u32 %r4, %r2, 32, 0; mad.lo.u32 %r4, %r1, 2, %r4; cvt.u64.u32 %p5, %r4; add.u64 %p5, %p5, %p1;
    ld.global.b16 %s0, [%p5]; ld.global.b16 %s1, [%p5+16]; ld.global.b16 %s2, [%p5+128]; ld.global.b16 %s3, [%p5+144];
    mov.b32 %b0, {%s0, %s1}; mov.b32 %b1, {%s2, %s3};
    mad.lo.u32 %r5, %r1, 32, 0; mad.lo.u32 %r5, %r2, 8, %r5; cvt.u64.u32 %p6, %r5;
    add.u64 %p7, %p6, %p2; add.u64 %p8, %p6, %p3;
    ld.global.v2.f32 {%f0, %f1}, [%p7]; ld.global.v2.f32 {%f2, %f3}, [%p7+256];
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%a0, %a1, %a2, %a3}, {%b0, %b1},
      {%f0, %f1, %f2, %f3};
    st.global.v2.f32 [%p8], {%f0, %f1}; st.global.v2.f32 [%p8+256], {%f2, %f3}; ret;"""
    launch(written(body, 4), 1, 32, a, b, c, d)
    assert (d == a.astype(np.float32) @ b.astype(np.float32) + c).all()


@pytest.mark.parametrize("layout", ["row", "col"])
def test_wmma_multiplies_in_both_layouts(layout):
    body = f"""mov.u32 %r0, 16;
    .reg .b32 %a<8>, %b<8>; .reg .f32 %f<8>;
    wmma.load.a.sync.aligned.{layout}.m16n16k16.global.f16 {{{_registers("a", 8)}}}, [%p0], %r0;
    wmma.load.b.sync.aligned.{layout}.m16n16k16.global.f16 {{{_registers("b", 8)}}}, [%p1], %r0;
    wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {{{_registers("f", 8)}}}, [%p2], %r0;
    wmma.mma.sync.aligned.{layout}.{layout}.m16n16k16.f32.f32 {{{_registers("f", 8)}}}, {{{_registers("a", 8)}}},
      {{{_registers("b", 8)}}}, {{{_registers("f", 8)}}};
    wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%p3], {{{_registers("f", 8)}}}, %r0; ret;"""
    random = np.random.default_rng(1)
    a, b = (random.integers(-4, 5, (16, 16)).astype(np.float16) for _ in range(2))
    c, d = random.integers(-9, 10, (16, 16)).astype(np.float32), np.zeros((16, 16), np.float32)
    launch(written(body, 4), 1, 32, a, b, c, d)
    a, b = (each.astype(np.float32) for each in ((a, b) if layout == "row" else (a.T, b.T)))
    assert (d == a @ b + c).all()


@needs_nvrtc
def test_a_transposed_ldmatrix_is_movmatrix_of_a_straight_one():
    source = """extern "C" __global__ void k(const unsigned short* in, unsigned* both) {
      __shared__ __align__(16) unsigned short m[64];
      m[threadIdx.x] = in[threadIdx.x]; m[threadIdx.x + 32] = in[threadIdx.x + 32];
      __syncwarp();
      unsigned p = (unsigned)__cvta_generic_to_shared(&m[threadIdx.x % 8 * 8]), s, t;
      asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1];" : "=r"(s) : "r"(p));
      asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(s));
      asm volatile("ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%0}, [%1];" : "=r"(t) : "r"(p));
      both[threadIdx.x] = s; both[threadIdx.x + 32] = t;
    }"""
    matrix, both = np.arange(64, dtype=np.uint16).reshape(8, 8), np.zeros(64, np.uint32)
    cuda(source, 1, 32, matrix, both)
    expected = np.ascontiguousarray(matrix.T).view(np.uint32).reshape(-1)
    assert (both[:32] == expected).all()
    assert (both[32:] == expected).all()


def test_an_mbarrier_completes_its_phase_with_the_last_arrival_and_byte():
    out = np.zeros(4, np.uint32)
    body = """.shared .align 8 .b64 bar;
    mov.u32 %r0, bar; mov.u32 %r1, %tid.x; setp.eq.u32 %q0, %r1, 0;
    @%q0 mbarrier.init.shared::cta.b64 [%r0], 33;
    bar.sync 0;
    mbarrier.arrive.shared::cta.b64 %p1, [%r0];
    @!%q0 bra WAIT;
    mbarrier.test_wait.shared::cta.b64 %q1, [%r0], %p1; selp.u32 %r2, 1, 0, %q1; st.global.u32 [%p0], %r2;
    mbarrier.arrive.expect_tx.shared::cta.b64 %p2, [%r0], 16;
    mbarrier.test_wait.shared::cta.b64 %q1, [%r0], %p1; selp.u32 %r2, 1, 0, %q1; st.global.u32 [%p0+4], %r2;
    mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r0], 16;
    WAIT: mbarrier.try_wait.parity.shared::cta.b64 %q1, [%r0], 0;
    @!%q1 bra WAIT;
    mbarrier.test_wait.parity.shared::cta.b64 %q2, [%r0], 1; selp.u32 %r2, 7, 5, %q2; st.global.u32 [%p0+8], %r2;
    ret;"""
    launch(written(body), 1, 32, out)
    assert out.tolist() == [0, 0, 5, 0]
