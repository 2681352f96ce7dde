"""PTX: a sample, and what is made of one."""

from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.ptx import parse_module

PTX = """.version 8.4
.target sm_90
.address_size 64
.file 1 "k.cu"
.global .align 4 .b8 table[16] = {1, 2, 3, 4};
.visible .entry k(.param .u64 k_param_0, .param .u32 k_param_1)
.maxntid 128, 1, 1
{
    .reg .pred %p<3>;
    .reg .f32 %f<4>;
    .reg .b32 %r<8>;
    .reg .b64 %rd<5>;
    .shared .align 8 .b8 cache[256];
    .loc 1 3 5
    ld.param.u64 %rd1, [k_param_0];
    ld.param.u32 %r1, [k_param_1];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %ntid.x;
    mov.u32 %r4, %tid.x;
    mad.lo.s32 %r5, %r2, %r3, %r4;
    setp.ge.s32 %p1, %r5, %r1;
    @%p1 bra $done;
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.s32 %rd3, %r5, 4;
    add.s64 %rd4, %rd2, %rd3;
    ld.global.f32 %f1, [%rd4];
    fma.rn.f32 %f2, %f1, 0f3F800000, 0f40000000;
    selp.f32 %f3, %f1, %f2, %p1;
    shfl.sync.bfly.b32 %r6|%p2, %r5, 1, 31, -1;
    bar.sync 0;
    st.global.f32 [%rd4+4], %f3;
$done:
    ret;
}
"""


def translated(text):
    """All kernels of a text, as LLVM has them."""
    module = parse_module(text)
    return [Program(module, name).assembly() for name, function in module.functions.items() if function.entry]
