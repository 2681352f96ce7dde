"""Least times beside simulated ones, and what they save a search, for docs/tune.md:

    python -m tests.benchmarks.tuning 15 3 --kept rows.csv
    python -m tests.benchmarks.tuning_bounds rows.csv --kept bounds.csv

The first simulates some of a convolution's configurations as the first step of a search does. This looks at the least
time of each, says which of them the search would simulate then, by the rules that it has, and what all of it takes of
processors: compiled before, so that what compilers take is not among the seconds of bounds.
"""

import argparse
import csv
import statistics
import sys
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import patch

from simtmm import load_machine
from simtmm.analysis.tuning import search
from simtmm.analysis.tuning.goals import Goals
from simtmm.analysis.tuning.trial import Subject, Trial, screened
from simtmm.parallel.tasks import Serial
from tests.benchmarks.scaling import clock
from tests.benchmarks.tuning import KERNEL, MACHINE, known, living, measured


def bounds(subject, configurations, path):
    """Least cycles of each configuration, by number, and the seconds that these took; a file keeps them."""
    rows = {}
    if path is not None and path.exists():
        with path.open(encoding="utf-8", newline="") as file:
            rows = {int(number): (float(least), float(seconds)) for number, least, seconds in csv.reader(file)}
    for number, configuration in configurations.items():
        if number in rows:
            continue
        before = living()
        with clock() as running:
            least = screened(subject, configuration, True)
        rows[number] = (least, running.cpu + living() - before)
        if path is not None:
            with path.open("a", encoding="utf-8", newline="") as file:
                csv.writer(file).writerow([number, *rows[number]])
    return rows


def searched(subject, configurations, least, rows):
    """The numbers of the configurations that the first step of a search simulates, with these least and these times."""
    clock_hz = subject.machine.clock_hz
    numbers = {tuple(configuration.values()): number for number, configuration in configurations.items()}
    simulated = []

    def tried(_, configuration, precision):
        number = numbers[tuple(configuration.values())]
        simulated.append(number)
        seconds, error = float(rows[number]["milliseconds"]) / 1e3, float(rows[number]["error"])
        return Trial(configuration, cycles=seconds * clock_hz, seconds=seconds, error=error, precision=precision)

    def bounded(_, configuration, __):
        return least[numbers[tuple(configuration.values())]][0]

    kept = SimpleNamespace(**{name: lambda *_: None for name in ("find", "keep", "find_least", "keep_least")})
    space = SimpleNamespace(admitted=lambda: (list(configurations.values()), 0))
    with patch.object(search, "tried", tried), patch.object(search, "screened", bounded):
        search.Search(subject, Goals(subject, (), ()), kept, Serial()).of_all(space, 0.03)
    return list(dict.fromkeys(simulated))


def main(words):
    """Print what least times are of simulated ones, and what they save."""
    options = argparse.ArgumentParser(prog="python -m tests.benchmarks.tuning_bounds")
    options.add_argument("rows", type=Path, help="what tests.benchmarks.tuning kept")
    options.add_argument("--kept", type=Path, help="a file that bounds are kept in")
    options.add_argument("--limit", type=int, help="the first so many rows")
    given = options.parse_args(words)
    machine = load_machine(MACHINE)
    subject = Subject(str(KERNEL), {}, machine, None, ("tmm",))
    rows = dict(list(known(given.rows).items())[: given.limit])
    every = measured()
    configurations = {number: every[number][0] for number in rows}
    found = bounds(subject, configurations, given.kept)
    parts = {
        number: 1e3 * found[number][0] / machine.clock_hz / float(row["milliseconds"]) for number, row in rows.items()
    }
    beyond = [number for number, part in parts.items() if part > 1]
    simulated = searched(subject, configurations, found, rows)
    best = min(rows, key=lambda number: float(rows[number]["milliseconds"]))
    alone = sum(float(row["seconds"]) for row in rows.values())
    bounding = sum(found[number][1] for number in rows)
    left = sum(float(rows[number]["seconds"]) for number in simulated)
    print(
        f"{len(rows)} configurations; of the simulated time the least is {min(parts.values()):.2f} to "
        f"{max(parts.values()):.2f}, {statistics.median(parts.values()):.2f} in the median; above it: {len(beyond)}\n"
        f"simulated: {len(simulated)}, the best among them: {best in simulated}; it is number "
        f"{simulated.index(best) + 1} of them\n"
        f"seconds of processors: {bounding / len(rows):.2f} a bound; {bounding + left:.0f} in all with bounds, "
        f"{alone:.0f} without"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
