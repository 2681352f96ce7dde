"""Instrumented PTX, as Markdown for docs/gpu.md: python -m tests.benchmarks.instrumented [KERNEL ...]

Of simtmm's kernels and those of tests/recorder/gpu_kernels.py: whether ptxas assembles the instrumented module for each
architecture, how many sites it has, how much longer its text is, and whether what it writes behind the stand-in for
CuPy is the trace of a recording on the CPU. A kernel is looked at in a process of its own.
"""

import subprocess
import sys
import tempfile
from multiprocessing import get_context
from pathlib import Path

from simtmm import record
from simtmm.cuda.compilers.wheels import find_tool
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.instrumentation.module import instrumented
from simtmm.kernel import kernel_folders, load_kernel
from simtmm.recorder.compiled.module import module_of
from tests.kernels.test_kernels import CASES
from tests.recorder.gpu_kernels import PLAIN
from tests.recorder.ptx_cupy import PtxCupy

ARCHITECTURES = (75, 80, 86, 89, 90, 100, 120)
RECORDED = 90


def main(names):
    """Print the table; the status is 1 where a kernel is not assembled or has another trace."""
    print("| kernel | sites | text | assembled for sm_ | events | same trace |")
    print("|---|---:|---:|---|---:|---|")
    wrong = False
    for name in names or [*kernel_folders(), *PLAIN]:
        with get_context("spawn").Pool(1) as pool:
            line, right = pool.apply(row, (name,))
        wrong |= not right
        print(line, flush=True)
    return int(wrong)


def row(name):
    """A line of the table, and whether all is well."""
    sys.modules["cupy"] = PtxCupy()
    KernelFunction.is_quick = True
    with tempfile.TemporaryDirectory() as folder:
        if name in PLAIN:
            kernel, parameters, first = PLAIN[name].program(Path(folder)), {}, PLAIN[name].architecture
        else:
            kernel, parameters, first = load_kernel(name), min(CASES[name].events_at, key=str), 0
        architectures = [each for each in ARCHITECTURES if each >= first]
        assembled = []
        for architecture in architectures:
            plain = module_of(kernel, kernel.resolve(parameters), architecture).units[0].ptx
            module = instrumented(plain)
            path = Path(folder) / "k.ptx"
            path.write_text(module.ptx)
            command = [find_tool("ptxas"), f"-arch=sm_{architecture}", path, "-o", path.with_suffix(".cubin")]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                print(done.stderr, file=sys.stderr)
            else:
                assembled.append(architecture)
        cpu = record(kernel, parameters, form="ptx", architecture=RECORDED)
        gpu = record(kernel, parameters, on="gpu", form="ptx", architecture=RECORDED)
    same = cpu.info.digest == gpu.info.digest
    grown = f"{len(module.ptx) / len(plain):.0f}x"
    words = ", ".join(map(str, assembled))
    line = f"| {name} | {module.sites} | {grown} | {words} | {gpu.info.events:,} | {'yes' if same else 'NO'} |"
    return line, same and assembled == architectures


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
