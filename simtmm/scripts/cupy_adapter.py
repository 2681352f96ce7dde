"""CuPy's adapter: simtmm's stand-in under the names `cupy` and `cupyx`."""

import contextlib
import importlib
import importlib.abc
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from simtmm.errors import SimtmmError

OWN = {
    "cupy": "simtmm.scripts.cupy", "cupy.cuda": "simtmm.scripts.cupy.cuda",
    "cupy.cuda.compiler": "simtmm.scripts.cupy.cuda.compiler",
    "cupy.cuda.device": "simtmm.scripts.cupy.cuda.device", "cupy.cuda.memory": "simtmm.scripts.cupy.memory",
    "cupy.cuda.nvtx": "simtmm.scripts.cupy.cuda.nvtx", "cupy.cuda.profiler": "simtmm.scripts.cupy.cuda.profiler",
    "cupy.cuda.runtime": "simtmm.scripts.cupy.cuda.runtime", "cupy.cuda.stream": "simtmm.scripts.cupy.cuda.stream",
    "cupy.cuda.texture": "simtmm.scripts.cupy.cuda.texture", "cupyx": "simtmm.scripts.cupyx",
    "cupyx.jit": "simtmm.scripts.cupyx.jit", "cupyx.profiler": "simtmm.scripts.cupyx.profiler",
}  # fmt: skip


class MissingModuleError(SimtmmError, ModuleNotFoundError):
    """A module that CuPy has and the stand-in does not, in one line; a script may catch it as ImportError."""

    def __init__(self, name: str) -> None:
        super().__init__(f"{name}: is not supported by simtmm's stand-in for CuPy")
        self.name = name

    def __str__(self) -> str:  # an ImportError's is what it began with, without the line that is put in front
        return str(self.args[0])


class _Missing(importlib.abc.MetaPathFinder):
    """Says of modules of CuPy's, as cupy.cutensor, that it is the stand-in that has none, though CuPy be installed."""

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> None:
        """Raises MissingModuleError."""
        if fullname.partition(".")[0] in CupyAdapter.modules and "." in fullname:
            raise MissingModuleError(fullname)


class CupyAdapter:
    """See simtmm.scripts.framework."""

    name = "CuPy"
    modules = ("cupy", "cupyx")
    stands_in = True

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """The names stand for the stand-in, and for what they stood for before once this is left."""
        before = _taken_out()
        missing = _Missing()
        try:
            from simtmm.scripts.cupy.libraries import libraries

            found: dict[str, ModuleType] = {name: importlib.import_module(home) for name, home in OWN.items()}
            cupy, cupyx = found["cupy"], found["cupyx"]
            found |= libraries()
            found |= {"cupy.random": cupy.random, "cupy.linalg": cupy.linalg, "cupy.fft": cupy.fft,
                      "cupy.testing": cupy.testing}  # fmt: skip
            cupyx.__dict__["scipy"] = found["cupyx.scipy"]
            sys.modules.update(found)
            sys.meta_path.insert(0, missing)
            yield
        finally:
            if missing in sys.meta_path:
                sys.meta_path.remove(missing)
            _taken_out()
            sys.modules.update(before)


def _taken_out() -> dict[str, ModuleType]:
    names = [name for name in sys.modules if name.partition(".")[0] in CupyAdapter.modules]
    return {name: sys.modules.pop(name) for name in names}


ADAPTER = CupyAdapter()
