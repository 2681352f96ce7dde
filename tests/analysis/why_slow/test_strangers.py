"""Kernels as strangers bring them: what is said of each is what an accepted answer says."""

from pathlib import Path

import numpy as np
import pytest

from simtmm import load_machine, lower
from simtmm.analysis.run import run
from simtmm.analysis.source_changes.operations import Operations
from simtmm.analysis.source_changes.regrouped import coarsened
from simtmm.engine.known_cycles import cycles_of
from simtmm.recorder import record
from simtmm.recorder.compiled.cuda_file import cuda_program
from tests.analysis.why_slow import boards, forums, strangers
from tests.cuda.compilers.conftest import needs_machine_code
from tests.examples import daily

pytestmark = needs_machine_code
HERE = Path(__file__).parent


def said(asked, file, arrays, folder):
    """The cause, the line's text and the first advice's change."""
    for name, array in arrays.items():
        np.save(folder / name, array)
    given = [str(folder / each) if each.endswith(".npy") else each for each in asked.arguments]
    done = run(
        cuda_program(HERE / file, asked.grid, asked.block, given, kernel=asked.kernel), load_machine(asked.machine)
    )
    line = done.verdict.where.line if done.verdict.where else 0
    source = (HERE / file).read_text().splitlines()[line - 1] if line else ""
    return done.verdict.cause, source, done.advice[0].change if done.advice else "", done


def answered(of):
    return [each for each in of.QUESTIONS if each.kernel not in of.MISSED]


OF = ((strangers, {"tokens.npy": strangers.TOKENS}), (forums, forums.ARRAYS), (boards, boards.ARRAYS))
ASKED = [(each, of.FILE, arrays) for of, arrays in OF for each in daily(answered(of), 4)]


@pytest.mark.parametrize(("asked", "file", "arrays"), ASKED, ids=[asked.kernel for asked, *_ in ASKED])
def test_the_cause_the_line_and_the_first_advice_are_those_of_the_answer(asked, file, arrays, tmp_path):
    cause, source, change, done = said(asked, file, arrays, tmp_path)
    assert any(each in cause for each in asked.causes), done.verdict.words
    assert any(each in source for each in asked.line), (source, done.verdict.words)
    assert change in asked.changes, done.advice


def test_no_advice_is_what_a_full_l2_happens_to_hold(tmp_path):
    """Fewer blocks find half as much again in an L2 that holds three quarters of what an earlier run left there."""
    (asked,) = (each for each in boards.QUESTIONS if each.kernel == "determinants")
    *_, done = said(asked, boards.FILE, {}, tmp_path)
    assert [each.change for each in done.advice] == []
    on = load_machine(asked.machine)
    given = [str(each) for each in asked.arguments]
    program = cuda_program(HERE / boards.FILE, asked.grid, asked.block, given, kernel=asked.kernel)
    workload = lower(record(program, architecture=75), on)
    fewer = coarsened(Operations(workload), 4)
    assert cycles_of(on, workload, "fast") > 1.3 * cycles_of(on, fewer, "fast")
    cold = on.replace({"memory.l2.start": "cold"})
    assert cycles_of(cold, workload, "fast") < 1.1 * cycles_of(cold, fewer, "fast")
