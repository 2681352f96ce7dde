"""cupy.cuda.compiler: what scripts catch of it."""

from typing import Any

from simtmm.errors import CompilerError
from simtmm.scripts.cupy.device_array import MissingError

CompileException = CompilerError


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    raise MissingError(f"cupy.cuda.compiler.{name}: is not supported by simtmm's stand-in for CuPy")
