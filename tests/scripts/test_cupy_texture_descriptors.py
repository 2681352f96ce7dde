"""What CuPy's descriptors of textures stand for: each kind of channel, and each way in which a texture is read."""

import itertools

import numpy as np
import pytest

from simtmm.scripts.cupy.cuda import runtime, texture
from simtmm.scripts.cupy.cuda.texture import ChannelFormatDescriptor, CUDAarray, ResourceDescriptor, TextureDescriptor
from simtmm.scripts.cupy.device_array import MissingError

SIGNED, UNSIGNED, FLOAT = (getattr(runtime, f"cudaChannelFormatKind{name}") for name in ("Signed", "Unsigned", "Float"))


@pytest.mark.parametrize(
    ("kind", "bits", "expected"),
    [(kind, bits, f"{letter}{bits // 8}") for kind, letter, widths in
     ((SIGNED, "i", (8, 16, 32)), (UNSIGNED, "u", (8, 16, 32)), (FLOAT, "f", (16, 32))) for bits in widths],
)  # fmt: skip
@pytest.mark.parametrize("channels", [1, 2, 4])
def test_a_format_is_a_type_and_a_number_of_channels(kind, bits, expected, channels):
    given = (*[bits] * channels, *[0] * (4 - channels), kind)
    found = ChannelFormatDescriptor(*given)
    assert (found.dtype, found.channels) == (np.dtype(expected), channels)
    assert found.get_channel_format() == dict(zip("xyzwf", given, strict=True))


@pytest.mark.parametrize("given", [(0, 0, 0, 0, 0), (8, 16, 0, 0, 0), (12, 0, 0, 0, 0), (8, 0, 0, 0, 3)])
def test_a_format_that_no_texture_has_is_refused(given):
    with pytest.raises(MissingError, match=r"ChannelFormatDescriptor.*is not supported"):
        ChannelFormatDescriptor(*given)


@pytest.mark.parametrize(
    ("sizes", "flags", "dimensions"),
    [
        ((4,), 0, 1), ((4, 3), 0, 2), ((4, 3, 2), 0, 3), ((4, 3, 2), runtime.cudaArraySurfaceLoadStore, 3),
        ((4, 3, 2), runtime.cudaArrayLayered, 2), ((4, 0, 2), runtime.cudaArrayLayered, 1),
    ],
)  # fmt: skip
def test_an_array_says_what_it_was_created_of(sizes, flags, dimensions):
    desc = ChannelFormatDescriptor(32, 32, 0, 0, FLOAT)
    found = CUDAarray(desc, *sizes, flags=flags)
    assert (found.desc, found.flags, found.ndim) == (desc, flags, dimensions)
    assert (found.width, found.height, found.depth) == (*sizes, *[0] * (3 - len(sizes)))
    assert found.array.shape == (*[size for size in reversed(sizes) if size], 2)


MODES = {"Wrap": "wrap", "Clamp": "clamp", "Mirror": "mirror", "Border": "border"}


@pytest.mark.parametrize("modes", list(itertools.product(MODES, repeat=2)))
def test_the_last_mode_is_that_of_all_further_dimensions(modes, monkeypatch):
    made = []
    monkeypatch.setattr(texture, "OwnTexture", lambda array, **given: made.append((array, given)))
    memory = CUDAarray(ChannelFormatDescriptor(32, 0, 0, 0, FLOAT), 4, 3)
    resource = ResourceDescriptor(runtime.cudaResourceTypeArray, cuArr=memory)
    numbers = tuple(getattr(runtime, f"cudaAddressMode{mode}") for mode in modes)
    for given, expected in ((numbers, [*modes, modes[-1]]), (numbers[0], [modes[0]] * 3), ((), ["Clamp"] * 3)):
        texture.TextureObject(resource, TextureDescriptor(given, 1, 1, None, (1, 2, 3, 4), 1))
        array, told = made.pop()
        assert array is memory.array
        assert told == {
            "address_mode": [MODES[mode] for mode in expected], "filter_mode": "linear",
            "read_mode": "normalized_float", "normalized_coords": True, "border_color": (1, 2, 3, 4),
            "dimensions": 2, "layered": False,
        }  # fmt: skip
    plain = TextureDescriptor()
    assert (plain.filter, plain.read, plain.border, plain.normalized) == ("point", "element", None, False)
    with pytest.raises(MissingError, match="sRGB"):
        TextureDescriptor(sRGB=True)
