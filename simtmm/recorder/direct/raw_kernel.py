"""RawKernel: a CUDA kernel as a user has it, with the signature of cupy.RawKernel."""

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from simtmm.device.stream import DEFAULT_STREAM, Stream
from simtmm.errors import KernelError, shown
from simtmm.recorder.direct.raw_module import RawModule

if TYPE_CHECKING:
    from simtmm.cuda.function import KernelFunction


class RawKernel:
    """A CUDA kernel, compiled at its first use, which runs on the CPU on NumPy arrays.

    It has the signature and behaviour of cupy.RawKernel. `kernel(grid, block, arguments)` runs it; `with
    simtmm.recording():` also records it.

    code: CUDA C++.
    name: the kernel's name in the source, or a name expression: "saxpy<float>".
    options: compiler options, such as ("-DN=4", "-Iinclude").
    backend: "nvrtc", or "nvcc", which finds host headers.
    translate_cucomplex: accepted but ignored: cuComplex.h is CUDA's own.
    enable_cooperative_groups: accepted but ignored: all resident blocks of a launch make progress anyway.
    jitify: must be False.

    Raises KernelError for unsupported arguments; CompilerError and PtxError at the first use.
    """

    module_class = RawModule

    def __init__(
        self,
        code: str,
        name: str,
        options: Sequence[str] = (),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        *,
        enable_cooperative_groups: bool = False,
        jitify: bool = False,
    ) -> None:
        if not isinstance(code, str):
            raise KernelError(f"RawKernel: code = {shown(code)}: must be a text of CUDA C++")
        if not isinstance(name, str) or not name:
            raise KernelError(f"RawKernel: name = {shown(name)}: must be a kernel's name")
        is_expression = any(mark in name for mark in ("<", "::")) and backend == "nvrtc"
        module = self.module_class(
            code, options=options, backend=backend, translate_cucomplex=translate_cucomplex,
            enable_cooperative_groups=enable_cooperative_groups, name_expressions=[name] if is_expression else None,
            jitify=jitify,
        )  # fmt: skip
        module.label_as(name)
        self._set(module, name)

    @classmethod
    def of_module(cls, module: RawModule, name: str) -> "RawKernel":
        """A kernel of a module, as `RawModule.get_function` returns it."""
        kernel = cls.__new__(cls)
        kernel._set(module, name)
        return kernel

    def _set(self, module: RawModule, name: str) -> None:
        self._module, self.name = module, name
        self._dynamic_limit: int | None = None
        self._carveout = -1

    def __repr__(self) -> str:
        return f"RawKernel({self.name})"

    def __call__(
        self,
        grid: Sequence[int],
        block: Sequence[int],
        args: Sequence[Any],
        *,
        shared_mem: int = 0,
        stream: Stream = DEFAULT_STREAM,
    ) -> None:
        """Run the kernel to its end; arrays then hold what it wrote.

        grid: blocks in x, y, z; one to three numbers.
        block: threads of a block, likewise.
        args: NumPy arrays, numbers, `bytes` or NumPy records for structures by value, None for a null pointer, and
            pointers of `RawModule.get_global`.
        shared_mem: dynamic shared memory of a block [bytes].
        stream: that the launch is put on, which matters to the clock alone.

        Raises KernelError for what the kernel does not take, CompilerError, PtxError, and RecordingError for what a
        thread does wrong, as an access out of bounds.
        """
        from simtmm.recorder.direct.current import LOCK, launch

        where = f"kernel {self.name}"
        sizes = _three(grid, f"{where}: grid"), _three(block, f"{where}: block")
        if not isinstance(args, (tuple, list)):
            raise KernelError(f"{where}: args = {shown(args)}: must be a tuple of arguments")
        shared = _whole(shared_mem, f"{where}: shared_mem")
        with LOCK:
            if shared > self.max_dynamic_shared_size_bytes:
                raise KernelError(
                    f"{where}: shared_mem = {shared}: must be at most {self.max_dynamic_shared_size_bytes}; a kernel "
                    "may have more if you set its max_dynamic_shared_size_bytes, as on a GPU"
                )
            launch(self._module.image(), self.kernel, (*sizes, shared), args, stream)

    def compile(self, log_stream: Any = None) -> None:
        """Compile now; see `RawModule.compile`.

        log_stream: where the compiler's messages go.
        """
        self._module.compile(log_stream)
        _ = self.kernel

    @property
    def kernel(self) -> "KernelFunction":
        """The compiled kernel for the current architecture. Raises CompilerError, KernelError and PtxError."""
        return self._module.image().function(self.name)

    @property
    def code(self) -> str | None:
        """Its source; None if its module is PTX."""
        return self._module.code

    @property
    def file_path(self) -> str | None:
        """The file of its module, if that is PTX."""
        return self._module.file_path

    @property
    def options(self) -> tuple[str, ...]:
        """The compiler options."""
        return self._module.options

    @property
    def backend(self) -> str:
        """The compiler: "nvrtc" or "nvcc"."""
        return self._module.backend

    @property
    def enable_cooperative_groups(self) -> bool:
        """The value given."""
        return self._module.enable_cooperative_groups

    @property
    def attributes(self) -> dict[str, int]:
        """The kernel's attributes in CUDA, by CuPy's names."""
        return {
            "binary_version": self.binary_version,
            "cache_mode_ca": self.cache_mode_ca,
            "const_size_bytes": self.const_size_bytes,
            "local_size_bytes": self.local_size_bytes,
            "max_dynamic_shared_size_bytes": self.max_dynamic_shared_size_bytes,
            "max_threads_per_block": self.max_threads_per_block,
            "num_regs": self.num_regs,
            "preferred_shared_memory_carveout": self.preferred_shared_memory_carveout,
            "ptx_version": self.ptx_version,
            "shared_size_bytes": self.shared_size_bytes,
        }

    @property
    def binary_version(self) -> int:
        """The architecture that it is assembled for: 90 for sm_90."""
        return self.kernel.linked.architecture

    @property
    def ptx_version(self) -> int:
        """The architecture of its PTX: 90 for sm_90."""
        return int("".join(letter for letter in self.kernel.linked.module.target if letter.isdigit()))

    @property
    def cache_mode_ca(self) -> int:
        """Whether -dlcm=ca was given."""
        return int("-dlcm=ca" in " ".join(self.options))

    @property
    def const_size_bytes(self) -> int:
        """Constant memory of its module's variables [bytes]."""
        variables = self.kernel.linked.module.variables.values()
        return sum(variable.size for variable in variables if variable.space == "const")

    @property
    def local_size_bytes(self) -> int:
        """Local memory of a thread [bytes]; 0 without an assembler."""
        resources = self.kernel.linked.resources_of(self.kernel.entry)
        return resources.local_bytes if resources else 0

    @property
    def shared_size_bytes(self) -> int:
        """Static shared memory of a block [bytes]."""
        return self.kernel.shared_bytes(0)

    @property
    def num_regs(self) -> int:
        """Registers of a thread; 0 without an assembler."""
        resources = self.kernel.linked.resources_of(self.kernel.entry)
        return resources.registers if resources else 0

    @property
    def max_threads_per_block(self) -> int:
        """Threads that a block may have, by the kernel's registers and launch bounds."""
        from simtmm.recorder.direct.current import properties

        return properties().most_threads(self.num_regs, self.kernel.most_threads)

    @property
    def max_dynamic_shared_size_bytes(self) -> int:
        """The most dynamic shared memory that a launch may request [bytes]; may be set."""
        from simtmm.recorder.direct.current import properties

        if self._dynamic_limit is not None:
            return self._dynamic_limit
        return max(0, properties().shared_per_block - self.shared_size_bytes)

    @max_dynamic_shared_size_bytes.setter
    def max_dynamic_shared_size_bytes(self, size: int) -> None:
        from simtmm.recorder.direct.current import properties

        where = f"kernel {self.name}: max_dynamic_shared_size_bytes"
        most = max(0, properties().shared_per_block_optin - self.shared_size_bytes)
        if _whole(size, where) > most:
            raise KernelError(f"{where} = {size}: must be at most {most}")
        self._dynamic_limit = int(size)

    @property
    def preferred_shared_memory_carveout(self) -> int:
        """Preferred percentage of shared memory in a core group's memory, -1 for any; may be set, without effect."""
        return self._carveout

    @preferred_shared_memory_carveout.setter
    def preferred_shared_memory_carveout(self, percent: int) -> None:
        if not isinstance(percent, int) or not -1 <= percent <= 100:
            raise KernelError(
                f"kernel {self.name}: preferred_shared_memory_carveout = {shown(percent)}: must be from -1 to 100"
            )
        self._carveout = percent


def _three(sizes: Any, where: str) -> tuple[int, int, int]:
    given = tuple(sizes) if isinstance(sizes, (tuple, list)) else (sizes,)
    if not 1 <= len(given) <= 3:
        raise KernelError(f"{where} = {shown(sizes)}: must be one to three sizes")
    x, y, z = (*(_whole(size, where) for size in given), 1, 1)[:3]
    return x, y, z


def _whole(value: Any, where: str) -> int:
    try:
        found = operator.index(value)
    except TypeError:
        found = -1
    if found < 0 or isinstance(value, bool):
        raise KernelError(f"{where} = {shown(value)}: must be whole numbers of at least 0")
    return found
