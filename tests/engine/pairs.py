"""Pairs of a machine and a workload, drawn at new seeds: `python -m tests.engine.pairs --pairs 100000`.

Both engines simulate each pair, and must give the same result, stalls, first ticks of blocks and, of every other batch,
the same timeline. Pairs are drawn by simtmm.testing.strategies, which has every rule of docs/machine.md, so that keys
are switched on together in ways that no test names.

A batch is a seed of its own; with the same versions of Python and Hypothesis it draws the same pairs again. After each
batch the file that is named by --totals has one more row, so that what was compared is counted however the call ends.
Without --seed the first batch takes the seed behind the largest of the file. A pair on which the engines differ is
made as small as still differs, written into --out, and counted in the column `failed`; then the call goes on.
"""

import argparse
import csv
import json
import sys
import time
import traceback
from dataclasses import astuple, dataclass, fields
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from simtmm.engine import simulate
from simtmm.machine import Machine
from simtmm.testing import machines, workloads
from simtmm.workload import Workload

FILE = Path(__file__).with_name("pairs.csv")
BATCH = 2_000  # pairs of a seed
TOGETHER = 8  # machines to a workload, which Hypothesis takes ten times as long to draw as a machine


@dataclass(frozen=True)
class Row:
    """The pairs of one seed. failed: 1 where the engines differed on some pair, and the batch ended there."""

    seed: int
    pairs: int
    failed: int
    seconds: float


class DifferError(AssertionError):
    """The engines differ on a pair."""

    def __init__(self, machine: Machine, workload: Workload) -> None:
        super().__init__(f"the engines differ on {machine.to_dict()} and {workload.to_dict()}")
        self.machine = machine
        self.workload = workload


def rows_of(path: Path = FILE) -> list[Row]:
    """The rows of a file, none where there is no file. Raises ValueError for a seed that has two."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        rows = [
            Row(int(entry["seed"]), int(entry["pairs"]), int(entry["failed"]), float(entry["seconds"]))
            for entry in csv.DictReader(file)
        ]
    if len({row.seed for row in rows}) < len(rows):
        raise ValueError(f"{path}: a seed has two rows")
    return rows


def compare(machine: Machine, workload: Workload, timeline: bool) -> None:
    """Simulate a pair with both engines. Raises DifferError where anything that they give differs."""
    begun = [np.full(len(workload.block_warps) - 1, -1) for _ in range(2)]
    fast, reference = (
        simulate(machine, workload, engine, begun=first, timeline=timeline, stalls=True)
        for engine, first in zip(("fast", "reference"), begun, strict=True)
    )
    if fast != reference or begun[0].tolist() != begun[1].tolist():
        raise DifferError(machine, workload)


def batch(number: int, pairs: int, out: Path, shrink: bool = True) -> Row:
    """Compare the pairs of a seed; the first that differs is written into `out`, made smaller if `shrink`."""
    began, compared, failed = time.monotonic(), 0, 0
    finding = True

    @seed(number)
    @settings(
        max_examples=-(-pairs // TOGETHER), deadline=None, database=None, derandomize=False,
        phases=[Phase.generate, Phase.shrink][: 1 + shrink], suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(drawn=st.lists(machines(), min_size=TOGETHER, max_size=TOGETHER), workload=workloads())
    def agree(drawn: list[Machine], workload: Workload) -> None:
        nonlocal compared, finding
        for machine in drawn:
            compared += finding  # what is tried to make a finding smaller is not counted
            try:
                compare(machine, workload, number % 2 == 0)
            except Exception:
                finding = False
                raise

    try:
        agree()
    except Exception as error:
        failed = 1
        out.mkdir(parents=True, exist_ok=True)
        found = error if isinstance(error, DifferError) else None
        (out / f"{number}.txt").write_text("".join(traceback.format_exception(error)))
        if found is not None:
            pair = {"machine": found.machine.to_dict(), "workload": found.workload.to_dict()}
            (out / f"{number}.json").write_text(json.dumps(pair, indent=1))
    return Row(number, compared, failed, round(time.monotonic() - began, 1))


def add(row: Row, path: Path) -> None:
    """A row more in the file, which is written anew and renamed."""
    rows = sorted([*rows_of(path), row], key=lambda each: each.seed)
    written = path.with_suffix(".new")
    with written.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([field.name for field in fields(Row)])
        writer.writerows(astuple(each) for each in rows)
    written.replace(path)


def main() -> int:
    """Do what the command line says; 1 if the engines differed on some pair."""
    parser = argparse.ArgumentParser("python -m tests.engine.pairs", description=__doc__, allow_abbrev=False)
    parser.add_argument("--pairs", type=int, default=BATCH, help="how many more, in whole batches")
    parser.add_argument("--seed", type=int, help="of the first batch; the others follow")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no new batch begins after so many")
    parser.add_argument("--totals", type=Path, default=FILE, help="the file of all rows")
    parser.add_argument("--out", type=Path, default=Path(".pairs"), help="where a pair goes that the engines differ on")
    words = parser.parse_args()
    newest = max((row.seed for row in rows_of(words.totals)), default=0)
    number = words.seed if words.seed is not None else newest + 1
    began, failed, left = time.monotonic(), 0, words.pairs
    while left > 0 and time.monotonic() - began < words.seconds:
        row = batch(number, min(BATCH, left), words.out)
        add(row, words.totals)
        failed |= row.failed
        number, left = number + 1, left - row.pairs
        print(f"seed {row.seed}: {row.pairs:,} pairs, {row.failed} failed, {row.seconds} s", flush=True)
    rows = rows_of(words.totals)
    print(f"{sum(row.pairs for row in rows):,} pairs of {len(rows)} seeds, {sum(row.failed for row in rows)} failed")
    return failed


if __name__ == "__main__":
    sys.exit(main())
