"""ldmatrix, stmatrix and movmatrix: tiles of 8 times 8 numbers of 16 bits."""

import numpy as np
import pytest

from simtmm.cuda.execution.layout import MISALIGNED, OUT_OF_BOUNDS
from tests.cuda.execution.kernels import Faulted, kernel, run

SHARED = ".reg .b32 %s; .reg .b32 %r<4>; .shared .align 16 .b8 tiles[512];"
# Lane n names row n; all 512 bytes come from, or go to, the array.
FILL = "\n".join(
    f"mad.wide.u32 %at, %lane, 4, %p0; ld.global.b32 %r0, [%at+{128 * n}];"
    f"mad.lo.u32 %s, %lane, 4, tiles; st.shared.b32 [%s+{128 * n}], %r0;"
    for n in range(4)
)
DRAIN = "\n".join(
    f"mad.lo.u32 %s, %lane, 4, tiles; ld.shared.b32 %r0, [%s+{128 * n}];"
    f"mad.wide.u32 %at, %lane, 4, %p1; st.global.b32 [%at+{128 * n}], %r0;"
    for n in range(4)
)


def names(count: int) -> str:
    return "{" + ", ".join(f"%r{n}" for n in range(count)) + "}"


def registers_out(count: int) -> str:
    return "mad.wide.u32 %at, %lane, 4, %p1;" + "".join(f"st.global.b32 [%at+{128 * n}], %r{n};" for n in range(count))


def expected(tiles: np.ndarray, turned: bool) -> np.ndarray:
    """Registers [tile, lane, 2]: lane 4 r + c has row r, columns 2 c and 2 c + 1 (PTX ISA, ldmatrix)."""
    if turned:
        tiles = tiles.transpose(0, 2, 1)
    return np.array([[[tile[lane // 4, lane % 4 * 2 + e] for e in (0, 1)] for lane in range(32)] for tile in tiles])


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("turned", [False, True])
def test_a_lane_gets_two_neighbours_of_each_tile(count: int, turned: bool) -> None:
    tiles = np.arange(256, dtype=np.uint16).reshape(4, 8, 8)
    found = np.zeros((count, 32, 2), np.uint16)
    how = f"x{count}{'.trans' if turned else ''}"
    load = f"mad.lo.u32 %s, %lane, 16, tiles; ldmatrix.sync.aligned.m8n8.{how}.shared.b16 {names(count)}, [%s];"
    run(kernel(f"{FILL}\n{load}\n{registers_out(count)}", 2, SHARED), "k", [tiles, found])
    assert np.array_equal(found, expected(tiles[:count], turned))


def test_lanes_beyond_the_rows_name_none() -> None:
    tiles = np.arange(256, dtype=np.uint16).reshape(4, 8, 8)
    found = np.zeros((1, 32, 2), np.uint16)
    load = f"""setp.lt.u32 %few, %lane, 8; mad.lo.u32 %s, %lane, 16, tiles; selp.b32 %s, %s, 0x7ffffff1, %few;
    ldmatrix.sync.aligned.m8n8.x1.shared.b16 {names(1)}, [%s];"""
    text = kernel(f"{FILL}\n{load}\n{registers_out(1)}", 2, SHARED + ".reg .pred %few;")
    logged = run(text, "k", [tiles, found], record=True)
    assert np.array_equal(found, expected(tiles[:1], False))
    loads = [(mask, addresses[:8]) for kind, mask, addresses in logged if kind == "shared_load"]
    assert loads == [(0xFF, list(range(0, 128, 16)))]


def test_a_generic_address_may_name_shared_memory() -> None:
    tiles = np.arange(256, dtype=np.uint16).reshape(4, 8, 8)
    found = np.zeros((4, 32, 2), np.uint16)
    load = f"""mad.lo.u32 %s, %lane, 16, tiles; cvt.u64.u32 %at, %s; cvta.shared.u64 %at, %at;
    ldmatrix.sync.aligned.m8n8.x4.b16 {names(4)}, [%at];"""
    run(kernel(f"{FILL}\n{load}\n{registers_out(4)}", 2, SHARED), "k", [tiles, found])
    assert np.array_equal(found, expected(tiles, False))


@pytest.mark.parametrize("turned", [False, True])
def test_what_is_stored_is_what_would_be_loaded(turned: bool) -> None:
    tiles = np.random.default_rng(0).integers(0, 1 << 16, (4, 8, 8)).astype(np.uint16)
    given, found = expected(tiles, turned).astype(np.uint16), np.zeros_like(tiles)
    how = f"x4{'.trans' if turned else ''}"
    take = "mad.wide.u32 %at, %lane, 4, %p0;" + "".join(f"ld.global.b32 %r{n}, [%at+{128 * n}];" for n in range(4))
    store = f"mad.lo.u32 %s, %lane, 16, tiles; stmatrix.sync.aligned.m8n8.{how}.shared.b16 [%s], {names(4)};"
    run(kernel(f"{take}\n{store}\n{DRAIN}", 2, SHARED), "k", [given, found])
    assert np.array_equal(found, tiles)


def test_a_tile_is_turned_between_registers() -> None:
    tile = np.arange(64, dtype=np.uint16).reshape(1, 8, 8)
    found = np.zeros((1, 32, 2), np.uint16)
    move = "mad.wide.u32 %at, %lane, 4, %p0; ld.global.b32 %r1, [%at]; movmatrix.sync.aligned.m8n8.trans.b16 %r0, %r1;"
    run(kernel(f"{move}\n{registers_out(1)}", 2, SHARED), "k", [expected(tile, False).astype(np.uint16), found])
    assert np.array_equal(found, expected(tile, True))


@pytest.mark.parametrize(("address", "fault"), [("tiles+8", MISALIGNED), ("tiles+512", OUT_OF_BOUNDS)])
def test_rows_must_be_aligned_and_within_shared_memory(address: str, fault: int) -> None:
    text = kernel(f"mov.u32 %s, {address}; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {names(1)}, [%s];", 0, SHARED)
    with pytest.raises(Faulted, match=str(fault)):
        run(text, "k", [])
