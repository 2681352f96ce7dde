"""What is known of how near a machine comes to the hardware that it stands for, and what of a result is assumed."""

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from simtmm.files import data_file
from simtmm.machine import Machine
from simtmm.result import Result
from simtmm.trace.counts import Counts

FILE = "compared.csv"
MOST_SHOWN = 4  # comparisons in a line
ATOMICS = "memory.atomic_service"
UNSURE = {"assumption": "an assumption", "unconfirmed": "unconfirmed"}  # certainties
DECIDES = 0.1  # of the time: a value by whose half that is saved


@dataclass(frozen=True)
class Comparison:
    """Kernels that were measured on a machine, and simulated.

    machine: the profile's name. digest: its own. family: of machines, "" for none. kernels: their names in `kernels`.
    error: mean of |simulated / measured - 1|, over so many points, on some of which the profile may be calibrated.
    """

    machine: str
    digest: str
    family: str
    kernels: str
    points: int
    error: float

    def text(self, of_machine: bool = False) -> str:
        """In words."""
        where = f" on {self.machine}" if of_machine else ""
        return f"{self.kernels}{where}: mean error {100 * self.error:.1f} % over {self.points} points"


@cache
def comparisons() -> tuple[Comparison, ...]:
    """All that docs/accuracy.md has of measured times and bandwidths, with machines that a profile stands for."""
    path = data_file("machines", FILE)
    if path is None:
        return ()
    with path.open(encoding="utf-8", newline="") as lines:
        return tuple(
            Comparison(
                row["machine"], row["digest"], row["family"], row["kernels"], int(row["points"]), float(row["error"])
            )
            for row in csv.DictReader(lines)
        )


def compared_with_hardware(machine: Machine, program: str) -> str:
    """One sentence on whether such a result was ever compared with hardware. program: a kernel's name."""
    own = [each for each in comparisons() if each.digest == machine.digest()]
    this = [each for each in own if program in each.kernels.split(", ")]
    if this:
        return f"Compared with hardware: {_listed(this)} (docs/accuracy.md tells those that the machine was fitted on)."
    if own:
        return f"Never compared with hardware: {program} on this machine; others were: {_listed(own)}."
    if machine.changes:
        return "Never compared with hardware: the machine is changed."
    family = [each for each in comparisons() if each.family and each.family == machine.family]
    if family:
        return f"Never compared with hardware: this machine; others of its family were: {_listed(family, True)}."
    return "Never compared with hardware: this machine."


def assumptions(
    machine: Machine, result: Result, counts: Counts | None, again: Callable[[Machine], Result | None]
) -> tuple[str, ...]:
    """Values of the machine that nothing confirms and that decide the result, in words.

    again: simulates the same on another machine; None where that takes too long.
    """
    source = machine.sources.get(ATOMICS)
    if counts is None or not result.ticks or source is None or source.certainty not in UNSURE:
        return ()
    updates = sum(launch.atomic_operations for launch in counts.launches)
    if updates * machine.durations.atomic_service < DECIDES * result.ticks:  # however few partitions they go to
        return ()
    assumption = f"{ATOMICS} = {machine.memory.atomic_service:g} is {UNSURE[source.certainty]} ({source.source})"
    half = again(machine.replace({ATOMICS: machine.memory.atomic_service / 2}))
    if half is None:
        return (f"{assumption}, and atomics may decide this result",)
    share = half.ticks / result.ticks
    return (f"{assumption} that decides this result: with half of it {100 * share:.0f} % of the time",) * (
        share < 1 - DECIDES
    )


def _listed(found: Sequence[Comparison], of_machine: bool = False) -> str:
    more = [f"{len(found) - MOST_SHOWN} more in docs/accuracy.md"] if len(found) > MOST_SHOWN else []
    return "; ".join([*(each.text(of_machine) for each in found[:MOST_SHOWN]), *more])
