"""A run's report: counts, processor time, and each survivor as a diff."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from tests.mutation.chosen import MOST_EQUIVALENT
from tests.mutation.judged import TYPES, Verdict

AIM = 0.9  # of the faults that are not equivalent


def counts(verdicts: Sequence[Verdict]) -> Counter[str]:
    """How many of each verdict."""
    return Counter(verdict.what for verdict in verdicts)


def caught(verdicts: Sequence[Verdict]) -> float:
    """The part that tests notice of those that are not equivalent; one that takes far longer is noticed."""
    found = counts(verdicts)
    number = len(verdicts) - found["equivalent"]
    return (found["caught"] + found["timed out"]) / number if number else 1.0


def summary(verdicts: Sequence[Verdict]) -> str:
    """A line of totals."""
    found = counts(verdicts)
    names = ("caught", "survived", "timed out", "equivalent")
    seconds = sum(verdict.seconds for verdict in verdicts)
    told = ", ".join(f"{found[name]} {name}" for name in names)
    by_types = sum(verdict.by.startswith(TYPES) for verdict in verdicts if verdict.what == "caught")
    noticed = f"{100 * caught(verdicts):.1f} % noticed, {by_types} of them by the test of types"
    return f"{len(verdicts)} faults: {told}; {noticed}; {seconds / 60:,.0f} minutes of the processor"


def by_part(verdicts: Sequence[Verdict]) -> str:
    """The same by kind and by room: noticed of planted."""
    lines = []
    for title, part in (("kind", lambda one: one.fault.kind), ("room", lambda one: one.fault.file.split("/")[1])):
        names = sorted({part(one) for one in verdicts})
        cells = []
        for name in names:
            own = [one for one in verdicts if part(one) == name and one.what != "equivalent"]
            cells.append(f"{name} {sum(one.what != 'survived' for one in own)}/{len(own)}")
        lines.append(f"by {title}: {', '.join(cells)}")
    return "\n".join(lines)


def is_enough(verdicts: Sequence[Verdict]) -> bool:
    """Whether the tests notice as many as they should, with few faults said to be equivalent."""
    return caught(verdicts) >= AIM and counts(verdicts)["equivalent"] <= MOST_EQUIVALENT * len(verdicts)


def written(verdicts: Sequence[Verdict], folder: Path) -> None:
    """Put into a folder: survivors.diff, and verdicts.json with all."""
    folder.mkdir(parents=True, exist_ok=True)
    survivors = [f"# {one.by}\n{one.difference}" for one in verdicts if one.what == "survived"]
    (folder / "survivors.diff").write_text("\n".join(survivors), encoding="utf-8")
    document = [asdict(one) for one in verdicts]
    (folder / "verdicts.json").write_text(json.dumps(document, indent=1), encoding="utf-8")
