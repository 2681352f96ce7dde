"""Micro-kernels of a multiprocessor, compared with their limits."""

from pathlib import Path

from simtmm.analysis.micro import Micro
from simtmm.analysis.micro import micro as simulated
from simtmm.api.opening import opened_machine
from simtmm.machine import Machine
from simtmm.measurement.micro.measured import load_measured
from simtmm.watch import Watch


def micro(
    machine: Machine | str | Path = "h100-sxm",
    *,
    measured: str | Path | None = None,
    watch: Watch | None = None,
) -> Micro:
    """Simulate micro-kernels of a multiprocessor and compare them with their limits; `simtmm machines micro` as a
    function.

    Source: docs/micro-kernels.md describes the micro-kernels and their limits.

    machine: a Machine, a machine's name, or a path to its file (.toml): an NVIDIA GPU, Volta or later.
    measured: a file of cycles on a GPU (.csv), as `simtmm record measure --all` writes it, to compare with.
    watch: called with (stage, done, total) as the work proceeds.

    `.results` has the micro-kernels, each with `.kernel`, `.limit`, `.simulated` and `.measured` [cycles].

    Raises StudyError for any other machine and for an invalid file; MachineError; CompilerError.
    """
    known = load_measured(measured) if measured is not None else None
    return simulated(opened_machine(machine), known, watch)
