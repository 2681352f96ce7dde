"""What follows from a program's code is found once for each program."""

import gc

from simtmm.cuda.execution.translation.facts import fact
from simtmm.cuda.execution.translation.program import Program
from tests.cuda.execution.kernels import parse_module

PTX = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry one() { ret; }\n.visible .entry two() { ret; }\n"


def test_a_fact_is_found_once_for_each_program_and_goes_with_it():
    found = []

    @fact
    def entry(program):
        found.append(program.entry)
        return program.entry

    module = parse_module(PTX)
    programs = [Program(module, name) for name in ("one", "two", "one")]
    assert [entry(program) for program in programs * 2] == ["one", "two", "one"] * 2
    assert found == ["one", "two", "one"]  # equal programs are two
    del programs
    gc.collect()
    assert len(entry.__closure__[[*entry.__code__.co_freevars].index("known")].cell_contents) == 0
