"""How much local memory a thread's stack takes: calls that may go deeper and deeper, and those that are jumps."""

import pytest

from simtmm.cuda.execution.launches.launch import LOCAL_STACK
from simtmm.cuda.sass.listing import parse_listing
from simtmm.cuda.sass.stack import stack_of
from simtmm.cuda.sass.writing import functions_of


def stack(*rows):
    """The bytes of a kernel whose frame has 90. rows: labels, and instructions one after another."""
    text, address = '\t.section\t.text.k,"ax",@progbits\n', 0
    for row in rows:
        if row.endswith(":"):
            text += f"{row}\n"
        else:
            text += f"        /*{address:04x}*/ {row} ; /* 0x{0:016x} */\n /* 0x{0:016x} */\n"
            address += 16
    listing = parse_listing(text, "k")
    return stack_of(listing, functions_of(listing), 90)


CALLED = "CALL.REL.NOINC `($k$one)"


@pytest.mark.parametrize(
    "rows",
    [
        ("EXIT",),
        ("@!P0 CALL.REL.NOINC `(.L_x_2)", "BRA `(.L_x_3)", ".L_x_2:", "EXIT"),  # as ptxas ends a loop
        (".L_x_3:", "NOP", "@P0 CALL.REL.NOINC `(.L_x_3)", "EXIT"),
        (CALLED, "EXIT", "$k$one:", "@P0 CALL.REL.NOINC `(.L_x_2)", "NOP", ".L_x_2:", "RET.REL.NODEC R4 `(k)"),
        (
            CALLED,
            "EXIT",
            "$k$one:",
            "CALL.REL.NOINC `($k$two)",
            "RET.REL.NODEC R4 `(k)",
            "$k$two:",
            "RET.REL.NODEC R6 `(k)",
        ),
    ],
)
def test_what_does_not_call_itself_has_what_the_assembler_says(rows):
    assert stack(*rows) == 96


@pytest.mark.parametrize(
    "rows",
    [
        (CALLED, "EXIT", "$k$one:", CALLED, "RET.REL.NODEC R4 `(k)"),
        (CALLED, "EXIT", "$k$one:", ".L_x_1:", "CALL.REL.NOINC `(.L_x_1)", "RET.REL.NODEC R4 `(k)"),
        (CALLED, "EXIT", "$k$one:", "CALL.REL.NOINC `($k$two)", "$k$two:", CALLED),
        ("CALL.REL.NOINC R4 `(k)", "EXIT"),
    ],
)
def test_what_may_go_deeper_has_as_much_as_functions_of_ptx_beside_it(rows):
    assert stack(*rows) == -(-(90 + LOCAL_STACK) // 16) * 16
