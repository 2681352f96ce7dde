"""The table of instructions: each that is run has a row, each row is of one, and cases are of the forms it lists."""

from dataclasses import replace

import pytest

from simtmm.cuda.execution.instructions import HANDLERS
from simtmm.cuda.ptx import parse_module
from simtmm.cuda.ptx.isa import FORMS, REFINED, takes
from simtmm.cuda.ptx.syntax import Immediate, Instruction
from simtmm.cuda.sass import families
from simtmm.cuda.sass.forms import COUNTS
from tests.cuda.cases import every_case

ENDS_A_BLOCK = {"bra", "brx", "call", "ret", "exit", "trap"}  # which control flow translates, and no handler


def test_each_instruction_that_is_run_has_a_row_and_each_row_is_of_one():
    assert set(FORMS) == set(HANDLERS) | ENDS_A_BLOCK
    assert set(REFINED) <= set(FORMS)


def test_each_instruction_of_the_machine_that_is_lifted_has_its_number_of_operands():
    assert set(COUNTS) == set(families.HANDLERS)


def test_each_case_is_of_a_form_that_its_row_lists():
    bodies = [parse_module(case.text).functions["k"].body or () for case in every_case().values()]
    instructions = [item for body in bodies for item in body if isinstance(item, Instruction) and item.opcode]
    assert len(instructions) > 10_000
    assert [item.text for item in instructions if not takes(item)] == []


@pytest.mark.parametrize("opcode", [opcode for opcode, forms in FORMS.items() if "*" not in forms])
def test_more_operands_than_any_form_has_are_not_taken(opcode):
    instruction = Instruction(opcode, (), (), None, 1, None, opcode)
    assert not takes(replace(instruction, operands=(Immediate(1),) * 7))
