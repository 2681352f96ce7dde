"""From kernel to result, as Markdown for docs/scaling.md: python -m tests.benchmarks.traces [KERNEL ...]

Rates and sizes of ten kernels on an H100. Each is recorded in memory, lowered, counted and simulated, and once more
recorded to a file. Times are those of processors, of this process and of those that it started.
"""

import sys
import tempfile
from pathlib import Path

from simtmm import count, load_machine, lower, record, simulate
from tests.benchmarks.scaling import clock

MACHINE = "h100-sxm"
KERNELS = {
    "gemm": {"n": 320},
    "matrix-multiplication": {"n": 256},
    "stream": {"n": 1 << 23},
    "transpose": {"n": 1 << 14},
    "reduce": {"n": 1 << 23},
    "fft": {"n": 1 << 19},
    "histogram": {"n": 1 << 24},
    "spmv-csr": {"n": 1 << 17},
    "list-ranking-wyllie": {"n": 1 << 17},
    "bfs": {"n": 1 << 16},
}
LAUNCHES_ONLY = {"n": 64}  # of each, once, so that all is compiled


def held(trace):
    """Bytes of memory that a trace takes."""
    pieces = trace._source
    return sum(getattr(piece, "bytes", None) or piece.events.nbytes for piece in pieces)


def row(kernel, parameters):
    """A line of the table."""
    machine = load_machine(MACHINE)
    for used in (LAUNCHES_ONLY, parameters):
        with clock() as recording:
            trace = record(kernel, used, most_events=1 << 40)
        with clock() as lowering:
            workload = lower(trace, machine)
        with clock() as counting:
            count(trace, machine, workload)
        with clock() as simulating:
            simulate(machine, workload)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        with clock() as writing:
            record(kernel, parameters, output=path)
        size = path.stat().st_size
    events = trace.info.events
    seconds = sum(step.cpu for step in (recording, lowering, counting, simulating))
    said = ", ".join(f"{name} = {value:,}" for name, value in parameters.items())
    steps = " | ".join(f"{step.cpu:.2f}" for step in (recording, lowering, counting, simulating))
    return (
        f"| {kernel}, {said} | {events / 1e6:,.1f} | {held(trace) / events:.3f} | {size / events:.5f} | {steps} | "
        f"{events / seconds / 1e6:.1f} | {writing.cpu:.2f} |"
    )


def main(names):
    """Print the table."""
    print("| kernel | events, millions | bytes of memory an event | of a file | record, s | lower, s | count, s |"
          " simulate, s | million events a second | record to a file, s |")  # fmt: skip
    print("|---" + "|---:" * 9 + "|")
    for name in names or KERNELS:
        print(row(name, KERNELS[name]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
