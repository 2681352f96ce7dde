"""Each fault of a thread in words: its instruction, its block and its thread, and what is wrong."""

from types import SimpleNamespace

import numpy as np
import pytest

from simtmm.cuda import faults
from simtmm.cuda.execution import layout
from simtmm.cuda.execution.launches.device_memory import DeviceMemory
from simtmm.cuda.ptx import parse_module
from simtmm.cuda.ptx.syntax import Instruction
from tests.cuda.execution.kernels import kernel

REGISTERS = ".reg .b32 %r<8>; .reg .b64 %s<8>; .reg .f32 %f<8>;"
LOAD, STORE, ATOMIC = "ld.global.b64 %s0, [%s1];", "st.global.b32 [%s1], %r0;", "atom.global.add.u32 %r0, [%s1], %r1;"
TEXTURE, SURFACE = (
    "tex.2d.v4.f32.f32 {%f0,%f1,%f2,%f3}, [%s0, {%f4,%f5}];",
    "suld.b.2d.b32.trap {%r0}, [%s0, {%r1,%r2}];",
)
ILLEGAL = "is not a multiple of 16 bytes, which is illegal on a GPU"
UNDEFINED = "has a swizzle of 32 bytes for rows of 64 bytes along K, which PTX leaves undefined"
WHOLE = "suld.b.{}.v2.b32.trap {{%r0,%r1}}, [%s0, {{%r2,%r3{}}}];"
HANDLE = layout.TEXTURE_HANDLE


def told(code, address, text=LOAD, lane=0, **more):
    """What is said of a fault in warp 2 of the second of blocks of 8 x 4 x 3 threads. more: of the launch's state."""
    body = parse_module(kernel(text, 0, REGISTERS)).functions["k"].body
    instruction = [each for each in body if isinstance(each, Instruction)][-2]
    launch = {"fault": code, "fault_lane": lane, "fault_address": address, "fault_access": 0}
    linked = SimpleNamespace(
        place=lambda name, location: ("k.cu", 7, "x = *p;"), readable_location=lambda name, location: location
    )
    block = SimpleNamespace(block={"running": 2, "index": (1, 0, 4)}, warps=[{"number": 1}, {"number": 2}])
    state = SimpleNamespace(
        launch=launch, shape=(8, 4, 3), program=SimpleNamespace(accesses=[("k", instruction)]), memory=DeviceMemory(),
        shared_bytes=0, local_bytes=0, parameter_bytes=0, textures=[], **more,
    )  # fmt: skip
    said = faults.fault_text(SimpleNamespace(linked=linked, entry="k"), state, block)
    begin = f"k.cu:7: `x = *p;` ({instruction.name}, PTX line {instruction.line}), block (1, 0, 4), thread ("
    assert said.startswith(begin)
    thread, _, what = said.removeprefix(begin).partition("): ")
    return thread, what


@pytest.mark.parametrize(
    ("lane", "thread"), [(0, "0, 0, 2"), (1, "1, 0, 2"), (7, "7, 0, 2"), (8, "0, 1, 2"), (31, "7, 3, 2")]
)
def test_the_thread_is_the_lane_of_the_warp_that_runs_along_all_axes(lane, thread):
    assert told(layout.TRAPPED, 0, lane=lane) == (thread, "trap")


OTHER = "there is no tensor map of cuTensorMapEncodeTiled or Im2col for this instruction"
OF_MAP = "its dimensions and mode must be the instruction's"


@pytest.mark.parametrize(
    ("code", "address", "words"),
    [
        (layout.NO_STACK, 0, "the stack is full: does the function call itself for ever?"),
        (layout.BAD_CALL, 9, "calls an address without a function whose arguments and results have these sizes"),
        (layout.NO_BARRIER, 16, "names barrier 16: must be 0 to 15"),
        (layout.BAD_TENSOR_MAP, 0x40, f"{OTHER} (address 0x40; {OF_MAP})"),
        (layout.BAD_COORDINATE, 24, f"the first coordinate, 24, {ILLEGAL}"),
        (layout.BAD_COORDINATE, (1 << 64) - 8, f"the first coordinate, -8, {ILLEGAL}"),
        (layout.BAD_METADATA, 0b101, "the metadata of a sparse matrix has 0b0101, whose result PTX leaves undefined"),
        (layout.BAD_DESCRIPTOR, 0x60, f"the descriptor 0x60 {UNDEFINED}"),
    ],
)  # fmt: skip
def test_each_fault_of_an_instruction_says_what_is_wrong(code, address, words):
    assert told(code, address)[1] == words


@pytest.mark.parametrize(("text", "does"), [(LOAD, "reads 8"), (STORE, "writes 4"), (ATOMIC, "updates 4")])
@pytest.mark.parametrize(
    ("code", "behind"),
    [(layout.MISALIGNED, ", which is not a multiple of {}: misaligned"), (layout.READ_ONLY, ", which is constant"),
     (-1, ": out of bounds")],
)  # fmt: skip
def test_an_access_says_what_it_does_with_how_many_bytes_where(text, does, code, behind, monkeypatch):
    asked = []
    monkeypatch.setattr(faults, "place", lambda function, state, access, address, wrong: asked.append(wrong) or "there")
    width = does[-1]
    assert told(code, 5, text)[1] == f"{does} bytes at there{behind.format(width)}"
    assert asked == [True]  # nothing lies there


def test_an_access_of_memory_that_the_host_may_only_read_says_so(monkeypatch):
    memory = DeviceMemory()
    address = memory.place("a", np.zeros(4, np.int32))
    found = memory.find(address)
    monkeypatch.setattr(DeviceMemory, "find", lambda self, address: SimpleNamespace(read_only=True, base=found.base))
    monkeypatch.setattr(faults, "place", lambda function, state, access, address, wrong: f"there, {wrong}")
    assert told(layout.READ_ONLY, address, STORE)[1] == "writes 4 bytes at there, False, which is read-only"
    assert told(layout.MISALIGNED, address, STORE)[1].startswith("writes 4 bytes at there, False, which is not a")
    assert told(-1, address, STORE)[1] == "writes 4 bytes at there, True: out of bounds"


@pytest.mark.parametrize(("text", "wanted"), [(TEXTURE, "texture"), (SURFACE, "surface")])
def test_a_handle_is_of_no_object_or_of_one_that_the_instruction_does_not_access(text, wanted, monkeypatch):
    rows = [{"kind": kind, "shape": shape} for kind, shape in ((layout.KIND_TEXTURE, 1), (layout.KIND_SURFACE, 18))]
    none = "handle {} is not of a " + f"{wanted}: the launch needs a simtmm.{wanted.title()}Object"
    other = "the object is a {}, which this instruction does not access"
    said = {
        HANDLE - 1: none.format(hex(HANDLE - 1)),
        HANDLE: other.format("texture of 1 dimensions"),
        HANDLE + 1: other.format("surface of 2 dimensions in layers"),
        HANDLE + 2: none.format(hex(HANDLE + 2)),
    }
    for handle, words in said.items():
        launch = SimpleNamespace(textures=rows)
        instruction = next(each for each in parse_module(kernel(text, 0, REGISTERS)).functions["k"].body[::-1]
                           if isinstance(each, Instruction) and each.opcode != "ret")  # fmt: skip
        assert faults._texture(launch, instruction, handle) == words


@pytest.mark.parametrize(
    ("shape", "x", "y", "words"),
    [
        ("2d", 16, 3, "at x = 16 (bytes), y = 3: out of bounds"),
        ("2d", -8, -1, "at x = -8 (bytes), y = -1: out of bounds"),
        ("2d", 12, 0, "at x = 12 (bytes), y = 0, x not a multiple of 8: misaligned"),
        ("3d", 8, 5 | 9 << 16, "at x = 8 (bytes), y = 5, z = 9: out of bounds"),
        ("3d", 0, 0xFFFF | 0xFFFE << 16, "at x = 0 (bytes), y = -1, z = -2: out of bounds"),
        ("a2d", 8, 5 | 9 << 16, "at x = 8 (bytes), y = 5, layer = 9: out of bounds"),
        ("a1d", 4, 0 | 2 << 16, "at x = 4 (bytes), y = 0, layer = 2, x not a multiple of 8: misaligned"),
    ],
)  # fmt: skip
def test_an_access_of_a_surface_says_the_place_along_each_axis(shape, x, y, words):
    text = WHOLE.format(shape, "" if shape in ("2d", "a1d") else ",%r4,%r4")
    packed = (x & 0xFFFFFFFF) | (y & 0xFFFFFFFF) << 32
    assert told(layout.OUTSIDE_SURFACE, packed, text)[1] == f"reads 8 bytes of a surface {words}"


@pytest.mark.parametrize("groups", [1, 4, 5, 7])
def test_of_groups_of_threads_that_wait_four_are_named(groups, monkeypatch):
    monkeypatch.setattr(faults, "place_text", lambda function, name, instruction: f"{name}:{instruction}")
    lanes = list(range(groups))
    warp = {
        "number": 3,
        "living": (1 << groups) - 1 | 1 << 20,
        "blocked": (1 << groups) - 1,
        "gathering": 0b10,
        "pc": lanes,
    }
    program = SimpleNamespace(waiting_at=lambda pc, at_barrier: ("k", pc if pc else None) if at_barrier else ("k", -pc))
    block = SimpleNamespace(warps=[warp, {**warp, "number": 4, "pc": [0] * groups, "gathering": 0, "blocked": 1}])
    state = SimpleNamespace(program=program)
    lines = faults.waiting_lines(SimpleNamespace(entry="k"), state, block)
    said = ["2 threads (the first: 96) for a barrier at k", "thread 97 for others of its warp at k:-1"]
    said += [f"thread {96 + lane} for a barrier at k:{lane}" for lane in range(2, groups)]
    more = [f"and {groups - 4} more groups"] if groups > 4 else []
    assert lines == said[: min(4, groups)] + more
