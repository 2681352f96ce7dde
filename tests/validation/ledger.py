"""How far off the simulation has been from each measured set, landing by landing: docs/accuracy/ledger.csv.

`python -m tests.validation.ledger --landing WORDS` adds a row for each set whose error has changed since its last row.
A set that has become worse by more than half a point needs a reason: `--why SET=WORDS`, as often as need be.
"""

import argparse
import csv
import json
from pathlib import Path

from simtmm.files import written_whole
from simtmm.model.series import SIMULATED
from simtmm.report.accuracy import folder

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "accuracy"
LEDGER = FOLDER / folder.LEDGER
COLUMNS = ("landing", "set", "points", "mean_error", "why")
MOST_WORSE = 0.005  # in a landing without a reason


def errors():
    """Of each set that the simulation is compared with: how many points it has, and their mean error, as written."""
    found = {}
    for path in sorted(FOLDER.glob("*.json")):
        table = json.loads(path.read_text(encoding="utf-8"))
        mean = table.get("errors", {}).get(SIMULATED, {}).get("mean")
        if mean is not None:
            found[table["name"]] = (len(table["points"]), f"{mean:.4f}")
    return found


def rows(path=LEDGER):
    """Those of the ledger, in their order."""
    if not path.exists():
        return []
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def latest(of):
    """The last row of each set."""
    return {row["set"]: row for row in of}


def unexplained(of):
    """Rows that are worse than the one before of their set by more than may be, and say no reason."""
    last, found = {}, []
    for row in of:
        before = last.get(row["set"])
        worse = before is not None and float(row["mean_error"]) - float(before["mean_error"]) > MOST_WORSE
        if worse and not row["why"].strip():
            found.append(f"{row['set']} at {row['landing']}: {before['mean_error']} became {row['mean_error']}")
        last[row["set"]] = row
    return found


def main():
    """Add the rows of a landing."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--landing", required=True, help="what has changed, in a few words")
    parser.add_argument("--why", action="append", default=[], metavar="SET=WORDS", help="why a set has become worse")
    given = parser.parse_args()
    why = dict(each.split("=", 1) for each in given.why)
    there = rows()
    last = latest(there)
    if unknown := set(why) - set(errors()):
        parser.error(f"--why {min(unknown)}: no such set; there are {', '.join(errors())}")
    for name, (points, mean) in errors().items():
        if name not in last or (int(last[name]["points"]), last[name]["mean_error"]) != (points, mean):
            there.append(dict(zip(COLUMNS, (given.landing, name, points, mean, why.get(name, "")), strict=True)))
    if worse := unexplained(there):
        parser.error(f"no --why for {'; '.join(worse)}")
    with written_whole(LEDGER) as part, open(part, "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(there)


if __name__ == "__main__":
    main()
