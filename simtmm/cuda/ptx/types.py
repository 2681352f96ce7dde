"""The types of PTX and their sizes."""

from simtmm.errors import PtxError

_BITS = {
    "pred": 1, "f16x2": 32, "bf16x2": 32, "u16x2": 32, "s16x2": 32, "f32x2": 64, "tf32": 32, "bf16": 16,
    "e4m3": 8, "e5m2": 8, "e2m3": 6, "e3m2": 6, "e2m1": 4, "ue8m0": 8, "ue4m3": 8,
    "e4m3x2": 16, "e5m2x2": 16, "e2m3x2": 16, "e3m2x2": 16, "e2m1x2": 8, "ue8m0x2": 16,
    "e4m3x4": 32, "e5m2x4": 32, "e2m3x4": 32, "e3m2x4": 32, "e2m1x4": 16,
}  # fmt: skip


_WIDTHS = {"1", "2", "4", "6", "8", "16", "32", "64", "128", "256", "512", "1024"}


def bits_of(type_name: str) -> int:
    """The bits of a type: "u32", "b128", "f16x2", "pred". Raises PtxError."""
    if type_name in _BITS:
        return _BITS[type_name]
    if type_name[:1] in ("b", "u", "s", "f") and type_name[1:] in _WIDTHS:
        return int(type_name[1:])
    raise PtxError(f"unknown type .{type_name}")


def bytes_of(type_name: str) -> int:
    """The bytes that an element of a type takes in memory. Raises PtxError."""
    return max(1, bits_of(type_name) // 8)


def is_type(modifier: str) -> bool:
    """Whether a modifier of an instruction is a type."""
    return modifier in _BITS or (modifier[:1] in "busf" and modifier[1:].isdecimal())
