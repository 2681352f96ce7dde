"""PTX, the compilers' output for CUDA C++, as data."""

from simtmm.cuda.ptx.reading.parser import parse_module
from simtmm.cuda.ptx.syntax import Function, Instruction, Module

__all__ = ["Function", "Instruction", "Module", "parse_module"]
