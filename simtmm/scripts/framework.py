"""What a framework's adapter is, and how adapters are put in place when a script first imports the framework.

An adapter is an object with

    name        of the framework, as a reader knows it: "Numba CUDA"
    modules     names of modules whose import calls for it, as ("numba.cuda",)
    stands_in   True where those modules are replaced (CuPy), False where the framework's own are changed once imported
    installed() a context manager: entered, launches of the framework go through simtmm.recorder.direct.current.launch
                (an Image of the framework's PTX, a KernelFunction, sizes, arguments, the stream) on the device of the
                recording that is under way; left, all that it changed is as it was, after an exception too

One that stands in puts its modules into `sys.modules` when it is entered, and takes them out when it is left. One that
does not is entered right behind the import of the first of its modules, or at once where that was imported before; what
its installed() raises as a SimtmmError (for an unknown version, for instance) comes out of the script's import.

`adapting(adapters)` is the block within which all of that holds. Nothing of a framework is imported before the script
does it. What a launch is timed with is `simtmm.recorder.direct.current.clock()`; what a reader should know at the end
of a run goes to `simtmm.scripts.notes`.
"""

import contextlib
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Iterator, Sequence
from types import ModuleType
from typing import Any, Protocol


class Adapter(Protocol):
    """See above."""

    name: str
    modules: tuple[str, ...]
    stands_in: bool

    def installed(self) -> contextlib.AbstractContextManager[object]:
        """The block within which the framework's launches are ours."""


EXTRAS = {"numba": "numba", "triton": "triton"}
"""The extra of pyproject.toml that brings a framework, by the package that scripts import."""

UNADAPTED = {
    "cuda.bindings": "cuda.bindings", "cuda.core": "cuda.core", "cuda.tile": "cuTile", "warp": "Warp",
    "taichi": "Taichi", "tinygrad": "tinygrad", "jax": "JAX",
}  # fmt: skip
"""Frameworks that launch kernels and have no adapter here, by the module that scripts import."""

HOMES = ("simtmm.scripts.cupy_adapter", "simtmm.scripts.numba_cuda", "simtmm.scripts.triton")
"""Modules with an object `ADAPTER`; what they import of a framework, they import in installed()."""


def known_adapters() -> list[Adapter]:
    """All adapters."""
    return [importlib.import_module(home).ADAPTER for home in HOMES if importlib.util.find_spec(home) is not None]


@contextlib.contextmanager
def adapting(adapters: Sequence[Adapter] | None = None) -> Iterator[None]:
    """Within this block, frameworks launch on the device of the recording.

    adapters: all that are known, if left out.
    """
    with contextlib.ExitStack() as stack:
        finder = _Finder(known_adapters() if adapters is None else adapters, stack)
        sys.meta_path.insert(0, finder)
        stack.callback(sys.meta_path.remove, finder)
        for adapter in list(finder.waiting):
            if not adapter.stands_in and any(name in sys.modules for name in adapter.modules):
                finder.enter(adapter)
        yield


class _Finder(importlib.abc.MetaPathFinder):
    """Enters an adapter when one of its modules is imported."""

    def __init__(self, adapters: Sequence[Adapter], stack: contextlib.ExitStack) -> None:
        self.waiting = list(adapters)
        self._stack = stack

    def enter(self, adapter: Adapter) -> None:
        """Put an adapter in place, once."""
        if adapter in self.waiting:
            self.waiting.remove(adapter)
            self._stack.enter_context(adapter.installed())

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        """Nothing for most; the stand-in, or the framework's own module with the adapter behind it."""
        for adapter in self.waiting:
            if fullname not in adapter.modules:
                continue
            if adapter.stands_in:
                self.enter(adapter)
                placed = _Placed(sys.modules.pop(fullname))  # else Python runs its source again, for one module more
                return importlib.machinery.ModuleSpec(fullname, placed, is_package=True)
            return self._followed(fullname, path, target, adapter)
        return None

    def _followed(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None, adapter: Adapter
    ) -> importlib.machinery.ModuleSpec | None:
        for finder in sys.meta_path:
            find = getattr(finder, "find_spec", None)
            spec = find(fullname, path, target) if find is not None and finder is not self else None
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _Followed(spec.loader, self, adapter)
                found: importlib.machinery.ModuleSpec = spec
                return found
        return None


class _Placed(importlib.abc.Loader):
    """Gives a module that is there already, under another name."""

    def __init__(self, module: ModuleType) -> None:
        self._module, self._spec = module, module.__spec__

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        """It."""
        return self._module

    def exec_module(self, module: ModuleType) -> None:
        """It has been run, and stays what it is by its own name."""
        module.__spec__ = self._spec


class _Followed(importlib.abc.Loader):
    """A module's own loader, and the adapter's turn behind it."""

    def __init__(self, own: Any, finder: _Finder, adapter: Adapter) -> None:
        self._own, self._finder, self._adapter = own, finder, adapter

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        """As the module's own loader does."""
        module: ModuleType | None = self._own.create_module(spec)
        return module

    def exec_module(self, module: ModuleType) -> None:
        """Run the module, and then enter the adapter."""
        if module.__spec__ is not None:
            module.__spec__.loader = self._own
        module.__loader__ = self._own
        self._own.exec_module(module)
        self._finder.enter(self._adapter)
