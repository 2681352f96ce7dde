"""From kernel to result, as Markdown for docs/scaling.md: python -m tests.benchmarks.traces [KERNEL ...]

Rates and sizes of ten kernels on an H100. Each is recorded in memory, lowered, counted and simulated, and once more
recorded to a file. Times are those of processors, of this process and of those that it started; the last rate is by the
clock on the wall, from kernel to result, as what can goes on on all cores.
"""

import sys
import tempfile
from pathlib import Path

from simtmm import load_machine, record, simulate
from simtmm.trace.counts import lower_and_count
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
            workload, _ = lower_and_count(trace, machine)
        with clock() as simulating:
            simulate(machine, workload)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "t.parquet"
        with clock() as writing:
            record(kernel, parameters, output=path)
        size = path.stat().st_size
    events = trace.info.events
    steps = recording, lowering, simulating
    seconds, wall = sum(step.cpu for step in steps), sum(step.wall for step in steps)
    message = ", ".join(f"{name} = {value:,}" for name, value in parameters.items())
    shown = " | ".join(f"{step.cpu:.2f}" for step in steps)
    return (
        f"| {kernel}, {message} | {events / 1e6:,.1f} | {held(trace) / events:.4f} | {size / events:.5f} | {shown} | "
        f"{writing.cpu:.2f} | {events / seconds / 1e6:.1f} | {events / wall / 1e6:.1f} |"
    )


def main(names):
    """Print the table."""
    print("| kernel | events, millions | bytes of memory an event | of a file | record, s | lower and count, s |"
          " simulate, s | record to a file, s | million events a second of CPU | by the clock |")  # fmt: skip
    print("|---" + "|---:" * 9 + "|")
    for name in names or KERNELS:
        print(row(name, KERNELS[name]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
