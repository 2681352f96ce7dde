"""Zigzag: throughput over the number of blocks, as waves of blocks fill the core groups."""

from collections.abc import Callable, Mapping
from pathlib import Path

from simtmm.errors import ModelError
from simtmm.machine import Machine
from simtmm.model.launch.scheduling import Zigzag, zigzag
from simtmm.program import open_program

MOST_COUNTS = 100_000  # of a sweep over blocks


def sweep_blocks(
    source: str | Path,
    machine: Machine,
    parameters: Mapping[str, object] | None,
    blocks: range,
    progress: Callable[[int], None] | None = None,
    form: str | None = None,
) -> tuple[str, Zigzag]:
    """Throughput over requested blocks by Eq (5.13), for the first launch of a kernel or trace, and its function.

    form: "written", "compiled" or "ptx", how a kernel is recorded (see simtmm.record).

    Raises ModelError for too many counts and for a trace without launches.
    """
    if len(blocks) > MOST_COUNTS:
        raise ModelError(f"blocks from {blocks[0]} to {blocks[-1]}: must be at most {MOST_COUNTS} counts")
    trace = open_program(source, parameters, progress, ("kernel", "trace"), machine, form).trace
    assert trace is not None
    if not trace.info.launches:
        raise ModelError(f"{source}: has no launch whose blocks could be varied")
    launch = trace.info.launches[0]
    return launch.kernel, zigzag(machine, launch, list(blocks))
