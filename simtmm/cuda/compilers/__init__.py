"""CUDA C++ to PTX, without a GPU, with NVIDIA's compilers from wheels."""

from simtmm.cuda.compilers.architecture import (
    Architecture,
    architecture_of,
    architecture_of_today,
    supported_architectures,
    target_of,
)
from simtmm.cuda.compilers.compile import compile_files, compile_source
from simtmm.cuda.compilers.load import load_module, module_of_ptx
from simtmm.cuda.compilers.module import CompiledModule
from simtmm.cuda.compilers.names import demangled, entry_named, is_expression
from simtmm.cuda.compilers.ptxas import Resources, linked_resources, resources
from simtmm.cuda.compilers.release import compiled_by, compilers_key
from simtmm.launch import bare_name

__all__ = [
    "Architecture",
    "CompiledModule",
    "Resources",
    "architecture_of",
    "architecture_of_today",
    "bare_name",
    "compile_files",
    "compile_source",
    "compiled_by",
    "compilers_key",
    "demangled",
    "entry_named",
    "is_expression",
    "linked_resources",
    "load_module",
    "module_of_ptx",
    "resources",
    "supported_architectures",
    "target_of",
]
