"""Refusals as whole lines: what is wrong, where, and what is allowed.

Each case says what is given; tests/golden/refusals.txt has the line that comes of it. `python -m tests.test_refusals`
writes the lines anew, where they are meant to differ: read them before you keep them.
"""

import contextlib
import json
import re
import tempfile
from pathlib import Path

import numpy as np
import pytest

import simtmm.scripts.cupy as cp
from simtmm.cuda.execution.translation.program import Program
from simtmm.cuda.ptx import parse_module
from simtmm.cuda.tensor_map import TensorMap
from simtmm.graph.edge_list import from_edge_list
from simtmm.graph.matrix_market import from_matrix_market
from simtmm.graph.metis import from_metis
from simtmm.graph.node_link import from_node_link
from simtmm.measurement.timings import load_timings
from simtmm.native import Loop
from simtmm.study.design.axes import Axis, axis, product, span
from tests.cuda.execution.kernels import kernel
from tests.cuda.execution.test_refused import REGISTERS
from tests.native.test_loop import _refused, _refused_of_wholes, tables
from tests.refused_rules import STATEMENTS, refuse
from tests.whole import ROOT

ACCEPTED = "is not refused"
FILE = ROOT / "tests" / "golden" / "refusals.txt"
HEAD = "%%MatrixMarket matrix coordinate integer general"
MATRICES = (
    "", "%%MatrixMarket matrix coordinate integer", "%%Matrix matrix coordinate integer general",
    "%%MatrixMarket vector coordinate integer general", "%%MatrixMarket matrix array integer general",
    "%%MatrixMarket matrix coordinate complex general", "%%MatrixMarket matrix coordinate integer skew-symmetric",
    f"{HEAD}\n", f"{HEAD}\n3 3", f"{HEAD}\n3 4 1", f"{HEAD}\n% a comment\n\n0 0 1", f"{HEAD}\n3 3 0",
    f"{HEAD}\n3 3 1\n1 2", f"{HEAD}\n3 3 1\n1 x 5", f"{HEAD}\n3 3 1\n1 2 x", f"{HEAD}\n3 3 1\n1 4 5",
    f"{HEAD}\n3 3 1\n0 1 5", f"{HEAD}\n3 3 2\n1 2 5", f"{HEAD}\n3 3 1\n1 2 5\n2 3 5",
    "%%MatrixMarket matrix coordinate integer symmetric\n3 3 1\n1 2 5",
    "%%MatrixMarket matrix coordinate pattern general\n3 3 1\n1 2 5",
)  # fmt: skip
METIS = (
    "", "% nothing", "3", "3 2 2\n", "3 2 012 1 1\n", "3 x\n", "0 1\n", "3 0\n", "3 2\n2\n1 3", "3 2\n2\n1 3\n2\n1",
    "3 2\n2\n1 3\n4", "3 2\n2\n1 3\n3", "3 2\n2 2\n1 3\n2", "3 2\n2\n3\n2", "3 1\n2\n1 3\n2", "3 2 1\n2 5\n1 5 3\n2 5",
    "3 2 1\n2 5\n1 5 3 6\n2 7", "3 2 10\n\n1 1 3\n1 2", "3 2 1\n2 5\n1 5 3 x\n2 7",
)  # fmt: skip
NODES = [{"id": 0}, {"id": 1}]
DOCUMENTS = (
    "[", "[]", "{}", json.dumps({"nodes": []}), json.dumps({"nodes": NODES}),
    json.dumps({"nodes": NODES, "edges": [], "directed": True}),
    *(json.dumps({"nodes": NODES, **more}) for more in (
        {"edges": [{"source": 0, "target": 1}], "directed": 1}, {"edges": [{"source": 0}]},
        {"edges": [{"source": 0, "target": "1"}]}, {"links": [{"source": True, "target": 1}]},
        {"links": [{"source": 0, "target": 1, "weight": "5"}]}, {"links": [7]},
        {"links": [{"source": 0, "target": 1, "weight": 5}, {"source": 1, "target": 0}]},
    )),
    json.dumps({"nodes": [*NODES, {"id": 1}], "edges": [{"source": 0, "target": 1}]}),
    json.dumps({"nodes": [{"name": 0}], "edges": [{"source": 0, "target": 1}]}),
)  # fmt: skip
LISTS = ("", "# nothing", "0", "0 1 2 3", "0 1 x", "0 1 5\n1 2", "0 1\n1 2 5", "0 1 nan")
RANGES = (
    "5:1", "1:9:step", "1:9:by:2", "1:9:step:x", "1:9:step:0", "1:9:times:1", "0:9:times:2", "-1:9:log:3",
    "1:9:linear:1", "1:9:linear:2.5", "1:9:log:0", "1:9:linear:100001", "0:1e9", "1:9:step:2:3",
    "-1e308:1e308:linear:3", "1e-300:1e300:log:3", "1:9:log",
)  # fmt: skip
SPANS = ("", "5", "1:x", "5:1", "1:9:times", "0:9:log", "1:9:log:3", "-1e308:1e308", 7, "0.2:0.8")
CSV = "kernel,machine,seconds"
TIMES = (
    "", "kernel,machine\n", f"{CSV},seconds\n", f"# a comment\n{CSV}\ncopy,v100\n", f"{CSV}\ncopy,v100,1,2\n",
    f"{CSV},parameters\ncopy,v100,1,n\n", f"{CSV},parameters\ncopy,v100,1,=4\n", f"{CSV}\ncopy,v100,x\n",
    f"{CSV}\ncopy,v100,-1\n", f"{CSV}\ncopy,v100,0\n", f"{CSV}\ncopy,v100,inf\n", f"{CSV}\n,v100,1\n",
    f"{CSV}\ncopy,,1\n",
)  # fmt: skip
TIMES_IN_JSON = (
    "7", '["copy"]', '[{"kernel": "copy", "machine": "v100"}]', '[{"kernel": "copy", "seconds": 1}]',
    '{"measurements": [{"machine": "v100", "seconds": 1}]}', '{"measurements": 7}',
    '[{"kernel": "copy", "machine": "v100", "seconds": true}]', '[{"kernel": 7, "machine": "v100", "seconds": 1}]',
    '[{"kernel": "copy", "machine": {}, "seconds": 1}]',
    '[{"kernel": "copy", "machine": "v100", "seconds": 1, "parameters": [1]}]',
)  # fmt: skip
NUMBERS = np.arange(6, dtype="f").reshape(2, 3)


def elementwise(ins, outs, *arguments, **more):
    return cp.ElementwiseKernel(ins, outs, "z = x", "made")(*arguments, **more)


def reduced(ins, outs, *arguments, **more):
    return cp.ReductionKernel(ins, outs, "x", "a + b", "y = a", None, "summed")(*arguments, **more)


def device(array=NUMBERS):
    return cp.asarray(array)


CUPY = {
    "a kernel's name": lambda: cp.ElementwiseKernel("T x", "T z", "z = x", "a name"),
    "parameters of one name": lambda: cp.ElementwiseKernel("T x", "T x", "x = x"),
    "inputs of one name": lambda: cp.ElementwiseKernel("T x, T x", "T z", "z = x"),
    "a type without a name": lambda: cp.ElementwiseKernel("T", "T z", "z = 1"),
    "a type that there is not": lambda: cp.ElementwiseKernel("float31 x", "T z", "z = x"),
    "a name that loops have": lambda: cp.ElementwiseKernel("T i", "T z", "z = i"),
    "no arguments": lambda: elementwise("T x", "T z"),
    "too many arguments": lambda: elementwise("T x", "T z", device(), device(), device()),
    "a number as output": lambda: elementwise("T x", "T z", device(), 7),
    "an array of the host": lambda: elementwise("T x", "T z", NUMBERS),
    "another type of output": lambda: elementwise("T x", "T z", device(), device(NUMBERS.astype("d"))),
    "another type of input": lambda: elementwise("float64 x", "T z", device()),
    "two types of a letter": lambda: elementwise("T x, T y", "T z", device(), device(NUMBERS.astype("d"))),
    "a type that nothing decides": lambda: elementwise("float32 x", "T z", device()),
    "no size": lambda: elementwise("raw T x", "T z", device()),
    "a size beside arrays": lambda: elementwise("T x", "T z", device(), size=6),
    "an output without a size": lambda: elementwise("T x", "raw T z", device()),
    "another shape of output": lambda: elementwise("T x", "T z", device(), device(np.zeros(3, "f"))),
    "a reduction's name": lambda: cp.ReductionKernel("T x", "T y", "x", "a + b", "y = a", "0", "7"),
    "a reduction's outputs": lambda: cp.ReductionKernel("T x", "T y, T z", "x", "a + b", "y = a", "0"),
    "a reduction's arguments": lambda: reduced("T x", "T y"),
    "a reduction of numbers": lambda: reduced("T x", "T y", 7),
    "a reduction of nothing": lambda: reduced("T x", "T y", device(np.zeros((0, 3), "f"))),
    "a reduction's output": lambda: reduced("T x", "T y", device(), out=device(np.zeros(3, "f")), axis=1),
    "a limit twice": lambda: cp.get_default_memory_pool().set_limit(size=1, fraction=0.5),
    "a limit of more": lambda: cp.get_default_memory_pool().set_limit(fraction=1.5),
    "a limit below 0": lambda: cp.get_default_memory_pool().set_limit(size=-1),
}
WORDS = np.zeros((8, 16), "f")
TENSORS = {
    "no array": lambda: TensorMap([1, 2], (1,)),
    "a type": lambda: TensorMap(WORDS, (8, 16), type="f4"),
    "a swizzle": lambda: TensorMap(WORDS, (8, 16), swizzle=16),
    "NaN of whole numbers": lambda: TensorMap(WORDS.astype("i"), (8, 16), nan=True),
    "no axes": lambda: TensorMap(WORDS, ()),
    "many axes": lambda: TensorMap(np.zeros((1,) * 6, "f"), (1,) * 6),
    "axes of a shape": lambda: TensorMap(WORDS, (8, 16), shape=(8,)),
    "axes of strides": lambda: TensorMap(WORDS, (8, 16), strides=(16,)),
    "axes of steps": lambda: TensorMap(WORDS, (8, 16), steps=(1, 1, 1)),
    "the last stride": lambda: TensorMap(WORDS, (8, 16), strides=(16, 2)),
    "strides of no whole numbers": lambda: TensorMap(np.zeros((8, 11), "f4,i2")["f0"], (8, 4)),
    "another stride": lambda: TensorMap(WORDS, (8, 16), strides=(18, 1)),
    "a box of no numbers": lambda: TensorMap(WORDS, (8, 0)),
    "a large box": lambda: TensorMap(WORDS, (257, 16)),
    "a large step": lambda: TensorMap(WORDS, (8, 16), steps=(1, 9)),
    "no numbers": lambda: TensorMap(WORDS, (8, 16), shape=(0, 16)),
    "a row of a box": lambda: TensorMap(WORDS, (8, 3)),
    "a row beyond a swizzle": lambda: TensorMap(WORDS, (8, 16), swizzle=32),
    "an address": lambda: TensorMap(WORDS, (8, 16)).row(8),
}
INSTRUCTIONS = (
    "mov.b32 %r0, {%h0,%h1,%h2};", "mov.b64 {%r0,%r1,%r2}, %s0;", "ld.global.b32 %r0, %r1;",
    "ld.param.b32 %r0, [gone];", "ld.shared.b32 %r0, [%f0];", "setp.lo.s32 %q0, %r0, %r1;",
    "setp.lt.f16x2 %q0, %q1, %r0, %r1;", "addc.u32 %r0, %r1, %r2;", "lop3.b32 %r0, %r1, %r2, %r3, %r4;",
    "shfl.sync.b32 %r0, %r1, 1, 31, -1;",
    "mov.u32 %r0, %nosuch;", "cvt.u32.f128 %r0, %f0;", "cvt.e4m3x2.f32 %h0, %f0, %f1;",
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f0,%f1}, {%r0,%r1}, {%r0}, {%f0,%f1};",
    "mma.sync.aligned.m8n8k4.row.col.f32.f32.f32.f32 {%f0}, {%f1}, {%f2}, {%f3};", "bra NOWHERE;", "call gone, (%r0);",
    "cp.async.ca.shared.global [%r0], [%s0], 5;", "bar.red.popc.u32 %r0, 0, %r1;", "prmt.b32 %r0, %r1, %r2;",
    "vadd.s32.s32.s32 %f0, %r1, %r2;", "vset2.s32.s32.xx %r0, %r1, %r2, %r3;", "@%r0 mov.u32 %r1, 0;",
    "mov.u32 7, %r0;", "ldmatrix.sync.aligned.m8n8.x3.shared.b16 {%r0,%r1,%r2}, [%r3];", "selp.b32 %r0, %r1, %r2;",
    "redux.sync.mul.u32 %r0, %r1, -1;", "atom.global.mul.u32 %r0, [%s0], %r1;", "red.shared.inc.s32 [%s0], %r1;",
    "fence.proxy.unknown;", "membar.all;", "mbarrier.init.shared.b64 [%r0];", "dp4a.u32.u32 %r0, %r1, %r2;",
)  # fmt: skip


def _each(what, act, texts):
    return {f"{what} {text!r}": lambda text=text: act(text) for text in texts}


def _loop(function):
    return Loop(function)(tables([]), 3)


ROOMS = {
    "graphs": _each("matrix market", lambda text: from_matrix_market("g", text), MATRICES)
    | _each("METIS", lambda text: from_metis("g", text), METIS)
    | _each("node-link", lambda text: from_node_link("g", text), DOCUMENTS)
    | _each("edges", lambda text: from_edge_list("g", text), LISTS),
    "axes": _each("axis", lambda text: axis("x", text), RANGES)
    | _each("span", lambda text: span("x", text, whole=True), SPANS)
    | {
        "axis of nothing": lambda: axis("x", []),
        "linked axes": lambda: list(product([[Axis("x", (1, 2)), Axis("y", (1, 2, 3))]])),
    },
    "times": _each("csv", lambda text: times_of(text, ".csv"), TIMES)
    | _each("json", lambda text: times_of(text, ".json"), TIMES_IN_JSON),
    "cupy": {f"cupy: {what}": done for what, done in CUPY.items()},
    "tensor-maps": {f"tensor map: {what}": done for what, done in TENSORS.items()},
    "loops": {f"loop {each.__name__}": lambda each=each: _loop(each) for each in (*_refused(), *_refused_of_wholes())},
    "rules": _each("rule", refuse, STATEMENTS),
    "ptx": _each("PTX", lambda text: Program(parse_module(kernel(text, 0, REGISTERS)), "k").assembly(), INSTRUCTIONS),
}


def times_of(text, suffix):
    path = Path(f"times{suffix}")
    path.write_text(text, encoding="utf-8")
    return load_timings(path)


def line_of(done):
    """What a refusal says, without the numbers of lines of tests; a note where nothing is refused."""
    try:
        done()
    except Exception as error:
        found = f"{type(error).__name__}: {error}"
    else:
        return ACCEPTED
    return re.sub(r"(?<=test_loop, )line \d+", "line N", found).replace("\n", "\\n")


def lines(room):
    return {what: line_of(done) for what, done in ROOMS[room].items()}


@pytest.fixture(scope="module")
def known():
    pairs = (line.split("\t") for line in FILE.read_text(encoding="utf-8").splitlines())
    return dict(pairs)


@pytest.mark.parametrize("room", ROOMS)
def test_refusals_say_what_they_did(known, tmp_path, monkeypatch, room):
    monkeypatch.chdir(tmp_path)
    assert lines(room) == {what: known.get(what) for what in ROOMS[room]}


def test_each_line_is_of_a_refusal(known):
    assert list(known) == [what for refusals in ROOMS.values() for what in refusals]
    assert not [what for what, line in known.items() if line == ACCEPTED]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        found = {what: line for room in ROOMS for what, line in lines(room).items()}
    FILE.write_text("".join(f"{what}\t{line}\n" for what, line in found.items()), encoding="utf-8")
