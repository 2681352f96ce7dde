"""What a texture or a surface of CuPy lies on: which texels of an array, and in what shape. It is no copy."""

import re
from pathlib import Path

import numpy as np
import pytest

import simtmm.scripts.cupy as cp
from simtmm.cuda.compilers.wheels import find_nvcc
from simtmm.cuda.execution.layout import TEXTURE
from simtmm.scripts.cupy.cuda import runtime
from simtmm.scripts.cupy.cuda.texture import (
    ChannelFormatDescriptor,
    CUDAarray,
    ResourceDescriptor,
    TextureDescriptor,
    TextureObject,
)
from simtmm.scripts.cupy.device_array import MissingError, plain

FLOAT = ChannelFormatDescriptor(32, 0, 0, 0, runtime.cudaChannelFormatKindFloat)
PAIR = ChannelFormatDescriptor(16, 16, 0, 0, runtime.cudaChannelFormatKindSigned)


def pitched(described, pitch, height=3, width=5):
    numbers = cp.asarray(np.arange(96, dtype=described.dtype))
    return numbers, ResourceDescriptor(
        runtime.cudaResourceTypePitch2D, arr=numbers, chDesc=described, width=width, height=height, pitchInBytes=pitch
    )


@pytest.mark.parametrize("pitch", [20, 32, 64, 128])
def test_rows_begin_a_pitch_apart(pitch):
    numbers, resource = pitched(FLOAT, pitch)
    assert resource.dimensions == 2
    assert resource.array.tolist() == [[row * pitch // 4 + column for column in range(5)] for row in range(3)]
    resource.array[2, 4] = -1  # as a surface does
    assert plain(numbers)[2 * pitch // 4 + 4] == -1


def test_channels_of_a_texel_lie_beside_one_another():
    numbers, resource = pitched(PAIR, 24)
    assert resource.array.shape == (3, 5, 2)
    assert resource.array[2, 4].tolist() == [2 * 12 + 8, 2 * 12 + 9]
    resource.array[1, 0, 1] = -7
    assert plain(numbers)[13] == -7


@pytest.mark.parametrize("pitch", [0, 16, 19, 22, 132])
def test_a_pitch_that_holds_no_row_or_has_no_room_is_refused(pitch):
    """A row takes 20 bytes, an element 4, and 3 rows of 128 are all that there is."""
    with pytest.raises(ValueError, match=f"pitchInBytes {pitch}: 3 rows of 5 texels take at least 20 bytes each"):
        pitched(FLOAT, pitch)


def test_a_pitch_that_nobody_says_is_0():
    numbers = cp.asarray(np.arange(96, dtype=np.float32))
    with pytest.raises(ValueError, match="pitchInBytes 0: 3 rows of 5 texels"):
        ResourceDescriptor(runtime.cudaResourceTypePitch2D, arr=numbers, chDesc=FLOAT, width=5, height=3)


@pytest.mark.parametrize(("described", "shape"), [(FLOAT, (12,)), (PAIR, (12, 2))])
def test_linear_memory_has_as_many_texels_as_its_bytes_say(described, shape):
    numbers = cp.asarray(np.arange(96, dtype=described.dtype))
    resource = ResourceDescriptor(runtime.cudaResourceTypeLinear, arr=numbers, chDesc=described, sizeInBytes=51)
    assert (resource.array.shape, resource.dimensions) == (shape, 1)
    assert resource.array.ravel().tolist() == list(range(np.prod(shape)))


@pytest.mark.parametrize(
    ("sizes", "flags", "dimensions", "shape"),
    [((5, 4, 3), 0, 3, (3, 4, 5, 2)), ((5, 4, 3), 1, 2, (3, 4, 5, 2)), ((5, 0, 3), 1, 1, (3, 5, 2))],
)
def test_an_array_may_have_slices_or_layers(sizes, flags, dimensions, shape):
    array = CUDAarray(PAIR, *sizes, flags)
    array.copy_from(np.arange(np.prod(shape), dtype=np.int16))
    resource = ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=array)
    row = np.frombuffer(TextureObject(resource, TextureDescriptor()).texobj.row(0), TEXTURE)[0]
    assert (int(row["shape"]), row["depth"], row["width"]) == (dimensions + 16 * flags, 3, 5)
    assert resource.array.shape == shape
    assert resource.array[-1].ravel()[-1] == np.prod(shape) - 1


def test_cube_maps_are_refused():
    with pytest.raises(MissingError, match="cube maps are not supported"):
        CUDAarray(PAIR, 4, 4, 6, runtime.cudaArrayCubemap)


def test_an_array_of_textures_has_its_own_dimensions():
    for sizes, shape in (((6,), (6,)), ((6, 4), (4, 6))):
        memory = CUDAarray(FLOAT, *sizes)
        resource = ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=memory)
        assert (resource.array.shape, resource.dimensions) == (shape, len(sizes))
        assert resource.array is memory.array


def test_what_lacks_its_memory_or_format_is_told():
    numbers = cp.asarray(np.arange(96, dtype=np.float32))
    for restype, given in (
        (runtime.cudaResourceTypeArray, {"arr": numbers}), (runtime.cudaResourceTypeLinear, {"arr": numbers}),
        (runtime.cudaResourceTypePitch2D, {"chDesc": FLOAT}), (77, {"arr": numbers, "chDesc": FLOAT}),
    ):  # fmt: skip
        with pytest.raises(MissingError, match=f"restype {restype} with these is not supported"):
            ResourceDescriptor(restype, **given)


def test_numbers_that_programs_name_are_cuda_s():
    headers = Path(find_nvcc()).parents[1] / "include"
    text = "".join((headers / f"{name}_types.h").read_text() for name in ("driver", "texture"))
    known = {name: int(value, 0) for name, value in re.findall(r"\b(cuda[A-Z]\w+)\s*=?\s+(0x\d+|\d+)\b", text)}
    ours = {name: value for name, value in vars(runtime).items() if isinstance(value, int) and name[-1] != "_"}
    named = {re.sub("^memcpy", "cudaMemcpy", name): value for name, value in ours.items() if name not in NOT_OF_RUNTIME}
    assert named == {name: known[name] for name in named}
    assert len(named) >= 20


NOT_OF_RUNTIME = {"is_hip", "CUDA_VERSION"}  # CuPy's own
