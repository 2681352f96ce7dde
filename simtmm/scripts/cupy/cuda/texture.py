"""cupy.cuda.texture: textures and surfaces, in dimensions or layers, on memory that they hold or are given."""

from typing import Any

import numpy as np

from simtmm.cuda.texture import SurfaceObject as OwnSurface
from simtmm.cuda.texture import TextureObject as OwnTexture
from simtmm.scripts.cupy.cuda import runtime
from simtmm.scripts.cupy.device_array import MissingError, ndarray, plain

_KINDS = {
    runtime.cudaChannelFormatKindSigned: "i",
    runtime.cudaChannelFormatKindUnsigned: "u",
    runtime.cudaChannelFormatKindFloat: "f",
}
_ADDRESS = ("wrap", "clamp", "mirror", "border")  # as CUDA numbers them
_FILTER = ("point", "linear")
_READ = ("element", "normalized_float")


class ChannelFormatDescriptor:
    """Bits of the channels x, y, z and w, and what their numbers are."""

    def __init__(self, x: int, y: int, z: int, w: int, f: int) -> None:
        bits = [each for each in (x, y, z, w) if each]
        if f not in _KINDS or not bits or len(set(bits)) > 1 or bits[0] % 8:
            raise MissingError(f"cupy.cuda.texture.ChannelFormatDescriptor{(x, y, z, w, f)}: is not supported")
        self.dtype, self.channels = np.dtype(f"{_KINDS[f]}{bits[0] // 8}"), len(bits)
        self._description = {"x": x, "y": y, "z": z, "w": w, "f": f}

    def get_channel_format(self) -> dict[str, int]:
        """As it was created."""
        return dict(self._description)


class CUDAarray:
    """An array of texels. Kernels read it by textures, and write it by surfaces."""

    def __init__(
        self, desc: ChannelFormatDescriptor, width: int, height: int = 0, depth: int = 0, flags: int = 0
    ) -> None:
        if flags & runtime.cudaArrayCubemap:
            raise MissingError("cupy.cuda.texture.CUDAarray: flags: cube maps are not supported")
        self.desc, self.width, self.height, self.depth, self.flags = desc, width, height, depth, flags
        self.layered = bool(flags & runtime.cudaArrayLayered)
        self.ndim = 3 if depth and not self.layered else 2 if height else 1
        shape = tuple(size for size in (depth, height, width) if size)
        self.array = np.zeros((*shape, desc.channels) if desc.channels > 1 else shape, desc.dtype)

    def copy_from(self, in_arr: Any, stream: Any = None) -> None:
        """Copy from an array of host or device, whose rows are all channels of all texels."""
        self.array[...] = plain(in_arr).reshape(self.array.shape)

    def copy_to(self, out_arr: Any, stream: Any = None) -> None:
        """Copy to one."""
        plain(out_arr).reshape(self.array.shape)[...] = self.array


class ResourceDescriptor:
    """What a texture or a surface lies on: a CUDAarray, or an array of the device with its format."""

    def __init__(
        self,
        restype: int,
        cuArr: CUDAarray | None = None,  # noqa: N803 - CuPy's name
        arr: ndarray | None = None,
        chDesc: ChannelFormatDescriptor | None = None,  # noqa: N803 - CuPy's name
        sizeInBytes: int = 0,  # noqa: N803 - CuPy's name
        width: int = 0,
        height: int = 0,
        pitchInBytes: int = 0,  # noqa: N803 - CuPy's name
    ) -> None:
        self.cuArr, self.arr, self.chDesc, self.dimensions = cuArr, arr, chDesc, cuArr.ndim if cuArr is not None else 1
        self.layered = cuArr is not None and cuArr.layered
        if restype == runtime.cudaResourceTypeArray and cuArr is not None:
            self.array = cuArr.array
        elif restype == runtime.cudaResourceTypeLinear and arr is not None and chDesc is not None:
            texels = sizeInBytes // (chDesc.channels * chDesc.dtype.itemsize)
            flat = plain(arr).reshape(-1).view(chDesc.dtype)[: texels * chDesc.channels]
            self.array = flat.reshape(-1, chDesc.channels) if chDesc.channels > 1 else flat
        elif restype == runtime.cudaResourceTypePitch2D and arr is not None and chDesc is not None:
            self.array = _rows(plain(arr).reshape(-1).view(np.uint8), height, width, pitchInBytes, chDesc)
            self.dimensions = 2
        else:
            raise MissingError(f"cupy.cuda.texture.ResourceDescriptor: restype {restype} with these is not supported")


def _rows(
    memory: np.ndarray[Any, Any], height: int, width: int, pitch: int, described: ChannelFormatDescriptor
) -> np.ndarray[Any, Any]:
    """The texels of memory [bytes] in rows, which begin so many bytes apart. Raises ValueError where it has too few."""
    used = width * described.channels * described.dtype.itemsize
    if pitch < used or pitch % described.dtype.itemsize or height * pitch > memory.nbytes:
        raise ValueError(
            f"cupy.cuda.texture.ResourceDescriptor: pitchInBytes {pitch}: {height} rows of {width} texels take at "
            f"least {used} bytes each, and the array has {memory.nbytes:,}"
        )
    rows = memory[: height * pitch].reshape(height, pitch)[:, :used].view(described.dtype)
    return rows.reshape(height, width, described.channels) if described.channels > 1 else rows


class TextureDescriptor:
    """How a texture is read."""

    def __init__(
        self,
        addressModes: Any = None,  # noqa: N803 - CuPy's name
        filterMode: int = 0,  # noqa: N803 - CuPy's name
        readMode: int = 0,  # noqa: N803 - CuPy's name
        sRGB: Any = None,  # noqa: N803 - CuPy's name
        borderColors: Any = None,  # noqa: N803 - CuPy's name
        normalizedCoords: Any = None,  # noqa: N803 - CuPy's name
        maxAnisotropy: Any = None,  # noqa: N803 - CuPy's name
    ) -> None:
        if sRGB:
            raise MissingError("cupy.cuda.texture.TextureDescriptor: sRGB: is not supported")
        modes = (addressModes,) if isinstance(addressModes, int) else tuple(addressModes or (1, 1, 1))
        self.modes = [_ADDRESS[mode] for mode in modes[:3]]
        self.filter, self.read = _FILTER[filterMode], _READ[readMode]
        self.border, self.normalized = borderColors, bool(normalizedCoords)


class TextureObject:
    """A texture, an argument of kernels."""

    def __init__(self, resource: ResourceDescriptor, texture: TextureDescriptor) -> None:
        self.ResDesc, self.TexDesc = resource, texture
        modes = [*texture.modes, *2 * texture.modes[-1:]][:3]
        self.texobj = OwnTexture(
            resource.array, address_mode=modes, filter_mode=texture.filter, read_mode=texture.read,
            normalized_coords=texture.normalized, border_color=texture.border, dimensions=resource.dimensions,
            layered=resource.layered,
        )  # fmt: skip


class SurfaceObject:
    """A surface, an argument of kernels."""

    def __init__(self, resource: ResourceDescriptor) -> None:
        self.ResDesc = resource
        self.texobj = OwnSurface(resource.array, dimensions=resource.dimensions, layered=resource.layered)
