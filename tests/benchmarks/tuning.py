"""A convolution's times, simulated and measured, for docs/tune.md: python -m tests.benchmarks.tuning [EVERY [FIRST]]

Of the 900 configurations of traces/measured/convolution_a4000.csv each EVERYth (15) from FIRST on (3, counted from 0)
is simulated as the first step of `simtmm tune` does, by a part of the machine. Nothing is fitted to these times. Told
are a row for each, the rank correlation, the mean error, what the choice costs, and seconds of processors.
"""

import csv
import os
import statistics
import sys
from pathlib import Path

from scipy.stats import spearmanr

import simtmm.validation.counters
from simtmm import load_machine
from simtmm.analysis.tuning.halving import precisions
from simtmm.analysis.tuning.trial import Subject, tried
from simtmm.analysis.tuning.tune import DEFAULT_MODELS
from simtmm.sampling import DEFAULT_ERROR
from simtmm.validation.cases.measured_files import measured_file
from tests.benchmarks.scaling import clock

MACHINE = "rtx-a4000"
KERNEL = Path(simtmm.validation.counters.__file__).with_name("convolution.toml")
MEASURED = "convolution_a4000.csv"
EVERY, FIRST = 15, 3


def measured():
    """Each configuration, and its milliseconds."""
    with measured_file(MEASURED).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    names = [name for name in rows[0] if name != "milliseconds"]
    return [({name.upper(): int(row[name]) for name in names}, float(row["milliseconds"])) for row in rows]


def main(words):
    """Print a table, and what its rows have in common."""
    every, first = (int(word) for word in (*words, *map(str, (EVERY, FIRST)[len(words) :])))
    subject = Subject(str(KERNEL), {}, load_machine(MACHINE), None, DEFAULT_MODELS)
    print(
        "| block | tile | read-only | padded | registers | measured, ms | simulated, ms | stated | off | bound by | s |"
        "\n"
        "|---|---|---:|---:|---:|---:|---:|---:|---:|---|---:|"
    )
    done, seconds, failed = [], [], 0
    for configuration, time in measured()[first::every]:
        before = living()
        with clock() as running:
            trial = tried(subject, configuration, precisions(DEFAULT_ERROR)[0])
        seconds.append(running.cpu + living() - before)
        if trial.status != "done":
            failed += 1
            print(f"{configuration}: {trial.status}: {trial.reason}", flush=True)
            continue
        simulated = 1e3 * trial.seconds
        done.append((time, simulated))
        x, y, across, down, read_only, padded = configuration.values()
        print(
            f"| {x} x {y} | {across} x {down} | {read_only} | {padded} | {trial.registers} | {time:.3f} | "
            f"{simulated:.3f} | {100 * trial.error:.0f} % | {100 * (simulated / time - 1):+.1f} % | {trial.bound} | "
            f"{seconds[-1]:.1f} |",
            flush=True,
        )
    print(f"\n{summed_up(done, seconds, failed)}")


def living():
    """Seconds that processors worked for processes that were started and go on, as the compiler's does."""
    ticks = 0
    for children in Path("/proc/self/task").glob("*/children"):
        for number in children.read_text(encoding="ascii").split():
            fields = Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def summed_up(done, seconds, failed):
    """What rows have in common, in words. done: times measured and simulated, of each."""
    off = [abs(simulated / time - 1) for time, simulated in done]
    chosen, _ = min(done, key=lambda row: row[1])
    best = min(time for time, _ in done)
    return (
        f"{len(done)} configurations ({failed} more did not run): Spearman's rank correlation "
        f"{spearmanr(*zip(*done, strict=True)).statistic:.3f}; off by {100 * statistics.mean(off):.1f} % on average, "
        f"{100 * statistics.median(off):.1f} % in the median; the one that is fastest by simulation takes "
        f"{100 * (chosen / best - 1):.1f} % longer than the fastest measured; {statistics.mean(seconds):.1f} s of "
        f"processors each, {max(seconds):.1f} s at most."
    )


if __name__ == "__main__":
    main(sys.argv[1:])
