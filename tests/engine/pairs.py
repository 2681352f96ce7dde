"""Pairs of a machine and a workload, drawn at new seeds: `python -m tests.engine.pairs --pairs 100000`.

Both engines simulate each pair, and must give the same result, stalls, first ticks of blocks and, of every other batch,
the same timeline, or refuse it with the same words. Pairs are drawn from simtmm.testing.space, which has every rule of
docs/machine.md, so that keys are switched on together in ways that no test names. One workload in six is of mbarriers,
copies in bulk and products.

A batch is a seed of its own, which draws the same pairs again as long as the space is the same. After each batch the
file that is named by --totals has one more row, so that what was compared is counted however the call ends; pairs that
both engines refuse are not counted. Without --seed the first batch takes the seed behind the largest of the file. A
pair on which the engines differ is made as small as still differs, written into --out, and counted in the column
`failed`; then the call goes on.
"""

import argparse
import csv
import json
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import astuple, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.engine import simulate
from simtmm.errors import EngineError, MachineError, WorkloadError
from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.testing.draw import RandomDraw
from simtmm.testing.mbarrier_space import mbarrier_workload
from simtmm.testing.space import machine as drawn_machine
from simtmm.testing.space import workload as drawn_workload
from simtmm.workload import Workload
from tests.engine.smaller_pair import smaller

FILE = Path(__file__).with_name("pairs.csv")
BATCH = 2_000  # pairs of a seed
TOGETHER = 8  # machines to a workload, which takes longer to draw


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


def compare(machine: Machine, workload: Workload, timeline: bool) -> bool:
    """Simulate a pair with both engines; whether it ran. Raises DifferError where anything that they give differs."""
    begun = [np.full(len(workload.block_warps) - 1, -1) for _ in range(2)]
    fast, reference = (
        result_of(machine, workload, engine, first, timeline)
        for engine, first in zip(("fast", "reference"), begun, strict=True)
    )
    ran = isinstance(fast, Result)
    if fast != reference or (ran and begun[0].tolist() != begun[1].tolist()):
        raise DifferError(machine, workload)
    return ran


def result_of(
    machine: Machine, workload: Workload, engine: str, begun: npt.NDArray[np.int64], timeline: bool
) -> Result | str:
    """What an engine gives, or why it refuses."""
    try:
        return simulate(machine, workload, engine, begun=begun, timeline=timeline, stalls=True)
    except EngineError as error:
        return str(error)


def drawn(number: int) -> Iterator[tuple[Machine, Workload]]:
    """Pairs of a seed, without end."""
    draw = RandomDraw(number)
    while True:
        workload = mbarrier_workload(draw) if draw.whole(0, 5) == 0 else drawn_workload(draw)
        for _ in range(TOGETHER):
            yield drawn_machine(draw), workload


def batch(number: int, pairs: int, out: Path) -> Row:
    """Compare so many pairs of a seed; the first that differs is written into `out`, made smaller."""
    began, compared, failed = time.monotonic(), 0, 0
    for machine, workload in drawn(number):
        if compared >= pairs:
            break
        try:
            compared += compare(machine, workload, number % 2 == 0)
        except Exception as error:
            failed, compared = 1, compared + 1
            out.mkdir(parents=True, exist_ok=True)
            (out / f"{number}.txt").write_text("".join(traceback.format_exception(error)))
            kept = smaller(machine.to_dict(), workload.to_dict(), partial(fails_alike, type(error)))
            (out / f"{number}.json").write_text(json.dumps(kept, indent=1))
            break
    return Row(number, compared, failed, round(time.monotonic() - began, 1))


def fails_alike(kind: type[Exception], machine: dict[str, Any], workload: dict[str, Any]) -> bool:
    """Whether a pair fails as the one that was found; one that is none does not."""
    try:
        compare(Machine.from_dict(machine), Workload.from_dict(workload), True)
    except (MachineError, WorkloadError):
        return False
    except Exception as error:
        return type(error) is kind
    return False


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
