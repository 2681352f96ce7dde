"""What a launch of Triton's becomes: sizes, arguments, hooks, scratch memory, and PTX with the file and lines it is of.

By a kernel that is made up: Triton itself is not needed.
"""

from types import SimpleNamespace

import numpy as np
import pytest

from simtmm.errors import KernelError
from simtmm.recorder.direct import current
from simtmm.scripts.triton import launches
from simtmm.scripts.triton.arrays import ArrayArgument
from simtmm.scripts.triton.launches import Launcher, _with_its_file, _with_its_lines


@pytest.fixture
def launched(monkeypatch):
    """What is launched, in turn."""
    found = []
    monkeypatch.setattr(current, "launch", lambda *given: found.append(given))
    return found


def launcher(signature, parameters, **metadata):
    """Of a kernel with these parameters of its source, by name, and so many parameters as compiled."""
    made = Launcher.__new__(Launcher)
    made.name = "k"
    made._metadata = SimpleNamespace(num_warps=4, shared=512, **metadata)
    made._tensors = SimpleNamespace(array=lambda argument, where: (where, argument))
    made._descriptors = []
    made._names, made._types = list(signature), list(signature.values())
    kernel = SimpleNamespace(parameters=range(parameters))
    made.image = SimpleNamespace(function={"k": kernel}.__getitem__)
    return made, kernel


@pytest.mark.parametrize("grid", [(1, 1, 1), (2, 3, 5)])
@pytest.mark.parametrize("stream", [0, 7, None])
def test_a_launch_has_its_grid_its_warps_and_its_stream(launched, grid, stream):
    made, kernel = launcher({"n": "i32"}, 1)
    heard = []
    made(*grid, stream, None, None, "told", lambda told: heard.append(("enter", told, len(launched))),
         lambda told: heard.append(("leave", told, len(launched))), 9)  # fmt: skip
    assert launched == [(made.image, kernel, (grid, (128, 1, 1), 512), [9], stream or 0)]
    assert heard == [("enter", "told", 0), ("leave", "told", 1)]


@pytest.mark.parametrize("grid", [(0, 3, 5), (2, 0, 5), (2, 3, 0), (-1, 3, 5)])
def test_nothing_is_launched_on_an_empty_grid(launched, grid):
    made, _ = launcher({"n": "i32"}, 1)
    made(*grid, 7, None, None, None, launched.append, launched.append, 9)
    assert launched == []


def test_arguments_go_by_the_types_that_triton_tells(launched):
    pair = ("i64", "fp16")
    made, kernel = launcher({"x": "*fp32", "none": "*i8", "BLOCK": "constexpr", "n": "i32", "a": "fp32", "t": pair}, 6)
    made(1, 1, 1, 0, None, None, None, None, None, "x", None, 128, np.int32(5), 0.5, (True, 1.5))
    (_, _, _, values, _) = launched[0]
    assert values == [("kernel k: x", "x"), 0, 5, 0.5, 1, 1.5]
    assert [type(value) for value in values[2:]] == [int, float, int, float]
    assert [(each.name, each.text, each.base, each.pointers) for each in kernel.declared] == [
        ("x", "fp32*", "", 1),
        ("none", "i8*", "", 1),
        ("n", "i32", "", 0),
        ("a", "fp32", "float", 0),
        ("t_0", "i64", "", 0),
        ("t_1", "fp16", "__half", 0),
    ]


@pytest.mark.parametrize(("sizes", "parameters"), [((0, 0), 1), ((0, 0), 3), ((6, 0), 2), ((6, 2), 3)])
def test_scratch_memory_is_of_all_blocks_where_the_kernel_takes_it(launched, sizes, parameters):
    made, kernel = launcher({"n": "i32"}, parameters, global_scratch_size=sizes[0], profile_scratch_size=sizes[1])
    made(2, 3, 5, 0, None, None, None, None, None, 9)
    (_, _, _, values, _) = launched[0]
    assert len(values) == parameters
    for value, size in zip(values[1:], sizes, strict=False):
        assert (len(value), value.dtype) == (30 * size, np.uint8) if size else value == 0
    assert [each.name for each in kernel.declared[1:]] == ["scratch_1", "scratch_2"][: parameters - 1]


def test_a_descriptor_is_taken_apart(launched):
    made, kernel = launcher({"d": "tensordesc<fp16[64,32]>"}, 11)
    base = np.zeros(4, np.float16)
    described = SimpleNamespace(base=base, shape=[8, 4], strides=[4, 1], padding="nan", round_f32_to_tf32=False)
    made(1, 1, 1, 0, None, None, None, None, None, described)
    (where, argument), *rest = launched[0][3]
    assert (where, argument.array if isinstance(argument, ArrayArgument) else argument) == ("kernel k: d", base)
    assert rest == [8, 4, 4, 1, 1, 0, 8, 4, 4, 1]
    assert [each.name for each in kernel.declared] == ["d", *(f"d_{number}" for number in range(1, 11))]
    assert {(each.text, each.pointers) for each in kernel.declared[1:]} == {("i64", 0)}


def test_an_address_is_refused(launched):
    made, _ = launcher({"x": "*fp32"}, 1)
    with pytest.raises(KernelError, match=r"^kernel k: x = 0x10: an address: must be a NumPy array or a tensor$"):
        made(1, 1, 1, 0, None, None, None, None, None, 16)


def test_a_grid_of_clusters_has_as_many_blocks_as_they_have(launched):
    made, kernel = launcher({"n": "i32"}, 1, num_ctas=2)
    made(2, 3, 5, 0, None, None, None, None, None, 9)
    assert launched == [(made.image, kernel, ((4, 3, 5), (128, 1, 1), 512), [9], 0)]


@pytest.mark.parametrize(
    ("stores", "loads", "expected"), [(0, 0, 0), (8, 4, 2), (4, 8, 2), (7, 0, 1)]  # bytes, and registers of four
)  # fmt: skip
def test_spills_are_registers(monkeypatch, stores, loads, expected):
    found = SimpleNamespace(spill_store_bytes=stores, spill_load_bytes=loads, registers=40)
    linked = SimpleNamespace(resources_of=lambda entry: found if entry == "k" else None)
    for entry, registers, spills in (("k", 40, expected), ("other", 0, 0)):
        function = SimpleNamespace(linked=linked, entry=entry)
        monkeypatch.setattr(Launcher, "function", function)
        told = Launcher.__new__(Launcher).resources
        assert (told.registers, told.spills) == (registers, spills)


def test_the_file_is_that_of_the_function_now_where_its_name_is_the_same(tmp_path):
    ptx = '  .file  1 "/old/k.py"\n.file 2 "/old/other.py"\n// .file 3 "/old/k.py"'
    at = tmp_path / "k.py"
    gone = _with_its_file(ptx, SimpleNamespace(co_filename="k.py"))
    assert gone == ptx.replace('1 "/old/k.py"', '1 "k.py"')
    at.touch()
    now = _with_its_file(ptx, SimpleNamespace(co_filename=str(at)))
    assert now == ptx.replace('1 "/old/k.py"', f'1 "{at}"')
    assert _with_its_file(ptx, None) == ptx


def test_inline_assembly_is_of_the_line_that_it_was_written_for():
    def lines(text):
        return _with_its_lines(text.replace(";", "\n")).split("\n")

    begin, end = "// begin inline asm", "// end inline asm"
    assert lines(f".loc 1 1;.loc 1 2;{begin};.loc 1 3;a;.loc 1 4;b;{end};.loc 1 5;{begin};  .loc 1 6;.loc 1 7;c") == [
        ".loc 1 1", ".loc 1 2", begin, ".loc 1 3", "a", "b", end, ".loc 1 5", begin, "  .loc 1 6", "c",
    ]  # fmt: skip


def test_the_types_that_are_floats_are_those_of_triton():
    assert launches.FLOATS == {"fp16": "__half", "bf16": "__half", "fp32": "float", "f32": "float", "fp64": "double"}
