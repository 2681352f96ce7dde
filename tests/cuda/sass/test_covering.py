"""Every form of machine code that any case makes does what the interpreter says of its PTX."""

import functools

import pytest

from simtmm.cuda.compilers.wheels import find_tool
from tests.cuda.cases import every_case
from tests.cuda.cases.kept import differences
from tests.cuda.compilers.conftest import needs
from tests.cuda.sass.covering import chosen, covering
from tests.cuda.sass.lifted import run_lifted

AT_ONCE = 32  # cases of a kernel
PARTS = [
    (architecture, at)
    for architecture, names in covering().items()
    for at in range(0, len(names), AT_ONCE)
]  # fmt: skip


@needs(lambda: find_tool("ptxas"), lambda: find_tool("nvdisasm"))
@pytest.mark.parametrize(("architecture", "first"), PARTS)
def test_each_form_of_machine_code_gives_what_its_ptx_means(architecture, first):
    cases = [every_case()[name] for name in covering()[architecture][first : first + AT_ONCE]]
    run = functools.partial(run_lifted, architecture=architecture)
    assert list(differences(cases, run, as_ptx=False)) == []


def test_few_cases_are_chosen_that_have_all_forms():
    made = {"a": {"IADD"}, "b": {"IADD", "IMAD"}, "c": {"IMAD", "SHF", "LEA"}, "d": {"LEA", "MOV"}}
    assert chosen(made, known={"MOV"}) == ["b", "c"]
