"""Textures and surfaces: NumPy arrays that kernels access by objects, as cudaTextureObject_t and cudaSurfaceObject_t.

What is read is what CUDA's C++ Programming Guide says ("Texture Fetching"): with normalised coordinates or without,
the nearest texel or, by linear filtering with weights of 8 bits behind the point, what lies between texels.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.cuda.execution.layout import KIND_SURFACE, KIND_TEXTURE, TEXTURE
from simtmm.errors import KernelError, shown

ADDRESS_MODES = {"wrap": 0, "clamp": 1, "mirror": 2, "border": 3}  # as CUDA numbers them
FILTER_MODES = {"point": 0, "linear": 1}
READ_MODES = {"element": 0, "normalized_float": 1}
FORMATS = {"u1": 0, "i1": 1, "u2": 2, "i2": 3, "u4": 4, "i4": 4, "f4": 4, "f2": 5}  # as texels.ll numbers them,
NORMALIZED_FORMATS = {"u1": 6, "i1": 7, "u2": 8, "i2": 9}  # and as numbers up to 1
CHANNELS = (1, 2, 4)
MOST_LINEAR = 1 << 28  # texels in one dimension
MOST_WIDTH, MOST_HEIGHT = 131072, 65536  # texels in two

Array = npt.NDArray[Any]


class SurfaceObject:
    """An array that kernels read and write with surf1Dread, surf2Dwrite and similar; an argument of kernels.

    array: NumPy array of shape [width], [height, width] or [height, width, channels] of whole numbers of 8, 16 or 32
        bits or floats of 16 or 32, with 1, 2 or 4 channels; rows may have gaps between them. Kernels write to it in
        place.
    dimensions: 1 or 2; 1 makes the last axis of a 2-D array its channels. The array's number if left out.

    Raises KernelError for any other array.
    """

    _kind = KIND_SURFACE
    title = "SurfaceObject"

    def __init__(self, array: Array, *, dimensions: int | None = None) -> None:
        self.array = array
        where = f"{self.title}: array"
        if not isinstance(array, np.ndarray):
            raise KernelError(f"{where} = {shown(array)}: must be a NumPy array")
        if not 1 <= array.ndim <= 3:
            raise KernelError(
                f"{where} of {array.ndim} dimensions: must have 1 or 2, and at most one more for channels"
            )
        if dimensions is not None and dimensions not in (1, 2):
            raise KernelError(f"{self.title}: dimensions = {shown(dimensions)}: must be 1 or 2")
        self.dimensions = dimensions or min(array.ndim, 2)
        if array.ndim - self.dimensions not in (0, 1):
            raise KernelError(
                f"{where} of {array.ndim} dimensions: must have {self.dimensions}, or one more for channels"
            )
        self.channels = array.shape[-1] if array.ndim > self.dimensions else 1
        self.width = array.shape[self.dimensions - 1]
        self.height = array.shape[0] if self.dimensions == 2 else 1
        self._check(where)
        if self._kind == KIND_SURFACE and not array.flags.writeable:
            raise KernelError(f"{where} is read-only: must be writable")

    def _check(self, where: str) -> None:
        array = self.array
        if array.dtype.str[1:] not in FORMATS or not array.dtype.isnative:
            raise KernelError(f"{where} of {array.dtype}: must be of {', '.join(map(str, map(np.dtype, FORMATS)))}")
        if self.channels not in CHANNELS:
            raise KernelError(f"{where} of {self.channels} channels: must have 1, 2 or 4")
        limits = (MOST_LINEAR, 1) if self.dimensions == 1 else (MOST_WIDTH, MOST_HEIGHT)
        for name, size, most in zip(("width", "height"), (self.width, self.height), limits, strict=True):
            if not 1 <= size <= most:
                raise KernelError(f"{where} of {name} {size}: must be from 1 to {most}")
        texel = array.itemsize * self.channels
        is_row = array.size == 0 or array[0].flags.c_contiguous if self.dimensions == 2 else array.flags.c_contiguous
        if not is_row or self._pitch < self.width * texel:
            raise KernelError(f"{where}: must be contiguous: use numpy.ascontiguousarray")

    def __repr__(self) -> str:
        return f"{self.title}({self.array.dtype}, {self.width} x {self.height}, {self.channels} channels)"

    @property
    def _pitch(self) -> int:
        """Bytes from row to row."""
        row = self.width * self.array.itemsize * self.channels
        return self.array.strides[0] if self.dimensions == 2 and self.height > 1 else row

    def row(self, base: int) -> bytes:
        """Its form in a launch (layout.TEXTURE). base: the virtual address of its array."""
        found = np.zeros(1, TEXTURE)
        values: dict[str, int] = {
            "base": base,
            "host": self.array.ctypes.data,
            "pitch": self._pitch,
            "kind": self._kind,
            "dimensions": self.dimensions,
            "width": self.width,
            "height": self.height,
            "channels": self.channels,
            "element_bytes": self.array.itemsize,
            "texel_bytes": self.array.itemsize * self.channels,
            "format": FORMATS[self.array.dtype.str[1:]],
        }
        for name, value in values.items():
            found[name] = value
        self._describe(found[0])
        return found.tobytes()

    def _describe(self, row: np.void) -> None:
        """What only textures have."""


class TextureObject(SurfaceObject):
    """An array that kernels read with tex1Dfetch, tex1D, tex2D and similar; an argument of kernels.

    array: NumPy array of shape [width], [height, width] or [height, width, channels] of whole numbers of 8, 16 or 32
        bits or floats of 16 or 32, with 1, 2 or 4 channels; rows may have gaps between them. It is read in place.
    address_mode: the addressing mode outside the array: "wrap", "clamp", "mirror" or "border"; one, or one for x and
        one for y.
        "wrap" and "mirror" need normalised coordinates and are "clamp" without them, as in CUDA. tex1Dfetch reads 0
        there in any mode.
    filter_mode: "point", the texel at a coordinate, or "linear", interpolated between the nearest two or four.
    read_mode: "element", or "normalized_float": whole numbers of 8 and 16 bits as floats up to 1.
    normalized_coords: whether coordinates go from 0 to 1 over the array, instead of to its size in texels.
    border_color: the value that "border" reads, a number for each channel of the type that is read; zeros if left out.
    dimensions: 1 or 2; 1 makes the last axis of a 2-D array its channels. The array's number if left out.

    Raises KernelError for any other array, for unknown modes, and for linear filtering of whole numbers.
    """

    _kind = KIND_TEXTURE
    title = "TextureObject"

    def __init__(
        self,
        array: Array,
        *,
        address_mode: str | Sequence[str] = "clamp",
        filter_mode: str = "point",
        read_mode: str = "element",
        normalized_coords: bool = False,
        border_color: Sequence[float] | None = None,
        dimensions: int | None = None,
    ) -> None:
        super().__init__(array, dimensions=dimensions)
        modes = (address_mode, address_mode) if isinstance(address_mode, str) else tuple(address_mode)
        if not self.dimensions <= len(modes) <= 2:
            raise KernelError(
                f"TextureObject: address_mode = {shown(address_mode)}: must be one mode, or {self.dimensions}"
            )
        addressed = [_chosen("address_mode", mode, ADDRESS_MODES) for mode in modes]
        self._filter = _chosen("filter_mode", filter_mode, FILTER_MODES)
        self._read = _chosen("read_mode", read_mode, READ_MODES)
        if not isinstance(normalized_coords, (bool, np.bool_)):
            raise KernelError(f"TextureObject: normalized_coords = {shown(normalized_coords)}: must be True or False")
        self._normalized = bool(normalized_coords)
        element = array.dtype.str[1:]
        if self._read and element not in NORMALIZED_FORMATS:
            raise KernelError(
                f"TextureObject: read_mode = 'normalized_float' of {array.dtype}: must be whole numbers of 8 or 16 bits"
            )
        self._is_real = bool(self._read) or array.dtype.kind == "f"
        if self._filter and not self._is_real:
            raise KernelError(
                f"TextureObject: filter_mode = 'linear' of {array.dtype}: must be floats, or be read as "
                "read_mode = 'normalized_float'"
            )
        turns = (ADDRESS_MODES["wrap"], ADDRESS_MODES["mirror"])
        clamp = ADDRESS_MODES["clamp"]
        self._modes = [clamp if mode in turns and not self._normalized else mode for mode in addressed]
        self._border = self._colour(border_color)

    def _colour(self, given: Sequence[float] | None) -> npt.NDArray[np.uint32]:
        """A border's colour as the bits of four registers, like a texel's: channels that it lacks are 0, 0 and 1."""
        kind = np.float32 if self._is_real else np.int32 if self.array.dtype.kind == "i" else np.uint32
        colour = np.array([0, 0, 0, 1], kind)
        colour[: self.channels] = 0
        if given is not None:
            try:
                values = np.asarray(given, np.float32 if self._is_real else np.int64).reshape(-1)
                if len(values) not in (self.channels, 4):
                    raise ValueError
                colour[: self.channels] = values[: self.channels]
            except (TypeError, ValueError, OverflowError):
                raise KernelError(
                    f"TextureObject: border_color = {shown(given)}: must be {self.channels} numbers ({np.dtype(kind)})"
                ) from None
        return colour.view(np.uint32)

    def _describe(self, row: np.void) -> None:
        row["border"] = self._border
        row["missing"] = np.array([0, 0, 0, 1], np.float32 if self._is_real else np.uint32).view(np.uint32)
        if self._read:
            row["format"] = NORMALIZED_FORMATS[self.array.dtype.str[1:]]
        row["address_x"], row["address_y"] = self._modes[0], self._modes[-1]
        row["linear"], row["normalized"] = self._filter, self._normalized


def _chosen(name: str, value: object, known: dict[str, int]) -> int:
    if not isinstance(value, str) or value not in known:
        raise KernelError(f"TextureObject: {name} = {shown(value)}: must be {', '.join(known)}")
    return known[value]
