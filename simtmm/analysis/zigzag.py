"""Zigzag: throughput over the number of blocks, as waves of blocks fill the core groups."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simtmm.display import Displayed
from simtmm.errors import ModelError
from simtmm.extras import frame
from simtmm.machine import Machine
from simtmm.model.launch.scheduling import Zigzag, zigzag
from simtmm.program import open_program

if TYPE_CHECKING:
    import pandas

MOST_COUNTS = 100_000  # of a sweep over blocks


@dataclass(frozen=True)
class Throughput(Displayed):
    """Throughput over the number of blocks of a kernel's launch.

    kernel: its name. machine: its name. swept: what Eq (5.13) gives for each number of blocks.
    """

    kernel: str
    machine: str
    swept: Zigzag

    def to_dict(self) -> dict[str, Any]:
        """The whole object, for JSON."""
        return {"kernel": self.kernel, "machine": self.machine, **self.swept.to_dict()}

    def to_frame(self) -> "pandas.DataFrame":
        """A row for each number of blocks, for pandas. Raises OutputError if pandas is not installed."""
        swept = self.swept
        names = ("blocks", "f_sched", "relative_time", "relative_throughput")
        columns = (swept.blocks, swept.f_sched, swept.relative_time, swept.relative_throughput)
        return frame([dict(zip(names, row, strict=True)) for row in zip(*columns, strict=True)])


def throughput(
    source: str | Path,
    machine: Machine,
    parameters: Mapping[str, object] | None,
    blocks: Sequence[int],
    form: str | None = None,
) -> Throughput:
    """`sweep_blocks`, as a value that shows itself.

    source, parameters, blocks, form: as there.
    """
    kernel, swept = sweep_blocks(source, machine, parameters, blocks, form=form)
    return Throughput(kernel, machine.name, swept)


def sweep_blocks(
    source: str | Path,
    machine: Machine,
    parameters: Mapping[str, object] | None,
    blocks: Sequence[int],
    progress: Callable[[int], None] | None = None,
    form: str | None = None,
) -> tuple[str, Zigzag]:
    """Throughput over requested blocks by Eq (5.13), for the first launch of a kernel or trace, and its function.

    form: "written", "compiled" or "ptx", how a kernel is recorded (see simtmm.record).
    source: a kernel's name, or a file.
    parameters: values of some of the kernel's parameters, as texts or numbers.
    blocks: numbers of requested blocks.
    progress: told how many events there are so far.

    Raises ModelError for too many counts and for a trace without launches.
    """
    if len(blocks) > MOST_COUNTS:
        raise ModelError(f"blocks from {blocks[0]} to {blocks[-1]}: must be at most {MOST_COUNTS} counts")
    trace = open_program(source, parameters, progress, ("kernel", "trace"), machine, form).trace
    assert trace is not None
    if not trace.info.launches:
        raise ModelError(f"{source}: has no launch with a number of blocks to vary")
    launch = trace.info.launches[0]
    return launch.kernel, zigzag(machine, launch, list(blocks))
