"""CompiledModule: PTX and its metadata."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from simtmm.cuda.compilers.binaries.disassembly import Disassembly, disassembled
from simtmm.cuda.compilers.ptxas import Resources, resources
from simtmm.errors import CompilerError

_FILE = re.compile(r'^[ \t]*\.file[ \t]+(\d+)[ \t]+"((?:[^"\\]|\\.)*)"', re.MULTILINE)
_ENTRY = re.compile(r"^[ \t]*(?:\.(?:visible|weak)[ \t]+)?\.entry\s+([\w$%]+)", re.MULTILINE)
_TARGET = re.compile(r"^[ \t]*\.target[ \t]+sm_(\d+)([af]?)\b", re.MULTILINE)

MOST_KERNELS = 4096  # of a module: the compilers' time grows as their square, to 2 minutes for 10,000


def check_kernels(name: str, kernels: int) -> None:
    """Raise CompilerError for a module of more kernels than are compiled within a minute."""
    if kernels > MOST_KERNELS:
        raise CompilerError(f"{name}: has {kernels:,} kernels: must have at most {MOST_KERNELS:,}")


@dataclass(frozen=True)
class CompiledModule:
    """A source compiled to PTX.

    ptx: the module's text; `.loc` in it name lines of `files`.
    architecture: compute capability that it was compiled for, times ten: 90 for sm_90.
    names: the entry, or variable, that each name expression stands for.
    log: what the compiler had to say, warnings as a rule.
    name: what messages call the module.
    texts: sources that were given as texts and not as files, by the names that `files` has for them.
    assembler: further options of ptxas.
    """

    ptx: str
    architecture: int
    names: Mapping[str, str] = field(default_factory=dict)
    log: str = ""
    name: str = "kernel.cu"
    texts: Mapping[str, str] = field(default_factory=dict)
    assembler: tuple[str, ...] = ()

    @cached_property
    def files(self) -> Mapping[int, str]:
        """The source files that `.file` directives name, by their numbers."""
        return {int(number): re.sub(r"\\(.)", r"\1", name) for number, name in _FILE.findall(self.ptx)}

    @cached_property
    def entries(self) -> tuple[str, ...]:
        """The names of the kernels, as PTX has them."""
        return tuple(_ENTRY.findall(self.ptx))

    @property
    def target(self) -> str:
        """What ptxas assembles for: "sm_90", or "sm_90a" where the PTX asks for it."""
        found = _TARGET.search(self.ptx)
        if found and (found[2] or int(found[1]) > self.architecture):
            return f"sm_{found[1]}{found[2]}"
        return f"sm_{self.architecture}"

    @cached_property
    def resources(self) -> Mapping[str, Resources]:
        """What each entry takes of a core group, found when first needed.

        Raises CompilerError with ptxas' first error, or where there is no ptxas.
        """
        return resources(self.ptx, self.target, self.assembler, self.name)

    @cached_property
    def disassembly(self) -> Disassembly:
        """Its machine code, found when first needed.

        Raises CompilerError with ptxas' first error, or where ptxas or nvdisasm is missing.
        """
        return disassembled(self.ptx, self.target, self.assembler, self.name)

    def source_line(self, file: int, line: int) -> str | None:
        """A line of source, as a `.loc` names it; None where there is none to be read.

        file: number of the file, as in `files`.
        line: from 1.
        """
        lines = self._lines_of(file)
        return lines[line - 1] if 0 < line <= len(lines) else None

    def source_text(self, file: int) -> str | None:
        """A whole source file; None where there is none to be read. file: number of the file, as in `files`."""
        lines = self._lines_of(file)
        return "\n".join(lines) if any(lines) else None

    def _lines_of(self, file: int) -> list[str]:
        name = self.files.get(file)
        if name is None:
            return []
        if name not in self._lines:
            self._lines[name] = self._read(name)
        return self._lines[name]

    @cached_property
    def _lines(self) -> dict[str, list[str]]:
        return {}

    def _read(self, name: str) -> list[str]:
        text = self.texts.get(name)
        if text is None:
            try:
                text = Path(name).read_text(encoding="utf-8", errors="replace")
            except (OSError, ValueError):
                text = ""
        return text.replace("\r\n", "\n").split("\n")
