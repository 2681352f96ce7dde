"""Triton on a device that is not there: a driver of ours, and launches that are sent to the recorder."""

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

from simtmm.errors import KernelError
from simtmm.scripts.framework import adapting
from simtmm.scripts.patches import Patches
from simtmm.scripts.triton.arrays import Tensors, wrapped
from simtmm.scripts.triton.compiling import cache_folder, compiled_for_here
from simtmm.scripts.triton.driver import SimulatedDriver
from simtmm.scripts.triton.launches import Launcher
from simtmm.scripts.triton.torch_device import TorchAdapter
from simtmm.scripts.triton.tuning import benchmark, do_bench, pruned, tuned

KNOWN = ("3.9.",)  # versions of Triton whose insides are known


@contextlib.contextmanager
def installed() -> Iterator[None]:
    """The block within which Triton runs on the device of the recording. Raises KernelError for other versions."""
    import triton

    if not triton.__version__.startswith(KNOWN):
        raise KernelError(f"triton {triton.__version__}: is not supported: pip install 'triton>=3.9,<3.10'")
    from triton import knobs

    if knobs.runtime.interpret:
        raise KernelError(
            "triton: TRITON_INTERPRET is set: Triton's interpreter would run kernels in Python, and compiles nothing "
            "that could be recorded: unset it"
        )
    with Patches() as patches:
        if patches.begin("Triton"):
            _install(patches)
        yield


def _install(patches: Patches) -> None:
    import importlib

    compiler, jit, autotuner, driver, testing, nvidia, knobs = (
        importlib.import_module(f"triton.{name}")
        for name in (
            "compiler.compiler", "runtime.jit", "runtime.autotuner", "runtime.driver", "testing",
            "backends.nvidia.compiler", "knobs",
        )
    )  # fmt: skip
    tensors = Tensors()
    patches.set(driver.driver, "_active", SimulatedDriver(None, benchmark))
    patches.set(driver.driver, "_default", driver.driver._active)
    patches.set_item(vars(knobs.cache), "dir", cache_folder())
    patches.set(nvidia.CUDABackend, "make_cubin", lambda self, src, metadata, opt, capability: b"")
    compile_here = compiled_for_here(compiler.compile)
    for module in (compiler, importlib.import_module("triton.compiler"), importlib.import_module("triton")):
        patches.set(module, "compile", compile_here)
    patches.set(compiler.CompiledKernel, "_init_handles", _with_launcher(tensors))
    patches.set(jit.JITFunction, "run", _with_arrays(jit.JITFunction.run))
    patches.set(autotuner.Heuristics, "run", _with_arrays(autotuner.Heuristics.run))
    patches.set(autotuner.Autotuner, "run", _with_arrays(tuned(autotuner.Autotuner.run)))
    patches.set(autotuner.Autotuner, "prune_configs", pruned(autotuner.Autotuner.prune_configs))
    patches.set(autotuner.Autotuner, "do_bench", property(lambda self: benchmark))
    for name in ("do_bench", "do_bench_cudagraph", "do_bench_proton", "do_bench_cudagraph_proton"):
        patches.set(testing, name, do_bench)
    descriptor = importlib.import_module("triton.tools.tensor_descriptor").TensorDescriptor
    patches.set(descriptor, "__init__", _of_array(descriptor.__init__))
    patches.set(descriptor, "from_tensor", staticmethod(_of_wrapped(descriptor.from_tensor)))
    for module in (jit, importlib.import_module("triton.runtime"), importlib.import_module("triton")):
        patches.set(module, "reinterpret", _of_wrapped(jit.reinterpret))
    patches.enter_context(adapting([TorchAdapter()]))


def _with_launcher(tensors: Tensors) -> Any:
    """CompiledKernel._init_handles: no module is loaded, and the launcher is ours."""

    def init(self: Any) -> None:
        if self._run is None:
            from triton.runtime.errors import OutOfResources

            launcher = Launcher(self, tensors)
            if self.metadata.shared > launcher.most_shared:
                raise OutOfResources(self.metadata.shared, launcher.most_shared, "shared memory")
            self._run, self.function, self.n_max_threads = launcher, launcher, 1024
            self.n_regs, self.n_spills = launcher.resources.registers, launcher.resources.spills

    return init


def _with_arrays(own: Any) -> Any:
    """A `run` that takes NumPy arrays as it takes tensors."""

    @functools.wraps(own)
    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        return own(self, *map(wrapped, args), **{name: wrapped(value) for name, value in kwargs.items()})

    return run


def _of_wrapped(own: Any) -> Any:
    """A function of a tensor that takes a NumPy array too."""

    @functools.wraps(own)
    def of_wrapped(tensor: Any, *args: Any, **kwargs: Any) -> Any:
        return own(wrapped(tensor), *args, **kwargs)

    return of_wrapped


def _of_array(own: Any) -> Any:
    """Likewise the `__init__` of a descriptor."""

    @functools.wraps(own)
    def init(self: Any, base: Any, *args: Any, **kwargs: Any) -> None:
        own(self, wrapped(base), *args, **kwargs)

    return init
