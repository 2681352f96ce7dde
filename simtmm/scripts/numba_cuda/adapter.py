"""Numba CUDA on a device that is not there: its driver is replaced, and its launches are sent to the recorder.

Everything between the two is numba-cuda's own: the compiler, device arrays, dispatch by types.
"""

import contextlib
import functools
import importlib
import threading
import weakref
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np

from simtmm.errors import KernelError
from simtmm.extras import imported
from simtmm.scripts import notes
from simtmm.scripts.device_attributes import attribute, compute_capability, device_name
from simtmm.scripts.device_blocks import DeviceBlocks
from simtmm.scripts.numba_cuda.arguments import Copies, Pointer, imported_by, readable_later
from simtmm.scripts.numba_cuda.core_device import CoreDevice, CoreStream
from simtmm.scripts.numba_cuda.driver import EmulatedDriver
from simtmm.scripts.numba_cuda.launches import Argument, Loaded, parameter_names
from simtmm.scripts.patches import Patches

NUMBERS = {
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
}  # fmt: skip
"""Types of elements that Numba and NumPy have by the same names."""
KNOWN = ("0.30.",)  # versions of numba-cuda whose insides are known


@contextlib.contextmanager
def installed() -> Iterator[None]:
    """The block within which numba-cuda runs on the device of the recording. Raises KernelError for other versions."""
    version = imported("numba_cuda", "numba", "a script with Numba CUDA", KernelError).__version__
    if not version.startswith(KNOWN):
        raise KernelError(f"numba-cuda {version}: is not supported: pip install 'numba-cuda>=0.30,<0.31'")
    try:
        from numba.cuda.core import config
    except ImportError:  # numba-cuda's .pth file sends numba.cuda to it, which Python reads in site-packages alone
        raise KernelError(
            f"numba-cuda {version}: is installed, but numba.cuda is Numba's own: install it into this Python's "
            "site-packages, as pip does without --target"
        ) from None

    if config.ENABLE_CUDASIM:
        raise KernelError(
            "numba: NUMBA_ENABLE_CUDASIM is set: Numba's simulator would run kernels in Python, and compiles nothing "
            "that could be recorded: unset it"
        )
    with Patches() as patches:
        if patches.begin("Numba CUDA"):
            patches.callback(_forget)
            _install(patches)
        yield


def _install(patches: Patches) -> None:
    from cuda.bindings import driver as binding

    api, args, codegen, dispatcher, devicearray, devices, driver = (
        importlib.import_module(f"numba.cuda.{name}")
        for name in ("api", "args", "codegen", "dispatcher", "cudadrv.devicearray", "cudadrv.devices", "cudadrv.driver")
    )

    blocks = DEVICE.blocks
    # The driver
    the_driver = driver.driver
    DEVICE.begin(binding, type(the_driver.devices))
    patches.set(the_driver, "is_initialized", True)
    patches.set(the_driver, "initialization_error", None)
    patches.set(the_driver, "devices", DEVICE.devices)
    for name, function in DEVICE.driver.functions().items():
        patches.set(the_driver, name, function)
    patches.set(type(the_driver), "__getattr__", _refused)
    patches.set(driver, "_logger", driver.make_logger())
    patches.set(driver, "_memory_manager", None)
    patches.set(driver, "ExperimentalDevice", CoreDevice)
    patches.set(driver, "ExperimentalStream", CoreStream)
    patches.set(driver.Device, "compute_capability", property(lambda self: compute_capability(), _ignored))
    patches.set(driver.Device, "name", property(lambda self: device_name(), _ignored))
    patches.set(driver.Device, "__getattr__", lambda self, name: _attribute(name))
    patches.set(driver._ActiveContext, "_tls_cache", threading.local())
    patches.set(driver.Stream, "add_callback", _add_callback)
    patches.set(devices._runtime, "_tls", threading.local())
    _forget()
    # What is freed is freed by the driver that gave it, even after this block
    patches.set(driver, "_alloc_finalizer", lambda manager, ptr, key, size: _freeing(manager, ptr, key))
    patches.set(driver, "_hostalloc_finalizer", lambda manager, ptr, key, size, mapped: _freeing(manager, ptr, key))
    patches.set(driver, "_pin_finalizer", lambda manager, ptr, key, mapped: _freeing(manager, ptr, key))
    patches.set(
        driver, "_event_finalizer", lambda pending, handle: functools.partial(DEVICE.driver.drop_event, int(handle))
    )
    patches.set(
        driver, "_stream_finalizer", lambda pending, handle: functools.partial(DEVICE.driver.drop_stream, int(handle))
    )
    # Arrays
    patches.set(devicearray, "DeviceNDArray", readable_later(devicearray.DeviceNDArray, installed))
    patches.set(api, "from_cuda_array_interface", imported_by(api.from_cuda_array_interface, blocks))
    copies = Copies(blocks, driver.is_device_memory)
    patches.set(args.In, "to_device", _taken(copies, True, False))
    patches.set(args.Out, "to_device", _taken(copies, False, True))
    patches.set(args.InOut, "to_device", _taken(copies, True, True))
    # Kernels
    patches.set(codegen.CUDACodeLibrary, "get_cufunc", DEVICE.loaded)
    patches.set(dispatcher._Kernel, "__init__", _with_lines(dispatcher._Kernel.__init__))
    patches.set(dispatcher._Kernel, "_prepare_args", _named(dispatcher._Kernel._prepare_args))
    patches.set(
        dispatcher.CUDADispatcher, "compile_device", _device_with_lines(dispatcher.CUDADispatcher.compile_device)
    )
    patches.set(dispatcher.CUDADispatcher, "enable_caching", lambda self: None)  # its files are for GPUs
    patches.set(dispatcher, "launch", _launch)
    patches.set(dispatcher, "LaunchConfig", _LaunchConfig)


class _Device:
    """What there is of the device in this process, for all blocks: arrays that were created in one are read behind it.

    blocks: its memory. devices: numba-cuda's objects for it, by number.
    """

    driver: EmulatedDriver

    def __init__(self) -> None:
        self.blocks = DeviceBlocks()
        self.devices: Any = None
        self._loaded: weakref.WeakKeyDictionary[Any, Loaded] = weakref.WeakKeyDictionary()

    def begin(self, binding: Any, dictionary: type) -> None:
        """Create what derives from numba-cuda's own classes."""
        if self.devices is None:
            self.devices, self.driver = dictionary(), EmulatedDriver(binding, self.blocks)

    @property
    def loaded(self) -> Any:
        """`CUDACodeLibrary.get_cufunc`."""

        def get_cufunc(library: Any) -> Loaded:
            if library not in self._loaded:
                self._loaded[library] = Loaded(library, self.blocks)
            return self._loaded[library]

        return get_cufunc


DEVICE = _Device()


def _refused(self: Any, name: str) -> Any:
    raise KernelError(f"numba: {name}: this driver function is not supported on a simulated device")


def _attribute(name: str) -> int:
    if name.startswith("_") or not name.isupper():
        raise AttributeError(name)
    return attribute(name)


def _ignored(self: Any, value: Any) -> None:
    """It is looked up each time: recordings differ."""


def _freeing(manager: Any, pointer: Any, key: Any) -> Any:
    allocations, address = manager.allocations, int(pointer)

    def free() -> None:
        allocations.pop(key, None)
        DEVICE.blocks.free(address)

    return free


def _forget() -> None:
    """Contexts and configured launches of another driver."""
    from numba.cuda import dispatcher
    from numba.cuda.cudadrv import devices

    gpus: Any = type(devices._runtime.gpus)
    gpus.lst.fget.cache_clear()
    dispatcher.CUDADispatcher.configure.cache_clear()


def _taken(copies: Copies, copies_in: bool, copies_out: bool) -> Any:
    def to_device(self: Any, retr: list[Any], stream: Any = 0) -> Any:
        return copies.to_device(self.value, retr, copies_in, copies_out)

    return to_device


def _with_lines(own: Any) -> Any:
    """Kernels are compiled with the lines of their source."""

    @functools.wraps(own)
    def init(self: Any, py_func: Any, argtypes: Any, **options: Any) -> None:
        own(self, py_func, argtypes, **{**options, "lineinfo": not options.get("debug")})

    return init


def _device_with_lines(own: Any) -> Any:
    @functools.wraps(own)
    def compile_device(self: Any, args: Any, return_type: Any = None) -> Any:
        before = self.targetoptions
        self.targetoptions = {**before, "lineinfo": not before.get("debug")}
        try:
            return own(self, args, return_type)
        finally:
            self.targetoptions = before

    return compile_device


def _named(own: Any) -> Any:
    """What Numba makes of an argument, with the name of the Python parameter and whether it is a pointer."""
    types: Any = importlib.import_module("numba.cuda.types")
    state = threading.local()

    @functools.wraps(own)
    def prepare(self: Any, kind: Any, value: Any, stream: Any, retr: list[Any], converted: list[Any]) -> None:
        first, depth = len(converted), getattr(state, "depth", 0)
        if not depth:
            state.index = state.index + 1 if converted else 0
            names = parameter_names(getattr(self, "py_func", None))
            state.name = names[state.index] if state.index < len(names) else f"argument_{state.index}"
        _doubt(self, kind, value, state.name)
        state.depth = depth + 1
        try:
            own(self, kind, value, stream, retr, converted)
        finally:
            state.depth = depth
        for number in range(first, len(converted)):
            each = converted[number]
            if not isinstance(each, Argument):
                is_address = isinstance(each, Pointer) or isinstance(kind, types.CPointer)
                converted[number] = Argument(each, state.name, is_address)

    return prepare


def _doubt(kernel: Any, kind: Any, value: Any, name: str) -> None:
    """Say where a kernel takes an array for one of another type, which Numba lets pass where a signature is given."""
    given, taken = getattr(value, "dtype", None), str(getattr(kind, "dtype", ""))
    if isinstance(given, np.dtype) and given.kind in "iufcb" and taken in NUMBERS and given != np.dtype(taken):
        notes.note(
            f"Kernel {kernel.py_func.__name__}: {name} is an array of {given}, and its signature says {taken}: the "
            "kernel misreads its bytes, here as on a GPU. Pass an array of that type."
        )


class _LaunchConfig(SimpleNamespace):
    """Stands in for cuda.core.LaunchConfig."""


def _launch(stream: Any, configuration: Any, kernel: Loaded, *arguments: Any) -> None:
    """Stands in for cuda.core.launch."""
    sizes = tuple(configuration.grid), tuple(configuration.block), int(configuration.shmem_size)
    kernel.launch(sizes, int(stream), list(arguments))


def _add_callback(self: Any, callback: Any, arg: Any = None) -> None:
    """What is on the stream has ended: the callback is called at once."""
    callback(self, 0, arg)
