"""A configuration simulated: whole, or as a sample where that takes too long to wait for.

A move that comes while one is simulated ends it: the watch raises Superseded, which an engine lets through between two
stretches of a launch.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from simtmm.analysis.run import run_program
from simtmm.analysis.run.outcome import Run
from simtmm.engine import simulate
from simtmm.errors import ModelError
from simtmm.explorer.controls import changed
from simtmm.explorer.programs import HeldProgram, Programs
from simtmm.explorer.state import Configuration
from simtmm.machine import Machine
from simtmm.model import MODELS, predict
from simtmm.program import Prepared
from simtmm.result import Prediction
from simtmm.trace.streamed import AnyWorkload
from simtmm.watch import Watch, watched
from simtmm.workload import Workload

SOON = 250_000  # operations and chunks that are simulated while a person doesn't notice
OF_SAMPLE = 100_000  # of a longer program's sample
MOST_TIMELINE = 2_000_000  # operations of a run with a timeline
ENGINE = "fast"


class Superseded(Exception):  # noqa: N818 - no error: there is a newer question
    """The computation under way is no longer needed."""


@dataclass(frozen=True)
class Ready:
    """A configuration that could be simulated now: its program is recorded and lowered."""

    configuration: Configuration
    base: Machine
    machine: Machine
    program: HeldProgram
    prepared: Prepared

    @property
    def is_long(self) -> bool:
        """Whether simulating it takes so long that a sample is shown first."""
        return isinstance(self.prepared.workload, Workload) and work_of(self.prepared.workload) > SOON


@dataclass(frozen=True)
class Sample:
    """A part of a program. scale: by what each launch's length is multiplied. part: of the operations."""

    workload: Workload
    scale: Sequence[float]
    part: float


def work_of(workload: Workload) -> int:
    """Operations and chunks, of which each takes some time to simulate."""
    return workload.operations + len(workload.chunks)


def prepare(programs: Programs, configuration: Configuration, watch: Watch | None = None) -> Ready:
    """Record and lower what is not so yet. Raises the errors of these steps (simtmm.errors), for names first."""
    base = programs.machine(configuration.machine)
    programs.source(configuration.program)
    machine = changed(base, configuration)
    with watched(watch):
        program = programs.program(configuration.program, configuration.parameters, machine)
        return Ready(configuration, base, machine, program, program.on(machine, None, places=True))


def run(ready: Ready, watch: Watch | None = None) -> Run:
    """The run with stalls, timeline, and each model's prediction that can be had."""
    done = run_program(
        ready.program, ready.machine, ENGINE, watch, True, (), what_if=False, timeline_limit=MOST_TIMELINE
    )
    return replace(done, predictions=predictions(done, ready.machine))


def predictions(run: Run, machine: Machine) -> dict[str, Prediction]:
    """What each model says; one whose domain the program is outside of says nothing."""
    found: dict[str, Prediction] = {}
    for model in MODELS if run.counts is not None else ():
        try:
            assert run.counts is not None
            found[model] = predict(model, machine, run.counts)
        except ModelError:
            continue
    return found


def sample(workload: Workload, machine: Machine, most: int = OF_SAMPLE) -> Sample:
    """A part of a program that stands for the whole: some of its launches, and where one is too long, its first blocks.

    Launches that are left out count by their operations. Whole waves of blocks remain, as far as one fits, so that
    none is emptier than it would be; the launch grows by as much as blocks are left out.
    """
    whole = work_of(workload)
    if whole <= most or not workload.operations:
        return Sample(workload, [1.0] * workload.launches, 1.0)
    operations = np.diff(workload.warp_operations[workload.block_warps[workload.launch_blocks]])
    chosen = _spread(workload.launches, max(1, workload.launches * most // whole))
    stands_for = workload.operations / max(1, int(operations[chosen].sum()))
    share = min(1.0, most / whole * stands_for)
    blocks, scale, kept = [], [], 0
    for launch in chosen:
        first, last = (int(block) for block in workload.launch_blocks[launch : launch + 2])
        number = last - first
        wave = machine.cores.groups * max(1, int(workload.launch_limits[launch]))
        keep = max(1, int(number * share))
        keep = keep // wave * wave if keep >= wave else keep
        blocks.append(np.arange(first, first + keep))
        scale.append(stands_for * number / keep)
        begin, end = workload.warp_operations[workload.block_warps[[first, first + keep]]].tolist()
        kept += end - begin
    return Sample(_part(workload, chosen, blocks), scale, kept / workload.operations)


def estimated_cycles(machine: Machine, part: Sample, simulated: Callable[..., None] | None = None) -> float:
    """How long the whole takes, from the sample: each launch in proportion. simulated: hears of the progress."""
    result = simulate(machine, part.workload, ENGINE, breakdown=False, progress=simulated)
    ticks = sum(length * scale for length, scale in zip(result.launch_ticks, part.scale, strict=True))
    return ticks / machine.ticks_per_cycle


def cycles(machine: Machine, workload: AnyWorkload, simulated: Callable[[int, int], None] | None = None) -> float:
    """How long the whole takes."""
    return simulate(machine, workload, ENGINE, breakdown=False, progress=simulated).cycles


def _spread(number: int, chosen: int) -> list[int]:
    """So many of so many, evenly spread."""
    return sorted({place * number // chosen for place in range(chosen)})


def _part(workload: Workload, launches: Sequence[int], blocks: Sequence[np.ndarray]) -> Workload:
    """The workload of these blocks, which lie next to one another in each launch."""
    pieces: dict[str, list[np.ndarray]] = {"kind": [], "amount": [], "chunks": [], "sectors": [], "place": []}
    warp_operations, warp_chunks, block_warps = [0], [0], [0]
    launch_blocks = [0]
    for own in blocks:
        begin, end = int(own[0]), int(own[-1]) + 1
        warps = workload.block_warps[begin : end + 1]
        first, last = int(warps[0]), int(warps[-1])
        operations, chunks = workload.warp_operations[first : last + 1], workload.warp_chunks[first : last + 1]
        for name in ("kind", "amount"):
            pieces[name].append(getattr(workload, name)[operations[0] : operations[-1]])
        if workload.has_places:
            pieces["place"].append(workload.place[operations[0] : operations[-1]])
        for name in ("chunks", "sectors"):
            pieces[name].append(getattr(workload, name)[chunks[0] : chunks[-1]])
        warp_operations += (operations[1:] - operations[0] + warp_operations[-1]).tolist()
        warp_chunks += (chunks[1:] - chunks[0] + warp_chunks[-1]).tolist()
        block_warps += (warps[1:] - warps[0] + block_warps[-1]).tolist()
        launch_blocks.append(launch_blocks[-1] + len(own))
    return replace(
        workload,
        kind=np.concatenate(pieces["kind"]),
        amount=np.concatenate(pieces["amount"]),
        chunks=np.concatenate(pieces["chunks"]),
        sectors=np.concatenate(pieces["sectors"]),
        place=np.concatenate(pieces["place"]) if pieces["place"] else np.empty(0, np.int32),
        warp_operations=np.array(warp_operations, np.int64),
        warp_chunks=np.array(warp_chunks, np.int64),
        block_warps=np.array(block_warps, np.int64),
        launch_blocks=np.array(launch_blocks, np.int64),
        launch_limits=workload.launch_limits[list(launches)],
        in_graph=workload.in_graph[list(launches)] if len(workload.in_graph) else workload.in_graph,
        clusters=workload.clusters[list(launches)] if len(workload.clusters) else workload.clusters,
    )
