"""A buffer as a log: entries of many warps, in the order in which they were claimed, become each block's own."""

import numpy as np
import pytest

from simtmm.cuda.execution.layout import NEW_BLOCK, NEW_WARP, SHARED_WINDOW
from simtmm.cuda.instrumentation import entries
from simtmm.cuda.instrumentation.layout import GLOBAL, LOCAL, SHARED, SPACE_SHIFT
from simtmm.cuda.instrumentation.reading import DamagedError, Extents, OutsideError, Reading
from simtmm.native import Loop
from simtmm.trace.schema import Kind


@pytest.fixture(params=[False, True], ids=["as it runs", "checked"], autouse=True)
def loops(request, monkeypatch):
    if request.param:  # an index outside of its array raises
        for name in ("FIND", "WRITE"):
            monkeypatch.setattr(entries, name, Loop(getattr(entries, name).function, checked=True))


WORK, LOAD, GENERIC = 0, 1, 2  # sites of the kernel; in the module they stand behind two of another one
SITES = np.array([-1, -1, WORK, LOAD, GENERIC], np.int64)
DEVICE, VIRTUAL = 0x7F0000000000, 4096


def reading(*more):
    return Reading(
        SITES,
        np.array([Kind.WORK, Kind.ASYNC, Kind.STORE], np.uint8),
        np.array([0, 4, 4], np.uint8),
        np.array([False, False, True]),
        Extents.of([(DEVICE, 64, VIRTUAL), (16 | SHARED << SPACE_SHIFT, 32, 0), *more]),
    )


def entry(site, mask, block, warp, *addresses):
    return [site + 2 | mask << 32, block << 5 | warp, *addresses]


def log(words, *more):
    return [piece.view(np.int64).tolist() for piece, _ in reading(*more).log(_bytes(words))]


def _bytes(words):
    return np.array(words, np.int64).view(np.uint8)


def mark(block):
    return [NEW_BLOCK & 0xFFFFFFFF, block]


def warp(number):
    return [NEW_WARP & 0xFFFFFFFF | number << 32]


def access(site, lanes):
    return [site | sum(1 << lane for lane in lanes) << 32, *(lanes.get(lane, 0) for lane in range(32))]


def test_entries_of_warps_that_ran_at_once_stand_warp_by_warp_each_in_its_order():
    words = [
        *entry(WORK, 0b11, 7, 1), *entry(WORK, 0b1, 3, 0), *entry(LOAD, 0b101, 7, 1, DEVICE, DEVICE + 60),
        *entry(WORK, 0b10, 7, 0), *entry(WORK, 0b100, 7, 1),
    ]  # fmt: skip
    assert log(words) == [
        [
            *mark(3), *warp(0), WORK | 0b1 << 32,
            *mark(7), *warp(0), WORK | 0b10 << 32,
            *warp(1), WORK | 0b11 << 32, *access(LOAD, {0: VIRTUAL, 2: VIRTUAL + 60}), WORK | 0b100 << 32,
        ]
    ]  # fmt: skip


def test_addresses_are_those_of_a_trace_and_generic_ones_tell_their_space():
    shared = 20 | SHARED << SPACE_SHIFT
    words = [*entry(LOAD, 0b1, 0, 0, shared), *entry(GENERIC, 0b11, 0, 0, shared, DEVICE)]
    found = [*mark(0), *warp(0), *access(LOAD, {0: 4}), *access(GENERIC, {0: SHARED_WINDOW + 4, 1: VIRTUAL})]
    assert log(words) == [found]


def test_a_local_address_of_no_known_variable_is_the_devices_own():
    words = entry(LOAD, 0b1, 0, 0, 40 | LOCAL << SPACE_SHIFT)
    assert log(words) == [[*mark(0), *warp(0), *access(LOAD, {0: 40})]]
    assert log(words, (32 | LOCAL << SPACE_SHIFT, 16, 0)) == [[*mark(0), *warp(0), *access(LOAD, {0: 8})]]


@pytest.mark.parametrize(
    "address", [DEVICE - 4, DEVICE + 61, 16 | LOCAL + 3 << SPACE_SHIFT, 12 | SHARED << SPACE_SHIFT]
)
def test_an_address_outside_is_reported_with_its_thread(address):
    words = [*entry(WORK, 0b1, 0, 0), *entry(LOAD, 0b110000, 9, 2, DEVICE | GLOBAL << SPACE_SHIFT, address)]
    with pytest.raises(OutsideError) as caught:
        log(words)
    assert caught.value.args == (LOAD, 9, 2 * 32 + 5, address)


@pytest.mark.parametrize(
    "damage", [entry(-1, 0b1, 0, 0), entry(9, 0b1, 0, 0), entry(WORK, 0, 0, 0), entry(LOAD, 0b11, 0, 0, DEVICE), [2]]
)
def test_what_no_kernel_writes_is_reported(damage):
    with pytest.raises(DamagedError) as caught:
        log([*entry(LOAD, 0b1, 0, 0, DEVICE), *damage])
    assert caught.value.args == (24,)


def test_a_long_log_comes_in_pieces_of_whole_blocks_that_ascend():
    blocks = 40_000
    words = np.concatenate([entry(LOAD, 0b1, block, 0, DEVICE) for block in reversed(range(blocks))])
    pieces = list(reading().log(words.view(np.uint8)))
    assert len(pieces) > 2
    assert [ended for _, ended in pieces] == sorted(ended for _, ended in pieces)
    firsts = [int(piece.view(np.int64)[1]) for piece, _ in pieces]
    assert firsts == [0, *(ended for _, ended in pieces[:-1])]
    assert sum(len(piece) for piece, _ in pieces) == 8 * blocks * (2 + 1 + 33)


def in_stretches(words, size):
    buffer = _bytes(words)
    stretches = [buffer[begin : begin + size] for begin in range(0, len(buffer), size)]
    return list(reading().log_of_block(stretches, len(buffer)))


@pytest.mark.parametrize("size", [8, 16, 40, 200, 10_000])
def test_a_block_that_is_read_in_stretches_has_the_same_entries_of_each_warp(size):
    words = [
        word
        for number in range(30)
        for word in (*entry(LOAD, 0b101, 5, number % 3, DEVICE, DEVICE + 60), *entry(WORK, 1 + number, 5, number % 2))
    ]

    def of_warps(pieces):
        found = {}
        for piece in pieces:
            at = None
            for word in piece[2:]:  # behind the mark of the block
                if word & 0xFFFFFFFF == NEW_WARP & 0xFFFFFFFF:
                    at = word >> 32
                else:
                    found.setdefault(at, []).append(word)
        return found

    pieces = in_stretches(words, size)
    assert {ended for _, ended in pieces} == {5}, "it goes on"
    found = [piece.view(np.int64).tolist() for piece, _ in pieces]
    assert all(piece[:2] == mark(5) for piece in found)
    assert (len(found) > 1) == (size < 1000)
    assert of_warps(found) == of_warps(log(words))


@pytest.mark.parametrize("size", [8, 24, 400])
@pytest.mark.parametrize("damage", [entry(9, 0b1, 0, 0), entry(LOAD, 0b11, 0, 0, DEVICE), [2]])
def test_what_no_kernel_writes_is_reported_where_it_stands_in_all_stretches(damage, size):
    with pytest.raises(DamagedError) as caught:
        in_stretches([*entry(LOAD, 0b1, 0, 0, DEVICE) * 20, *damage], size)
    assert caught.value.args == (20 * 24,)
