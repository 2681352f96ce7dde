"""python -m tests.benchmarks.commands [--against FOLDER] [--installed PYTHON] [NAME...]: processor time of commands.

Each is run as a user types it, of all processes that it starts, after a run that fills the caches; `empty cache` in a
name: with none. Other checkouts are run in turns with this one, on the same machine, and so is what is installed for
another Python: a wheel brings compiled code with it. NAME: a part of a case's name.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
TURNS = 3
LAUNCHES = """#include <cstdlib>
__global__ void scale(float* x, int n, float by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * 0.5f + by;
}
int main(int, char** words)
{
    int launches = atoi(words[1]), kinds = atoi(words[2]), n = 256;
    float* x;
    cudaMalloc(&x, n * sizeof(float));
    cudaMemset(x, 0, n * sizeof(float));
    for (int launch = 0; launch < launches; ++launch) scale<<<2, 128>>>(x, n, launch % kinds);
    cudaDeviceSynchronize();
    cudaFree(x);
}
"""
KINDS = """#include <utility>
template <int kind> __global__ void scale(float* x, int n, float by)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] = x[i] * (0.5f + kind) + by;
}
using Kernel = void (*)(float*, int, float);
template <int... kinds> void launch_all(float* x, int n, std::integer_sequence<int, kinds...>)
{
    Kernel kernels[] = {scale<kinds>...};
    for (int launch = 0; launch < 10000; ++launch)
        kernels[launch % sizeof...(kinds)]<<<2, 128>>>(x, n, launch / int(sizeof...(kinds)) % 10);
}
int main()
{
    float* x;
    cudaMalloc(&x, 256 * sizeof(float));
    cudaMemset(x, 0, 256 * sizeof(float));
    launch_all(x, 256, std::make_integer_sequence<int, 100>());
    cudaDeviceSynchronize();
    cudaFree(x);
}
"""
SAXPY = """__global__ void saxpy(int n, float a, const float* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = a * x[i] + y[i];
}
"""
PRODUCT = """__global__ void product(const float* a, const float* b, float* c, int n)
{
    int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; ++k) sum += a[row * n + k] * b[k * n + column];
    c[row * n + column] = sum;
}
"""
TILED = """__global__ void tiled(const float* a, const float* b, float* c, int n)
{
    __shared__ float as[16][16], bs[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int tile = 0; tile < n; tile += 16) {
        as[threadIdx.y][threadIdx.x] = a[row * n + tile + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = b[(tile + threadIdx.y) * n + column];
        __syncthreads();
        for (int k = 0; k < 16; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
"""
THRUST = """#include <thrust/device_vector.h>
#include <thrust/reduce.h>
#include <thrust/scan.h>
#include <thrust/sort.h>
int main()
{
    thrust::device_vector<int> keys(3000), values(3000);
    for (int i = 0; i < 3000; i++) keys[i] = i * 7919 % 37, values[i] = i;
    thrust::sort_by_key(keys.begin(), keys.end(), values.begin());
    thrust::device_vector<int> sums(3000);
    thrust::inclusive_scan(values.begin(), values.end(), sums.begin());
    return thrust::reduce(values.begin(), values.end()) != sums[2999];
}
"""
FILES = {
    "launches.cu": LAUNCHES, "kinds.cu": KINDS, "saxpy.cu": SAXPY, "product.cu": PRODUCT, "tiled.cu": TILED,
    "thrust.cu": THRUST,
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A command that is timed.

    words: of the command. turns: how often. cold: whether its caches are empty each time.
    """

    words: Sequence[str]
    turns: int = TURNS
    cold: bool = False


def _launches(count: int, kinds: int) -> Case:
    return Case(["run", "launches.cu", "--machine", "h100-pcie", "--", str(count), str(kinds)])


def _product(file: str, n: int, machine: str, *more: str, turns: int = TURNS) -> Case:
    grid, arrays = f"{n // 16},{n // 16}", [f"{name}=random:float32:{n * n}" for name in "ab"]
    arguments = [word for each in (*arrays, f"c=zeros:float32:{n * n}", f"n={n}") for word in ("--arg", each)]
    return Case(["run", file, "--machine", machine, "--grid", grid, "--block", "16,16", *arguments, *more], turns)


_SAXPY = ["run", "saxpy.cu", "--machine", "h100-pcie", "--grid", "4096", "--block", "256"]
_SAXPY += [word for each in ("n=1048576", "a=2f", *(f"{name}=random:float32:1048576" for name in "xy"))
           for word in ("--arg", each)]  # fmt: skip
_GEMM = ["run", "gemm", "-p", "n=1024", "--machine", "h100-pcie"]
CASES = {
    "saxpy.cu, 2^20": Case(_SAXPY),
    "saxpy.cu, 2^20, empty cache": Case(_SAXPY, cold=True),
    "stream, n = 65,536, A100": Case(["run", "stream", "-p", "n=65536", "--machine", "a100-40"]),
    "one launch": _launches(1, 1),
    "1,000 equal launches": _launches(1000, 1),
    "1,000 launches, each with another argument": _launches(1000, 1000),
    "10,000 launches of 100 kernels": Case(["run", "kinds.cu", "--machine", "h100-pcie"], 1),
    "Thrust: a sort, a scan and a sum of 3,000": Case(["run", "thrust.cu", "--machine", "h100-pcie"]),
    "tiled product, n = 512": _product("tiled.cu", 512, "h100-pcie"),
    "plain product, n = 4,096, sampled, RTX A6000": _product(
        "product.cu", 4096, "rtx-a6000", "--sample", "auto", turns=1
    ),
    "gemm, n = 1,024, sampled": Case([*_GEMM, "--sample", "auto"], 1),
    "gemm, n = 1,024, whole": Case(_GEMM, 1),
}


@dataclass(frozen=True)
class Subject:
    """What is timed. title: of its column. root: of a checkout; None for what is installed for the Python."""

    title: str
    root: Path | None
    python: str = sys.executable


def seconds(subject: Subject, folder: Path, case: Case) -> float:
    """Processor seconds of a command, of all processes that it starts."""
    environment = {**os.environ, "PYTHONPATH": str(subject.root)}
    if subject.root is None:
        del environment["PYTHONPATH"]
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    with tempfile.TemporaryDirectory() as empty:
        if case.cold:
            environment["XDG_CACHE_HOME"] = empty
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        words = [subject.python, "-m", "simtmm", *case.words]
        subprocess.run(words, cwd=folder, env=environment, capture_output=True, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Print a row of a table for each case: the least of some turns, of each checkout."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.commands", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="a part of a case's name; all cases if left out")
    parser.add_argument("--against", action="append", type=Path, default=[], metavar="FOLDER", help="another checkout")
    parser.add_argument(
        "--installed", metavar="PYTHON", help="a Python for which simtmm is installed, from a wheel say"
    )
    asked = parser.parse_args()
    chosen = {name: case for name, case in CASES.items() if not asked.names or any(n in name for n in asked.names)}
    subjects = [*(Subject("before, s", root) for root in asked.against), Subject("now, s", ROOT)]
    if asked.installed:
        subjects.append(Subject("installed, s", None, asked.installed))
    print("| what | " + " | ".join(subject.title for subject in subjects) + " |")
    print("|---|" + "---:|" * len(subjects))
    with tempfile.TemporaryDirectory() as folder:
        for file, text in FILES.items():
            (Path(folder) / file).write_text(text)
        for name, case in chosen.items():
            if not case.cold:
                for subject in subjects:
                    seconds(subject, Path(folder), case)  # what it compiles is kept
            taken = [[seconds(subject, Path(folder), case) for subject in subjects] for _ in range(case.turns)]
            least = [min(of_one) for of_one in zip(*taken, strict=True)]
            print(f"| {name} | " + " | ".join(f"{each:.2f}" for each in least) + " |", flush=True)


if __name__ == "__main__":
    main()
