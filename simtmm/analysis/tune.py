"""Advice: the launch configuration of a kernel that is fastest by simulation, and what the models would choose."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simtmm.analysis.unfinished import Unfinished
from simtmm.errors import StudyError
from simtmm.kernel import Parameter
from simtmm.machine import Machine, load_machine
from simtmm.model.series import SIMULATED
from simtmm.provenance import provenance
from simtmm.study.design.axes import Value
from simtmm.study.design.design import design_of
from simtmm.study.design.study_file import study_of
from simtmm.study.design.subject import typed_subject
from simtmm.study.results import Results, Row
from simtmm.study.store.kept import kept_store
from simtmm.study.store.store import Store
from simtmm.study.sweep import evaluation_of, sweep
from simtmm.watch import Watch

DEFAULT_MODELS = ("integrated", "tmm", "tmm-warps")  # the models that choose as well
MOST_THREADS = 1024  # of a block, where the machine sets no limit
SUB_BLOCKS = (4, 8, 16, 24, 32, 48, 64, 96)
SIDES = (4, 8, 16, 24, 32)  # of a square block of threads
BLOCKS_A_GROUP = (1, 2, 4, 8, 16)
TUNED = ("threads", "blocks", "sub_block", "side")  # parameters of kernels that mean what their names say


@dataclass(frozen=True)
class Choice:
    """A configuration that a simulation or a model finds fastest.

    cycles: by itself. simulated: cycles by simulation. slowdown: that over the fastest simulated. ties: how many
    configurations are as fast to it; of these it is that with the fewest threads, then blocks.
    """

    by: str
    configuration: Mapping[str, Value]
    cycles: float
    simulated: float
    slowdown: float
    ties: int


@dataclass(frozen=True)
class Advice:
    """What was tried, and the choices: the simulation's first, then the models'."""

    study: Results
    choices: tuple[Choice, ...]

    def ranked(self) -> list[Row]:
        """The configurations that ran, the fastest by simulation first."""
        rows = [row for row in self.study.rows if row.cycles(SIMULATED) is not None]
        return sorted(rows, key=lambda row: _rank(row, SIMULATED))

    def to_dict(self) -> dict[str, Any]:
        """All of it, for JSON."""
        first, axes = self.study.rows[0].point, self.study.design.axes
        return {
            "program": self.study.design.subject.name,
            "machine": first.machine.name if first.machine else None,
            "parameters": {name: value for name, value in first.parameters.items() if name not in axes},
            "choices": [vars(choice) | {"configuration": dict(choice.configuration)} for choice in self.choices],
            "configurations": [
                {
                    **dict(row.point.axes),
                    "status": row.status,
                    "reason": row.reason,
                    "cycles": {quantity: row.cycles(quantity) for quantity in self.study.design.compute},
                }
                for row in self.study.rows
            ],
            "provenance": provenance(),
        }


def advise(
    kernel: str,
    machine: str,
    parameters: Mapping[str, Any] | None = None,
    changes: Mapping[str, Any] | None = None,
    vary: Mapping[str, Any] | None = None,
    models: Iterable[str] = (),
    store: str | Path | None = ":memory:",
    workers: int | None = None,
    cluster: str | None = None,
    watch: Watch | None = None,
) -> Advice:
    """Try launch configurations of a kernel on a machine.

    parameters: those that are fixed. changes: of the machine, by dotted key. vary: what is tried, ranges by parameter;
    if left out, threads, blocks and the size of a sub-block, as far as the kernel has them and they are not fixed.
    models: that choose as well. store, workers, cluster, watch: see `sweep`; with None the store is that of the kernel
    in the user's cache folder. Raises StudyError where there is nothing to vary, and where no configuration can run;
    and Unfinished where Ctrl-C ends it after some of them.
    """
    ran = typed_subject(kernel, "kernel")
    fixed = dict(parameters or {})
    tried = dict(vary or {}) or candidates(
        {name: found for name in TUNED if name not in fixed and (found := ran.parameter(name))},
        load_machine(machine).replace(changes) if changes else load_machine(machine),
    )
    if not tried:
        raise StudyError(
            f"kernel {ran.name}: none of {', '.join(TUNED)} is left to choose: say what to vary, as --vary NAME=RANGE"
        )
    tables = {
        "program": kernel,
        "kind": "kernel",
        "machines": [machine],
        "parameters": fixed,
        "set": dict(changes or {}),
        "axes": tried,
        "compute": [SIMULATED, *(tuple(models) or DEFAULT_MODELS)],
    }
    design = design_of(study_of(tables, "advice"))
    with Store(kept_store(kernel, ran.digest) if store is None else store) as opened:
        try:
            study = sweep(design, opened, workers, cluster, watch)
        except KeyboardInterrupt:
            part = evaluation_of(design).results(opened)
            if not any(row.cycles(SIMULATED) is not None for row in part.rows):
                raise
            raise Unfinished(_advice(part), len(part) - part.number("open"), len(part)) from None
    if not any(row.cycles(SIMULATED) is not None for row in study.rows):
        raise StudyError(f"kernel {ran.name}: no configuration can run: {study.rows[0].reason}")
    return _advice(study)


def _advice(study: Results) -> Advice:
    """The choices among the configurations that ran; there is one."""
    done = [row for row in study.rows if row.cycles(SIMULATED) is not None]
    return Advice(study, tuple(_choice(done, quantity) for quantity in study.design.compute if _any(done, quantity)))


def candidates(parameters: Mapping[str, Parameter], machine: Machine) -> dict[str, list[Value]]:
    """What is tried where nobody says: for threads the warp's width and its doubles, for blocks some for each group."""
    width, groups = machine.cores.warp_width, machine.cores.groups
    most = min(machine.resources.threads_per_block or MOST_THREADS, MOST_THREADS)
    doubles = [max(width, 16) << power for power in range(11)]
    wanted = {
        "threads": [threads for threads in doubles if threads <= most],
        "blocks": [groups * blocks for blocks in BLOCKS_A_GROUP],
        "sub_block": list(SUB_BLOCKS),
        "side": [side for side in SIDES if side * side <= most],
    }
    found: dict[str, list[Value]] = {}
    for name, parameter in parameters.items():
        values = [value for value in wanted[name] if _takes(parameter, value)]
        if values:
            found[name] = list(values)
    return found


def _takes(parameter: Parameter, value: int) -> bool:
    try:
        parameter.parse(value)
    except ValueError:
        return False
    return True


def _any(rows: Sequence[Row], quantity: str) -> bool:
    return any(row.cycles(quantity) is not None for row in rows)


def _choice(rows: Sequence[Row], quantity: str) -> Choice:
    there = [row for row in rows if row.cycles(quantity) is not None]
    best = min(there, key=lambda row: _rank(row, quantity))
    fastest = min(row.cycles(SIMULATED) or 0.0 for row in rows)
    cycles, simulated = best.cycles(quantity) or 0.0, best.cycles(SIMULATED) or 0.0
    ties = sum(row.cycles(quantity) == cycles for row in there)
    slowdown = simulated / fastest if fastest else 1.0
    return Choice(quantity, best.point.axes, cycles, simulated, slowdown, ties)


def _rank(row: Row, quantity: str) -> tuple[float, ...]:
    cycles = row.cycles(quantity)
    assert cycles is not None
    sizes = (row.point.axes.get(name) for name in ("threads", "blocks"))
    return (cycles, *(float(size) if isinstance(size, (int, float)) else 0.0 for size in sizes), row.point.number)
