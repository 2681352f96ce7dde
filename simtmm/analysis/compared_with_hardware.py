"""How close a machine is known to be to its hardware, and which assumptions a result depends on."""

import contextlib
import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from simtmm.errors import MachineError
from simtmm.files import data_file, shipped_folders
from simtmm.kernel import Kernel
from simtmm.machine import Machine
from simtmm.machine.family import load_family
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
    form: "written" or "compiled", how they were recorded. error: mean of |simulated / measured - 1|, over so many
    points, on some of which the profile may be calibrated. known, by_sheet: the same by a profile made of other GPUs of
    its families (simtmm.calibration.donors), with L and on GPUs of AMD a read known of it, or by its data sheet alone;
    None where nobody tried.
    """

    machine: str
    digest: str
    family: str
    kernels: str
    form: str
    points: int
    error: float
    known: float | None = None
    by_sheet: float | None = None

    def text(self, of_machine: bool = False) -> str:
        """In words."""
        form = " as compiled" if self.form == "compiled" else ""
        where = f" on {self.machine}" if of_machine else ""
        return f"{self.kernels}{form}{where}: mean error {100 * self.error:.1f} % over {self.points} points"


@cache
def comparisons() -> tuple[Comparison, ...]:
    """All that docs/accuracy.md has of measured times and bandwidths, with machines that a profile stands for."""
    path = data_file("machines", FILE)
    if path is None:
        return ()
    with path.open(encoding="utf-8", newline="") as lines:
        return tuple(
            Comparison(
                row["machine"],
                row["digest"],
                row["family"],
                row["kernels"],
                row["form"],
                int(row["points"]),
                float(row["error"]),
                *(float(row[column]) if row[column] else None for column in ("known", "by_sheet")),
            )
            for row in csv.DictReader(lines)
        )


def may_be_measured(kernel: Kernel | None, form: str) -> bool:
    """Whether a trace may be of a kernel that was measured: one that ships, as it is written.

    kernel: None where it was recorded before, when its name has to do. form: of the trace.
    """
    return form == "written" and (kernel is None or kernel.folder.parent in shipped_folders("kernels"))


def compared_with_hardware(machine: Machine, program: str, may_be: bool = True) -> str:
    """One sentence on whether such a result was ever compared with hardware.

    program: a kernel's name. may_be: whether it may be one that was measured; another one can have its name.
    """
    digests = {machine.digest(), _as_compared(machine).digest()}
    own = [each for each in comparisons() if each.digest in digests]
    named = [each for each in own if each.form == "written" and program in each.kernels.split(", ")]
    if named and may_be:
        listed = _listed(named)
        return f"Compared with hardware: {listed} (docs/accuracy.md says which of them the machine was fitted to)."
    if own:
        which = f"this {program}" if named else program
        return f"Never compared with hardware: {which} on this machine; these kernels were: {_listed(own)}."
    if machine.changes:
        return "Never compared with hardware: the machine is changed."
    family, kin = _kin(machine)
    if not kin:
        return "Never compared with hardware: this machine."
    whose = (
        "others of its family"
        if family == machine.family
        else f"others of family {family}, which supplies many of its values,"
    )
    return f"Never compared with hardware: this machine; {whose} were: {_listed(kin, True)}{_foretold(machine, kin)}."


def _as_compared(machine: Machine) -> Machine:
    """The machine as profiles are compared: what launches of a program leave in its L2 does not make it another one."""
    l2 = machine.memory.l2
    return machine.replace({"memory.l2.start": "warm"}) if l2 is not None and l2.start == "kept" else machine


def _kin(machine: Machine) -> tuple[str, list[Comparison]]:
    """The nearest family of a machine of which machines were compared, and these comparisons."""
    if machine.family is None:
        return "", []
    with contextlib.suppress(MachineError):  # a family that was beside the machine's file alone
        chains = {each.family: load_family(each.family).chain for each in comparisons() if each.family}
        for family in load_family(machine.family).chain:
            kin = [each for each in comparisons() if family in chains.get(each.family, ())]
            if kin:  # first those of which it is known how far off they are where nothing was fitted
                return family, sorted(kin, key=lambda each: each.known is None)
    return "", []


def _foretold(machine: Machine, kin: Sequence[Comparison]) -> str:
    """How far off these were when they were what this machine is: made of other GPUs."""
    source = machine.sources.get("memory.latency")
    own_latency = source is not None and not source.source.startswith("family ")
    tried = [(each.kernels, each.known if own_latency else each.by_sheet) for each in kin]
    errors = [(kernels, error) for kernels, error in tried if error is not None]
    if not errors:
        return ""
    which = " and ".join(dict.fromkeys(kernels for kernels, _ in errors))
    told = [f"{100 * error:.1f}" for _, error in errors]
    what = "with their own latency" if own_latency else "by a data sheet"
    return f"; built from other GPUs as this machine is, {what}, {which} was {' and '.join(told)} % off"


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
        return (f"{assumption}, and this result may depend on atomics",)
    share = half.ticks / result.ticks
    return (f"{assumption} that decides this result: with half of it {100 * share:.0f} % of the time",) * (
        share < 1 - DECIDES
    )


def _listed(found: Sequence[Comparison], of_machine: bool = False) -> str:
    more = [f"{len(found) - MOST_SHOWN} more in docs/accuracy.md"] if len(found) > MOST_SHOWN else []
    return "; ".join([*(each.text(of_machine) for each in found[:MOST_SHOWN]), *more])
