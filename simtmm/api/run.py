"""`simtmm.run` and `simtmm.explain`: the options of `simtmm run` as arguments."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simtmm.api.explanation import Explanation
from simtmm.api.requested import request_of
from simtmm.requests.run import LONG, RunRequest

if TYPE_CHECKING:
    from simtmm.analysis.run.outcome import Run
    from simtmm.graph import Source as GraphSource
    from simtmm.kernel import Kernel
    from simtmm.machine import Machine
    from simtmm.program import Program
    from simtmm.trace.io import Trace
    from simtmm.watch import Watch
    from simtmm.workload import Workload

Sizes = int | str | Sequence[int] | None


def run(  # noqa: PLR0913, PLR0917 - each is an option of the verb
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
    warp: int | None = None,
    graph: "GraphSource | None" = None,
    variants: bool = False,
) -> "Run":
    """Simulate a program on a machine: its time, the causes, and what would help. `simtmm run` as a function.

    source: a CUDA file (.cu): one of its kernels with `grid` and `block`, a program with a main without; a Python
        script (.py); a kernel's name or folder; launches (.toml); a trace (.parquet); a workload (.json); or a Kernel,
        Trace, Workload or Program. The shipped trace if left out.
    machine: a Machine, its name, or its file (.toml); if left out, h100-sxm for compiled kernels, otherwise gtx280.
    parameters: a kernel's parameters that differ from its defaults.
    engine: "fast" (compiled) or "reference" (SimPy), which give equal results, or "auto", the faster one.
    watch: called with (stage, done, total if known) as the work proceeds.
    timeline: whether the result has a timeline.
    models: names of the models to compare with; if left out, the TMM, the TMM with warps that wait, and the PRAM.
    form: how to record a kernel: "written", "compiled" or "ptx".
    what_if: whether to simulate what would help, for at most 3 s.
    timeline_limit: the number of operations above which a program gets no timeline.
    sample: "auto" simulates some blocks of some launches and extrapolates (docs/sampling.md).
    error: half of the requested interval, as a fraction of the time: 0.03 or "3%".
    grid: blocks of the launch: 64, (64, 64) or "64x64".
    block: threads of a block, likewise.
    args: the kernel's arguments by name: numbers, NumPy arrays, which are copied, or texts such as
        "random:float32:1000" and "x.npy".
    kernel: the kernel's name if the file has several; for a program or script, which kernels to record.
    shared: dynamic shared memory of a block [bytes].
    compile: options for the compiler, such as "-DN=4".
    set: machine keys with new values, such as {"memory.latency": 800}.
    start: the L2 when a launch begins: "warm", "cold" or "kept".
    arguments: command-line arguments of a program or script.
    launch: which of its launches to record: 3, or "0,4-7".
    skip: the number of its launches to skip first.
    count: the largest number of launches to record.
    sample_blocks: the number of blocks to record of each launch.
    record_elementwise: whether to record CuPy's own functions as kernels.
    build: nvcc's options for a program.
    clock: what a program reads from its clocks: "virtual" or "real" time.
    host_time: whether those clocks count the time of a program's own code; by default for programs, unless the
        environment sets CI.
    stop_after: when to end a program: after a number of launches, 100, or of seconds, "60s".
    warp: lanes of a warp in a HIP program's code: 32, or 64 on a machine with waves of 64.
    graph: for a kernel on graphs, a file or a networkx graph instead of the generated one (docs/graphs.md).
    variants: whether to compile variants of a CUDA file, too, and to simulate those with equal results.

    Raises the errors of simtmm.errors, each a one-line SimtmmError.
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
    nsight: "str | Path | Sequence[str | Path]" = (),
    watch: "Watch | None" = None,
    **words: Any,
) -> Explanation:
    """Explain where a program's time goes, as rows and as a page: `simtmm run --lines` and `--html` as a function.

    source: a program, as for `run`.
    machine: a Machine, its name, or its file.
    parameters: a kernel's parameters that differ from its defaults.
    by: what each row describes: a "line", "array", "launch" or "reason".
    nsight: CSV files of a profiler, whose values the page shows at each line (docs/counters.md).
    watch: called with (stage, done, total if known) as the work proceeds.
    words: all other arguments of `run`, such as grid, block, args and set.

    `.to_frame()` has a row for each line, `.save("page.html")` writes the page, and Jupyter shows it.

    Raises the errors of `run`, those of `Run.beside`, and OutputError for an unknown `by`.
    """
    Explanation.check(by)
    from simtmm.analysis.nsight import beside, opened_profile

    files = (nsight,) if isinstance(nsight, str) or not isinstance(nsight, Sequence) else nsight
    measured = opened_profile(files) if files else None
    done = run(source, machine, parameters, watch=watch, **{"timeline": True, "timeline_limit": LONG, **words})
    return Explanation(done, by, None if measured is None else beside(done, measured))
