"""`simtmm.threads`, `simtmm.zigzag` and `simtmm.crossover`: studies of one question each."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simtmm.requests.machine import chosen_machine, default_machine

if TYPE_CHECKING:
    from simtmm.analysis.prediction.crossover import Versus
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
    """Find how many threads per core hide the latency, by simulation and by the TMM: `simtmm sweep threads` as a
    function.

    source: a kernel's name or folder, launches (.toml), a trace's file (.parquet), or a Trace.
    machine: a Machine, its name, or its file; the default for the program if left out.
    parameters: a kernel's parameters that differ from its defaults.
    form: how to record a kernel: "written", "compiled" or "ptx".
    set: machine keys with new values.
    start: the L2 when a launch begins: "warm", "cold" or "kept".
    tolerance: how much longer a run may take than without latency, as a fraction.
    watch: called with (stage, done, total if known) as the work proceeds.

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
    machine: a Machine, its name, or its file; the default for the program if left out.
    parameters: a kernel's parameters that differ from its defaults.
    form: how to record a kernel: "written", "compiled" or "ptx".
    set: machine keys with new values.
    blocks: numbers of requested blocks, each at least 1.

    Raises ModelError and the errors of recording.
    """
    from simtmm.analysis.zigzag import throughput

    return throughput(source, _machine(source, machine, form, set, None), parameters, blocks, form)


def crossover(  # noqa: PLR0913 - each is an option of the verb
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
    """Find where each of two algorithms of the papers is faster, by the TMM: `simtmm sweep crossover` as a function.

    a: the name of the first algorithm (see `simtmm paper`).
    b: the name of the second algorithm.
    machine: a Machine, its name, or its file; gtx280 if left out.
    set: machine keys with new values.
    parameters: the algorithms' symbols.
    over: the symbols to vary; if left out, n, m, L and T where possible.
    threads: threads per core.
    variant_a: the variant of `a`, such as "printed" or "mended".
    variant_b: the variant of `b`.

    Raises ModelError.
    """
    from simtmm.analysis.prediction.crossover import versus

    on = _machine(a, machine, None, set, None)
    along = [over] if isinstance(over, str) else over
    return versus(a, b, on, parameters or {}, along, threads, (variant_a, variant_b))


def _machine(source: Any, machine: "Machine | str | Path | None", form: str | None, changes: Any, start: Any) -> Any:
    return chosen_machine(default_machine(source, form) if machine is None else machine, changes, start)
