"""From kernel to result, before and now, as Markdown for docs/scaling.md.

python -m tests.benchmarks.traces, or with names of kernels. Rates and sizes of ten kernels on an H100: each is recorded
in memory, lowered, counted and simulated, and once more recorded to a file. Times are those of processors, of this
process and of those that it started, each the least of three runs, as the first one pays for memory that no process has
had before; the last rate is by the clock on the wall, from kernel to result, as what can goes on on all cores.

Before: with an event for each thing that each thread did; the command of the same name in the last version that did so
printed these figures, of one run each.
"""

import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

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
RUNS = 3


def held(trace):
    """Bytes of memory that a trace takes."""
    pieces = trace._source
    return sum(getattr(piece, "bytes", None) or piece.events.nbytes for piece in pieces)


class Figures(NamedTuple):
    """What is measured of a kernel: bytes an event, and seconds of processors."""

    memory: float
    file: float
    record: float
    lower: float  # and count
    simulate: float
    write: float  # recording to a file

    @property
    def seconds(self):
        """From kernel to result."""
        return self.record + self.lower + self.simulate


BEFORE = {
    "gemm": Figures(16, 0.4273, 17.81, 4.23 + 1.70, 0.61, 17.49),
    "matrix-multiplication": Figures(16, 0.1576, 2.89, 1.51 + 0.51, 0.07, 5.09),
    "stream": Figures(16, 0.2297, 3.35, 0.75 + 0.36, 0.34, 6.14),
    "transpose": Figures(16, 0.6845, 0.67, 0.25 + 0.09, 0.06, 1.37),
    "reduce": Figures(16, 0.1759, 5.87, 1.11 + 0.81, 0.26, 8.10),
    "fft": Figures(16, 0.2931, 1.53, 0.58 + 0.22, 0.23, 3.51),
    "histogram": Figures(16, 1.5132, 2.48, 1.08 + 0.28, 0.48, 4.85),
    "spmv-csr": Figures(16, 1.6835, 0.66, 0.17 + 0.04, 0.37, 1.12),
    "list-ranking-wyllie": Figures(16, 1.2873, 0.84, 0.28 + 0.09, 0.42, 1.46),
    "bfs": Figures(16, 0.9792, 2.09, 0.13 + 0.06, 0.22, 2.58),
}


def measured(kernel, parameters):
    """Events, figures, and seconds by the clock from kernel to result."""
    machine = load_machine(MACHINE)
    simulate(machine, lower_and_count(record(kernel, LAUNCHES_ONLY), machine)[0])
    runs = []
    for _ in range(RUNS):
        with clock() as recording:
            trace = record(kernel, parameters, most_events=1 << 40)
        with clock() as lowering:
            workload, _ = lower_and_count(trace, machine)
        with clock() as simulating:
            simulate(machine, workload)
        events, memory = trace.info.events, held(trace)
        del trace, workload
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "t.parquet"
            with clock() as writing:
                record(kernel, parameters, output=path)
            size = path.stat().st_size
        runs.append((recording, lowering, simulating, writing))
    least = [min(step.cpu for step in steps) for steps in zip(*runs, strict=True)]
    wall = min(sum(step.wall for step in run[:3]) for run in runs)
    return events, Figures(memory / events, size / events, *least), wall


def row(kernel, parameters):
    """A line of the table."""
    events, now, wall = measured(kernel, parameters)
    before, millions = BEFORE[kernel], events / 1e6
    cells = (
        f"{kernel}, " + ", ".join(f"{name} = {value:,}" for name, value in parameters.items()),
        f"{millions:,.1f}",
        f"{before.memory:.0f} → {now.memory:.4f}",
        f"{before.file:.4f} → {now.file:.5f}",
        f"{before.record:.2f} → {now.record:.2f}",
        f"{before.lower:.2f} → {now.lower:.2f}",
        f"{before.simulate:.2f} → {now.simulate:.2f}",
        f"{before.write:.2f} → {now.write:.2f}",
        f"{millions / before.seconds:.1f} → {millions / now.seconds:.1f}",
        f"{millions / wall:.1f}",
    )
    return f"| {' | '.join(cells)} |"


def main(names):
    """Print the table."""
    print("| kernel | events, millions | bytes of memory an event | of a file | record, s | lower and count, s |"
          " simulate, s | record to a file, s | million events a second of CPU | by the clock, now |")  # fmt: skip
    print("|---" + "|---:" * 9 + "|")
    for name in names or KERNELS:
        print(row(name, KERNELS[name]), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
