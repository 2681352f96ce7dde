"""`simtmm.diff`: the options of `simtmm diff` as arguments."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from simtmm.api.requested import request_of
from simtmm.api.run import Sizes
from simtmm.requests.diff import DiffRequest

if TYPE_CHECKING:
    from simtmm.analysis.difference import Difference
    from simtmm.analysis.run.outcome import Run
    from simtmm.graph import Source as GraphSource
    from simtmm.kernel import Kernel
    from simtmm.machine import Machine
    from simtmm.watch import Watch


def diff(  # noqa: PLR0913 - each is an option of the verb
    a: "str | Path | Kernel | Run",
    b: "str | Path | Kernel | Run",
    machine: "Machine | str | Path | None" = None,
    parameters: Mapping[str, object] | None = None,
    *,
    grid: Sizes = None,
    block: Sizes = None,
    args: Mapping[str, object] | None = None,
    kernel: str | None = None,
    shared: int = 0,
    compile: Sequence[str] = (),
    set: Mapping[str, object] | None = None,
    form: str | None = None,
    graph: "GraphSource | None" = None,
    start: str | None = None,
    what_if: bool = True,
    machine_a: "Machine | str | Path | None" = None,
    machine_b: "Machine | str | Path | None" = None,
    parameters_a: Mapping[str, object] | None = None,
    parameters_b: Mapping[str, object] | None = None,
    grid_a: Sizes = None,
    grid_b: Sizes = None,
    block_a: Sizes = None,
    block_b: Sizes = None,
    args_a: Mapping[str, object] | None = None,
    args_b: Mapping[str, object] | None = None,
    kernel_a: str | None = None,
    kernel_b: str | None = None,
    compile_a: Sequence[str] | None = None,
    compile_b: Sequence[str] | None = None,
    set_a: Mapping[str, object] | None = None,
    set_b: Mapping[str, object] | None = None,
    watch: "Watch | None" = None,
) -> "Difference":
    """Compare two runs, and explain the difference in time: `simtmm diff` as a function.

    a: a program, as for `run`; a saved run (`simtmm run -o FILE.json`); or a Run.
    b: likewise.
    machine: of both: a Machine, its name, or its file.
    parameters: of both: a kernel's parameters that differ from its defaults.
    grid: of both: blocks of the launch.
    block: of both: threads of a block.
    args: of both: the kernel's arguments by name; a side's own arguments override them.
    kernel: of both: the kernel's name if the file has several.
    shared: of both: dynamic shared memory of a block [bytes].
    compile: of both: compiler options; a side's own options follow them.
    set: of both: machine keys with new values; a side's own values override them.
    form: of both: "written", "compiled" or "ptx".
    graph: of both: for kernels on graphs, a file or a networkx graph (docs/graphs.md).
    start: of both: "warm", "cold" or "kept".
    what_if: whether to simulate what would help in each run.
    machine_a: the machine of A only.
    machine_b: the machine of B only.
    parameters_a: parameters of A only.
    parameters_b: parameters of B only.
    grid_a: the blocks of A only.
    grid_b: the blocks of B only.
    block_a: the threads of a block, of A only.
    block_b: the threads of a block, of B only.
    args_a: arguments of A only.
    args_b: arguments of B only.
    kernel_a: the kernel of A only.
    kernel_b: the kernel of B only.
    compile_a: compiler options of A only.
    compile_b: compiler options of B only.
    set_a: machine keys of A only.
    set_b: machine keys of B only.
    watch: called with (stage, done, total if known) as the work proceeds.

    `.cause` explains most of the difference; `.to_frame("reason")`, "line" or "array" is a table.

    Raises SavedRunError and the errors of `run`.
    """
    given = {name: value for name, value in locals().items() if name != "watch"}
    return request_of(DiffRequest, given).compared(watch)
