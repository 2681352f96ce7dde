"""Pages that explain a run hold any text as text: of source lines, of names, of what was said."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm import load_machine
from simtmm.analysis.run import run
from simtmm.report.explain_page import explanation
from simtmm.trace.io import Trace
from simtmm.trace.schema import TraceArray, TraceSite
from tests.examples import examples
from tests.fuzz.targets.pages import HOSTILE, Elements
from tests.report.test_page import data_of
from tests.study.programs import MACHINE, trace

TEXTS = st.lists(st.sampled_from(HOSTILE) | st.text(max_size=5), min_size=1, max_size=3).map("".join)


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page of a run of a program in which these texts stand."""
    path = tmp_path_factory.mktemp("machine") / "small.toml"
    path.write_text(MACHINE, encoding="utf-8")
    plain, machine = trace(blocks=2, threads=8, rounds=1), load_machine(path)
    batches = list(plain.batches())

    def of(source, file, kernel):
        sites = tuple(
            TraceSite(number, kind, file, number + 1, source) for number, kind in enumerate(("work", "load", "work"))
        )
        launches = tuple(replace(launch, kernel=kernel) for launch in plain.info.launches)
        arrays = (TraceArray(kernel, 512, 4096, "<i4", (1024,)),)
        info = replace(plain.info, kernel=kernel, launches=launches, sites=sites, arrays=arrays)
        return explanation(run(Trace(info, batches), machine, what_if=False))

    return of


@pytest.fixture(scope="module")
def elements(page):
    """Of a page with plain texts."""
    return Elements(page("a = b;", "k.cu", "k")).found


@examples(10)
@given(source=TEXTS, file=TEXTS, kernel=TEXTS)
def test_hostile_texts_add_no_element_to_a_page(page, elements, source, file, kernel):
    """And what a browser reads of its data has them as they are, but for what is cut."""
    text = page(source, file, kernel)
    assert Elements(text).found == elements
    data_of(text)
    text.encode("utf-8")
