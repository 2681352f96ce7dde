"""python -m tests.benchmarks.launches [FOLDER]: what many short launches of a program cost, in processor time.

FOLDER: another checkout, which is run in turns with this one, on the same machine.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
TURNS = 3
SOURCE = """#include <cstdlib>
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
CASES = {
    "one launch": (1, 1),
    "1,000 equal launches": (1000, 1),
    "1,000 launches, each with another argument": (1000, 1000),
}


def seconds(root: Path, folder: Path, launches: int, kinds: int) -> float:
    """Processor seconds of a command, of all processes that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    words = ["run", "launches.cu", "--machine", "h100-pcie", "--", str(launches), str(kinds)]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    subprocess.run(
        [sys.executable, "-m", "simtmm", *words], cwd=folder, env=environment, capture_output=True, check=True
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main(others: list[str]) -> None:
    """Print a row of a table for each case: the least of some turns, of each checkout."""
    roots = [*map(Path, others), ROOT]
    print("| what | " + " | ".join([*("before, s" for _ in others), "now, s"]) + " |")
    print("|---|" + "---:|" * len(roots))
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "launches.cu").write_text(SOURCE)
        for name, (launches, kinds) in CASES.items():
            for root in roots:
                seconds(root, Path(folder), launches, kinds)  # what it compiles is kept
            taken = [[seconds(root, Path(folder), launches, kinds) for root in roots] for _ in range(TURNS)]
            least = [min(of_root) for of_root in zip(*taken, strict=True)]
            print(f"| {name} | " + " | ".join(f"{each:.2f}" for each in least) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
