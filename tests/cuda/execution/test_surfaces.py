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


def test_a_texture_is_no_surface(texels):
    with pytest.raises(Faulted, match=str(NO_TEXTURE)):
        read(TextureObject(texels), [0], [0], "trap")


def test_a_surface_is_of_memory_that_may_be_written(texels):
    texels.flags.writeable = False
    with pytest.raises(KernelError, match="SurfaceObject: array is read-only"):
        SurfaceObject(texels)
