"""cupyx.jit: its transpiler is the real CuPy's own, so that kernels in Python need the real CuPy."""

from typing import Any

from simtmm.scripts.cupy.device_array import MissingError


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise MissingError(
        f"cupyx.jit.{name}: needs CuPy itself; simtmm's stand-in supports cupy.RawKernel, and "
        "numba.cuda.jit for kernels in Python"
    )
