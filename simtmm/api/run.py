"""`simtmm.run` and `simtmm.explain`: the words of `simtmm run` as arguments."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simtmm.api.explanation import Explanation
from simtmm.api.requested import request_of
from simtmm.requests.run import LONG, RunRequest

if TYPE_CHECKING:
    from simtmm.analysis.run import Run
    from simtmm.graph import Source as GraphSource
    from simtmm.kernel import Kernel
    from simtmm.machine import Machine
    from simtmm.program import Program
    from simtmm.trace.io import Trace
    from simtmm.watch import Watch
    from simtmm.workload import Workload

Sizes = int | str | Sequence[int] | None


def run(
    source: "str | Path | Kernel | Trace | Workload | Program | None" = None,
    machine: "Machine | str | Path | None" = None,
    parameters: Mapping[str, object] | None = None,
    engine: str = "auto",
    watch: "Watch | None" = None,
    timeline: bool = False,
    models: Sequence[str] | None = None,
    form: str | None = None,
    what_if: bool = True,
    timeline_limit: int | None = None,
    sample: str | None = None,
    error: float | str | None = None,
    *,
    grid: Sizes = None,
    block: Sizes = None,
    args: Mapping[str, object] | None = None,
    kernel: str | None = None,
    shared: int = 0,
    compile: Sequence[str] = (),
    set: Mapping[str, object] | None = None,
    start: str | None = None,
    arguments: Sequence[object] = (),
    launch: int | str | None = None,
    skip: int = 0,
    count: int | None = None,
    sample_blocks: int | None = None,
    record_elementwise: bool = False,
    build: str | Sequence[str] = (),
    clock: str = "virtual",
    host_time: bool | str | None = None,
    stop_after: int | str | None = None,
    graph: "GraphSource | None" = None,
    variants: bool = False,
) -> "Run":
    """How long a program takes on a machine, why, and what would help: `simtmm run` as a function.

    source: a CUDA file (.cu), with `grid` and `block` one of its kernels, without them a program with a main; a Python
        script (.py); a kernel's name or folder; launches (.toml); a trace (.parquet); a workload (.json); or a Kernel,
        Trace, Workload or Program; the shipped trace if left out.
    machine: a Machine, its name, or its file (.toml); if left out gtx280, and h100-sxm for compiled kernels.
    parameters: of a kernel, those that differ from its defaults.
    engine: "fast" (compiled), "reference" (SimPy), which give the same, or "auto", whichever is done sooner.
    watch: called with (stage, done, total where it is known) as things go on.
    timeline: whether the result brings its timeline.
    models: names of the models whose predictions stand beside the run; the TMM, with warps that wait, and the PRAM if
        left out.
    form: "written", "compiled" or "ptx", how a kernel is recorded.
    what_if: whether to try what would help, by simulation, for 3 s at most.
    timeline_limit: operations beyond which a program is left without its timeline.
    sample: "auto" simulates some blocks of some launches and extrapolates (docs/sampling.md).
    error: half of the interval requested then, as a part of the time: 0.03 or "3%".
    grid: blocks of the launch: 64, (64, 64) or "64x64".
    block: threads of a block, likewise.
    args: the kernel's arguments by name: numbers, NumPy arrays, which are copied, or texts such as
        "random:float32:1000" and "x.npy".
    kernel: the kernel's name where the file has several; of a program or script, which kernels are recorded.
    shared: dynamic shared memory of a block [bytes].
    compile: options for the compiler, such as "-DN=4".
    set: the machine's keys with new values, such as {"memory.latency": 800}.
    start: "warm", "cold" or "kept", what the L2 holds when a launch begins.
    arguments: of a program or script.
    launch: which launches of it are recorded: 3, or "0,4-7".
    skip: so many of its launches are left out first.
    count: so many of them are recorded at most.
    sample_blocks: only so many blocks of a launch are recorded.
    record_elementwise: whether CuPy's own functions are recorded as kernels.
    build: options of nvcc for a program.
    clock: "virtual" or "real", what a program reads from its clocks.
    host_time: whether the time of a program's own code counts on them.
    stop_after: launches, 100, or seconds, "60s", after which a program is ended.
    graph: for a kernel on graphs, a file or a graph of networkx in place of the one that it draws (docs/graphs.md).
    variants: whether to compile a CUDA file otherwise, too, and to simulate what computes the same.

    Raises the errors of simtmm.errors, each a SimtmmError of one line.
    """
    given = {name: value for name, value in locals().items() if name not in NOT_REQUESTED}
    opened = request_of(RunRequest, given).checked().opened_in_python()
    return opened.run(watch, timeline, timeline_limit, models)


NOT_REQUESTED = {"watch", "timeline", "timeline_limit", "models"}


def explain(
    source: "str | Path | Kernel | Trace | Workload | Program | None" = None,
    machine: "Machine | str | Path | None" = None,
    parameters: Mapping[str, object] | None = None,
    *,
    by: str = "line",
    watch: "Watch | None" = None,
    **words: Any,
) -> Explanation:
    """Where a program's time goes, as rows and as a page: `simtmm run --lines` and `--html` as a function.

    source: a program, as `run` takes it.
    machine: a Machine, its name, or its file.
    parameters: of a kernel, those that differ from its defaults.
    by: what a row is for: "line", "array", "launch" or "reason".
    watch: called with (stage, done, total where it is known) as things go on.
    words: all other arguments of `run`, as grid, block, args and set.

    `.to_frame()` is a row for each line, `.save("page.html")` writes the page, and Jupyter shows it.

    Raises the errors of `run`, and OutputError for another `by`.
    """
    Explanation.check(by)
    done = run(source, machine, parameters, watch=watch, **{"timeline": True, "timeline_limit": LONG, **words})
    return Explanation(done, by)
