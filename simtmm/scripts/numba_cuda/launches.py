"""Launches of Numba kernels, and kernels as numba-cuda holds them once they are loaded."""

import ctypes
import inspect
import linecache
import re
import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from simtmm.cuda.compilers import CompiledModule, compile_source, load_module, module_of_ptx
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule
from simtmm.cuda.signature import ParameterType
from simtmm.errors import KernelError
from simtmm.recorder.direct import current
from simtmm.recorder.direct.image import Image, Variables
from simtmm.scripts.device_blocks import DeviceBlocks
from simtmm.scripts.numba_cuda.arguments import Pointer

COOPERATIVE = """
#include <cooperative_groups.h>
extern "C" __device__ unsigned long long cudaCGGetIntrinsicHandle(enum cudaCGScope scope) { return 1; }
extern "C" __device__ cudaError_t cudaCGSynchronize(unsigned long long handle, unsigned int flags) {
    cooperative_groups::this_grid().sync();
    return cudaSuccess;
}
"""
"""What cudadevrt, which Numba links for cuda.cg, has of CUDA's own headers."""

ENVIRONMENT = re.compile(r"^\.common \.global \.align 8 \.u64 _ZN08NumbaEnv\S*;$", re.MULTILINE)
"""Variables that Numba's compiler leaves for the host, and no kernel reads."""


class Argument:
    """A value on its way to a kernel. name: of the Python parameter that it is of. address: whether it is one."""

    def __init__(self, value: Any, name: str, address: bool) -> None:
        self.value, self.name, self.address = value, name, address


class Loaded:
    """A kernel as `CUDACodeLibrary.get_cufunc` gives it, for whatever architecture is compiled for when it is used.

    name: in Numba's PTX.
    """

    def __init__(self, library: Any, blocks: DeviceBlocks) -> None:
        self._library, self._blocks = weakref.ref(library), blocks
        self.name: str = library._entry_name
        self._images: dict[int, Image] = {}
        self._variables = Variables()
        self.module = SimpleNamespace(initialized=False, setup=self._setup, get_global_symbol=self._symbol)
        self.kernel = self
        self.handle = self
        self.python_name = _python_name(library.name)

    def _setup(self) -> None:
        library = self._library()
        for function in [] if library is None else library._setup_functions:
            if not str(function.__module__).startswith("numba."):  # its own warn, and use nothing of the driver
                raise KernelError(f"kernel {self.python_name}: setup callbacks of linked code are not supported")
            function(self)
        self.module.initialized = True

    def image(self) -> Image:
        """What it is compiled to now. Raises KernelError, CompilerError and PtxError."""
        architecture = current.architecture()
        if architecture not in self._images:
            library = self._library()
            assert library is not None
            linked = LinkedModule(_units(library, architecture, self.name, self.python_name), Path.cwd())
            self._images[architecture] = Image(linked, self._variables)
        return self._images[architecture]

    def function(self) -> KernelFunction:
        """The kernel. Raises what `image` raises."""
        return self.image().function(self.python_name)

    def _symbol(self, name: str) -> tuple[Any, int]:
        """The memory of a module's variable, as numba-cuda takes it, and its size."""
        variables = self.image().variables
        if name not in variables:
            raise KernelError(f"{self.python_name}: variable {name}: is not in its module")
        array = variables[name]
        address = self._blocks.adopt(array.ctypes.data, array.nbytes, array)

        def memset(byte: int, count: int | None = None, stream: Any = 0) -> None:
            array[:count] = byte

        pointer = SimpleNamespace(
            memset=memset, device_ctypes_pointer=ctypes.c_size_t(address), __cuda_memory__=True
        )  # fmt: skip
        return pointer, array.nbytes

    @property
    def attributes(self) -> Any:
        """As cuda.core has them of a kernel."""
        function = self.function()
        resources = function.linked.resources_of(function.entry)
        variables = function.linked.module.variables.values()
        return SimpleNamespace(
            num_regs=resources.registers if resources else 0,
            const_size_bytes=sum(each.size for each in variables if each.space == "const"),
            local_size_bytes=resources.local_bytes if resources else 0,
            shared_size_bytes=function.program.shared_bytes,
            max_threads_per_block=current.properties().most_threads(
                resources.registers if resources else 0, function.most_threads
            ),
        )

    @property
    def attrs(self) -> Any:
        """As numba-cuda has them."""
        found = self.attributes
        return SimpleNamespace(
            regs=found.num_regs, const=found.const_size_bytes, local=found.local_size_bytes,
            shared=found.shared_size_bytes, maxthreads=found.max_threads_per_block,
        )  # fmt: skip

    def set_shared_memory_carveout(self, carveout: int) -> None:
        """A wish, without effect."""

    def cache_config(self, **wishes: bool) -> None:
        """A wish, without effect."""

    def launch(self, sizes: Any, stream: int, arguments: list[Argument]) -> None:
        """Run it. Raises KernelError, PtxError and RecordingError."""
        image, function = self.image(), self.function()
        where = f"kernel {self.python_name}"
        if len(arguments) != len(function.parameters):
            raise KernelError(f"{where}: {len(arguments)} arguments: must be {len(function.parameters)}")
        function.__dict__.setdefault("declared", tuple(_declared(argument) for argument in arguments))
        values = [self._value(argument, f"{where}: {argument.name}") for argument in arguments]
        current.launch(image, function, sizes, values, stream)

    def _value(self, argument: Argument, where: str) -> Any:
        value = argument.value
        if isinstance(value, ctypes._SimpleCData):
            value = value.value
        if not argument.address or not int(value):
            return value
        if isinstance(value, Pointer):
            return self._blocks.array(value, value.dtype, value.shape, where)
        return self._blocks.array(int(value), np.uint8, None, where)


def _declared(argument: Argument) -> ParameterType:
    if not argument.address:
        return ParameterType(argument.name, argument.name, "", 0)
    dtype = getattr(argument.value, "dtype", "void")
    return ParameterType(argument.name, f"{dtype}*", str(dtype), 1)


def _python_name(name: str) -> str:
    """The function's own name, as an identifier: Numba calls `<lambda>` so."""
    return re.sub(r"\W", "_", name.rpartition(".")[2]).strip("_") or "kernel"


def _units(library: Any, architecture: int, entry: str, name: str) -> list[CompiledModule]:
    """The PTX of a kernel, which is called by its Python name in it, and of what is linked with it."""
    if any(hasattr(each, "__cuda_array_interface__") for each in getattr(library, "referenced_objects", {}).values()):
        raise KernelError(
            f"kernel {name}: reads a device array through a global variable, whose address is in its code: "
            "pass the array as an argument"
        )
    major, minor = divmod(architecture, 10)
    texts = library.get_asm_strs(cc=(major, minor, "a" if architecture >= 90 else ""))
    pattern = re.compile(rf"(?<![\w$]){re.escape(entry)}(?![\w$])")
    texts = [ENVIRONMENT.sub("", pattern.sub(name, text)) for text in texts]
    units = [_with_sources(module_of_ptx(text, name, architecture)) for text in texts]
    for linked in sorted(library._linking_files, key=str):
        units += _linked(linked, architecture, name)
    if library.use_cooperative and any("cudaCG" in text for text in texts):
        options = ("-rdc=true", f"-arch=sm_{architecture}")
        units.append(compile_source(COOPERATIVE, name="cooperative.cu", architecture=architecture, options=options))
    return units


def _with_sources(unit: CompiledModule) -> CompiledModule:
    """A notebook's cells are no files: Python knows their lines."""
    texts = {
        file: "".join(linecache.getlines(file))
        for file in unit.files.values()
        if not Path(file).is_file() and linecache.getlines(file)
    }
    return CompiledModule(unit.ptx, unit.architecture, name=unit.name, texts=texts) if texts else unit


def _linked(code: Any, architecture: int, kernel: str) -> list[CompiledModule]:
    """What `link=` names: CUDA C++ and PTX."""
    path = code if isinstance(code, str) else ""
    kind = Path(path).suffix.lstrip(".") if path else getattr(code, "kind", "")
    kind = getattr(kind, "value", kind)
    try:
        if kind == "cu":
            text = Path(path).read_text(encoding="utf-8") if path else code.data
            text = text.decode() if isinstance(text, bytes) else text
            where = path or str(code.name)
            return [compile_source(text, name=where, architecture=architecture, options=("-rdc=true",))]
        if path and kind in ("ptx", "cubin", "fatbin", "o"):
            return load_module(path, architecture)
        if not path and type(code).__name__ == "PTXSource":
            text = code.data.decode() if isinstance(code.data, bytes) else code.data
            return [module_of_ptx(text, str(code.name), architecture)]
    except OSError as error:
        raise KernelError(f"kernel {kernel}: link = {path}: can't be read ({error.strerror})") from None
    what = path or type(code).__name__
    raise KernelError(
        f"kernel {kernel}: link = {what}: must be CUDA C++ (.cu) or contain PTX (.ptx, .cubin, .fatbin, .o)"
    )


def parameter_names(function: Any) -> list[str]:
    """A Python function's parameters."""
    try:
        return list(inspect.signature(function).parameters)
    except (TypeError, ValueError):
        return []
