"""Blocks of clusters: where they are, how they meet, and what they do to each other's shared memory."""

import struct
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from simtmm.cuda.execution.launches.device_memory import DeviceMemory
from simtmm.cuda.execution.launches.launch import LaunchState
from simtmm.cuda.execution.launches.run import FaultError, StuckError
from simtmm.cuda.execution.launches.run import run as run_launch
from tests.cuda.execution.kernels import kernel, translated
from tests.cuda.execution.tensor_maps import tensor_map

Array = npt.NDArray[Any]
Triple = tuple[int, int, int]


def run(text: str, arrays: list[Array], grid: Triple, cluster: Triple | None, threads: int = 32) -> None:
    """Run a kernel `k` in clusters."""
    program, code = translated(text, "k")
    memory = DeviceMemory()
    packed = b"".join(struct.pack("<Q", memory.place(f"a{n}", array)) for n, array in enumerate(arrays))
    state = LaunchState(program, memory, {}, grid, (threads, 1, 1), packed, 0, 1, cluster=cluster)
    for _ in run_launch(state, code, True, resident=16, calls_host=False):
        pass


PLACES = [
    "%clusterid.x", "%clusterid.y", "%nclusterid.x", "%nclusterid.y", "%cluster_ctaid.x", "%cluster_ctaid.y",
    "%cluster_nctaid.x", "%cluster_nctaid.y", "%cluster_ctarank", "%cluster_nctarank", "%is_explicit_cluster",
]  # fmt: skip
COUNTED = ".reg .b32 %number; .reg .b32 %wide; .reg .b32 %left;"
NUMBER = """mov.u32 %number, %ctaid.y; mov.u32 %wide, %nctaid.x; mov.u32 %left, %ctaid.x;
mad.lo.u32 %number, %number, %wide, %left;"""


@pytest.mark.parametrize("cluster", [(2, 3, 1), (1, 1, 1), None])
def test_a_block_knows_where_in_its_cluster_it_is(cluster: Triple | None) -> None:
    body = NUMBER + f"mul.wide.u32 %at, %number, {4 * len(PLACES)}; add.u64 %at, %at, %p0;"
    body += "".join(f"mov.u32 %y, {name}; st.global.u32 [%at+{4 * n}], %y;" for n, name in enumerate(PLACES))
    found = np.zeros((6, 4, len(PLACES)), np.uint32)
    run(kernel(body, 1, COUNTED + ".reg .b32 %y;"), [found], (4, 6, 1), cluster)
    wide, high, _ = cluster or (1, 1, 1)
    for y in range(6):
        for x in range(4):
            expected = [x // wide, y // high, 4 // wide, 6 // high, x % wide, y % high, wide, high,
                        y % high * wide + x % wide, wide * high, cluster is not None]  # fmt: skip
            assert found[y, x].tolist() == expected


REGISTERS = (
    COUNTED
    + """.reg .b32 %x; .reg .b32 %y; .reg .b32 %z; .reg .b32 %own; .reg .b32 %there; .reg .b32 %n;
.reg .b64 %far; .reg .pred %first; .reg .pred %q0; .reg .b32 %to; .reg .b32 %state;
.shared .align 128 .b8 tile[512]; .shared .align 8 .b64 bar;"""
)
MEET = "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;"
# %own: this block's rank; %n: the next one's; %there: where `tile` lies in its memory
NEXT = """mov.u32 %own, %cluster_ctarank; mov.u32 %y, %cluster_nctarank; add.u32 %n, %own, 1; rem.u32 %n, %n, %y;
mov.u32 %x, tile; mapa.shared::cluster.u32 %there, %x, %n;"""
OUT = (
    NUMBER
    + "mul.wide.u32 %at, %number, 128; mul.wide.u32 %off, %lane, 4; add.u64 %at, %at, %off; add.u64 %at, %at, %p0;"
)


@pytest.mark.parametrize("generic", [False, True])
def test_a_block_reads_and_writes_the_memory_of_another(generic: bool) -> None:
    load, store = "ld.shared::cluster.u32 %z, [%to];", "st.shared::cluster.u32 [%to], %z;"
    if generic:
        into = "cvta.shared.u64 %far, tile; mapa.u64 %far, %far, %n; cvt.u64.u32 %at, %y; add.u64 %far, %far, %at;"
        load, store = into + "ld.u32 %z, [%far];", into + "st.u32 [%far], %z;"
    body = f"""{NEXT}
    {NUMBER} mad.lo.u32 %z, %number, 100, %lane; mul.lo.u32 %y, %lane, 4; mov.u32 %to, tile; add.u32 %to, %to, %y;
    st.shared.u32 [%to], %z;
    {MEET}
    add.u32 %to, %there, %y; {load}
    add.u32 %z, %z, 1000; add.u32 %y, %y, 128; add.u32 %to, %there, %y; {store}
    {MEET}
    mul.lo.u32 %y, %lane, 4; mov.u32 %to, tile; add.u32 %to, %to, %y; ld.shared.u32 %z, [%to+128];
    {OUT} st.global.u32 [%at], %z;"""
    found = np.zeros((8, 32), np.uint32)
    run(kernel(body, 1, REGISTERS), [found], (8, 1, 1), (4, 1, 1))
    # The block before this one read this one's own numbers, and put them back with 1000 more
    assert np.array_equal(found, np.arange(8)[:, None] * 100 + np.arange(32) + 1000)


def test_atomics_of_a_cluster_meet_in_one_memory() -> None:
    body = f"""mov.u32 %x, tile; mapa.shared::cluster.u32 %there, %x, 1;
    {MEET}
    atom.shared::cluster.add.u32 %y, [%there], 1; red.shared::cluster.max.u32 [%there+4], %lane;
    {MEET}
    mov.u32 %own, %cluster_ctarank; ld.shared.u32 %z, [tile]; ld.shared.u32 %n, [tile+4]; mad.lo.u32 %z, %n, 1000, %z;
    {OUT} st.global.u32 [%at], %z;"""
    found = np.zeros((6, 32), np.uint32)
    run(kernel(body, 1, REGISTERS), [found], (6, 1, 1), (3, 1, 1))
    assert found[:, 0].tolist() == [0, 31096, 0, 0, 31096, 0]


WAIT = "WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %q0, [bar], 0; @!%q0 bra WAIT;"


@pytest.mark.parametrize(
    "tells",
    [
        "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%to];",
        "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%there], %own, [%to];",
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%there], %own, [%to];",
    ],
)
def test_a_block_waits_for_what_another_one_does(tells: str) -> None:
    asynchronous = "async" in tells
    expect = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 4;" if asynchronous else ""
    body = f"""{NEXT}
    setp.eq.u32 %first, %lane, 0;
    @%first mbarrier.init.shared::cta.b64 [bar], 1;
    {("@%first " + expect) if expect else ""}
    {MEET}
    mov.u32 %x, bar; mapa.shared::cluster.u32 %to, %x, %n;
    {"" if asynchronous else "@%first st.shared::cluster.u32 [%there], %own;"}
    @%first {tells}
    {WAIT}
    ld.shared.u32 %z, [tile];
    {OUT} st.global.u32 [%at], %z;
    {MEET}"""
    found = np.zeros((6, 32), np.uint32)
    run(kernel(body, 1, REGISTERS), [found], (6, 1, 1), (3, 1, 1))
    assert found[:, 5].tolist() == [2, 0, 1, 2, 0, 1]


def test_a_block_copies_bytes_to_another() -> None:
    copy = "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%there], [%to], 128, [%z];"
    body = f"""{NEXT}
    setp.eq.u32 %first, %lane, 0; mul.lo.u32 %y, %lane, 4;
    @%first mbarrier.init.shared::cta.b64 [bar], 1;
    @%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;
    mov.u32 %to, tile; add.u32 %to, %to, 256; add.u32 %z, %to, %y; mad.lo.u32 %x, %own, 100, %lane;
    st.shared.u32 [%z], %x;
    {MEET}
    mov.u32 %x, bar; mapa.shared::cluster.u32 %z, %x, %n;
    @%first {copy}
    {WAIT}
    mov.u32 %to, tile; add.u32 %to, %to, %y; ld.shared.u32 %z, [%to];
    {OUT} st.global.u32 [%at], %z;
    {MEET}"""
    found = np.zeros((6, 32), np.uint32)
    run(kernel(body, 1, REGISTERS), [found], (6, 1, 1), (3, 1, 1))
    before = np.array([2, 0, 1, 2, 0, 1])  # the rank of the block before each
    assert np.array_equal(found, before[:, None] * 100 + np.arange(32))


def test_a_copy_may_go_to_several_blocks_at_once() -> None:
    array = np.random.default_rng(1).integers(0, 1 << 16, (8, 16)).astype("u4")
    found = np.zeros((8, 32), np.uint32)
    for how in (
        "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster "
        "[tile], [%p1, {%x, %y}], [bar], %m;",
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
        "[tile], [%far], 128, [bar], %m;",
    ):
        body = f"""
        setp.eq.u32 %first, %lane, 0; mov.u32 %own, %cluster_ctarank;
        @%first mbarrier.init.shared::cta.b64 [bar], 1;
        mov.u16 %m, 0b1010; mov.u32 %y, %clusterid.x; mul.lo.u32 %y, %y, 2; mov.u32 %x, 0;
        mul.wide.u32 %far, %y, 64; add.u64 %far, %far, %p2;
        and.b32 %z, %own, 1; setp.eq.and.u32 %waits, %z, 1, %first;
        @%waits mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 128;
        {MEET}
        setp.eq.and.u32 %copies, %own, 0, %first;
        @%copies {how}
        setp.eq.u32 %q0, %z, 0; @%q0 bra OVER;
        {WAIT}
        OVER: mul.lo.u32 %y, %lane, 4; mov.u32 %to, tile; add.u32 %to, %to, %y; ld.shared.u32 %z, [%to];
        {OUT} st.global.u32 [%at], %z;
        {MEET}"""
        registers = REGISTERS + ".reg .b16 %m; .reg .pred %copies; .reg .pred %waits;"
        found[:] = 0
        made = tensor_map(array, 0, (16, 2))
        made["address"] = _third_address(found, made)
        run(kernel(body, 3, registers), [found, made, array], (8, 1, 1), (4, 1, 1))
        expected = np.zeros_like(found)
        for block in (1, 3, 5, 7):
            expected[block] = array[2 * (block // 4) : 2 * (block // 4) + 2].reshape(-1)
        assert found.tolist() == expected.tolist(), how


def _third_address(first: Array, second: Array) -> int:
    memory = DeviceMemory()
    memory.place("a", first)
    memory.place("b", second)
    return memory.end


def test_who_has_left_is_not_waited_for() -> None:
    body = f"""mov.u32 %own, %cluster_ctarank; setp.eq.u32 %first, %own, 1; @%first exit;
    {MEET}
    {OUT} st.global.u32 [%at], %lane;"""
    found = np.zeros((4, 32), np.uint32)
    run(kernel(body, 1, REGISTERS), [found], (4, 1, 1), (2, 1, 1))
    assert np.array_equal(found, np.array([[1], [0], [1], [0]]) * np.arange(32))


def test_blocks_that_wait_for_each_other_in_vain_are_found() -> None:
    body = """mov.u32 %own, %cluster_ctarank; setp.eq.u32 %first, %own, 1;
    barrier.cluster.arrive.release; @%first bra OVER; barrier.cluster.wait.acquire; barrier.cluster.arrive.release;
    barrier.cluster.wait.acquire; exit;
    OVER: barrier.cluster.wait.acquire; bar.sync 1, 64;"""
    with pytest.raises(StuckError):
        run(kernel(body, 0, REGISTERS), [], (2, 1, 1), (2, 1, 1))


def test_the_memory_of_a_block_that_is_not_there_is_out_of_bounds() -> None:
    body = "mov.u32 %x, tile; mapa.shared::cluster.u32 %there, %x, 2; ld.shared::cluster.u32 %z, [%there];"
    with pytest.raises(FaultError):
        run(kernel(body, 0, REGISTERS), [], (2, 1, 1), (2, 1, 1))
