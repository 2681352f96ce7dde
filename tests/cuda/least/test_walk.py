"""No thread does less than the walk says, and where nothing depends on data all of them do just that."""

import struct
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm.cuda.compilers import CompiledModule
from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.least.deciding import COSTS
from simtmm.cuda.least.walk import least_of
from simtmm.cuda.linked import LinkedModule
from simtmm.cuda.ptx import parse_module
from simtmm.cuda.ptx.flow.steps import access_kind
from simtmm.cuda.ptx.flow.work import class_of
from tests.cuda.interpreter import Memory, run, schedule
from tests.cuda.least.drawn import counted_kernels, kernel
from tests.examples import examples

DATA = 1 << 20


def least(text, blocks, threads, number, first=0):
    """What each thread of the blocks from `first` on does at least, by name."""
    code = Program(LinkedModule([CompiledModule(text, 90, name="k.ptx")]).module, "k").entry_code
    packed = struct.pack("<QI", DATA, number)

    def parameter(name, offset, size):
        at = code.parameters[name] + offset
        value = int.from_bytes(packed[at : at + size], "little", signed=True)
        return value, value

    sizes = {"%ntid": threads, "%nctaid": blocks}
    specials = {f"{name}.{axis}": (1, 1) for name in sizes for axis in "yz"}
    specials |= {f"{name}.{axis}": (0, 0) for name in ("%tid", "%ctaid") for axis in "yz"}
    specials |= {f"{name}.x": (size, size) for name, size in sizes.items()}
    specials |= {"%tid.x": (0, threads - 1), "%ctaid.x": (first, blocks - 1)}
    return dict(zip(COSTS, least_of(code, specials, parameter), strict=True))


def done(text, blocks, threads, number, monkeypatch, value=0):
    """How many instructions each thread does by the interpreter, by block and thread. value: what is loaded."""
    counted = Counter()
    step = schedule.step

    def counting(thread):
        instruction = thread.frame.code.instructions[thread.frame.pc]
        kind = access_kind(instruction)
        takes_part = instruction.guard is None or schedule._guarded(thread, instruction)
        if (kind is None and class_of(instruction) is not None) or (kind is not None and takes_part):
            counted[thread.block.index[0], thread.number] += 1
        step(thread)

    with monkeypatch.context() as patched:
        patched.setattr(schedule, "step", counting)
        memory = Memory()
        memory.allocate(np.full(1, value, np.uint32), DATA)
        arguments = [struct.pack("<Q", DATA), struct.pack("<I", number)]
        run(parse_module(text), "k", (blocks, 1, 1), (threads, 1, 1), arguments, memory, limit=400_000)
    return counted


@examples(60)
@given(
    text=counted_kernels(),
    blocks=st.integers(1, 3),
    threads=st.sampled_from([1, 5, 32]),
    number=st.sampled_from([0, 1, 3, 100, 2**31, 2**32 - 1]),
    value=st.sampled_from([0, 5, 2**32 - 1]),
)
def test_no_thread_does_less(text, blocks, threads, number, value):
    with pytest.MonkeyPatch.context() as patched:
        try:
            counted = done(text, blocks, threads, number, patched, value)
        except Exception as error:
            if "limit" in str(error) or "instructions" in str(error):  # a loop that goes on for very long
                return
            raise
    found = least(text, blocks, threads, number)["instructions"]
    assert 0 < found <= min(counted.values())


LOOP = """\
  mov.u32 %k0, 0;
L1:
  add.u32 %v0, %v0, 1;
  add.u32 %k0, %k0, 1;
  setp.lt.u32 %q, %k0, %v2;
  @%q bra L1;
"""
TILED = """\
  mov.u32 %k0, %tid.x;
L1:
  setp.ge.s32 %q, %k0, 96;
  @%q bra L2;
  st.shared.u32 [%t], %v0;
  add.s32 %k0, %k0, 32;
  bra L1;
L2:
"""
GUARDED = """\
  mov.u32 %v0, %ctaid.x;
  mad.lo.s32 %v0, %v0, 32, %tid.x;
  setp.ge.s32 %q, %v0, %v2;
  @%q exit;
  ld.global.u32 %v1, [%p];
  st.global.u32 [%p], %v1;
"""
EITHER_WAY = """\
  ld.global.u32 %v0, [%p];
  setp.eq.u32 %q, %v0, 0;
  @%q bra L1;
  add.u32 %v1, %v1, 1;
  add.u32 %v1, %v1, 1;
  bra L2;
L1:
  add.u32 %v1, %v1, 1;
L2:
"""


@pytest.mark.parametrize(
    ("body", "number", "instructions"),
    [
        (LOOP, 7, 1 + 4 * 7 + 1),  # the counter's beginning, four each round, the exit
        (LOOP, 1000, 1 + 4 * 1000 + 1),
        (TILED, 0, 3 * 5 + 2 + 1),  # three rounds of each thread of 32, the last test, the exit; no moves of names
        (GUARDED, 64, 3 + 2 + 1),  # none of 2 blocks of 32 is beyond 64
        (GUARDED, 63, 3),  # and some may be beyond 63
        (EITHER_WAY, 0, 1 + 2 + 1 + 1),
    ],
)
def test_what_the_launch_decides_is_followed_and_the_shorter_way_is_taken_where_data_do(body, number, instructions):
    assert least(kernel(body), 2, 32, number)["instructions"] == instructions


def test_accesses_are_told_apart():
    assert least(kernel(TILED), 2, 32, 0)["shared_accesses"] == 3
    found = least(kernel(GUARDED), 2, 32, 64)
    assert (found["loads"], found["stores"], found["integer"], found["multiply"]) == (1, 1, 1, 1)


def test_blocks_inside_a_grid_are_not_held_for_those_at_its_edge():
    assert least(kernel(GUARDED), 2, 32, 63)["instructions"] == 3
    assert least(kernel(GUARDED), 1, 32, 63)["instructions"] == 6


def test_a_loop_that_data_end_is_left_at_once_and_what_it_counted_is_not_known_behind_it():
    text = kernel("""\
  mov.u32 %k0, 0;
L1:
  add.u32 %k0, %k0, 1;
  ld.global.u32 %v0, [%p];
  setp.ne.u32 %q, %v0, 0;
  @%q bra L1;
  mov.u32 %k1, 0;
L2:
  add.u32 %k1, %k1, 1;
  setp.lt.u32 %q, %k1, %k0;
  @%q bra L2;
""")
    assert least(text, 1, 1, 0)["instructions"] == 1 + 4 + 1 + 3 + 1


def test_a_loop_that_never_ends_says_nothing():
    assert least(kernel("L1:\n  bra L1;\n"), 1, 1, 0)["instructions"] == 0


def test_a_loop_that_is_too_long_is_followed_for_a_while():
    found = least(kernel(LOOP), 1, 1, 2**31)["instructions"]
    assert 10_000 < found < 4 * 2**31


@pytest.mark.parametrize("first", [0, 1])
def test_which_blocks_it_is_about_is_given(first):
    text = kernel("  mov.u32 %v0, %ctaid.x;\n  setp.eq.u32 %q, %v0, 0;\n  @%q exit;\n  add.u32 %v0, %v0, 1;\n")
    assert least(text, 2, 1, 0, first)["instructions"] == (2 if first == 0 else 4)
