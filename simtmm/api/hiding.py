"""`simtmm.threads`, `simtmm.zigzag` and `simtmm.crossover`: studies of one question each."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simtmm.requests.machine import chosen_machine, default_machine

if TYPE_CHECKING:
    from simtmm.analysis.crossover import Versus
    from simtmm.analysis.threads_needed import ThreadsNeeded
    from simtmm.analysis.zigzag import Throughput
    from simtmm.machine import Machine
    from simtmm.trace.io import Trace
    from simtmm.watch import Watch


def threads(
    source: "str | Path | Trace",
    machine: "Machine | str | Path | None" = None,
    parameters: Mapping[str, object] | None = None,
    *,
    form: str | None = None,
    set: Mapping[str, object] | None = None,
    start: str | None = None,
    tolerance: float = 0.05,
    watch: "Watch | None" = None,
) -> "ThreadsNeeded":
    """How many threads per core hide the latency, by simulation and by the TMM: `simtmm sweep threads` as a function.

    source: a kernel's name or folder, launches (.toml), a trace's file (.parquet), or a Trace.
    machine: a Machine, its name, or its file; what suits the program if left out.
    parameters: of a kernel, those that differ from its defaults.
    form: "written", "compiled" or "ptx", how a kernel is recorded.
    set: the machine's keys with new values.
    start: "warm", "cold" or "kept", what the L2 holds when a launch begins.
    tolerance: how much longer than without latency a run may take, as a part.
    watch: called with (stage, done, total where it is known) as things go on.

    Raises the errors of simtmm.errors.
    """
    from simtmm.analysis.threads_needed import threads_needed

    return threads_needed(source, _machine(source, machine, form, set, start), parameters, tolerance, watch, form)


def zigzag(
    source: str | Path,
    machine: "Machine | str | Path | None" = None,
    parameters: Mapping[str, object] | None = None,
    *,
    blocks: range | Sequence[int] = range(1, 101),
    form: str | None = None,
    set: Mapping[str, object] | None = None,
) -> "Throughput":
    """Throughput over the number of blocks of the first launch, by Eq (5.13): `simtmm sweep zigzag` as a function.

    source: a kernel's name or folder, launches (.toml), or a trace's file (.parquet).
    machine: a Machine, its name, or its file; what suits the program if left out.
    parameters: of a kernel, those that differ from its defaults.
    form: "written", "compiled" or "ptx", how a kernel is recorded.
    set: the machine's keys with new values.
    blocks: requested blocks, each from 1 on.

    Raises ModelError, and the errors of what is recorded.
    """
    from simtmm.analysis.zigzag import throughput

    return throughput(source, _machine(source, machine, form, set, None), parameters, blocks, form)


def crossover(
    a: str,
    b: str,
    machine: "Machine | str | Path | None" = None,
    parameters: Mapping[str, float] | None = None,
    *,
    over: str | Sequence[str] = (),
    threads: float | None = None,
    variant_a: str | None = None,
    variant_b: str | None = None,
    set: Mapping[str, object] | None = None,
) -> "Versus":
    """Which of two algorithms of the papers wins where, by the TMM: `simtmm sweep crossover` as a function.

    a: the name of the one (see `simtmm paper`).
    b: the name of the other.
    machine: a Machine, its name, or its file; gtx280 if left out.
    set: the machine's keys with new values.
    parameters: the algorithms' symbols.
    over: along which symbols; n, m, L and T, as far as they are known, if left out.
    threads: threads of a core.
    variant_a: of the one, as "printed" or "mended".
    variant_b: of the other.

    Raises ModelError.
    """
    from simtmm.analysis.crossover import versus

    on = _machine(a, machine, None, set, None)
    along = [over] if isinstance(over, str) else over
    return versus(a, b, on, parameters or {}, along, threads, (variant_a, variant_b))


def _machine(source: Any, machine: "Machine | str | Path | None", form: str | None, changes: Any, start: Any) -> Any:
    return chosen_machine(default_machine(source, form) if machine is None else machine, changes, start)
