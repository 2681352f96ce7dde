"""RawModule: CUDA C++ or PTX as a user has it, with the signature of cupy.RawModule."""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from simtmm.errors import CompilerError, KernelError, shown
from simtmm.recorder.direct.device_pointer import DevicePointer

if TYPE_CHECKING:
    from simtmm.recorder.direct.image import Image
    from simtmm.recorder.direct.raw_kernel import RawKernel

BACKENDS = ("nvrtc", "nvcc")


class RawModule:
    """A module of CUDA kernels and variables, compiled at its first use, once for each architecture.

    It has the signature and behaviour of cupy.RawModule; kernels run on the CPU, on NumPy arrays.

    code: CUDA C++.
    path: the path of PTX, or of a binary with PTX in it (.ptx, .cubin, .fatbin), instead of code.
    options: compiler options, such as ("-DN=4", "-Iinclude").
    backend: "nvrtc", or "nvcc", which finds host headers.
    translate_cucomplex: accepted but ignored: cuComplex.h is CUDA's own.
    enable_cooperative_groups: accepted but ignored: all resident blocks of a launch make progress anyway.
    name_expressions: kernels and variables as C++ names them, such as ("saxpy<float>", "&factor"); for nvrtc.
    jitify: must be False.

    Raises KernelError for unsupported arguments; CompilerError and PtxError at the first use.
    """

    headers: Mapping[str, str] = MappingProxyType({})
    """Texts that #include finds beside those of the compiler, by name; for nvrtc."""

    def __init__(
        self,
        code: str | None = None,
        *,
        path: str | Path | None = None,
        options: Sequence[str] = (),
        backend: str = "nvrtc",
        translate_cucomplex: bool = False,
        enable_cooperative_groups: bool = False,
        name_expressions: Sequence[str] | None = None,
        jitify: bool = False,
    ) -> None:
        if (code is None) == (path is None):
            raise KernelError("RawModule: must have either code or path")
        if code is not None and not isinstance(code, str):
            raise KernelError(f"RawModule: code = {shown(code)}: must be a text of CUDA C++")
        if path is not None and not isinstance(path, (str, Path)):
            raise KernelError(f"RawModule: path = {shown(path)}: must be a path")
        _check_options(options)
        if backend not in BACKENDS:
            raise KernelError(f"RawModule: backend = {shown(backend)}: must be one of {', '.join(BACKENDS)}")
        if jitify:
            raise KernelError("RawModule: jitify = True: not supported: use backend = 'nvcc' for host headers")
        if name_expressions is not None:
            if isinstance(name_expressions, str) or not all(isinstance(each, str) for each in name_expressions):
                raise KernelError(
                    f"RawModule: name_expressions = {shown(name_expressions)}: must be names such as ('saxpy<float>',)"
                )
            if code is None or backend != "nvrtc":
                raise KernelError("RawModule: name_expressions: are for code, compiled with backend = 'nvrtc'")
        self.code, self.options, self.backend = code, tuple(options), backend
        self.file_path = None if path is None else os.fspath(path)
        self.name_expressions = None if name_expressions is None else tuple(name_expressions)
        self.enable_cooperative_groups = bool(enable_cooperative_groups)
        self.translate_cucomplex = bool(translate_cucomplex)
        self._label = "module.cu"  # what messages call code
        self._images: dict[int, Image] = {}
        self._variables: Any = None

    def label_as(self, kernel: str) -> None:
        """Name the code after a kernel in messages.

        kernel: its name.
        """
        self._label = f"{re.split(r'[^A-Za-z0-9_]', kernel.split('<')[0].split('::')[-1])[0] or 'kernel'}.cu"

    def compile(self, log_stream: Any = None) -> None:
        """Compile now for the launches' architecture, if not done before.

        log_stream: anything with `write`, for what the compiler has to say.

        Raises CompilerError and PtxError.
        """
        image = self.image()
        if log_stream is not None:
            for unit in image.linked.units:
                log_stream.write(unit.log)

    def get_function(self, name: str) -> "RawKernel":
        """A kernel of the module. Raises KernelError, CompilerError and PtxError.

        name: as the source has it; a name expression for what has template arguments.
        """
        from simtmm.recorder.direct.raw_kernel import RawKernel

        if not isinstance(name, str):
            raise KernelError(f"RawModule: kernel {shown(name)}: must be a name")
        self.image().function(name)
        return RawKernel.of_module(self, name)

    def get_global(self, name: str) -> DevicePointer:
        """The address of a `__device__` or `__constant__` variable. Raises KernelError, CompilerError and PtxError.

        name: as the source has it, or a name expression.
        """
        if not isinstance(name, str):
            raise KernelError(f"RawModule: variable {shown(name)}: must be a name")
        self.image().variable(name)
        return DevicePointer(self, name)

    def image(self) -> "Image":
        """The compiled module for the current architecture."""
        from simtmm.recorder.direct.current import architecture
        from simtmm.recorder.direct.image import Image, Variables

        target = architecture()
        if target not in self._images:
            self._variables = self._variables or Variables()
            self._images[target] = Image(self._compiled(target), self._variables)
        return self._images[target]

    def _compiled(self, architecture: int) -> Any:
        from simtmm.cuda.compilers import compile_source, load_module
        from simtmm.cuda.linked import LinkedModule
        from simtmm.recorder.direct.text_file import compiled_text

        if self.code is None:
            assert self.file_path is not None
            return LinkedModule(load_module(self.file_path, architecture))
        if self.backend == "nvcc":
            return LinkedModule([compiled_text(self.code, self._label, architecture, self.options)])
        headers = {name: text for name, text in self.headers.items() if name in self.code}
        unit = compile_source(
            self.code, name=self._label, architecture=architecture, options=self.options,
            name_expressions=self.name_expressions or (), headers=headers,
        )  # fmt: skip
        return LinkedModule([unit])

    def __repr__(self) -> str:
        return f"RawModule({self.file_path or self._label})"


def _check_options(options: Sequence[str]) -> None:
    if isinstance(options, str) or not isinstance(options, Sequence):
        raise KernelError(
            f"RawModule: options = {shown(options)}: must be several words, such as ('-DN=4', '-Iinclude')"
        )
    from simtmm.cuda.compilers.options import parse_options

    try:
        parse_options(options)
    except CompilerError as error:
        raise KernelError(f"RawModule: {error}") from None
