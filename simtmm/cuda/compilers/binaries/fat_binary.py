"""PTX within what nvcc and NVRTC write: objects, executables, .fatbin, and .cubin with -lineinfo.

A fat binary is a header and entries, each the code for one architecture, as PTX or assembled, compressed or not. NVIDIA
does not document its form; what stands here was read off fat binaries of CUDA 13, and off those of 11 and 12 by others
(cuobjdump's counterparts in ZLUDA and GPGPU-Sim).
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

from simtmm.cuda.compilers.binaries.elf import ELF, sections_of
from simtmm.errors import CompilerError

MAGIC = 0xBA55ED50.to_bytes(4, "little")
SECTIONS = (".nv_fatbin", "__nv_relfatbin")
OF_CUBIN = ".nv_debug_ptx_txt"
_HEADER = struct.Struct("<4sHHQ")  # magic, version, size of this header, size of the entries
_ENTRY = struct.Struct("<HHIQII HHI II QQQ")
_PTX = 1
_LZ4, _ZSTD = 0x2000, 0x8000
_LARGEST = 1 << 30  # bytes of PTX: far beyond any


@dataclass(frozen=True)
class EmbeddedPtx:
    """PTX of a fat binary: its text, and the compute capability, times ten, that it was compiled for."""

    text: str
    architecture: int


def embedded_ptx(content: bytes, name: str) -> list[list[EmbeddedPtx]]:
    """The PTX of each translation unit in a binary, in all its variants.

    content: of an object, an executable, a .fatbin or a .cubin.
    name: what errors call it.

    Raises CompilerError where there is none, or where it can't be read.
    """
    try:
        if content.startswith(ELF):
            sections = dict(sections_of(content))
            if OF_CUBIN in sections:
                # Lines end with a NUL; those of `.loc` and comments are empty, so that lines keep their numbers
                text = sections[OF_CUBIN].rstrip(b"\0").replace(b"\0", b"\n").decode("utf-8", "replace") + "\n"
                return [[EmbeddedPtx(text, 0)]]
            found = [unit for section in SECTIONS for unit in _units(sections.get(section, b""), name)]
        else:
            found = list(_units(content, name))
    except (struct.error, IndexError, ValueError, OverflowError):
        raise CompilerError(f"{name}: is truncated or damaged") from None
    found = [unit for unit in found if unit]
    if not found:
        raise CompilerError(
            f"{name}: has no PTX: compile it with -gencode arch=compute_NN,code=[compute_NN,sm_NN], "
            "or a .cubin with -lineinfo"
        )
    return found


def _units(content: bytes, name: str) -> Iterator[list[EmbeddedPtx]]:
    """The PTX of each fat binary in a stretch of bytes, where they follow one another."""
    place = content.find(MAGIC)
    while place >= 0:
        _, _, header, size = _HEADER.unpack_from(content, place)
        end = place + header + size
        if header < _HEADER.size or end > len(content):
            raise ValueError("beyond the end")
        yield list(_entries(content[place + header : end], name))
        place = content.find(MAGIC, end)


def _entries(content: bytes, name: str) -> Iterator[EmbeddedPtx]:
    place = 0
    while place < len(content):
        (kind, _, header, size, compressed, _, _, _, architecture, _, _, flags, _, whole) = _ENTRY.unpack_from(
            content, place
        )
        payload = content[place + header : place + header + size]
        if header < _ENTRY.size or len(payload) < size:
            raise ValueError("beyond the end")
        if kind == _PTX:
            if flags & (_LZ4 | _ZSTD):
                if whole > _LARGEST:
                    raise ValueError("too large")
                payload = _decompressed(
                    payload[: compressed or size], whole, "zstd" if flags & _ZSTD else "lz4_raw", name
                )
            yield EmbeddedPtx(payload.rstrip(b"\0").decode("utf-8", "replace"), architecture)
        place += header + size


def _decompressed(payload: bytes, size: int, codec: str, name: str) -> bytes:
    import pyarrow as pa  # late: it takes a while, and few binaries come here

    if not pa.Codec.is_available(codec):
        raise CompilerError(f"{name}: its PTX is compressed ({codec}), which pyarrow can't read here: use -no-compress")
    try:
        whole: bytes = pa.decompress(payload, decompressed_size=size, codec=codec, asbytes=True)
    except (OSError, pa.ArrowException):
        raise ValueError("damaged") from None
    return whole
