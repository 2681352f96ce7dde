"""Probes in PTX: a store says that it reaches a place where it does and nowhere else; a log has what one thread writes.

The probed text runs in the plain interpreter.
"""

import struct

import numpy as np
import pytest

from simtmm.cuda.disagreement.probes import ENTRY, HEAD, PROBE, with_log, with_writer
from simtmm.cuda.ptx import parse_module
from tests.cuda.interpreter import Memory, run

BASE = 1 << 20
PLACE = BASE + 64

KERNEL = """.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p)
{
.reg .pred %p<3>; .reg .b16 %h<3>; .reg .b32 %r<6>; .reg .f32 %f<3>; .reg .b64 %rd<4>; .reg .f64 %fd<3>;
ld.param.u64 %rd1, [p];
BODY
ret;
}
"""

STORES = {  # bytes of each
    "st.global.u8 [AT], %r1;": 1,
    "st.global.s8 [AT], %r1;": 1,
    "st.global.b16 [AT], %h1;": 2,
    "st.global.u32 [AT], %r1;": 4,
    "st.global.f32 [AT], %f1;": 4,
    "st.f64 [AT], %fd1;": 8,
    "st.global.v2.u8 [AT], {%r1, %r2};": 2,
    "st.global.v4.b16 [AT], {%h1, %h2, %h1, %h2};": 8,
    "st.global.v2.f32 [AT], {%f1, %f2};": 8,
    "st.global.v4.u32 [AT], {%r1, %r2, %r1, %r2};": 16,
    "red.global.add.u32 [AT], %r1;": 4,
    "atom.global.exch.b64 %rd2, [AT], %rd3;": 8,
}


def probe_after(text, blocks=1, threads=1):
    """uint8[]: the probe's variable after a run of a probed text."""
    module, memory = parse_module(text), Memory()
    memory.allocate(np.zeros(256, np.uint8), BASE)
    memory.load(module)
    run(module, "k", (blocks, 1, 1), (threads, 1, 1), [struct.pack("<Q", BASE)], memory, limit=100_000)
    view, at = memory.find(memory.variables[PROBE], HEAD)
    return np.frombuffer(view, np.uint8)[at:]


def functions_of(text):
    return parse_module(text).functions.values()


@pytest.mark.parametrize(("store", "width"), STORES.items())
@pytest.mark.parametrize("size", [1, 4, 8])
def test_a_store_claims_a_place_if_it_reaches_a_byte_of_it_and_else_not(store, width, size):
    claimed, reached = [], []
    for offset in range(32, 96, width):
        text = KERNEL.replace("BODY", store.replace("AT", f"%rd1+{offset}"))
        probed, stores = with_writer(text, functions_of(text), PLACE, size)
        number = int(probe_after(probed)[:4].view(np.uint32)[0])
        assert len(stores) == 1
        claimed += [offset] if number == 1 else []
        reached += [offset] if offset < 64 + size and offset + width > 64 else []
    assert claimed == reached


def test_the_last_of_several_stores_to_a_place_says_which_thread_it_is_of_and_a_guard_that_is_false_keeps_it():
    body = """mov.u32 %r1, %tid.x;
setp.eq.u32 %p1, %r1, 1;
st.global.u32 [%rd1+64], %r1;
@%p1 st.global.u32 [%rd1+64], %r1;
@!%p1 st.global.u32 [%rd1+68], %r1;"""
    text = KERNEL.replace("BODY", body)
    probed, stores = with_writer(text, functions_of(text), PLACE, 4)
    found = probe_after(probed, blocks=3, threads=2)
    assert [each.instruction.text for each in stores] == body.replace(";", "").splitlines()[2:]
    assert int(found[:4].view(np.uint32)[0]) == 2
    assert found[8:32].view(np.uint32).tolist() == [2, 0, 0, 1, 0, 0]


def test_a_log_has_each_register_that_the_thread_writes_in_order_and_nothing_of_others():
    body = """mov.u32 %r1, %tid.x;
add.u32 %r2, %r1, 40;
cvt.u16.u32 %h1, %r2;
mul.wide.u32 %rd2, %r2, -1;
setp.eq.u32 %p1, %r1, 1;
@%p1 mov.u32 %r3, 7;
@!%p1 mov.u32 %r3, 8;
mov.f32 %f1, 0f3F800000;
setp.ne.u32 %p2, %r1, 1;"""
    text = KERNEL.replace("BODY", body)
    probed, probes = with_log(text, functions_of(text), (1, 0, 0, 1, 0, 0))
    found = probe_after(probed, blocks=2, threads=2)
    number = int(found[:8].view(np.uint64)[0])
    log = found[HEAD : HEAD + ENTRY * number].view(np.uint64).reshape(-1, 2).tolist()
    assert [(probes[at].register, value) for at, value in log] == [
        ("%rd1", BASE),
        ("%r1", 1),
        ("%r2", 41),
        ("%h1", 41),
        ("%rd2", 41 * (2**32 - 1)),
        ("%p1", 1),
        ("%r3", 7),
        ("%f1", 0x3F800000),
        ("%p2", 0),
    ]
