"""Cycles that instructions take to read their registers; and chains of an H200, which they slow down."""

import csv
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from simtmm import load_machine, simulate
from simtmm.cuda.sass.listing import control
from simtmm.cuda.sass.operands import operand, split
from simtmm.cuda.sass.register_banks import cycles_of_operands
from simtmm.cuda.sass.syntax import Listing, MachineInstruction, MachineLabel
from simtmm.cuda.sass.work import result_class
from simtmm.kernel import Launch
from simtmm.measurement.case import Case, case_kernel
from simtmm.program import open_program
from tests.cuda.compilers.conftest import needs_machine_code

MEASURED = Path(__file__).parents[3] / "traces" / "measured"
TRIPS = (8, 24)
IN_A_TRIP = 256  # instructions
GROUP_WARPS = 4  # of which each has a scheduler of its own
TYPES = {"float": np.float32, "int": np.int32, "double": np.float64}


def instruction(text, address=0):
    """One of the machine's, as nvdisasm prints it."""
    name, _, operands = text.partition(" ")
    opcode, *modifiers = name.split(".")
    parsed = tuple(operand(part) for part in split(operands))
    return MachineInstruction(address, None, opcode, tuple(modifiers), parsed, control(0), 0, text)


def cycles(*texts):
    """Cycles beyond one of instructions after one another; a text that ends with a colon is a label."""
    items = [
        MachineLabel(text[:-1], at) if text.endswith(":") else instruction(text, at) for at, text in enumerate(texts)
    ]
    found = cycles_of_operands(Listing(tuple(items)))
    return [found.get(at, 0) for at, text in enumerate(texts) if not text.endswith(":")]


@pytest.mark.parametrize(
    ("text", "beyond"),
    [
        ("FFMA R6, R4, R6, R5", 1), ("FFMA R6, R4, R6, R8", 2), ("FFMA R9, R9, R9, R4", 0), ("FFMA R9, R4, R9, R9", 0),
        ("FFMA R9, R4, R9, 1.5", 0), ("FFMA R9, R4, R6, 1.5", 1), ("FFMA R9, R4, UR4, R6", 1),
        ("FFMA R9, R4, UR4, R5", 0), ("FFMA R9, R4, c[0x0][0x218], R5", 0), ("FFMA R9, -R4, |R6|, R5", 1),
        ("IADD3 R4, R2, -0x1, RZ", 0), ("IADD3 R4, P0, R2, R4, RZ", 1), ("LOP3.LUT R8, R7, R8, R5, 0x60, !PT", 1),
        ("IMAD.WIDE R2, R5, 0x4, R2", 1), ("IMAD.WIDE R2, R5, R4, R2", 1), ("IMAD.WIDE R2, R4, R6, R2", 2),
        ("DFMA R12, R2, R12, R4", 2), ("DADD R4, R4, R6", 1), ("DADD R4, R4, R4", 0),
        ("ISETP.GE.AND P0, PT, R4, R6, PT", 1), ("LOP3.LUT P0, R4, R6, 0x1, RZ, 0xc0, !PT", 0),
        ("MUFU.RSQ R4, R6", 0), ("SHFL.IDX PT, R7, R5, R3, 0x1f", 0), ("HMMA.16816.F32 R4, R4, R8, R12", 0),
    ],
)  # fmt: skip
def test_a_bank_gives_a_register_a_cycle(text, beyond):
    assert cycles(text) == [beyond]


def test_what_is_kept_is_not_read_again_at_its_place():
    first = "FFMA R8, R4.reuse, R8, R5.reuse"
    assert cycles(first, "FFMA R10, R4, R10, R5", first) == [1, 0, 1], "an operand without the mark is not kept"
    assert cycles(first, first, first) == [1, 0, 0]
    assert cycles(first, "FFMA R10, R10, R4, R5") == [1, 1], "at another place"
    assert cycles(first, "FADD R1, R6, R7", first) == [1, 0, 1], "another of its bank has been read at its place"
    assert cycles(first, "FADD R1, R7, R6", first) == [1, 0, 0], "one of the other bank has an entry of its own"
    assert cycles(first, ".L_x_1:", first) == [1, 1], "others may come here"
    assert cycles(first, "BAR.SYNC.DEFER_BLOCKING 0x0", first) == [1, 0, 1], "other warps issue meanwhile"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("MUFU.EX2 R4, R6", "special"), ("F2I.TRUNC.NTZ R5, R5", "special"), ("F2F.F64.F32 R4, R6", "special"),
        ("POPC R4, R4", "special"), ("SHFL.BFLY PT, R1, R0, 0x4, 0x1f", "shuffle"), ("DFMA R6, R6, R6, R4", "fp64"),
        ("S2R R5, SR_TID.X", None), ("REDUX.SUM.S32 UR6, R16", None),
    ],
)  # fmt: skip
def test_a_result_goes_by_a_latency(text, name):
    assert result_class(instruction(text)) == name


# As an H200 took (traces/measured/h200-sxm/register_banks.csv)


@pytest.fixture(scope="module")
def simulated(tmp_path_factory):
    """Cycles of a scheduler for each instruction of a kernel, by warps, with scheduling.operands as told."""
    source = (MEASURED / "h100-sxm" / "sources" / "register_banks.cu").read_text().partition("template <class T")[0]
    source = re.sub("#include <.*>", "", source).replace("__global__", 'extern "C" __global__')
    types = dict(re.findall(r"^KERNEL\((\w+), (\w+)", source, re.MULTILINE))
    folder = tmp_path_factory.mktemp("banks")

    @cache
    def of(name, operands):
        number = TYPES[types[name]]
        launches = [
            Launch(f"{name}_{trips}", ("given", "out", "clock"), 1, (32 * warps, 1))
            for warps in (8, 32) for trips in TRIPS
        ]  # fmt: skip
        (definition,) = re.findall(r"#define KERNEL.*?\}\n", source, re.DOTALL)
        macros = "".join(line for line in source.splitlines(keepends=True) if re.match(r"#define [A-Z]\(", line))
        (kernel,) = (line for line in source.splitlines() if line.startswith(f"KERNEL({name},"))
        text = "#define N 256\n" + macros
        for trips in TRIPS:
            text += definition.replace("KERNEL(", f"KERNEL_{trips}(").replace("i < 32", f"i < {trips}")
            text += kernel.replace(f"KERNEL({name}", f"KERNEL_{trips}({name}_{trips}") + "\n"
        path = folder / f"{name}.cu"
        path.write_text(text)
        arrays = {
            "given": np.array([1, 2, 3, 1], number),
            "out": np.zeros(1024, number),
            "clock": np.zeros(1, np.int64),
        }
        case = Case(name, arrays, tuple(launches), {})
        machine = load_machine("h200").replace({"scheduling.operands": operands})
        opened = open_program(case_kernel(name, path, lambda _: case, {}, "Chains."), machine=machine, form="compiled")
        ticks = simulate(machine, opened.on(machine).workload, breakdown=False).launch_ticks
        less = [taken - machine.durations.before_launch(at) for at, taken in enumerate(ticks)]
        each = IN_A_TRIP * (TRIPS[1] - TRIPS[0]) * machine.ticks_per_cycle
        few, many = less[1] - less[0], less[3] - less[2]
        return few / each / (8 / GROUP_WARPS), many / each / (32 / GROUP_WARPS)

    return of


@cache
def measured():
    """Cycles by kernel and warps."""
    with (MEASURED / "h200-sxm" / "register_banks.csv").open() as file:
        rows = list(csv.DictReader(line for line in file if not line.startswith("#")))
    return {
        (row["kernel"], int(row["warps"])): float(row["cycles of a scheduler for each instruction"]) for row in rows
    }


@needs_machine_code
@pytest.mark.parametrize("name", ["chain3", "square", "two_chains", "imad3"])
def test_chains_take_what_they_took_on_an_h200(name, simulated):
    assert simulated(name, "banks") == pytest.approx([measured()[name, warps] for warps in (8, 32)], rel=0.03)


@needs_machine_code
def test_without_banks_three_registers_are_as_quick_as_two(simulated):
    few, many = simulated("chain3", "free")
    assert (few, many) == pytest.approx((2, 1), rel=0.03)
    assert measured()["chain3", 32] / many > 1.9
