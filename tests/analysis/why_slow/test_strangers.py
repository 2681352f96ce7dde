"""Kernels as strangers bring them: what is said of each is what an accepted answer says."""

from pathlib import Path

import numpy as np
import pytest

from simtmm import load_machine
from simtmm.analysis.run import run
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
