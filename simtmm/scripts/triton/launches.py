"""Triton's compiled kernels on a device that is not there."""

import json
import linecache
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from simtmm.cuda.compilers import CompiledModule, module_of_ptx
from simtmm.cuda.function import KernelFunction
from simtmm.cuda.linked import LinkedModule
from simtmm.cuda.signature import ParameterType
from simtmm.cuda.tensor_map import SWIZZLES, TensorMap
from simtmm.errors import KernelError
from simtmm.recorder.direct import current
from simtmm.recorder.direct.image import Image, Variables
from simtmm.scripts.device_attributes import attribute
from simtmm.scripts.triton.arrays import Tensors, wrapped

MAP = "CUtensorMap"
# Types of tensor maps, as kernels number them
TENSOR_TYPES = (
    "uint8", "uint16", "uint32", "int32", "uint64", "int64", "float16", "float32", "float32_ftz", "float64", "bfloat16",
)  # fmt: skip
FLOATS = {"fp16": "__half", "bf16": "__half", "fp32": "float", "f32": "float", "fp64": "double"}


class Launcher:
    """A kernel, as Triton calls it to launch it."""

    def __init__(self, kernel: Any, tensors: Tensors) -> None:
        """kernel: Triton's CompiledKernel."""
        self.name: str = kernel.metadata.name
        self._metadata, self._tensors = kernel.metadata, tensors
        self._descriptors = list(getattr(kernel.metadata, "tensordesc_meta", None) or ())
        signature = kernel.src.signature
        self._names, self._types = [str(name) for name in signature], list(signature.values())
        target = int(kernel.metadata.target.arch)
        options = () if getattr(kernel.metadata, "enable_fp_fusion", True) else ("--fmad=false",)
        source = getattr(getattr(kernel.src, "fn", None), "fn", None)
        ptx = _with_its_file(_with_its_lines(kernel.asm["ptx"]), getattr(source, "__code__", None))
        unit = module_of_ptx(ptx, self.name, target)
        texts = {file: "".join(linecache.getlines(file)) for file in unit.files.values() if not Path(file).is_file()}
        unit = CompiledModule(unit.ptx, unit.architecture, name=self.name, texts=texts, assembler=options)
        self.image = Image(LinkedModule([unit], Path.cwd()), Variables())
        self.most_shared = attribute("MAX_SHARED_MEMORY_PER_BLOCK_OPTIN")

    @property
    def function(self) -> KernelFunction:
        """The kernel. Raises PtxError."""
        return self.image.function(self.name)

    @property
    def resources(self) -> Any:
        """Registers, spills and threads, as Triton reports them."""
        found = self.function.linked.resources_of(self.function.entry)
        spills = max(found.spill_store_bytes, found.spill_load_bytes) if found else 0
        return SimpleNamespace(registers=found.registers if found else 0, spills=spills // 4)

    def __call__(  # noqa: PLR0913, PLR0917 - Triton's own arguments
        self, x: int, y: int, z: int, stream: int, function: Any, packed: Any, launch_metadata: Any, enter: Any,
        leave: Any, *arguments: Any,
    ) -> None:  # fmt: skip
        """Launch it: sizes of the grid, what hooks get, and an argument for each parameter of the source."""
        if x * y * z <= 0:
            return
        x *= getattr(self._metadata, "num_ctas", 1)  # a cluster, as the kernel's own text says
        if enter is not None:
            enter(launch_metadata)
        where = f"kernel {self.name}"
        declared: list[ParameterType] = []
        values: list[Any] = []
        for name, kind, argument in zip(self._names, self._types, arguments, strict=True):
            self._flatten(name, kind, argument, declared, values, where)
        kernel = self.function
        scratch = [self._scratch("global", x * y * z), self._scratch("profile", x * y * z)]
        for value in scratch[: len(kernel.parameters) - len(values)]:
            declared.append(ParameterType(f"scratch_{len(values)}", "i8*", "", 1))
            values.append(value)
        kernel.__dict__.setdefault("declared", tuple(declared))
        block = (32 * self._metadata.num_warps, 1, 1)
        current.launch(self.image, kernel, ((x, y, z), block, self._metadata.shared), values, int(stream or 0))
        if leave is not None:
            leave(launch_metadata)

    def _scratch(self, which: str, blocks: int) -> Any:
        size = getattr(self._metadata, f"{which}_scratch_size", 0)
        return np.zeros(blocks * size, np.uint8) if size else 0

    def _flatten(
        self, name: str, kind: Any, argument: Any, declared: list[ParameterType], values: list[Any], where: str
    ) -> None:
        if isinstance(kind, tuple):
            for number, (each, value) in enumerate(zip(kind, argument, strict=True)):
                self._flatten(f"{name}_{number}", each, value, declared, values, where)
            return
        if kind == "constexpr":
            return
        if kind.startswith("tensordesc"):
            self._descriptor(name, argument, declared, values, where)
            return
        if kind.startswith("*"):
            declared.append(ParameterType(name, f"{kind[1:]}*", "", 1))
            values.append(0 if argument is None else self._memory(argument, f"{where}: {name}"))
            return
        floating = FLOATS.get(kind, "")
        declared.append(ParameterType(name, kind, floating, 0))
        values.append(argument if floating else int(argument))

    def _memory(self, argument: Any, where: str) -> Any:
        if isinstance(argument, int):
            raise KernelError(f"{where} = {argument:#x}: an address: must be a NumPy array or a tensor")
        return self._tensors.array(argument, where)

    def _descriptor(
        self, name: str, argument: Any, declared: list[ParameterType], values: list[Any], where: str
    ) -> None:
        """A tensor descriptor, which is a tensor map, and which Triton takes apart for architectures before sm_90."""
        base = argument.base
        if self._descriptors:
            self._tensor_map(name, argument, declared, values, where)
            return
        for number, value in enumerate(
            [base, *argument.shape, *argument.strides, argument.padding == "nan", argument.round_f32_to_tf32,
             *argument.shape, *argument.strides]
        ):  # fmt: skip
            if number == 0:
                declared.append(ParameterType(name, "void*", "", 1))
                values.append(self._memory(wrapped(value), f"{where}: {name}"))
            else:
                declared.append(ParameterType(f"{name}_{number}", "i64", "", 0))
                values.append(int(value))

    def _tensor_map(
        self, name: str, argument: Any, declared: list[ParameterType], values: list[Any], where: str
    ) -> None:
        """A tensor descriptor as the kernel has it: `metadata.tensordesc_meta` says which boxes it copies."""
        meta = self._descriptors[sum(each.text == MAP for each in declared)]
        if meta.get("is_im2col", False) or meta.get("fp4_padded", False):
            raise KernelError(f"{where}: {name}: tensor descriptors of im2col or of four bits are not supported")
        declared.append(ParameterType(name, MAP, "", 0))
        kind = "tfloat32" if argument.round_f32_to_tf32 else TENSOR_TYPES[meta["elem_type"]]
        array = self._memory(wrapped(argument.base), f"{where}: {name}")
        place = {"shape": argument.shape, "strides": argument.strides, "swizzle": SWIZZLES[meta["swizzle"]]}
        values.append(TensorMap(array, meta["block_size"], type=kind, nan=argument.padding == "nan", **place))
        for number, value in enumerate((*argument.shape, *argument.strides)):
            width = 32 if number < len(argument.shape) else 64
            declared.append(ParameterType(f"{name}_{number + 1}", f"i{width}", "", 0))
            values.append(int(value))


def _with_its_file(ptx: str, code: Any) -> str:
    """PTX that names the file that the kernel is in now: Triton keeps what it compiled of the same text elsewhere.

    code: of the kernel's Python function.
    """
    if code is None:
        return ptx
    now = Path(code.co_filename)

    def named(found: re.Match[str]) -> str:
        is_it = Path(found[2]).name == now.name
        return f"{found[1]}{json.dumps(str(now.absolute() if now.is_file() else now))}" if is_it else found[0]

    return re.sub(r'^(\s*\.file\s+\d+\s+)"([^"]*)"', named, ptx, flags=re.MULTILINE)


def _with_its_lines(ptx: str) -> str:
    """PTX whose inline assembly is of the line that it was written for.

    LLVM takes each further line of inline assembly, of which Triton makes its loads, for a further line of the source.
    """
    kept, inside, named = [], False, False
    for line in ptx.split("\n"):
        word = line.strip()
        if word == "// begin inline asm":
            inside, named = True, False
        elif word == "// end inline asm":
            inside = False
        elif inside and word.startswith(".loc"):
            if named:
                continue
            named = True
        kept.append(line)
    return "\n".join(kept)
