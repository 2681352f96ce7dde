"""Surfaces: bytes of arrays by x in bytes and y, and what becomes of accesses beyond them."""

import numpy as np
import pytest

from simtmm.cuda.execution.layout import NO_TEXTURE, OUTSIDE_SURFACE
from simtmm.cuda.texture import SurfaceObject, TextureObject
from simtmm.errors import KernelError
from simtmm.trace.schema import ALIGNMENT
from tests.cuda.execution.kernels import Faulted, kernel, run

REGISTERS = ".reg .b32 %x; .reg .b32 %y; .reg .b32 %c<4>; .reg .b16 %h; .reg .b64 %d;"
PLACE = (
    "mad.wide.u32 %at, %lane, 4, %p1; ld.global.b32 %x, [%at];mad.wide.u32 %at, %lane, 4, %p2; ld.global.b32 %y, [%at];"
)
VALUE = "mad.wide.u32 %at, %lane, 4, %p3;"


def read(surface, x, y, mode, record=False):
    """A number of 32 bits for each x [bytes] and y."""
    x, y = np.array(x, np.int32), np.array(y, np.int32)
    found = np.full(len(x), 77, np.uint32)
    shape, place = ("1d", "{%x}") if surface.dimensions == 1 else ("2d", "{%x,%y}")
    body = f"{PLACE} suld.b.{shape}.b32.{mode} {{%c0}}, [%p0, {place}]; {VALUE} st.global.b32 [%at], %c0;"
    logged = run(kernel(body, 4, REGISTERS), "k", [surface, x, y, found], threads=len(x), record=record)
    return (found, logged) if record else found


def write(surface, x, y, values, mode):
    x, y, values = np.array(x, np.int32), np.array(y, np.int32), np.array(values, np.uint32)
    body = f"{PLACE} {VALUE} ld.global.b32 %c0, [%at]; sust.b.2d.b32.{mode} [%p0, {{%x,%y}}], {{%c0}};"
    run(kernel(body, 4, REGISTERS), "k", [surface, x, y, values], threads=len(x))


@pytest.fixture
def texels():
    return np.arange(100, 124, dtype=np.uint32).reshape(4, 6)


INSIDE = ([0, 4, 20], [0, 3, 2])
AROUND = ([-4, 24, 0, 8, 40], [0, 1, -1, 4, 9])


@pytest.mark.parametrize("mode", ["trap", "clamp", "zero"])
def test_inside_all_modes_are_one(texels, mode):
    assert read(SurfaceObject(texels), *INSIDE, mode).tolist() == [100, 119, 117]
    write(SurfaceObject(texels), *INSIDE, [1, 2, 3], mode)
    assert (texels[0, 0], texels[3, 1], texels[2, 5]) == (1, 2, 3)


def test_clamp_moves_to_the_edge(texels):
    assert read(SurfaceObject(texels), *AROUND, "clamp").tolist() == [100, 111, 100, 120, 123]
    write(SurfaceObject(texels), *AROUND, [1, 2, 3, 4, 5], "clamp")
    assert (texels[0, 0], texels[1, 5], texels[3, 2], texels[3, 5]) == (3, 2, 4, 5)


def test_zero_reads_0_and_writes_nothing(texels):
    before = texels.copy()
    assert read(SurfaceObject(texels), *AROUND, "zero").tolist() == [0] * 5
    write(SurfaceObject(texels), *AROUND, [1, 2, 3, 4, 5], "zero")
    assert np.array_equal(texels, before)


@pytest.mark.parametrize("place", list(zip(*AROUND, strict=True)))
def test_trap_ends_the_launch(texels, place):
    with pytest.raises(Faulted, match=str(OUTSIDE_SURFACE)):
        read(SurfaceObject(texels), *([each] for each in place), "trap")


@pytest.mark.parametrize("mode", ["trap", "clamp", "zero"])
def test_x_must_be_a_multiple_of_what_is_accessed(texels, mode):
    with pytest.raises(Faulted, match=str(OUTSIDE_SURFACE)):
        read(SurfaceObject(texels), [2], [0], mode)


def test_what_is_larger_than_a_row_is_nowhere():
    small = SurfaceObject(np.zeros((2, 2), np.uint8))
    assert read(small, [0], [0], "zero").tolist() == [0]
    for mode in ("trap", "clamp"):
        with pytest.raises(Faulted, match=str(OUTSIDE_SURFACE)):
            read(small, [0], [0], mode)


def test_one_dimension_has_one_row(texels):
    assert read(SurfaceObject(texels[1]), [0, 20, 24], [7, 8, 9], "clamp").tolist() == [106, 111, 111]


@pytest.mark.parametrize(
    ("kind", "registers", "size"), [("b8", "%h", 1), ("b16", "%h", 2), ("b32", "%c0", 4), ("b64", "%d", 8),
                                    ("v2.b32", "%c0,%c1", 8), ("v4.b32", "%c0,%c1,%c2,%c3", 16)]
)  # fmt: skip
def test_each_width_is_moved_as_it_is(kind, registers, size):
    given = np.random.default_rng(0).integers(0, 256, (3, 32 * size), dtype=np.uint8)
    to = np.zeros_like(given)
    body = f"""mul.lo.u32 %x, %lane, {size}; mov.b32 %y, 2;
    suld.b.2d.{kind}.trap {{{registers}}}, [%p0, {{%x,%y}}];
    sust.b.2d.{kind}.trap [%p1, {{%x,%y}}], {{{registers}}};"""
    run(kernel(body, 2, REGISTERS), "k", [SurfaceObject(given), SurfaceObject(to)])
    assert np.array_equal(to[2], given[2])
    assert not to[:2].any()


def test_only_lanes_inside_are_recorded(texels):
    _, logged = read(SurfaceObject(texels), [-4, 8, 8], [0, 1, 4], "zero", record=True)
    mask, addresses = [(mask, addresses) for kind, mask, addresses in logged if kind == "async"][-1]
    assert mask == 0b010
    assert addresses[1] == ALIGNMENT + 4 * (6 + 2)


@pytest.fixture
def volume():
    return np.arange(100, 172, dtype=np.uint32).reshape(3, 4, 6)


SHAPES = {"3d": ("{%x,%y,%z,%z}", {"dimensions": 3}), "a2d": ("{%z,%x,%y,%y}", {"layered": True})}


def behind(volume, shape, x, y, z, mode, wrote=0):
    """What lies at x [bytes], y and z or the layer, for all lanes; then `wrote` lies there."""
    place, options = SHAPES[shape]
    found = np.zeros(32, np.uint32)
    body = f"""mov.b32 %x, {x}; mov.b32 %y, {y}; mov.b32 %z, {z}; mov.b32 %c1, {wrote};
    suld.b.{shape}.b32.{mode} {{%c0}}, [%p0, {place}]; sust.b.{shape}.b32.{mode} [%p0, {place}], {{%c1}};
    mad.wide.u32 %at, %lane, 4, %p1; st.global.b32 [%at], %c0;"""
    run(kernel(body, 2, REGISTERS + ".reg .b32 %z;"), "k", [SurfaceObject(volume, **options), found])
    return int(found[0])


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("mode", ["trap", "clamp", "zero"])
def test_slices_and_layers_lie_behind_one_another(volume, shape, mode):
    assert behind(volume, shape, 8, 3, 1, mode, 5) == 100 + 24 + 18 + 2
    assert volume[1, 3, 2] == 5
    assert (volume == 5).sum() == 1


@pytest.mark.parametrize("shape", SHAPES)
def test_beyond_the_last_slice_is_outside(volume, shape):
    before = volume.copy()
    for z, nearest in ((3, 2), (-1, 0)):
        assert behind(volume, shape, 8, 3, z, "zero", 5) == 0
        assert np.array_equal(volume, before)
        assert behind(volume, shape, 8, 3, z, "clamp", volume[nearest, 3, 2]) == volume[nearest, 3, 2]
        with pytest.raises(Faulted, match=str(OUTSIDE_SURFACE)):
            behind(volume, shape, 8, 3, z, "trap")


def test_one_dimension_may_be_in_layers():
    rows, found = np.arange(12, dtype=np.uint32).reshape(3, 4), np.zeros(32, np.uint32)
    body = """mov.b32 %x, 8; mov.b32 %y, 2; suld.b.a1d.b32.trap {%c0}, [%p0, {%y,%x}];
    mad.wide.u32 %at, %lane, 4, %p1; st.global.b32 [%at], %c0;"""
    run(kernel(body, 2, REGISTERS), "k", [SurfaceObject(rows, dimensions=1, layered=True), found])
    assert (found == 10).all()


def test_a_texture_is_no_surface(texels):
    with pytest.raises(Faulted, match=str(NO_TEXTURE)):
        read(TextureObject(texels), [0], [0], "trap")


def test_a_surface_is_of_memory_that_may_be_written(texels):
    texels.flags.writeable = False
    with pytest.raises(KernelError, match="SurfaceObject: array is read-only"):
        SurfaceObject(texels)
