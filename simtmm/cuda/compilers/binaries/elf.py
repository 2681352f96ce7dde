"""Sections of ELF files: objects, executables, and what ptxas assembles."""

import struct
from collections.abc import Iterator

ELF = b"\x7fELF"
_WITHOUT_CONTENT = 8  # SHT_NOBITS
SHARED = 8  # times that the bytes of a file may be in sections


def sections_of(content: bytes) -> Iterator[tuple[str, bytes]]:
    """Names and contents of the sections of an ELF file of 64 bits.

    Raises struct.error or ValueError for a damaged one.
    """
    if content[4:6] != b"\x02\x01":
        return
    start, size, count, names = struct.unpack_from("<Q", content, 40) + struct.unpack_from("<HHH", content, 58)
    headers = [struct.unpack_from("<IIQQQQ", content, start + size * number) for number in range(count)]
    if names >= len(headers):
        return
    # A compiler lets a few share their bytes, as those of names do; a damaged file may name the same ones 65,535 times.
    if sum(length for _, kind, _, _, _, length in headers if kind != _WITHOUT_CONTENT) > SHARED * len(content):
        raise ValueError("sections that overlap, each of which would be copied")
    table = content[headers[names][4] : headers[names][4] + headers[names][5]]
    for name, kind, _, _, offset, length in headers:
        if kind != _WITHOUT_CONTENT:
            yield table[name : table.index(b"\0", name)].decode("ascii", "replace"), content[offset : offset + length]
