"""A convolution's times, simulated and measured, for docs/tune.md: python -m tests.benchmarks.tuning [EVERY [FIRST]]

Of the 900 configurations of traces/measured/convolution_a4000.csv each EVERYth (15) from FIRST on (3, counted from 0)
is simulated as the first step of `simtmm tune` does, by a part of the machine. Nothing is fitted to these times. Told
are a row for each, the mean error, the rank correlation, what the choice costs, and seconds of processors. The tables
are of CUDA 12.0: SIMTMM_CUDA names the folder that it is in (docs/own-kernel.md). All 900, so that they can be stopped,
and those that are done then are drawn from all:

    python -m tests.benchmarks.tuning 1 0 --drawn --kept rows.csv

With --last 11 the so many that are fastest by this are simulated as a search's last step does, as precisely as is
requested.
With --gpu rtx-2080-ti the configurations are those of traces/measured/convolution_2080ti_counters.csv, 250 of a like
kernel. Their clock follows from the counters: cycles in which a scheduler issued are instructions, and a part of all.
"""

import argparse
import csv
import os
import random
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

KERNEL = Path(simtmm.validation.counters.__file__).with_name("convolution.toml")
MEASURED = {"rtx-a4000": "convolution_a4000.csv", "rtx-2080-ti": "convolution_2080ti_counters.csv"}
SIZES = ("block_size_x", "block_size_y", "tile_size_x", "tile_size_y", "read_only", "use_padding")
BEYOND_CORES = ("memory.latency", "memory.service", "memory.turnaround", "memory.store_latency")  # last in seconds
EVERY, FIRST = 15, 3
COLUMNS = ("number", "status", "registers", "blocks", "milliseconds", "error", "bound", "seconds")  # of a row kept
TITLES = (
    "block", "tile", "read-only", "padded", "registers", "measured, ms", "simulated, ms", "stated", "off",
    "bound by", "s",
)  # fmt: skip
SUMMED = ("off, mean", "off, median", "sign, mean", "Spearman", "the choice beyond the best", "lie in the interval")
GROUPS = {
    "blocks of one row": lambda configuration: configuration["BLOCK_SIZE_Y"] == 1,
    "blocks of 2 rows and more": lambda configuration: configuration["BLOCK_SIZE_Y"] > 1,
    "all": lambda configuration: True,
}


def measured_rows(gpu):
    """The rows of what was measured on a GPU, by column."""
    with measured_file(MEASURED[gpu]).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(line for line in file if not line.startswith("#")))


def measured(gpu):
    """Each configuration, and its milliseconds."""
    configurations = []
    for row in measured_rows(gpu):
        time = float(row["milliseconds"]) if "milliseconds" in row else float(row["microseconds"]) / 1000
        configurations.append(({name.upper(): int(row.get(name, 0)) for name in SIZES}, time))
    return configurations


def machine_of(gpu):
    """The GPU's profile; where counters tell what its clock was, at that."""
    machine = load_machine(gpu)
    rows = measured_rows(gpu)
    if "issue_active_percent" not in rows[0]:
        return machine
    schedulers = machine.ports * machine.cores.groups / 100
    hertz = statistics.median(
        float(row["warp_instructions"]) / schedulers / float(row["issue_active_percent"])
        / (float(row["microseconds"]) * 1e-6) for row in rows
    )  # fmt: skip
    longer = hertz / machine.clock_hz
    cycles = dict.fromkeys(BEYOND_CORES, f"x{longer!r}")
    return machine.replace({"clock_hz": hertz, **cycles})


def chosen(configurations, every, first, best, part, drawn):
    """The numbers of the configurations that are simulated: the fastest measured, then each so many-th.

    drawn: these in an order that does not go by what they are, so that as many as are done are a fair sample.
    """
    times = [time for _, time in configurations]
    fastest = sorted(range(len(times)), key=times.__getitem__)[:best]
    others = [number for number in range(first, len(times), every) if number not in fastest]
    if drawn:
        random.Random(0).shuffle(others)
    numbers = [*fastest, *others]
    place, parts = part
    return numbers[place::parts]


def known(path):
    """The rows that a file holds, by number."""
    if path is None or not path.exists():
        return {}
    with path.open(encoding="utf-8", newline="") as file:
        return {int(row[0]): dict(zip(COLUMNS, row, strict=True)) for row in csv.reader(file)}


def simulated(subject, number, configuration):
    """A configuration's row, by COLUMNS."""
    before = living()
    with clock() as running:
        trial = tried(subject, configuration, precisions(DEFAULT_ERROR)[0])
    seconds = running.cpu + living() - before
    told = [trial.registers, trial.blocks, 1e3 * (trial.seconds or 0), trial.error, trial.bound, round(seconds, 2)]
    return dict(zip(COLUMNS, map(str, [number, trial.status, *told]), strict=True))


def main(words):
    """Print a table, and what its rows have in common."""
    options = argparse.ArgumentParser(prog="python -m tests.benchmarks.tuning")
    options.add_argument("every", nargs="?", type=int, default=EVERY)
    options.add_argument("first", nargs="?", type=int, default=FIRST)
    options.add_argument("--best", type=int, default=0, help="the so many that are fastest measured, too")
    options.add_argument("--kept", type=Path, help="a file that rows are kept in: what it holds is not simulated again")
    options.add_argument("--drawn", action="store_true", help="in an order that is drawn, the same each time")
    options.add_argument("--limit", type=int, help="no more than so many of them")
    options.add_argument("--part", type=int, nargs=2, default=(0, 1), help="of several processes, which, of how many")
    options.add_argument("--last", type=int, default=0, help="the so many fastest by this, as a last step does")
    options.add_argument("--gpu", choices=sorted(MEASURED), default="rtx-a4000", help="whose times")
    given = options.parse_args(words)
    machine = machine_of(given.gpu)
    print(f"{machine.name}: {machine.clock_hz / 1e9:.3f} GHz\n")
    subject = Subject(str(KERNEL), {}, machine, None, DEFAULT_MODELS)
    configurations = measured(given.gpu)
    rows = known(given.kept)
    print(f"| {' | '.join(TITLES)} |\n|---|---|---:|---:|---:|---:|---:|---:|---:|---|---:|")
    done = []
    for number in chosen(configurations, given.every, given.first, given.best, given.part, given.drawn)[: given.limit]:
        configuration, time = configurations[number]
        row = rows.get(number)
        if row is None:
            row = simulated(subject, number, configuration)
            if given.kept:
                with given.kept.open("a", encoding="utf-8", newline="") as file:
                    csv.writer(file).writerow(row.values())
        done.append((configuration, time, row))
        x, y, across, down, read_only, padded = configuration.values()
        took = float(row["milliseconds"])
        print(
            f"| {x} x {y} | {across} x {down} | {read_only} | {padded} | {row['registers']} | {time:.3f} | {took:.3f} "
            f"| {100 * float(row['error']):.0f} % | {100 * (took / time - 1):+.1f} % "
            f"| {row['bound'] or row['status']} | {row['seconds']} |",
            flush=True,
        )
    ran = [each for each in done if each[2]["status"] == "done"]
    print(f"\n{len(done) - len(ran)} did not run\n\n| configurations | number | {' | '.join(SUMMED)} |")
    print(f"|---|---:|{'---:|' * len(SUMMED)}")
    for name, belongs in GROUPS.items():
        group = [each for each in ran if belongs(each[0])]
        if len(group) > 1:
            print(f"| {name} | {len(group)} | {' | '.join(summed_up(group))} |")
    if given.last:
        print_last(subject, sorted(ran, key=lambda each: float(each[2]["milliseconds"]))[: given.last])
    seconds = [float(row["seconds"]) for _, _, row in ran]
    print(f"\n{statistics.mean(seconds):.1f} s of processors each, {max(seconds):.1f} s at most")


def print_last(subject, rows):
    """Print configurations by their times in a search's last step. rows: each with its time and its row by COLUMNS."""
    found = []
    for configuration, time, row in rows:
        trial = tried(subject, configuration, DEFAULT_ERROR)
        x, y, across, down, read_only, _ = configuration.values()
        name = f"{x} x {y}, {across} x {down}{', read-only' * read_only}"
        first, last = float(row["milliseconds"]), 1e3 * trial.seconds
        found.append((last, f"| {name} | {time:.3f} | {first:.3f} | {last:.3f} |"))
    print("\n| block, outputs | measured, ms | first step, ms | last step, ms |\n|---|---:|---:|---:|")
    print("\n".join(line for _, line in sorted(found)))


def living():
    """Seconds that processors worked for processes that were started and go on, as the compiler's does."""
    ticks = 0
    for children in Path("/proc/self/task").glob("*/children"):
        for number in children.read_text(encoding="ascii").split():
            fields = Path(f"/proc/{number}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
            ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def summed_up(rows):
    """What rows have in common, by SUMMED."""
    times, took = [time for _, time, _ in rows], [float(row["milliseconds"]) for _, _, row in rows]
    off = [mine / time - 1 for time, mine in zip(times, took, strict=True)]
    lie = sum(abs(each) <= float(row["error"]) / (1 + each) for each, (_, _, row) in zip(off, rows, strict=True))
    yield f"{100 * statistics.mean(map(abs, off)):.1f} %"
    yield f"{100 * statistics.median(map(abs, off)):.1f} %"
    yield f"{100 * statistics.mean(off):+.1f} %"
    yield f"{spearmanr(times, took).statistic:.3f}"
    yield f"{100 * (times[took.index(min(took))] / min(times) - 1):.1f} %"
    yield f"{lie}"


if __name__ == "__main__":
    main(sys.argv[1:])
