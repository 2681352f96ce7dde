"""The cases are valid PTX, reach every opcode, and the interpreter's answers are NumPy's where NumPy has them."""

import subprocess
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from simtmm.cuda.ptx import parse_module
from tests.cuda.cases import every_case
from tests.cuda.cases.case import EXACT, Bound, near
from tests.cuda.cases.interpreted import interpreted
from tests.cuda.interpreter.formats import F16, F32, encode
from tests.cuda.interpreter.opcodes import OPCODES

# Opcodes whose results depend on more than values: tests of launches have them.
ELSEWHERE = {
    "activemask", "applypriority", "brkpt", "brx", "call", "discard", "elect", "fence",
    "getctarank", "griddepcontrol", "isspacep", "ldu", "mapa", "mbarrier", "membar", "nanosleep", "pmevent", "prefetch",
    "prefetchu", "setmaxnreg", "trap", "wmma", "exit",
}  # fmt: skip


def ptxas():
    """NVIDIA's assembler, from its wheel, or None."""
    spec = find_spec("nvidia")
    for root in spec.submodule_search_locations or [] if spec else []:
        for path in sorted(Path(root).glob("**/bin/ptxas")):
            return path
    return None


@pytest.mark.skipif(ptxas() is None, reason="nvidia-cuda-nvcc is not installed")
def test_ptxas_accepts_every_case(tmp_path):
    modules = {}
    for number, case in enumerate(every_case().values()):
        head, _, body = case.text.partition(".address_size 64\n")
        modules.setdefault(head, []).append(body.replace(".entry k(", f".entry k{number}("))
    for number, (head, bodies) in enumerate(modules.items()):
        target = head.split(".target ")[1].split()[0]
        path = tmp_path / f"{number}.ptx"
        path.write_text("".join([head, ".address_size 64\n", *bodies]), encoding="utf-8")
        command = [ptxas(), "-O0", f"-arch={target}", path, "-o", tmp_path / "out.cubin"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[:2000]


def test_every_opcode_has_a_case():
    used = set()
    for case in every_case().values():
        for instruction in parse_module(case.text).functions["k"].body:
            used.add(getattr(instruction, "opcode", ""))
    assert set(OPCODES) - used == ELSEWHERE


_WHOLE = {
    "add": np.add, "sub": np.subtract, "min": np.minimum, "max": np.maximum, "mul.lo": np.multiply,
    "rem": np.fmod,
}  # fmt: skip
_BITS = {"and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor}
_REAL = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}
_COMPARED = {
    "eq": np.equal, "neu": np.not_equal, "lt": np.less, "le": np.less_equal, "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip
_NUMPY = {
    **{f"{name}.{sign}{bits}": function for name, function in _WHOLE.items() for sign in "us" for bits in (16, 32, 64)},
    **{f"{name}.b{bits}": function for name, function in _BITS.items() for bits in (16, 32, 64)},
    **{f"{name}.rn.{kind}": function for name, function in _REAL.items() for kind in ("f16", "f32", "f64")},
    **{f"setp.{name}.{kind}": function for name, function in _COMPARED.items() for kind in ("f32", "f64")},
    **{f"cvt.{to}.{kind}": None for to in ("s64", "u64", "u32", "s32") for kind in ("s8", "u16", "s32", "u64")},
    **{f"cvt.rn.{to}.{kind}": None for to in ("f32", "f64") for kind in ("s32", "u64", "s64")},
    **{f"cvt.rn.{to}.{kind}": None for to, kind in (("f16", "f32"), ("f32", "f64"), ("f16", "f64"))},
    "sqrt.rn.f32": np.sqrt,
    "sqrt.rn.f64": np.sqrt,
}
_NUMPY = {name: function for name, function in _NUMPY.items() if name != "div.rn.f16"}


def _typed(kind):
    letter = {"b": "u", "s": "i"}.get(kind[0], kind[0])
    return np.dtype(f"{letter}{int(kind[1:]) // 8}")


@pytest.mark.parametrize("name", _NUMPY)
def test_the_interpreter_agrees_with_numpy(name):
    case = every_case()[name]
    results = interpreted(case)
    function = _NUMPY[name]
    inputs = 1 if name.startswith(("cvt", "sqrt")) else 2
    kind = name.rpartition(".")[2]
    given = [array.view(_typed(kind)) for _, array in case.arrays[:inputs]]
    output = case.arrays[inputs][0]
    with np.errstate(all="ignore"):
        expected = given[0].astype(_typed(output)) if function is None else function(*given)
    bits = expected.astype(_typed(output)).view(results[inputs].dtype)
    right = [array.copy() for array in results]
    right[inputs] = bits
    assert case.differences(right, results) == []


def test_a_case_is_the_same_each_time_and_tells_a_wrong_bit():
    case = every_case()["add.rn.f32"]
    right, wrong = interpreted(case), interpreted(case)
    assert case.differences(right, wrong) == []
    wrong[2][5] ^= 1
    (reported,) = case.differences(right, wrong)
    assert reported.startswith("add.rn.f32: array 2 [5] of f32: ")


def test_an_error_may_be_as_large_as_its_bound_and_no_larger():
    bound = Bound(ulps=2)  # and one for the rounding of either side
    one = encode(1.0, F32)
    assert near(one, one + 3, F32, bound)
    assert not near(one, one + 4, F32, bound)
    assert not near(one, one + 1, F32, EXACT)
    assert near(F16.nan, F16.nan | 0x8000, F16, bound)
    assert not near(F16.nan, one, F16, bound)
