"""What became of all cases that were ever tried: totals.csv, a row for each kind and seed, and the table made of it.

A session's totals lie in a folder that goes with it; `python -m tests.fuzz --record` puts them into this file, and
`--page` prints the table of docs/threats.md. Each seed draws cases of its own, so that rows of a kind add up.
"""

import csv
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from tests.fuzz.cases import Totals
from tests.fuzz.kinds.kind import Kind

FILE = Path(__file__).with_name("totals.csv")
AIM = 100_000  # cases of each kind


@dataclass(frozen=True)
class Row:
    """A kind's cases of one seed, numbered from 0: each was accepted, refused or failed.

    messages: how many different ones the refusals had, but for what they quote of their input.
    """

    kind: str
    seed: int
    cases: int
    accepted: int
    refused: int
    failed: int
    messages: int

    def __post_init__(self) -> None:
        if self.accepted + self.refused + self.failed != self.cases or min(astuple(self)[1:]) < 0:
            raise ValueError(f"{self}: cases must be those accepted, refused and failed")

    @classmethod
    def of(cls, totals: Totals) -> "Row":
        """As a session left it; a case whose process died counts as failed, and so do those since it last saved."""
        refused = sum(totals.refused.values())
        failed = totals.next - totals.accepted - refused
        return cls(totals.kind, totals.seed, totals.next, totals.accepted, refused, failed, len(totals.messages))


def rows_of(path: Path = FILE) -> dict[tuple[str, int], Row]:
    """The rows of the file by kind and seed."""
    with path.open(newline="") as file:
        read = [Row(entry.pop("kind"), **{key: int(value) for key, value in entry.items()}) for entry in
                csv.DictReader(file)]  # fmt: skip
    found = {(row.kind, row.seed): row for row in read}
    if len(found) < len(read):
        raise ValueError(f"{path}: a kind and seed has two rows")
    return found


def record(all_totals: Iterable[Totals], path: Path = FILE) -> None:
    """Put totals into the file: a row more, or the same row with more cases. Fewer than it has change nothing."""
    rows = rows_of(path)
    for totals in all_totals:
        row = Row.of(totals)
        known = rows.get((row.kind, row.seed))
        if row.cases and (known is None or known.cases < row.cases):
            rows[row.kind, row.seed] = row
    with path.open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([field.name for field in fields(Row)])
        writer.writerows(astuple(rows[key]) for key in sorted(rows))


def table(kinds: Mapping[str, Kind], path: Path = FILE) -> list[str]:
    """The lines of a table of all kinds, with the sums over their seeds; of messages the most that one seed had."""
    rows = rows_of(path).values()
    lines = [
        "| kind | what | cases | accepted | refused | failed | different messages |",
        "|---|---|---:|---:|---:|---:|---:|",
    ]
    for kind in kinds.values():
        own = [row for row in rows if row.kind == kind.name]
        sums = (sum(getattr(row, name) for row in own) for name in ("cases", "accepted", "refused", "failed"))
        messages = max((row.messages for row in own), default=0)
        lines.append(f"| `{kind.name}` | {kind.about} | {' | '.join(f'{number:,}' for number in (*sums, messages))} |")
    return lines


def reached(kinds: Mapping[str, Kind], path: Path = FILE) -> tuple[list[str], list[str]]:
    """The kinds that have the cases that are aimed at, and those that have not."""
    cases = dict.fromkeys(kinds, 0)
    for row in rows_of(path).values():
        cases[row.kind] += row.cases
    return [kind for kind in kinds if cases[kind] >= AIM], [kind for kind in kinds if cases[kind] < AIM]
