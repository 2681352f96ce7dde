"""What results are kept by: each part of a program's digest, and all that a run says of what it computed with."""

from dataclasses import replace

import pytest

from simtmm.model.algorithms import find
from simtmm.provenance import computed_by
from simtmm.study.design.design import design_of
from simtmm.study.design.study_file import study_of
from simtmm.study.design.subject import _algorithm_digest
from simtmm.study.evaluation.identity import run_says
from simtmm.study.store.store import Store


def test_a_run_says_its_program_all_programs_and_the_sources_it_computed_with(tmp_path):
    design = design_of(study_of({"program": "merge", "machines": ["gtx280"], "axes": {"n": [10, 20]}}), tmp_path)
    with Store(tmp_path / "s.sqlite") as store:
        assert run_says(design, store) == {
            "program": design.subject.digest,
            "programs": {"merge": design.subject.digest},
            "sources": computed_by(),
        }


MERGE = find("merge")
FORM = MERGE.form()


@pytest.mark.parametrize(
    "changed",
    [
        replace(MERGE, name="other"),
        replace(MERGE, forms={"other": FORM, **dict(list(MERGE.forms.items())[1:])}),
        *(
            replace(MERGE, forms={**MERGE.forms, next(iter(MERGE.forms)): replace(FORM, **{part: lambda n: n + 1})})
            for part in ("work", "span", "memory", "pram_span", "shared_memory", "threads", "chain")
        ),
        replace(MERGE, forms={**MERGE.forms, next(iter(MERGE.forms)): replace(FORM, source="elsewhere")}),
    ],
)
def test_each_part_of_an_algorithm_is_in_its_digest(changed):
    assert _algorithm_digest(changed) != _algorithm_digest(MERGE)
