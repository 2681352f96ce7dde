"""Textures: what CUDA's C++ Programming Guide says of texture fetching, computed plainly with NumPy."""

import itertools

import numpy as np
import pytest

from simtmm.cuda.execution.layout import NO_TEXTURE, TOLD_WIDTH
from simtmm.cuda.texture import ADDRESS_MODES, SurfaceObject, TextureObject
from simtmm.errors import KernelError
from simtmm.trace.schema import ALIGNMENT
from tests.cuda.execution.kernels import Faulted, kernel, run

REGISTERS = ".reg .b32 %x; .reg .b32 %y; .reg .b32 %z; .reg .b32 %c<4>; .reg .pred %q;"
LOAD = (
    "mad.wide.u32 %at, %lane, 4, %p1; ld.global.b32 %x, [%at];mad.wide.u32 %at, %lane, 4, %p2; ld.global.b32 %y, [%at];"
)
STORE = "mad.wide.u32 %at, %lane, 16, %p3; st.global.v4.b32 [%at], {%c0,%c1,%c2,%c3};"
SPECIAL = np.array([np.nan, np.inf, -np.inf, 3e38, -3e38, 1e-40, -1e-40, -0.0], np.float32)


def fetched(texture, x, y=None, coordinates="f32", instruction=None, record=False):
    """What a thread for each coordinate reads: the bits of four registers [n, 4]."""
    shape, place = ("1d", "{%x}") if texture.dimensions == 1 else ("2d", "{%x,%y}")
    instruction = instruction or f"tex.{shape}.v4.f32.{coordinates} {{%c0,%c1,%c2,%c3}}, [%p0, {place}];"
    x = np.ascontiguousarray(x)
    y = np.zeros_like(x) if y is None else np.ascontiguousarray(y)
    found = np.zeros((len(x), 4), np.uint32)
    logged = run(
        kernel(LOAD + instruction + STORE, 4, REGISTERS), "k", [texture, x, y, found], threads=len(x), record=record
    )
    return (found, logged) if record else found


def reals(texture, x, y=None, **others):
    return fetched(texture, x, y, **others).view(np.float32)


def scaled(x, size, mode, normalized):
    """A coordinate in texels (Table of addressing modes: a normalised one wraps by its fraction)."""
    if not normalized:
        return x
    if mode == "wrap":
        x = x - np.floor(x)
    if mode == "mirror":
        x = np.where(np.floor(x) % 2 == 0, x - np.floor(x), 1 - (x - np.floor(x)))
    return (x * np.float32(size)).astype(np.float32)


def index(i, size, mode, normalized):
    """The texel a number means, -1 for the border."""
    if mode == "wrap" and normalized:
        return i % size
    if mode == "border":
        return np.where((i >= 0) & (i < size), i, -1)
    return np.clip(i, 0, size - 1)


def nearest(texels, x, y, mode, normalized, border):
    height, width = texels.shape
    i = index(np.floor(scaled(x, width, mode, normalized)).astype(int), width, mode, normalized)
    j = index(np.floor(scaled(y, height, mode, normalized)).astype(int), height, mode, normalized)
    return np.where((i < 0) | (j < 0), np.float32(border), texels[j, i])


def filtered(texels, x, y, mode, normalized, border):
    """(1-a)(1-b) T[i,j] + a(1-b) T[i+1,j] + (1-a)b T[i,j+1] + ab T[i+1,j+1], weights of 8 bits behind the point."""
    height, width = texels.shape
    xb = scaled(x, width, mode, normalized) - np.float32(0.5)
    yb = scaled(y, height, mode, normalized) - np.float32(0.5)
    i, j = np.floor(xb).astype(int), np.floor(yb).astype(int)
    a, b = (np.floor((f - np.floor(f)).astype(float) * 256 + 0.5) / 256 for f in (xb, yb))
    total = np.zeros(len(x))
    for di, dj, weight in ((0, 0, (1 - a) * (1 - b)), (1, 0, a * (1 - b)), (0, 1, (1 - a) * b), (1, 1, a * b)):
        column, line = index(i + di, width, mode, normalized), index(j + dj, height, mode, normalized)
        total += weight * np.where((column < 0) | (line < 0), border, texels[line, column])
    return total


@pytest.fixture(scope="module")
def texels():
    return np.random.default_rng(1).random((5, 7), dtype=np.float32)


def coordinates(width, height, normalized):
    """Inside, outside, and at the edges and middles of texels, where rounding decides."""
    random = np.random.default_rng(2)
    x, y = (random.uniform(-2.5 * size, 3.5 * size, 992).astype(np.float32) for size in (width, height))
    at = np.arange(-8, 8) / 2
    x, y = (np.concatenate([each, at, at[::-1]]).astype(np.float32) for each in (x, y))
    return (x / np.float32(width), y / np.float32(height)) if normalized else (x, y)


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("mode", ADDRESS_MODES)
def test_the_nearest_texel_is_the_one_that_a_coordinate_is_in(texels, mode, normalized):
    x, y = coordinates(7, 5, normalized)
    texture = TextureObject(texels, address_mode=mode, normalized_coords=normalized, border_color=[0.25])
    assert np.array_equal(reals(texture, x, y)[:, 0], nearest(texels, x, y, mode, normalized, 0.25))


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("mode", ADDRESS_MODES)
def test_linear_filtering_weighs_the_four_texels_around(texels, mode, normalized):
    x, y = coordinates(7, 5, normalized)
    texture = TextureObject(
        texels, address_mode=mode, filter_mode="linear", normalized_coords=normalized, border_color=[0.25]
    )
    expected = filtered(texels, x, y, mode, normalized, 0.25)
    # Texels are below 1: four products and three sums, each rounded to half a unit of 2^-24 at most.
    assert np.abs(reals(texture, x, y)[:, 0] - expected).max() <= 7 * 2.0**-25


def gathered(texels, x, y, mode, normalized, border):
    """PTX ISA, tld4: the four texels that filtering weighs, counter-clockwise from the lower left, y going down."""
    height, width = texels.shape
    i, j = (
        np.floor(scaled(each, size, mode, normalized) - np.float32(0.5)).astype(int)
        for each, size in ((x, width), (y, height))
    )
    columns, lines = (
        [index(each + step, size, mode, normalized) for step in steps]
        for each, size, steps in ((i, width, (0, 1, 1, 0)), (j, height, (1, 1, 0, 0)))
    )
    found = [np.where((c < 0) | (r < 0), np.float32(border), texels[r, c]) for c, r in zip(columns, lines, strict=True)]
    return np.stack(found, axis=1)


GATHER = "tld4.r.2d.v4.f32.f32 {%c0,%c1,%c2,%c3}, [%p0, {%x,%y}];"


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("mode", ADDRESS_MODES)
def test_a_gather_reads_the_four_texels_around(texels, mode, normalized):
    x, y = coordinates(7, 5, normalized)
    for filter_mode in ("point", "linear"):
        texture = TextureObject(
            texels, address_mode=mode, filter_mode=filter_mode, normalized_coords=normalized, border_color=[0.25]
        )
        found = reals(texture, x, y, instruction=GATHER)
        assert np.array_equal(found, gathered(texels, x, y, mode, normalized, 0.25))


@pytest.mark.parametrize("channel", "rgba")
def test_a_gather_reads_one_channel(channel):
    texels = np.arange(4 * 6 * 2, dtype=np.uint16).reshape(4, 6, 2)
    given = np.full(32, 2.5, np.float32), np.full(32, 1.5, np.float32)
    instruction = GATHER.replace(".r.", f".{channel}.").replace("f32.f32", "u32.f32")
    around = texels[[2, 2, 1, 1], [2, 3, 3, 2]]  # the middle of a texel: filtering gives the others no weight
    expected = around[:, "rgba".index(channel)] if channel in "rg" else np.full(4, "rgba".index(channel) - 2)
    assert (fetched(TextureObject(texels), *given, instruction=instruction) == expected).all()


def test_of_gathered_texels_the_first_in_memory_is_recorded(texels):
    texture = TextureObject(texels, address_mode="border")
    x, y = np.array([2, 0, 0, -1], np.float32), np.array([2, 2, 0, 2], np.float32)
    found = recorded(texture, x, y, GATHER)
    assert found == {0: (4 * (1 * 7 + 1), 4), 1: (4 * (1 * 7), 4), 2: (0, 4)}


def test_weights_have_eight_bits_behind_the_point():
    t = np.arange(1024, dtype=np.float32) / 1023
    found = reals(TextureObject(np.array([0, 1], np.float32), filter_mode="linear"), t + np.float32(0.5))[:, 0]
    assert np.array_equal(found, np.floor((t + np.float32(0.5) - np.float32(0.5)) * 256 + 0.5) / 256)
    assert len(np.unique(found)) == 257


def test_each_axis_has_a_mode_of_its_own(texels):
    texture = TextureObject(texels, address_mode=("border", "clamp"), border_color=[9])
    x, y = np.array([-1, 3, 3, 7], np.float32), np.array([1, -1, 9, 1], np.float32)
    assert reals(texture, x, y)[:, 0].tolist() == [9, texels[0, 3], texels[4, 3], 9]


@pytest.mark.parametrize("mode", ["clamp", "border"])
@pytest.mark.parametrize("filter_mode", ["point", "linear"])
def test_coordinates_that_are_no_places_read_no_other_memory(texels, mode, filter_mode):
    texture = TextureObject(texels, address_mode=mode, filter_mode=filter_mode, border_color=[texels[2, 2]])
    found = reals(texture, SPECIAL, SPECIAL[::-1])[:, 0]
    assert ((texels.min() <= found) & (found <= texels.max())).all()


@pytest.mark.parametrize("channels", [1, 2, 4])
@pytest.mark.parametrize("kind", ["u1", "i1", "u2", "i2", "u4", "i4", "f2", "f4"])
def test_each_format_is_read_and_what_it_lacks_is_0_0_1(kind, channels):
    random = np.random.default_rng(3)
    raw = random.integers(0, 256, (3, 8, channels * np.dtype(kind).itemsize), dtype=np.uint8)
    texels = raw.view(kind)
    if kind[0] == "f":
        texels = random.standard_normal((3, 8, channels)).astype(kind)
    wide = {"f": np.float32, "i": np.int32, "u": np.uint32}[kind[0]]
    expected = np.zeros((24, 4), wide)
    expected[:, 3] = 1
    expected[:, :channels] = texels.reshape(24, channels)
    y, x = np.divmod(np.arange(24, dtype=np.int32), 8)
    found = fetched(TextureObject(texels), x.astype(np.float32), y.astype(np.float32))
    assert np.array_equal(found.view(wide), expected)
    assert np.array_equal(fetched(TextureObject(texels), x, y, coordinates="s32"), found)


@pytest.mark.parametrize(("kind", "most"), [("u1", 255), ("i1", 127), ("u2", 65535), ("i2", 32767)])
def test_normalized_floats_go_to_1_and_not_below_minus_1(kind, most):
    limits = np.iinfo(kind)
    texels = np.array([limits.min, limits.max, 1, limits.max // 3], kind)
    found = reals(TextureObject(texels, read_mode="normalized_float"), np.arange(4, dtype=np.float32))
    expected = np.maximum(texels.astype(np.float32) / np.float32(most), np.float32(-1))
    assert np.array_equal(found[:, 0], expected)
    assert np.array_equal(found[:, 1:], np.tile(np.float32([0, 0, 1]), (4, 1)))


def test_beyond_linear_memory_is_0():
    texels = np.arange(1, 5, dtype=np.float32)
    x = np.array([-1, 0, 3, 4, -(2**31), 2**31 - 1], np.int32)
    assert reals(TextureObject(texels), x, coordinates="s32")[:, 0].tolist() == [0, 1, 4, 0, 0, 0]


def test_the_last_axis_may_be_channels_of_one_dimension():
    texels = np.arange(8, dtype=np.int32).reshape(4, 2)
    found = fetched(TextureObject(texels, dimensions=1), np.arange(4, dtype=np.int32), coordinates="s32")
    assert found[:, :2].tolist() == texels.tolist()


def test_a_level_a_gradient_and_whether_it_is_there_change_nothing(texels):
    x, y = coordinates(7, 5, False)
    texture = TextureObject(texels, filter_mode="linear")
    plain = fetched(texture, x, y)
    to, place = "{%c0,%c1,%c2,%c3}", "[%p0, {%x,%y}]"
    for instruction in (
        f"tex.level.2d.v4.f32.f32 {to}, {place}, %y;",
        f"tex.grad.2d.v4.f32.f32 {to}, {place}, {{%x,%y}}, {{%y,%x}};",
        f"tex.2d.v4.s32.f32 {to}|%q, {place}; @!%q mov.b32 %c0, 77;",
    ):
        assert np.array_equal(fetched(texture, x, y, instruction=instruction), plain)


def test_lanes_that_do_not_take_part_keep_their_registers(texels):
    guarded = """mov.b32 %c0, 5; mov.b32 %c1, 5; mov.b32 %c2, 5; mov.b32 %c3, 5; and.b32 %x, %lane, 1;
    setp.eq.u32 %q, %x, 1; @%q tex.2d.v4.f32.s32 {%c0,%c1,%c2,%c3}, [%p0, {%x,%x}];"""
    found, logged = fetched(TextureObject(texels), np.zeros(32, np.int32), instruction=guarded, record=True)
    assert (found[0::2] == 5).all()
    assert (found[1::2, 0].view(np.float32) == texels[1, 1]).all()
    assert [mask for kind, mask, _ in logged if kind == "async"][-1] == 0xAAAAAAAA


def test_lanes_may_read_different_textures():
    first, second = (TextureObject(np.full(4, value, np.int32)) for value in (3, 4))
    found = np.zeros(32, np.int32)
    body = """and.b32 %x, %lane, 1; setp.eq.u32 %q, %x, 1; selp.b64 %at, %p0, %p1, %q;
    tex.1d.v4.s32.s32 {%c0,%c1,%c2,%c3}, [%at, {%x}];
    mad.wide.u32 %at, %lane, 4, %p2; st.global.b32 [%at], %c0;"""
    run(kernel(body, 3, REGISTERS), "k", [first, second, found])
    assert found.tolist() == [4, 3] * 16


def test_queries_tell_size_and_coordinates(texels):
    body = """txq.width.b32 %c0, [%p0]; txq.height.b32 %c1, [%p0]; txq.normalized_coords.b32 %c2, [%p0];
    suq.width.b32 %c3, [%p1]; mad.wide.u32 %at, %lane, 16, %p2; st.global.v4.b32 [%at], {%c0,%c1,%c2,%c3};"""
    found = np.zeros((32, 4), np.int32)
    surface = SurfaceObject(np.zeros((2, 3, 4), np.float32))
    run(kernel(body, 3, REGISTERS), "k", [TextureObject(texels, normalized_coords=True), surface, found])
    assert (found == [7, 5, 1, 3]).all()
    body = body.replace("txq.width", "txq.depth").replace("suq.width", "suq.array_size")
    surface = SurfaceObject(np.zeros((6, 2, 3), np.float32), layered=True)
    run(kernel(body, 3, REGISTERS), "k", [TextureObject(np.zeros((4, 5, 7), np.uint8), dimensions=3), surface, found])
    assert (found == [4, 5, 0, 6]).all()


def recorded(texture, x, y, instruction=None):
    """Of each lane that touches memory: the texel's address from the array's, and its bytes."""
    _, logged = fetched(texture, x, y, instruction=instruction, record=True)
    mask, addresses = [(mask, addresses) for kind, mask, addresses in logged if kind == "async"][-1]
    low = (1 << TOLD_WIDTH) - 1
    return {
        lane: ((address & low) - ALIGNMENT, address >> TOLD_WIDTH)
        for lane, address in enumerate(addresses)
        if mask >> lane & 1
    }


def test_a_texel_is_recorded_with_its_address_and_bytes():
    texture = TextureObject(np.zeros((5, 7, 2), np.uint8), address_mode="border")
    found = recorded(texture, np.array([0, 6.5, 7, 3], np.float32), np.array([0, 4, 4, -1], np.float32))
    assert found == {0: (0, 2), 1: (2 * (4 * 7 + 6), 2)}


def test_of_filtered_texels_the_first_in_memory_is_recorded(texels):
    texture = TextureObject(texels, address_mode="border", filter_mode="linear")
    found = recorded(texture, np.array([2, 0, -1], np.float32), np.array([2, 0.5, 2], np.float32))
    assert found == {0: (4 * (1 * 7 + 1), 4), 1: (0, 4)}


PLACE = "mad.wide.u32 %at, %lane, 4, %p1;" + "".join(
    f" ld.global.b32 %{axis}, [%at]; add.u64 %at, %at, 128;" for axis in "xyz"
)


def placed(texture, shape, place, x, y, z, coordinates="f32", operation="tex"):
    """What 32 threads read at a place of three numbers, the first of four registers."""
    found = np.zeros((32, 4), np.uint32)
    body = f"{PLACE} {operation}.{shape}.v4.f32.{coordinates} {{%c0,%c1,%c2,%c3}}, [%p0, {place}];"
    body += STORE.replace("%p3", "%p2")
    given = np.stack(
        [np.broadcast_to(each, 32).astype(f"{np.asarray(each).dtype.kind}4").view(np.uint32) for each in (x, y, z)]
    )
    run(kernel(body, 3, REGISTERS), "k", [texture, given, found])
    return found[:, 0].view(np.float32)


def nearest_of(texels, places, mode, normalized):
    """The nearest texel of three dimensions. places: x, y and z of each."""
    sizes = texels.shape[::-1]
    i, j, k = (
        index(np.floor(scaled(place, size, mode, normalized)).astype(int), size, mode, normalized)
        for place, size in zip(places, sizes, strict=True)
    )
    return np.where((i < 0) | (j < 0) | (k < 0), np.float32(0.25), texels[k, j, i])


def filtered_of(texels, places, mode, normalized):
    """Likewise, what lies between eight of them, each weighed by the product of its three weights."""
    sizes = texels.shape[::-1]
    at = [scaled(place, size, mode, normalized) - np.float32(0.5) for place, size in zip(places, sizes, strict=True)]
    first = [np.floor(each).astype(int) for each in at]
    part = [np.floor((each - np.floor(each)).astype(float) * 256 + 0.5) / 256 for each in at]
    total = np.zeros(len(places[0]))
    for steps in itertools.product((0, 1), repeat=3):
        i, j, k = (
            index(whole + step, size, mode, normalized) for whole, step, size in zip(first, steps, sizes, strict=True)
        )
        weight = np.prod([each if step else 1 - each for each, step in zip(part, steps, strict=True)], axis=0)
        total += weight * np.where((i < 0) | (j < 0) | (k < 0), 0.25, texels[k, j, i])
    return total


@pytest.fixture(scope="module")
def volume():
    return np.random.default_rng(4).random((3, 5, 7), dtype=np.float32)


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("mode", ADDRESS_MODES)
@pytest.mark.parametrize("filter_mode", ["point", "linear"])
def test_three_dimensions_are_read_as_two_are(volume, mode, normalized, filter_mode):
    random = np.random.default_rng(5)
    sizes = np.float32([1, 1, 1] if normalized else volume.shape[::-1])
    places = [random.uniform(-1.5 * size, 2.5 * size, 32).astype(np.float32) for size in sizes]
    texture = TextureObject(
        volume, dimensions=3, address_mode=mode, filter_mode=filter_mode, normalized_coords=normalized,
        border_color=[0.25],
    )  # fmt: skip
    found = placed(texture, "3d", "{%x,%y,%z,%z}", *places)
    if filter_mode == "point":
        assert np.array_equal(found, nearest_of(volume, places, mode, normalized))
    else:  # eight products of three weights, each rounded, and seven sums
        assert np.abs(found - filtered_of(volume, places, mode, normalized)).max() <= 16 * 2.0**-24


def test_each_of_three_axes_has_a_mode_of_its_own(volume):
    texture = TextureObject(volume, dimensions=3, address_mode=("clamp", "clamp", "border"), border_color=[9])
    z = np.resize(np.float32([-1, 0, 2, 3]), 32)
    found = placed(texture, "3d", "{%x,%y,%z,%z}", np.float32(-5), np.float32(99), z)
    assert found[:4].tolist() == [9, volume[0, 4, 0], volume[2, 4, 0], 9]


def test_whole_numbers_name_texels_of_three_dimensions(volume):
    lanes = np.arange(32, dtype=np.int32)
    found = placed(TextureObject(volume, dimensions=3), "3d", "{%x,%y,%z,%z}", lanes % 7, lanes % 5, lanes % 3, "s32")
    assert np.array_equal(found, volume[lanes % 3, lanes % 5, lanes % 7])


def named(layer):
    """Of three layers, the one of a number without a sign (PTX ISA, tex: "an unsigned integer index")."""
    return np.minimum(np.asarray(layer, np.int32).view(np.uint32), 2)


@pytest.mark.parametrize("filter_mode", ["point", "linear"])
def test_a_layer_is_read_alone_and_beyond_the_last_is_the_last(volume, filter_mode):
    layers = np.resize(np.array([0, 1, 2, 7, -1], np.int32), 32)
    x, y = coordinates(7, 5, False)
    x, y = x[:32], y[:32]
    texture = TextureObject(volume, layered=True, filter_mode=filter_mode, address_mode="border", border_color=[0.25])
    found = placed(texture, "a2d", "{%z,%x,%y,%y}", x, y, layers)
    for layer in range(-1, 8):
        one = TextureObject(volume[named(layer)], filter_mode=filter_mode, address_mode="border", border_color=[0.25])
        there = layers == layer
        assert np.array_equal(found[there], reals(one, x, y)[there, 0])
    flat = TextureObject(volume[:, 0].copy(), dimensions=1, layered=True, filter_mode=filter_mode)
    expected = [reals(TextureObject(row, filter_mode=filter_mode), x)[:, 0] for row in volume[:, 0]]
    assert np.array_equal(placed(flat, "a1d", "{%z,%x}", x, y, layers), np.array(expected)[named(layers), range(32)])


def test_a_gather_reads_the_layer_that_is_named(volume):
    layers, (x, y) = np.resize(np.array([0, 1, 2, 7, -1], np.int32), 32), coordinates(7, 5, False)
    x, y = x[:32], y[:32]
    found = placed(TextureObject(volume, layered=True), "a2d", "{%z,%x,%y,%y}", x, y, layers, operation="tld4.r")
    expected = [gathered(each, x, y, "clamp", False, 0)[:, 0] for each in volume]
    assert np.array_equal(found, np.array(expected)[named(layers), range(32)])


def test_a_texel_of_a_slice_is_recorded_with_its_address():
    texture = TextureObject(np.zeros((3, 5, 7, 2), np.uint8), dimensions=3)
    body = "tex.3d.v4.f32.s32 {%c0,%c1,%c2,%c3}, [%p0, {%x,%x,%x,%x}];"
    logged = run(kernel("mov.b32 %x, 2;" + body, 1, REGISTERS), "k", [texture], record=True)
    addresses = [addresses for kind, _, addresses in logged if kind == "async"][-1]
    assert (addresses[0] & (1 << TOLD_WIDTH) - 1) - ALIGNMENT == 2 * (2 * 35 + 2 * 7 + 2)


@pytest.mark.parametrize("given", ["of two dimensions", "in layers"])
def test_another_shape_than_the_instructions_ends_the_launch(volume, given):
    texture = TextureObject(volume[0]) if given == "of two dimensions" else TextureObject(volume, layered=True)
    with pytest.raises(Faulted, match=str(NO_TEXTURE)):
        placed(texture, "3d", "{%x,%y,%z,%z}", np.float32(0), np.float32(0), np.float32(0))


@pytest.mark.parametrize("wrong", ["a number", "of one dimension", "a surface"])
def test_what_is_no_texture_ends_the_launch(texels, wrong):
    x, found = np.zeros(4, np.float32), np.zeros((4, 4), np.uint32)
    given = {
        "a number": np.uint64(42),
        "of one dimension": TextureObject(texels[0]),
        "a surface": SurfaceObject(texels.copy()),
    }[wrong]
    body = LOAD + "tex.2d.v4.f32.f32 {%c0,%c1,%c2,%c3}, [%p0, {%x,%y}];" + STORE
    with pytest.raises(Faulted, match=str(NO_TEXTURE)):
        run(kernel(body, 4, REGISTERS), "k", [given, x, x, found], threads=4)


@pytest.mark.parametrize(
    ("array", "options", "said"),
    [
        ([1.0], {}, "array = [1.0]: must be a NumPy array"),
        (np.zeros(()), {}, "array of 0 dimensions"),
        (np.zeros(4), {}, "array of float64: must be of uint8, "),
        (np.zeros(4, ">f4"), {}, "must be of uint8, "),
        (np.zeros((4, 4, 3), "f4"), {}, "array of 3 channels: must have 1, 2 or 4"),
        (np.zeros((4, 0), "f4"), {}, "array of width 0: must be from 1 to 131072"),
        (np.zeros((4, 8), "f4")[:, ::2], {}, "must be contiguous"),
        (np.zeros((8, 4), "f4").T, {}, "must be contiguous"),
        (np.zeros((4, 8), "f4")[::-1], {}, "must be contiguous"),
        (np.zeros((2, 4, 4), "f4"), {"dimensions": 1}, "must have 1, or one more for channels"),
        (np.zeros(4, "f4"), {"dimensions": 4}, "dimensions = 4: must be 1, 2 or 3"),
        (np.zeros((4, 4), "f4"), {"dimensions": 3}, "array of 2 dimensions: must have 3, or one more for channels"),
        (np.zeros((4, 4, 4), "f4"), {"dimensions": 3, "layered": True}, "dimensions = 3: layers have 1 or 2"),
        (np.zeros(4, "f4"), {"layered": True}, "must have 1 and the layers, or one more for channels"),
        (np.zeros((4, 4), "f4"), {"layered": "yes"}, "layered = 'yes': must be True or False"),
        (np.zeros((2049, 1), "u1"), {"layered": True}, "array of layers 2049: must be from 1 to 2048"),
        (np.zeros((1, 1, 16385), "u1"), {"dimensions": 3}, "array of width 16385: must be from 1 to 16384"),
        (np.zeros((2, 3, 4), "u1")[::-1], {"dimensions": 3}, "must be contiguous"),
        (np.zeros(4, "f4"), {"address_mode": "repeat"}, "address_mode = 'repeat': must be wrap, clamp, mirror, border"),
        (np.zeros((4, 4), "f4"), {"address_mode": ("wrap",)}, "must be one mode, or 2"),
        (np.zeros(4, "f4"), {"filter_mode": 1}, "filter_mode = 1: must be point, linear"),
        (np.zeros(4, "f4"), {"normalized_coords": "no"}, "normalized_coords = 'no': must be True or False"),
        (np.zeros(4, "i4"), {"read_mode": "normalized_float"}, "must be whole numbers of 8 or 16 bits"),
        (np.zeros(4, "u1"), {"filter_mode": "linear"}, "filter_mode = 'linear' of uint8: must be floats"),
        (np.zeros(4, "u1"), {"border_color": (1, 2)}, "border_color = (1, 2): must be 1 numbers (uint32)"),
    ],
)
def test_what_is_no_texture_is_told_when_it_is_made(array, options, said):
    with pytest.raises(KernelError) as told:
        TextureObject(array, **options)
    assert said in str(told.value)
    assert "\n" not in str(told.value)
