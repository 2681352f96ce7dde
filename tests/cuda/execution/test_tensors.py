"""cp.async.bulk.tensor against NumPy: boxes of tensors, as the PTX ISA describes them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from simtmm.cuda.execution.layout import COPIER_BIT
from simtmm.trace.schema import ALIGNMENT
from simtmm.workload import ACTION_SHIFT
from tests.cuda.execution.kernels import Faulted, kernel, run
from tests.cuda.execution.tensor_maps import box_of, swizzled, tensor_map

Array = npt.NDArray[Any]

DECLARED = """.shared .align 1024 .b8 tile[{bytes}]; .shared .align 8 .b64 bar; .reg .pred %first; .reg .pred %q0;
.reg .b32 %c<8>; .reg .b16 %h<4>; .reg .b32 %x; .reg .b32 %i; .reg .b32 %to;"""
# The box's bytes go from shared memory to array 2 (LOAD), or come from there (STORE).
MOVED = """mul.lo.u32 %i, %lane, 4;
EACH:
mov.u32 %to, tile; add.u32 %to, %to, %i; cvt.u64.u32 %at, %i; add.u64 %at, %at, %p2;
setp.lt.u32 %q0, %i, {bytes}; {move}
add.u32 %i, %i, 128; setp.lt.u32 %q0, %i, {bytes}; @%q0 bra EACH;
bar.sync 0;
"""
OUT = MOVED.replace("{move}", "@%q0 ld.shared.b32 %x, [%to]; @%q0 st.global.b32 [%at], %x;")
IN = MOVED.replace("{move}", "@%q0 ld.global.b32 %x, [%at]; @%q0 st.shared.b32 [%to], %x;")
LOADING = """setp.eq.u32 %first, %lane, 0;
@%first mbarrier.init.shared::cta.b64 [bar], 1;
@%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], {bytes};
{coordinates}
@%first {instruction};
bar.warp.sync -1;
WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %q0, [bar], 0;
@!%q0 bra WAIT;
"""
STORING = """setp.eq.u32 %first, %lane, 0;
fence.proxy.async.shared::cta;
{coordinates}
@%first {instruction};
@%first cp.async.bulk.commit_group;
@%first cp.async.bulk.wait_group 0;
"""


def coordinates(start: Sequence[int], offsets: Sequence[int] = ()) -> tuple[str, str, str]:
    """What gives them, and the two lists."""
    moves = " ".join(f"mov.b32 %c{n}, {each};" for n, each in enumerate(start))
    moves += " ".join(f"mov.b16 %h{n}, {each};" for n, each in enumerate(offsets))
    return moves, "{" + ", ".join(f"%c{n}" for n in range(len(start))) + "}", (
        "{" + ", ".join(f"%h{n}" for n in range(len(offsets))) + "}" if offsets else ""
    )  # fmt: skip


def loaded(array: Array, made: Array, start: Sequence[int], size: int, offsets: Sequence[int] = (), threads: int = 32):
    """The bytes that a copy brings to shared memory, and what it logs of global memory."""
    moves, places, more = coordinates(start, offsets)
    mode = "im2col" if offsets else "tile"
    instruction = (
        f"cp.async.bulk.tensor.{len(start)}d.shared::cluster.global.{mode}.mbarrier::complete_tx::bytes "
        f"[tile], [%p1, {places}], [bar]{', ' + more if more else ''}"
    )
    body = LOADING.format(bytes=size, coordinates=moves, instruction=instruction) + OUT.format(bytes=size)
    found = np.zeros(size, np.uint8)
    logged = run(kernel(body, 3, DECLARED.format(bytes=size)), "k", [array, made, found], threads=threads, record=True)
    logged_here = [(mask, each) for kind, mask, each in logged if kind == "copy"]
    addresses = [a & PLACES for mask, each in logged_here for n, a in enumerate(each) if mask >> n & 1 and a < ACTIONS]
    return found, addresses


def stored(array: Array, made: Array, start: Sequence[int], given: Array, reduces: str = "") -> None:
    """Store a box, or add it up."""
    moves, places, _ = coordinates(start)
    instruction = (
        f"cp.{'reduce.' if reduces else ''}async.bulk.tensor.{len(start)}d.global.shared::cta"
        f"{'.' + reduces if reduces else ''}.tile.bulk_group [%p1, {places}], [tile]"
    )
    size = given.nbytes
    body = IN.format(bytes=size) + STORING.format(coordinates=moves, instruction=instruction)
    run(kernel(body, 3, DECLARED.format(bytes=size)), "k", [array, made, given.reshape(-1).view(np.uint8)])


PLACES, ACTIONS = (1 << COPIER_BIT) - 1, 1 << ACTION_SHIFT  # addresses without who copies; what is no address
AT = ALIGNMENT  # the address of the first array
RANDOM = np.random.default_rng


@pytest.mark.parametrize(
    ("shape", "dtype", "box", "start", "steps"),
    [
        ((100,), "u1", (64,), (16,), (1,)),
        ((200,), "f4", (48,), (-8,), (1,)),
        ((40, 24), "f2", (16, 20), (8, 8), (1, 1)),
        ((40, 24), "f2", (16, 20), (-8, 30), (1, 1)),
        ((40, 24), "f2", (16, 20), (16, -7), (1, 1)),
        ((40, 24), "f2", (16, 20), (104, 0), (1, 1)),
        ((6, 10, 16), "f4", (8, 4, 3), (8, -1, 4), (1, 1, 1)),
        ((6, 10, 16), "i4", (16, 4, 3), (0, 2, 1), (2, 3, 1)),
        ((3, 4, 5, 8), "f8", (2, 3, 2, 2), (2, 3, 1, 2), (1, 1, 1, 1)),
        ((2, 3, 4, 5, 16), "u2", (8, 2, 3, 2, 2), (8, -1, 2, 2, 1), (1, 1, 2, 1, 1)),
    ],
)
def test_a_box_is_loaded_and_what_lies_outside_is_zero(shape, dtype, box, start, steps) -> None:
    array = RANDOM(1).integers(1, 100, shape).astype(dtype)
    expected = box_of(array, start, box, steps)
    found, addresses = loaded(array, tensor_map(array, AT, box, steps), start, expected.nbytes)
    assert np.array_equal(found, expected.reshape(-1).view(np.uint8))
    # What is recorded lies within the array, 16 bytes a piece, and holds all that was read
    assert all(each >= AT and each + min(16, array.itemsize) <= AT + array.nbytes for each in addresses)
    inside = box_of(np.arange(array.size).reshape(shape) + 1, start, box, steps)
    wanted = {AT + (int(number) - 1) * array.itemsize for number in inside.reshape(-1) if number}
    covered = {byte for each in addresses for byte in range(each, each + 16)}
    assert wanted <= covered


@pytest.mark.parametrize("pattern", [32, 64, 128])
def test_a_swizzle_exchanges_16_bytes_by_the_row(pattern: int) -> None:
    array = RANDOM(2).integers(0, 1000, (32, 128)).astype("f2")
    box = (pattern // 2, 24)
    expected = box_of(array, (32, 4), box, (1, 1)).reshape(-1).view(np.uint8)
    found, _ = loaded(array, tensor_map(array, AT, box, swizzle=pattern), (32, 4), expected.nbytes)
    assert np.array_equal(found, swizzled(expected, pattern))
    given = np.zeros_like(array)
    stored(given, tensor_map(given, AT, box, swizzle=pattern), (32, 4), swizzled(expected, pattern))
    assert np.array_equal(given[4:28, 32 : 32 + pattern // 2], array[4:28, 32 : 32 + pattern // 2])
    assert np.count_nonzero(given[:4]) == np.count_nonzero(given[28:]) == 0


def test_what_lies_outside_may_be_nan() -> None:
    array = np.ones((8, 8), "f4")
    found, _ = loaded(array, tensor_map(array, AT, (8, 4), fill=True), (4, 6), 128)
    values = found.view("f4").reshape(4, 8)
    assert np.array_equal(np.isnan(values), ~(np.arange(4)[:, None] < 2) | ~(np.arange(8) < 4))


@pytest.mark.parametrize("kind", ["f32.ftz", "tf32", "tf32.ftz"])
def test_numbers_are_converted_while_they_are_copied(kind: str) -> None:
    bits = RANDOM(4).integers(0, 1 << 32, 64, dtype=np.uint32)
    small, large = 0x00000001, 0x7F7FFFFF  # the least and the largest number; then ties, down and up, and specials
    bits[:16] = [small, small | 1 << 31, 0x007FFFFF, large, 0x3F801000, 0x3F803000, 0xBF803000, 0x3F801001, 0, 1 << 31,
                 0x7F800000, 0xFF800000, 0x7F800001, 0xFFFFFFFF, 0x00800000, 0x00001FFF]  # fmt: skip
    array, flushes, rounds = bits.view("f4").reshape(8, 8), kind != "tf32", kind != "f32.ftz"
    expected = []
    for each in map(int, bits):
        sign, size = each & 1 << 31, each & (1 << 31) - 1
        if size > 0x7F800000:
            expected.append(0x7FFFFFFF if rounds else each)
            continue
        size = 0 if flushes and size < 0x00800000 else size
        if rounds:  # to a multiple of 2^13, of two equally near the one that is even
            down, rest = divmod(size, 1 << 13)
            size = (down + (rest > 1 << 12 or (rest == 1 << 12 and down % 2 == 1))) << 13
        expected.append(sign | size)
    found, _ = loaded(array, tensor_map(array, AT, (8, 8), kind=kind), (0, 0), 256)
    assert found.view("u4").tolist() == expected
    target = np.zeros_like(array)
    stored(target, tensor_map(target, AT, (8, 8), kind=kind), (0, 0), array)
    assert target.reshape(-1).view("u4").tolist() == expected


def test_what_lies_outside_is_not_stored() -> None:
    array = np.zeros((6, 16), "i4")
    stored(array, tensor_map(array, AT, (8, 4)), (12, 4), np.arange(1, 33, dtype="i4"))
    expected = np.zeros_like(array)
    expected[4:6, 12:16] = np.arange(1, 33).reshape(4, 8)[:2, :4]
    assert np.array_equal(array, expected)


@pytest.mark.parametrize("dtype", ["u4", "i4", "u8", "f2", "f4", "bf16"])
@pytest.mark.parametrize("way", ["add", "min", "max", "and", "xor", "inc"])
def test_a_box_may_be_added_up(dtype: str, way: str) -> None:
    functions = {"add": np.add, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and, "xor": np.bitwise_xor,
                 "inc": lambda old, most: np.where(old >= most, 0, old + 1)}  # fmt: skip
    is_sum = way == "add" or (way in ("min", "max") and dtype != "f4") or dtype in ("u4", "i4", "u8")
    if not is_sum or (way == "inc" and dtype != "u4"):
        array = np.zeros((4, 16), "u2" if dtype == "bf16" else dtype)
        with pytest.raises(Faulted, match="10"):
            stored(array, tensor_map(array, AT, (16, 2), kind=dtype), (0, 1), np.zeros(32, array.dtype), way)
        return
    random = RANDOM(3)
    old, given = random.integers(0, 50, (4, 16)), random.integers(0, 50, (2, 16))

    def of(values: Array) -> Array:
        return (values.astype("f4").view("u4") >> 16).astype("u2") if dtype == "bf16" else values.astype(dtype)

    array, expected = of(old), old.copy()
    expected[1:3] = functions[way](old[1:3], given)
    stored(array, tensor_map(array, AT, (16, 2), kind=dtype), (0, 1), of(given), way)
    assert np.array_equal(array, of(expected))


def pixels(array: Array, start, count: int, channels: int, steps, corners, offsets) -> Array:
    """im2col of [n, .., h, w, c]: pixels from start on, along w first, within the box of corners; 0 outside."""
    lower, upper = corners
    spatial = array.ndim - 2
    sizes = array.shape[1:-1][::-1]  # w, h, d
    place, batch = list(start[1:-1]), start[-1]
    rows = []
    for _ in range(count):
        at = [place[n] + offsets[n] for n in range(spatial)]
        inside = all(0 <= at[n] < sizes[n] for n in range(spatial)) and 0 <= batch < len(array)
        row = np.zeros(channels, array.dtype)
        if inside:
            whole = array[(batch, *at[::-1])]
            part = whole[start[0] : start[0] + channels]
            row[: len(part)] = part
        rows.append(row)
        for n in range(spatial):
            place[n] += steps[n]
            if place[n] < sizes[n] + upper[n]:
                break
            place[n] = lower[n]
        else:
            batch += 1
    return np.array(rows)


@pytest.mark.parametrize(
    ("shape", "start", "count", "channels", "steps", "corners", "offsets"),
    [
        ((2, 7, 16), (0, -1, 0), 9, 8, (1,), ((-1,), (-1,)), (2,)),
        ((2, 6, 5, 8), (0, -1, -1, 0), 40, 8, (1, 1), ((-1, -1), (-1, -1)), (1, 2)),
        ((2, 6, 5, 16), (8, 1, 2, 0), 30, 8, (2, 1), ((-1, 0), (0, -1)), (0, 1)),
        ((2, 3, 4, 5, 8), (0, 0, 0, 0, 1), 24, 8, (1, 2, 1), ((0, 0, 0), (-2, -1, -1)), (2, 0, 1)),
    ],
)
def test_im2col_goes_over_pixels(shape, start, count, channels, steps, corners, offsets) -> None:
    array = RANDOM(4).integers(1, 99, shape).astype("f2")
    expected = pixels(array, start, count, channels, steps, corners, offsets)
    made = tensor_map(array, AT, (channels, count), (1, *steps), corners=corners)
    found, _ = loaded(array, made, start, expected.nbytes, offsets)
    assert np.array_equal(found.view("f2").reshape(count, channels), expected)


def test_rows_shorter_than_the_pattern_lie_as_far_apart_as_it_is_wide() -> None:
    array = RANDOM(6).integers(0, 1000, (16, 64)).astype("f2")
    expected = np.zeros((8, 64), "f2")
    expected[:, :32] = array[2:10, 8:40]
    body = LOADING.format(
        bytes=512,  # of what is moved
        coordinates="mov.b32 %c0, 8; mov.b32 %c1, 2;",
        instruction="cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
        "[tile], [%p1, {%c0, %c1}], [bar]",
    ) + OUT.format(bytes=1024)
    found = np.zeros(1024, np.uint8)
    made = tensor_map(array, AT, (32, 8), swizzle=128)
    run(kernel(body, 3, DECLARED.format(bytes=1024)), "k", [array, made, found])
    assert np.array_equal(found, swizzled(expected.reshape(-1).view(np.uint8), 128))


def test_a_first_coordinate_that_is_no_multiple_of_16_bytes_ends_the_launch() -> None:
    array = np.zeros((8, 16), "f4")
    with pytest.raises(Faulted, match="11"):
        loaded(array, tensor_map(array, AT, (8, 4)), (3, 1), 128)


REPLACED = """setp.eq.u32 %first, %lane, 0;
mul.lo.u32 %i, %lane, 4; mov.u32 %to, map; add.u32 %to, %to, %i; cvt.u64.u32 %at, %i; add.u64 %at, %at, %p1;
ld.global.b32 %x, [%at]; st.shared.b32 [%to], %x; bar.warp.sync -1;
@%first tensormap.replace.tile.global_address.shared::cta.b1024.b64 [map], %p0;
mov.b32 %x, 1; @%first tensormap.replace.tile.rank.shared::cta.b1024.b32 [map], %x;
mov.b32 %x, 32; @%first tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [map], 0, %x;
mov.b32 %x, 6; @%first tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [map], 1, %x;
mov.b64 %at, 128; @%first tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [map], 0, %at;
mov.b32 %x, 16; @%first tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 0, %x;
mov.b32 %x, 4; @%first tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [map], 1, %x;
mov.b32 %x, 1; @%first tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [map], 1, %x;
@%first tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [map], 7;
@%first tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [map], 2;
@%first tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [map], 1;
@%first tensormap.replace.tile.interleave_layout.shared::cta.b1024.b32 [map], 0;
bar.warp.sync -1;
tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%p1], [map], 128;
fence.proxy.tensormap::generic.acquire.gpu [%p1], 128;
"""


def test_the_fields_of_a_tensor_map_may_be_replaced() -> None:
    array = RANDOM(7).integers(1, 99, (6, 32)).astype("f4")
    other = np.zeros((3, 3, 16), "u2")
    body = (
        REPLACED
        + LOADING.format(
            bytes=256,
            coordinates="mov.b32 %c0, 16; mov.b32 %c1, 4;",
            instruction="cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
            "[tile], [%p1, {%c0, %c1}], [bar]",
        )
        + OUT.format(bytes=256)
    )
    registers = DECLARED.format(bytes=256) + ".shared .align 128 .b8 map[128];"
    found, made = np.zeros(256, np.uint8), tensor_map(other, 64, (16, 2, 1))
    run(kernel(body, 3, registers), "k", [array, made, found])
    expected = box_of(array, (16, 4), (16, 4), (1, 1), np.nan)
    raw = expected.reshape(-1).view("u4")
    raw[np.isnan(expected.reshape(-1))] = 0x7FFFFFF7
    assert np.array_equal(found, swizzled(raw.view(np.uint8), 64))
    assert made["rank"] == 2


def test_what_is_no_tensor_map_or_of_other_dimensions_ends_the_launch() -> None:
    array = np.zeros((8, 16), "f4")
    with pytest.raises(Faulted, match="10"):
        loaded(array, np.zeros(128, np.uint8), (0, 0), 128)
    with pytest.raises(Faulted, match="10"):
        loaded(array, tensor_map(array, AT, (8, 4)), (0, 0, 0), 128)


def test_a_tensor_beyond_its_array_ends_the_launch() -> None:
    array, other = np.zeros((8, 16), "f4"), np.zeros((9, 16), "f4")
    with pytest.raises(Faulted, match="1"):
        loaded(array, tensor_map(other, AT, (8, 4)), (0, 6), 128)


@pytest.mark.parametrize(("way", "kind"), [("add", "u32"), ("max", "s32"), ("add", "f32"), ("or", "b32")])
def test_bytes_may_be_added_up(way: str, kind: str) -> None:
    dtype = {"u32": "u4", "s32": "i4", "f32": "f4", "b32": "u4"}[kind]
    random = RANDOM(5)
    array, given = (random.integers(0, 99, 64).astype(dtype) for _ in range(2))
    function = {"add": np.add, "max": np.maximum, "or": np.bitwise_or}[way]
    expected = function(array, given)
    body = IN.format(bytes=256) + STORING.format(
        coordinates="",
        instruction=f"cp.reduce.async.bulk.global.shared::cta.bulk_group.{way}.{kind} [%p0], [tile], 256",
    )
    run(kernel(body, 3, DECLARED.format(bytes=256)), "k", [array, np.zeros(128, np.uint8), given.view(np.uint8)])
    assert np.array_equal(array, expected)
