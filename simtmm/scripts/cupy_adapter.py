"""CuPy's adapter: simtmm's stand-in under the names `cupy` and `cupyx`."""

import contextlib
import importlib
import sys
from collections.abc import Iterator
from types import ModuleType

OWN = {
    "cupy": "simtmm.scripts.cupy", "cupy.cuda": "simtmm.scripts.cupy.cuda",
    "cupy.cuda.device": "simtmm.scripts.cupy.cuda.device", "cupy.cuda.memory": "simtmm.scripts.cupy.memory",
    "cupy.cuda.nvtx": "simtmm.scripts.cupy.cuda.nvtx", "cupy.cuda.profiler": "simtmm.scripts.cupy.cuda.profiler",
    "cupy.cuda.runtime": "simtmm.scripts.cupy.cuda.runtime", "cupy.cuda.stream": "simtmm.scripts.cupy.cuda.stream",
    "cupy.cuda.texture": "simtmm.scripts.cupy.cuda.texture", "cupyx": "simtmm.scripts.cupyx",
    "cupyx.jit": "simtmm.scripts.cupyx.jit", "cupyx.profiler": "simtmm.scripts.cupyx.profiler",
}  # fmt: skip


class CupyAdapter:
    """See simtmm.scripts.framework."""

    name = "CuPy"
    modules = ("cupy", "cupyx")
    stands_in = True

    @contextlib.contextmanager
    def installed(self) -> Iterator[None]:
        """The names stand for the stand-in, and for what they stood for before once this is left."""
        before = _taken_out()
        try:
            from simtmm.scripts.cupy.libraries import libraries

            found: dict[str, ModuleType] = {name: importlib.import_module(home) for name, home in OWN.items()}
            cupy, cupyx = found["cupy"], found["cupyx"]
            found |= libraries()
            found |= {"cupy.random": cupy.random, "cupy.linalg": cupy.linalg, "cupy.fft": cupy.fft,
                      "cupy.testing": cupy.testing}  # fmt: skip
            cupyx.__dict__["scipy"] = found["cupyx.scipy"]
            sys.modules.update(found)
            yield
        finally:
            _taken_out()
            sys.modules.update(before)


def _taken_out() -> dict[str, ModuleType]:
    names = [name for name in sys.modules if name.partition(".")[0] in CupyAdapter.modules]
    return {name: sys.modules.pop(name) for name in names}


ADAPTER = CupyAdapter()
