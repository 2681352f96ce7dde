"""NaNs have a GPU's bits where somebody looks at them, whatever way they went there."""

import numpy as np
import pytest

from simtmm.cuda.execution.translation.one_nan import late_registers
from simtmm.cuda.ptx import parse_module
from tests.cuda.cases.case import Case
from tests.cuda.cases.executed import executed
from tests.cuda.cases.interpreted import interpreted
from tests.cuda.cases.kernel import COUNT, case
from tests.cuda.sass.lifted import run_lifted

NANS = np.resize(np.array([0x7FC00001, 0xFFC12345, 0x3F800000, 0xFF812345, 0x7F800001, 0xFF800000], np.uint32), COUNT)
ONES = np.full(COUNT, 0x3F800000, np.uint32)
WAYS = {
    "a sum": "add.f32 %x, %a, %b;",
    "moved": "mov.b32 %x, %a;",
    "a sum, moved twice": ".reg .b32 %s, %t; add.f32 %s, %a, %b; mov.b32 %t, %s; mov.b32 %x, %t;",
    "a sum's sign": ".reg .b32 %s; add.f32 %s, %a, %b; copysign.f32 %x, %s, %b;",
    "a sum's bits": ".reg .b32 %s; add.f32 %s, %a, %b; and.b32 %x, %s, 0x803fffff;",
    "a sum, chosen": ".reg .b32 %s; add.f32 %s, %a, %b; setp.gt.u32 %p, %i, 5; selp.b32 %x, %s, %a, %p;",
    "a sum in some lanes": "mov.b32 %x, %a; setp.gt.u32 %p, %i, 5; @%p add.f32 %x, %a, %b;",
    "a sum on one of two ways": """\
mov.b32 %x, %a; setp.gt.u32 %p, %i, 5; @%p bra END;
add.f32 %x, %a, %b;
END:""",
    "a sum that goes round": """\
.reg .b32 %n; mov.b32 %n, 0; mov.f32 %x, 0f00000000;
AGAIN: fma.rn.f32 %x, %a, %b, %x; add.u32 %n, %n, 1; setp.lt.u32 %p, %n, 3; @%p bra AGAIN;""",
    "a sum that begins with what was loaded": """\
.reg .b32 %n; mov.b32 %x, %a; and.b32 %n, %i, 3; setp.eq.u32 %p, %n, 0; @%p bra END;
AGAIN: add.rn.f32 %x, %x, %b; sub.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra AGAIN;
END:""",
}


def ways() -> list[Case]:
    return [case(name, body, ["b32"], [("f32", NANS), ("f32", ONES)]) for name, body in WAYS.items()]


@pytest.mark.parametrize("run", [executed, lambda cases: run_lifted(cases, 90)], ids=["PTX", "machine code"])
def test_bits_are_those_of_the_interpreter(run):
    cases = ways()
    for each, found in zip(cases, run(cases), strict=True):
        assert found[-1].tolist() == interpreted(each)[-1].tolist(), each.name


def test_what_is_looked_at_late():
    late = {}
    for each in ways():
        function = parse_module(each.text).functions["k"]
        late[each.name] = late_registers(function)
    assert late["a sum"] == {"%x"}
    assert late["a sum, moved twice"] == {"%s", "%t", "%x"}
    assert late["a sum that goes round"] == {"%x"}
    for name in ("moved", "a sum in some lanes", "a sum that begins with what was loaded"):
        assert late[name] == set(), name
