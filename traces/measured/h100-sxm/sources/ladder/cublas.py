# cuBLAS (through PyTorch) on the same inputs, as kernel 7 in main's CSV format: python3 cublas.py [n...]
import sys, time
import numpy as np
import torch
def gen(n, seed):
    h = np.arange(n * n, dtype=np.uint32) * np.uint32(2654435761) + np.uint32(seed * 0x9E3779B9 & 0xffffffff)
    h ^= h >> np.uint32(16); h *= np.uint32(0x85ebca6b); h ^= h >> np.uint32(13); h *= np.uint32(0xc2b2ae35); h ^= h >> np.uint32(16)
    v = ((((h >> np.uint32(8)) & np.uint32(0xff)).astype(np.int32) - 128) / 64).astype(np.float32).reshape(n, n)
    return torch.from_numpy(v).cuda().to(torch.bfloat16)
for n in map(int, sys.argv[1:] or [512, 2048, 4096, 8192]):
    a, b = gen(n, 1), gen(n, 2)
    out = torch.empty(n, n, dtype=torch.bfloat16, device="cuda")
    torch.cuda.synchronize(); time.sleep(0.3)
    for _ in range(3): torch.mm(a, b.T, out=out)
    ev = [(torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)) for _ in range(10)]
    for s, e in ev:
        s.record(); torch.mm(a, b.T, out=out); e.record()
    torch.cuda.synchronize()
    us = sorted(s.elapsed_time(e) * 1e3 for s, e in ev)
    med = (us[4] + us[5]) / 2
    err = (out[:64].float() - a[:64].float() @ b.float().T).abs().max().item()
    print(f"7,{n},{med:.2f},{2*n**3/med*1e-6:.1f},{err:.6g},,,,,{us[0]:.2f},", flush=True)
