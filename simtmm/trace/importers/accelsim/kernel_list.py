"""Accel-Sim's `kernelslist.g`: the files of the kernels that a program launched, and what it copied to the GPU."""

import logging
import re
from dataclasses import dataclass, field
from pathlib import Path

from simtmm.errors import TraceError
from simtmm.files import is_file
from simtmm.machine.addresses import LARGEST_GLOBAL
from simtmm.trace.importers.reading import DamagedError, beginning, blocks, unpacked_name

logger = logging.getLogger("simtmm")

LIST_NAME = "kernelslist.g"
UNPROCESSED = "Accel-Sim's post-traces-processing makes it and kernelslist.g from the tracer's output"

_BEGINNING = 1 << 16  # bytes in which a kernel's file shows its header
_HEADER = re.compile(rb"^[ \t]*(?:-kernel name|#traces format|#BEGIN_TB)", re.MULTILINE)
# The tracer writes 16 digits. Fewer are one's own; with zeros in front of them some were lost.
_COPY = re.compile(r"MemcpyHtoD,0x([0-9a-fA-F]{16}|[1-9a-fA-F][0-9a-fA-F]{0,14}|0),([0-9]{1,18})")
_NCCL = re.compile(
    r"nccl(?:CommInitAll|CommInitRank|CommDestroy|GroupStart|GroupEnd|AllReduce|AllGather|Broadcast|Bcast|Reduce"
    + r"|ReduceScatter|Send|Recv)(?:,[ -~]*)?"
)


@dataclass
class KernelList:
    """The entries of a list, in its order."""

    files: list[Path]
    copies: list[tuple[int, int]] = field(default_factory=list)  # the first address, and bytes
    left_out: list[tuple[int, str]] = field(default_factory=list)  # lines, and what stands there

    def tell_left_out(self, path: Path) -> None:
        """Warn once of the lines that were left out."""
        if not self.left_out:
            return
        (line, command), *others = self.left_out
        more = ""
        if others:
            numbers = ", ".join(str(number) for number, _ in others[:5])
            more = f", and {len(others)} more (line {numbers}{', ...' if len(others) > 5 else ''})"
        logger.warning("%s: line %d: skipped %s%s: a trace is for one GPU", path, line, command.split(",")[0], more)


def names_kernel(line: str) -> bool:
    """Whether a line of a list is the name of a kernel's file."""
    return unpacked_name(line).endswith(".traceg") and not line.startswith(("-", "#"))


def names_unprocessed(line: str) -> bool:
    """Whether a line of a list is the name of what the tracer wrote itself."""
    return unpacked_name(line).endswith(".trace") and not line.startswith(("-", "#"))


def refuse_unprocessed(path: Path) -> None:
    """Raise TraceError for a kernel's file as the tracer wrote it, by its name, in which warps are not yet together."""
    if names_unprocessed(path.name) and b"#BEGIN_TB" not in beginning(path, _BEGINNING):
        raise TraceError(f"{path}: a kernel's file (.traceg) is needed: {UNPROCESSED}")


def is_list(path: Path) -> bool:
    """Whether a file is a list of kernels: neither its name nor any line of its beginning is a kernel file's."""
    return not names_kernel(path.name) and not _HEADER.search(beginning(path, _BEGINNING))


def read_list(path: Path) -> KernelList:
    """Read a list. Raises DamagedError for a line that is not understood."""
    found = KernelList([])
    for text, first in blocks(path, ended=rb"^[ \t]*MemcpyHtoD"):
        for number, raw in enumerate(text.tobytes().decode("utf-8", "surrogateescape").split("\n"), start=first):
            line = raw.strip(" \t\r")
            if not line or line.startswith("#"):
                continue
            if names_kernel(line):
                found.files.append(_kernel_file(path, number, line))
            elif line.startswith("MemcpyHtoD"):
                found.copies.append(_copy(path, number, line))
            elif names_unprocessed(line):
                raise DamagedError(path, number, f"a kernel file's name (.traceg): {UNPROCESSED}", line)
            elif _NCCL.fullmatch(line):
                found.left_out.append((number, line))
            else:
                raise DamagedError(
                    path, number, "a kernel file's name (.traceg, also packed) or 'MemcpyHtoD,0xADDRESS,BYTES'", line
                )
    if not found.files:
        raise TraceError(f"{path}: names no kernel: a line with a name that ends with .traceg, also packed, is needed")
    return found


def _kernel_file(path: Path, number: int, name: str) -> Path:
    file = path.parent / name
    if not is_file(file):
        raise DamagedError(path, number, f"the name of a kernel file beside {path.name}", name)
    return file


def _copy(path: Path, number: int, line: str) -> tuple[int, int]:
    copy = _COPY.fullmatch(line)
    if not copy:
        raise DamagedError(path, number, "'MemcpyHtoD,0xADDRESS,BYTES'", line)
    base, size = int(copy[1], 16), int(copy[2])
    if base + size > LARGEST_GLOBAL + 1:
        raise DamagedError(path, number, "a copy that ends below 2^60", line)
    return base, size
