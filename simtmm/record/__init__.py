"""Recording: run a kernel and write down what its threads do.

`simtmm.record` is this package, and can be called: `simtmm.record("stream", {"n": 4096})`; see `record` within.
"""

import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

from simtmm.errors import RecordingError, nearest
from simtmm.kernel import Kernel, load_kernel
from simtmm.trace.io import Trace

RECORDERS = ("cpu",)


def record(
    kernel: str | Path | Kernel,
    parameters: Mapping[str, object] | None = None,
    on: str = "cpu",
    *,
    output: str | Path | None = None,
    progress: Callable[[int], None] | None = None,
) -> Trace:
    """Run a kernel, check its answer, and give the trace of what its threads did.

    kernel: a name (kernels/NAME), a folder, or a loaded Kernel. parameters: those that differ from the kernel's
    defaults. on: "cpu" runs the instrumented C++ build. output: stream the trace to this Parquet file, so that
    memory stays bounded; else it is held in memory. progress: called with the number of events so far.

    Raises KernelError, CompilerError, and RecordingError for an index out of bounds or a wrong answer.
    """
    if on not in RECORDERS:
        raise RecordingError(f"recorder {on!r}: unknown{nearest(on, RECORDERS)}")
    from simtmm.record import cpu

    loaded = kernel if isinstance(kernel, Kernel) else load_kernel(kernel)
    return cpu.record(loaded, loaded.resolve(parameters or {}), output, progress)


class _CallableModule(ModuleType):
    """Importing a submodule of this package binds `simtmm.record` to the package; the function's name must work on."""

    def __call__(self, *arguments: Any, **options: Any) -> Trace:
        return record(*arguments, **options)


sys.modules[__name__].__class__ = _CallableModule
