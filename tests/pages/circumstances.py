"""What examples of pages stand on: files that a page takes for granted, and what can't be had everywhere."""

import json
import shutil
from importlib.util import find_spec
from pathlib import Path

from tests.pages.examples import ROOT, files

# What no machine without these has; each by a piece of its text
ELSEWHERE = {
    "--on gpu": "a GPU",
    "measure ": "a GPU",
    "--device 0": "a GPU",
    "micro.csv": "a GPU",
    "tcp://10.0.0.1": "a Dask cluster",
    "kernelslist.g": "a trace of Accel-Sim",
    "t.parquet -m a100-80": "a trace of Accel-Sim",
    "--kernel-path my-kernels": "a kernel of written-kernel.md, whose tests run it",
    "my-kernels/dot-product": "a kernel of written-kernel.md, whose tests run it",
    "dot-product": "a kernel of written-kernel.md, whose tests run it",
}
PACKAGES = {
    "scripts/numba_": "numba_cuda",
    "scripts/triton_": "triton",
    "--sampler": "optuna",
}  # extras, by what uses them
# Commands that make what an example takes for granted, by a piece of its text
SWEEP = "simtmm sweep list-ranking-wyllie -m gtx280 --vary n=256,512 --compute simulated --compute tmm -j 1"
BEFORE = {
    "study.sqlite --picture curves.pdf": f"{SWEEP} -m gtx480 --vary threads=64,128 --store study.sqlite",
    "study.sqlite --picture heat.pdf": f"{SWEEP} --vary memory.latency=250,500 --store heat.sqlite",
}
INSTEAD = {"study.sqlite --picture heat.pdf": "heat.sqlite", "study.sqlite --picture ratios.pdf": "heat.sqlite"}
# Lines of Python that are parts: a program's, a test's, a kernel's
PARTS = {
    "kernels.md": "a kernel's host.py",
    "written-kernel.md": "a kernel's host.py",
    "scripts.md": "a program that launches, and a test's body",
}
KERNEL = """__device__ float x[1000000];
__global__ void scale(int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = 2 * x[i];
}
"""
SCRIPT = """import cupy

scale = cupy.RawKernel('extern "C" __global__ void scale(float* x) { x[threadIdx.x] *= 2; }', "scale")
scale((1,), (256,), (cupy.ones(256, dtype=cupy.float32),))
"""
TIMES = """kernel,parameters,machine,seconds
list-ranking-wyllie,n=4096;threads=128,gtx280,6.1e-5
matrix-multiplication,n=64,h200,1.2e-5
"""
LINE = "x,seconds\n1,1.1e-5\n2,2.0e-5\n4,4.1e-5\n"


def write_files(page: Path, folder: Path) -> None:
    """Write the page's files, and those that it takes for granted."""
    shown = files(ROOT / "docs" / "own-kernel.md") | files(ROOT / "docs" / "cuda-programs.md") | files(page)
    texts = {
        "workload.json": json.dumps({"blocks": [{"warps": [[["compute", 4], ["load", [0]]]]}]}),
        "times.csv": LINE if page.name == "README.md" else TIMES,
        "before.cu": KERNEL,
        "after.cu": KERNEL.replace("2 * x[i]", "x[i] + x[i]"),
        "script.py": SCRIPT,
        "rules.py": "def youngest(ready, group):\n    return max(ready, key=lambda warp: warp.age)\n",
        "program.cu": shown["reverse.cu"].replace("atoi(argv[1])", "1000"),
        **shown,
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    shutil.copy(ROOT / "traces" / "list-ranking-wyllie.parquet", folder / "trace.parquet")
    shutil.copytree(ROOT / "docs" / "scripts", folder / "docs" / "scripts")
    shutil.copytree(ROOT / "traces" / "measured", folder / "traces" / "measured")
    (folder / "tests" / "programs").mkdir(parents=True)
    for name in ("hopper_gemm.cu", "check.h"):
        shutil.copy(ROOT / "tests" / "programs" / name, folder / "tests" / "programs")


def before(text: str) -> str:
    """The command that makes what an example takes for granted; "" for none."""
    return next((command for piece, command in BEFORE.items() if piece in text), "")


def instead(text: str) -> str:
    """The example with the file that was made for it: several of a page stand for different studies by one name."""
    return next((text.replace("study.sqlite", name) for piece, name in INSTEAD.items() if piece in text), text)


def elsewhere(text: str) -> str:
    """What an example needs that is not here; "" for one that runs."""
    absent = {piece: what for piece, what in PACKAGES.items() if find_spec(what) is None}
    return next((what for piece, what in {**ELSEWHERE, **absent}.items() if piece in text), "")
