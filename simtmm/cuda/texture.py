"""Textures and surfaces: NumPy arrays that kernels access by objects, as cudaTextureObject_t and cudaSurfaceObject_t.

What is read is what CUDA's C++ Programming Guide says ("Texture Fetching"): with normalised coordinates or without,
the nearest texel or, by linear filtering with weights of 8 bits behind the point, what lies between texels.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from simtmm.cuda.execution.layout import KIND_SURFACE, KIND_TEXTURE, LAYERED, TEXTURE
from simtmm.errors import KernelError, shown

ADDRESS_MODES = {"wrap": 0, "clamp": 1, "mirror": 2, "border": 3}  # as CUDA numbers them
FILTER_MODES = {"point": 0, "linear": 1}
READ_MODES = {"element": 0, "normalized_float": 1}
FORMATS = {"u1": 0, "i1": 1, "u2": 2, "i2": 3, "u4": 4, "i4": 4, "f4": 4, "f2": 5}  # as texels.ll numbers them,
NORMALIZED_FORMATS = {"u1": 6, "i1": 7, "u2": 8, "i2": 9}  # and as numbers up to 1
CHANNELS = (1, 2, 4)
MOST_LINEAR = 1 << 28  # texels in one dimension
MOST_WIDTH, MOST_HEIGHT = 131072, 65536  # texels in two,
MOST_IN_VOLUME = 16384  # along each axis of three,
MOST_IN_LAYER, MOST_LAYERS = 32768, 2048  # and along each axis of a layer
_AXES = ("width", "height", "depth")

Array = npt.NDArray[Any]


class SurfaceObject:
    """An array that kernels read and write with surf1Dread, surf2Dwrite and similar; an argument of kernels.

    array: NumPy array of shape [width], [height, width] or [depth, height, width], with an axis [channels] behind it
        where there are 2 or 4, of whole numbers of 8, 16 or 32 bits or floats of 16 or 32; rows may have gaps between
        them. Kernels write to it in place.
    dimensions: 1, 2 or 3; one axis more is that of the channels. The array's number, but at most 2, if left out.
    layered: whether the first axis is that of layers, which no dimension is.

    Raises KernelError for any other array.
    """

    _kind = KIND_SURFACE
    title = "SurfaceObject"

    def __init__(self, array: Array, *, dimensions: int | None = None, layered: bool = False) -> None:
        self.array = array
        where = f"{self.title}: array"
        if not isinstance(array, np.ndarray):
            raise KernelError(f"{where} = {shown(array)}: must be a NumPy array")
        if not isinstance(layered, (bool, np.bool_)):
            raise KernelError(f"{self.title}: layered = {shown(layered)}: must be True or False")
        self.layered = bool(layered)
        if dimensions is not None and dimensions not in (1, 2, 3):
            raise KernelError(f"{self.title}: dimensions = {shown(dimensions)}: must be 1, 2 or 3")
        self.dimensions = dimensions or max(1, min(array.ndim - self.layered, 2))
        if self.layered and self.dimensions == 3:
            raise KernelError(f"{self.title}: dimensions = 3: layers have 1 or 2")
        axes = self.dimensions + self.layered
        if array.ndim - axes not in (0, 1):
            have = f"{self.dimensions}{' and the layers' if self.layered else ''}"
            raise KernelError(f"{where} of {array.ndim} dimensions: must have {have}, or one more for channels")
        self.channels = array.shape[-1] if array.ndim > axes else 1
        sizes = [*reversed(array.shape[self.layered : axes]), 1, 1]
        self.width, self.height, self.depth = sizes[:3]
        if self.layered:
            self.depth = array.shape[0]
        self._check(where)
        if self._kind == KIND_SURFACE and not array.flags.writeable:
            raise KernelError(f"{where} is read-only: must be writable")

    def _check(self, where: str) -> None:
        array = self.array
        if array.dtype.str[1:] not in FORMATS or not array.dtype.isnative:
            raise KernelError(f"{where} of {array.dtype}: must be of {', '.join(map(str, map(np.dtype, FORMATS)))}")
        if self.channels not in CHANNELS:
            raise KernelError(f"{where} of {self.channels} channels: must have 1, 2 or 4")
        for name, size, most in zip(_AXES, (self.width, self.height, self.depth), self._limits, strict=True):
            if not 1 <= size <= most:
                called = "layers" if self.layered and name == "depth" else name
                raise KernelError(f"{where} of {called} {size}: must be from 1 to {most}")
        row = array[(0,) * (self.dimensions - 1 + self.layered)]
        if (
            not row.flags.c_contiguous
            or self._pitch < row.nbytes
            or self._slice < (self.height - 1) * self._pitch + row.nbytes
        ):
            raise KernelError(f"{where}: must be contiguous: use numpy.ascontiguousarray")

    def __repr__(self) -> str:
        sizes = [self.width, self.height]
        sizes += [self.depth] if self.dimensions == 3 else []
        layers = f", {self.depth} layers" if self.layered else ""
        return f"{self.title}({self.array.dtype}, {' x '.join(map(str, sizes))}{layers}, {self.channels} channels)"

    @property
    def _pitch(self) -> int:
        """Bytes from row to row."""
        row = self.width * self.array.itemsize * self.channels
        return self.array.strides[self.dimensions - 2 + self.layered] if self.height > 1 else row

    @property
    def _slice(self) -> int:
        """Bytes from slice to slice, or from layer to layer."""
        return self.array.strides[0] if self.depth > 1 else self.height * self._pitch

    @property
    def _limits(self) -> tuple[int, int, int]:
        """Of width, height and depth [texels]."""
        if self.layered:
            return MOST_IN_LAYER, MOST_IN_LAYER if self.dimensions == 2 else 1, MOST_LAYERS
        if self.dimensions == 3:
            return MOST_IN_VOLUME, MOST_IN_VOLUME, MOST_IN_VOLUME
        return (MOST_LINEAR, 1, 1) if self.dimensions == 1 else (MOST_WIDTH, MOST_HEIGHT, 1)

    def row(self, base: int) -> bytes:
        """Its form in a launch (layout.TEXTURE). base: the virtual address of its array."""
        found = np.zeros(1, TEXTURE)
        values: dict[str, int] = {
            "base": base,
            "host": self.array.ctypes.data,
            "pitch": self._pitch,
            "slice": self._slice,
            "kind": self._kind,
            "shape": self.dimensions + LAYERED * self.layered,
            "width": self.width,
            "height": self.height,
            "depth": self.depth,
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

    array: NumPy array of shape [width], [height, width] or [depth, height, width], with an axis [channels] behind it
        where there are 2 or 4, of whole numbers of 8, 16 or 32 bits or floats of 16 or 32; rows may have gaps between
        them. It is read in place.
    address_mode: the addressing mode outside the array: "wrap", "clamp", "mirror" or "border"; one, or one for each of
        x, y and z.
        "wrap" and "mirror" need normalised coordinates and are "clamp" without them, as in CUDA. tex1Dfetch reads 0
        there in any mode.
    filter_mode: "point", the texel at a coordinate, or "linear", interpolated between the nearest two, four or eight.
    read_mode: "element", or "normalized_float": whole numbers of 8 and 16 bits as floats up to 1.
    normalized_coords: whether coordinates go from 0 to 1 over the array, instead of to its size in texels.
    border_color: the value that "border" reads, a number for each channel of the type that is read; zeros if left out.
    dimensions: 1, 2 or 3; one axis more is that of the channels. The array's number, but at most 2, if left out.
    layered: whether the first axis is that of layers, which no dimension is. A layer beyond the last reads the last.

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
        layered: bool = False,
    ) -> None:
        super().__init__(array, dimensions=dimensions, layered=layered)
        modes = (address_mode,) * 3 if isinstance(address_mode, str) else tuple(address_mode)
        if not self.dimensions <= len(modes) <= 3:
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
        row["address_x"], row["address_y"], row["address_z"] = [*self._modes, *2 * self._modes[-1:]][:3]
        row["linear"], row["normalized"] = self._filter, self._normalized


def _chosen(name: str, value: object, known: dict[str, int]) -> int:
    if not isinstance(value, str) or value not in known:
        raise KernelError(f"TextureObject: {name} = {shown(value)}: must be {', '.join(known)}")
    return known[value]
