# writes hopper.cuh (the wgmma wrappers have long register lists)
def wg(n, ty, name):
    r = n // 2
    regs = ",".join(f"%{i}" for i in range(r))
    out = ",".join(f'"+f"(d[{i}])' for i in range(r))
    return f'''
// D[64,{n}] (+)= A[64,16] * B[{n},16]^T, both operands in shared memory, K-major
__device__ __forceinline__ void {name}(float (&d)[{r}], uint64_t descA, uint64_t descB, int scaleD) {{
  asm volatile("{{\\n.reg .pred p;\\nsetp.ne.b32 p, %{r+2}, 0;\\n"
    "wgmma.mma_async.sync.aligned.m64n{n}k16.f32.{ty}.{ty} "
    "{{{regs}}}, %{r}, %{r+1}, p, 1, 1, 0, 0;\\n}}\\n"
    : {out}
    : "l"(descA), "l"(descB), "r"(scaleD));
}}
'''
head = open('hopper_head.cuh').read()
open('hopper.cuh','w').write(head + wg(8,'f16','wgmma_m64n8k16_f16') + wg(128,'bf16','wgmma_m64n128k16') + wg(256,'bf16','wgmma_m64n256k16'))
