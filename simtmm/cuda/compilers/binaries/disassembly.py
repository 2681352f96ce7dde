"""Assembled PTX: machine code as nvdisasm shows it, with its constants and sizes."""

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from simtmm.children.start import run
from simtmm.cuda.compilers.complaint import complaint
from simtmm.cuda.compilers.kept import kept
from simtmm.cuda.compilers.ptxas import calls_others
from simtmm.cuda.compilers.wheels import find_tool, stamp
from simtmm.errors import CompilerError
from simtmm.temporary import scratch

_CONSTANTS = ".nv.constant"
_SHARED = ".nv.shared."
_SECTION = re.compile(r"^[ \t]*\.section[ \t]+(\S+?),", re.MULTILINE)


@dataclass(frozen=True)
class Disassembly:
    """The machine code of a module's kernels.

    text: what nvdisasm prints, with the line of PTX behind each instruction.
    constants: bytes of the constant banks, by the names of their sections: ".nv.constant3", ".nv.constant2.KERNEL".
    variables: of bank 3, __constant__ ones: offset and size by name.
    addresses: of bank 4: names of what each offset holds the address of, and what is added.
    shared_bytes: of each kernel's static shared memory, what is reserved included.
    """

    text: str
    constants: Mapping[str, bytes]
    variables: Mapping[str, tuple[int, int]]
    addresses: Mapping[int, tuple[str, int]]
    shared_bytes: Mapping[str, int]

    def code_of(self, kernel: str) -> str:
        """What nvdisasm prints of a kernel: its section, whose first line names it; empty where it has none."""
        return self._sections.get(f".text.{kernel}", "")

    @cached_property
    def _sections(self) -> Mapping[str, str]:
        """The text by sections: a module has many kernels, and each is read by itself."""
        begins = [(found.start(), found[1]) for found in _SECTION.finditer(self.text)]
        ends = [start for start, _ in begins[1:]] + [len(self.text)]
        return {name: self.text[start:end] for (start, name), end in zip(begins, ends, strict=True)}


def disassembled(ptx: str, target: str, options: Sequence[str] = (), name: str = "kernel") -> Disassembly:
    """A PTX module assembled and disassembled, or as it was before.

    ptx: the module's text. target: what it is assembled for: "sm_90". options: further options of ptxas.
    name: what errors call the module.

    Raises CompilerError with ptxas' first error, or where ptxas or nvdisasm is missing.
    """
    if calls_others(ptx):
        raise CompilerError(f"{name}: calls functions of other modules, and can be assembled only with these")
    assembler, disassembler = find_tool("ptxas"), find_tool("nvdisasm")
    entry = kept(
        f"{name}-sass",
        ["disassembled", target, *options, stamp(assembler), stamp(disassembler), ptx],
        lambda: _assembled(ptx, target, [str(assembler), *options], str(disassembler), name),
    )
    return Disassembly(
        entry["text"],
        {section: bytes.fromhex(content) for section, content in entry["constants"].items()},
        {variable: (int(offset), int(size)) for variable, (offset, size) in entry["variables"].items()},
        {int(offset): (str(symbol), int(added)) for offset, (symbol, added) in entry["addresses"].items()},
        entry["shared_bytes"],
    )


def _assembled(ptx: str, target: str, assembler: Sequence[str], disassembler: str, name: str) -> dict[str, Any]:
    with scratch("disassembly") as folder:
        source, assembled = folder / "kernel.ptx", folder / "kernel.cubin"
        source.write_text(ptx, encoding="utf-8")
        _run([*assembler, f"-arch={target}", "-lineinfo", str(source), "-o", str(assembled)], name, folder)
        text = _run([disassembler, "-c", "-gp", "-hex", str(assembled)], name, folder)
        return {"text": text, **_sections(assembled.read_bytes(), name)}


def _run(command: Sequence[str], name: str, folder: Path) -> str:
    """What a tool prints. Raises CompilerError where it failed."""
    done = run(command, folder=folder, scratch=folder)
    if done.status:
        raise complaint(f"{done.text}{done.complaints}", name)
    return done.text


def _sections(content: bytes, name: str) -> dict[str, Any]:
    """What stands beside the code, in forms that JSON holds."""
    from elftools.common.exceptions import ELFError
    from elftools.elf.elffile import ELFFile
    from elftools.elf.relocation import RelocationSection
    from elftools.elf.sections import SymbolTableSection

    try:
        file = ELFFile(io.BytesIO(content))
        sections = list(file.iter_sections())
        symbols = next(s for s in sections if isinstance(s, SymbolTableSection))
        constants = {s.name: s.data().hex() for s in sections if s.name.startswith(_CONSTANTS)}
        bank = file.get_section_index(f"{_CONSTANTS}3")
        variables = {
            symbol.name: (symbol["st_value"], symbol["st_size"])
            for symbol in symbols.iter_symbols()
            if bank is not None and symbol["st_shndx"] == bank and symbol["st_info"]["type"] == "STT_OBJECT"
        }
        shared = {
            s.name.removeprefix(_SHARED): s["sh_size"]
            for s in sections
            if s.name.startswith(_SHARED) and not s.name.startswith(f"{_SHARED}reserved")
        }
        addresses = {
            relocation["r_offset"]: (
                symbols.get_symbol(relocation["r_info_sym"]).name,
                relocation["r_addend"] if relocation.is_RELA() else 0,
            )
            for s in sections
            if isinstance(s, RelocationSection) and s.name in (f".rela{_CONSTANTS}4", f".rel{_CONSTANTS}4")
            for relocation in s.iter_relocations()
        }
    except (ELFError, StopIteration, KeyError) as error:
        raise CompilerError(f"{name}: the assembler's output can't be read ({error})") from None
    return {"constants": constants, "variables": variables, "addresses": addresses, "shared_bytes": shared}
