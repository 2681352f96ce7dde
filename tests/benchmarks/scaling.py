"""How studies scale, as Markdown for docs/scaling.md: python -m tests.benchmarks.scaling [PART ...]

Parts: cores, point, stored, closed, dask; all if none is named. A quiet machine is needed for times of the clock; CPU
time, of this process and of those that it started, is told beside them.
"""

import os
import platform
import resource
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from time import perf_counter

from simtmm.computer import cores
from simtmm.study.design.design import design_of
from simtmm.study.design.points import points_of
from simtmm.study.design.study_file import study_of
from simtmm.study.store.store import Store
from simtmm.study.sweep import sweep
from tests.study.programs import write

REPEATS = 3  # the median is told
CLOSED = ["list-ranking", "--vary", "n=1e3:1e9:log:{0}", "--vary", "memory.latency=100:1000:linear:{0}"]


class Clock:
    """Seconds that went by, and those that processors worked for us."""

    wall = cpu = 0.0


@contextmanager
def clock():
    """A Clock that is set at the end; processes count once they have ended."""
    result, before, begun = Clock(), _cpu(), perf_counter()
    yield result
    result.wall, result.cpu = perf_counter() - begun, _cpu() - before


def _cpu():
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def study(folder, points, compute=("simulated",), **changes):
    """A trace over that many latencies."""
    axes = {"memory.latency": f"100:1600:linear:{points}"}
    tables = {"program": str(folder / "traced.parquet"), "machines": [str(folder / "small.toml")]}
    return design_of(study_of({**tables, "axes": axes, "compute": list(compute), "set": changes}))


def simulated(store):
    """Seconds that the points in a store took themselves."""
    with Store(store, make=False) as opened:
        rows = opened._database.execute("SELECT max(seconds) FROM results GROUP BY point").fetchall()
    return sum(seconds for (seconds,) in rows)


def run(folder, made, **where):
    """A sweep into a fresh store: its Clock, and the seconds of its points."""
    store = folder / "s.sqlite"
    store.unlink(missing_ok=True)
    with clock() as took:
        done = sweep(made, store, **where)
    assert done.number("done") == made.size
    return took, simulated(store)


def command(folder, *words):
    """A command of its own process, and its Clock."""
    with clock() as took:
        subprocess.run([sys.executable, "-m", "simtmm", *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return took


def of_cores(folder, points=200):
    """One core and two, over points of less than a tenth of a second, and of three times that."""
    for rounds, repeats in ((48, REPEATS), (144, 1)):
        yield from _of_cores(folder, points, rounds, repeats)


def _of_cores(folder, points, rounds, repeats):
    alone = {"cores.warp_width": 1}  # as many warps as threads, so that there is more to simulate than to read
    result = study(write(folder, blocks=256, threads=128, rounds=rounds), points, **alone)
    run(folder, study(folder, 2, **alone), workers=1)  # compile
    alone, both = ([run(folder, result, workers=n) for _ in range(repeats)] for n in (1, 2))
    one, two = (median(took.wall for took, _ in runs) for runs in (alone, both))
    yield f"{points} points of {1e3 * alone[0][1] / points:.0f} ms, 1 worker", f"{one:.2f} s", ""
    yield f"{points} points, 2 workers", f"{two:.2f} s", ""
    yield "of perfect scaling from one core to two", f"{one / two / 2:.0%}", "at least 85 %"
    ratio = median(took.cpu for took, _ in alone) / median(took.cpu for took, _ in both)
    yield "the same by CPU time, which other programs disturb less", f"{ratio:.0%}", ""


def of_a_point(folder, points=1000):
    """What a point costs beside its simulation: planning, handing over, storing, gathering."""
    result = study(write(folder), points, ("simulated", "tmm"))
    run(folder, study(folder, 2), workers=1)
    for workers in (1, 2):
        runs = [run(folder, result, workers=workers) for _ in range(REPEATS)]
        with clock() as planned:
            points_of(study(folder, points, ("simulated", "tmm")))
        beyond = median(took.cpu - seconds for took, seconds in runs) + planned.cpu
        wall = median(took.wall for took, _ in runs) + planned.wall
        own = median(seconds for _, seconds in runs)
        reported = f"{1e3 * beyond / points:.2f} ms CPU; {1e3 * (wall - own / workers) / points:.2f} ms"
        yield f"a point beyond its simulation, {workers} worker{'s' * (workers > 1)}", reported, "under 5 ms"


def of_stored(folder, points=10_000):
    """Points in a store: to go on from it, and to report them."""
    write(folder)
    words = ["traced.parquet", "-m", "small.toml", "--vary", f"memory.latency=100:1600:linear:{points // 4}"]
    words += ["--vary", "cores.max_threads_per_core=4,8,12,16", "--store", "stored.sqlite"]
    command(folder, "sweep", *words)
    again, page = command(folder, "sweep", *words), command(folder, "report", "stored.sqlite", "-o", "r.html")
    size = f"{points:,} stored points"
    yield f"{size}: open and tell (`simtmm sweep` again)", f"{again.wall:.2f} s; {again.cpu:.2f} s CPU", "under 5 s"
    yield (
        f"{size}: open and write the page (`simtmm sweep report`)",
        f"{page.wall:.2f} s; {page.cpu:.2f} s CPU",
        "under 5 s",
    )


def of_closed_forms(folder, side=1000):
    """Points of closed forms, through the command."""
    words = [word.format(side) for word in CLOSED]
    took = command(folder, "sweep", *words, "--store", "closed.sqlite")
    reported = f"{took.wall:.2f} s; {took.cpu:.2f} s CPU"
    yield f"{side * side:,} model-only points, through `simtmm sweep`, stored", reported, "under 20 s"


def of_dask(folder, few=50, many=450):
    """What a point costs more on clusters of workers on this host: the slope between few and many small points."""
    write(folder)
    small, large = study(folder, few), study(folder, many)
    run(folder, small, workers=1)
    where = [{"workers": n} for n in (1, 2, 4)] + [{"cluster": f"local:{n}"} for n in (1, 2, 4)]
    for given in where:
        (less, own_few), (more, own) = run(folder, small, **given), run(folder, large, **given)
        wall, cpu = (more.wall - less.wall) / (many - few), (more.cpu - less.cpu) / (many - few)
        own = (own - own_few) / (many - few)
        number = next(iter(given.values()))
        name = f"Dask, `--cluster {number}`" if "cluster" in given else f"processes, `-j {number}`"
        start = less.wall - few * wall
        yield (
            f"{name}: a point of {1e3 * own:.1f} ms",
            f"{1e3 * wall:.2f} ms; {1e3 * (cpu - own):.2f} ms CPU beyond it",
            "",
        )
        yield f"{name}: to start", f"{start:.2f} s", ""


PARTS = {"cores": of_cores, "point": of_a_point, "stored": of_stored, "closed": of_closed_forms, "dask": of_dask}


def main(names):
    """Print the table."""
    load = os.getloadavg()[0]
    print(f"{cores()} cores, Python {platform.python_version()}, load {load:.1f} at the start.\n")
    print("| what | measured | target |\n|---|---|---|")
    for name in names or PARTS:
        with tempfile.TemporaryDirectory() as folder:
            for row in PARTS[name](Path(folder)):
                print("| " + " | ".join(row) + " |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
