"""Names that a stranger chose, of kernels, files, arrays, machines and lines, are text wherever they are shown.

What explains a run is drawn from in tests/fuzz/test_pages.py.
"""

import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import pytest

import simtmm
from simtmm.report.page import Table, page
from simtmm.trace.io import Trace
from simtmm.trace.schema import TraceArray, TraceSite
from tests.fuzz.targets.pages import Elements
from tests.report.test_page import data_of
from tests.study.programs import MACHINE, trace

PLAIN = "plain"
HOSTILE = (
    '$\\frac{_ </script><script>alert(1)</script><img src=x onerror=alert(1)>" onmouseover="alert(1)\' \u2028\u202e<!--'
)
SCRIPTS = sorted(path for path in Path(simtmm.__file__).parent.rglob("*") if path.suffix in {".js", ".html"})


def named(name):
    """A trace, a machine and a run in which everything is called so."""
    plain = trace(blocks=2, threads=8, rounds=1)
    sites = tuple(
        TraceSite(number, kind, name, number + 1, name) for number, kind in enumerate(("work", "load", "work"))
    )
    launches = tuple(replace(launch, kernel=name) for launch in plain.info.launches)
    arrays = (TraceArray(name, 512, 4096, "<i4", (1024,)),)
    info = replace(plain.info, kernel=name, launches=launches, sites=sites, arrays=arrays)
    renamed = Trace(info, list(plain.batches()))
    machine = simtmm.load_machine("gtx480").replace({"name": name})
    return {"Trace": renamed, "Machine": machine, "Run": simtmm.run(renamed, machine, what_if=False)}


@pytest.fixture(scope="module")
def plain():
    return named(PLAIN)


@pytest.fixture(scope="module")
def hostile():
    return named(HOSTILE)


@pytest.mark.parametrize("kind", ["Trace", "Machine", "Run"])
def test_a_notebook_shows_them_without_an_element_of_theirs(kind, plain, hostile):
    shown = hostile[kind]._repr_html_()
    assert Elements(shown).found == Elements(plain[kind]._repr_html_()).found
    assert "<img src=x onerror=alert(1)>" in unescape(shown)
    assert not re.search("[\u2028\u202e]", shown)


@pytest.mark.parametrize("kind", ["Trace", "Machine", "Run"])
def test_a_value_is_told_in_a_line_of_text(kind):
    """As a terminal takes it; in a notebook the same stands for those who show no HTML."""
    assert re.search(r"evil\\x1b\[2J\\u2028\\u202e", repr(named("evil\x1b[2J\u2028\u202e")[kind]))


def test_a_picture_draws_them_as_they_are(plain, hostile, tmp_path):
    """`$` begins a formula elsewhere."""
    found = []
    for values in (plain, hostile):
        values["Run"].plot().save(tmp_path / "picture.svg")
        found.append({tag for tag, *_ in Elements((tmp_path / "picture.svg").read_text(encoding="utf-8")).found})
    assert not {"script", "img"} & found[1]
    assert found[1] <= found[0] | {"use", "path", "defs"}  # of letters


def test_a_studys_page_holds_them_as_data(tmp_path):
    pages = []
    for name, program in ((PLAIN, "plain"), (HOSTILE, '$_{ <img src=x onerror=alert(1)>" onmouseover="\u2028\u202e')):
        (tmp_path / "machine.toml").write_text(MACHINE.replace('"small"', json.dumps(name)), encoding="utf-8")
        trace(blocks=2, threads=8, rounds=1).save(tmp_path / f"{program}.parquet")
        tables = {"program": str(tmp_path / f"{program}.parquet"), "machines": [str(tmp_path / "machine.toml")]}
        study = simtmm.sweep({**tables, "axes": {"memory.latency": [100, 200]}}, workers=1)
        pages.append(page(Table.from_study(study)))
    assert Elements(pages[1]).found == Elements(pages[0]).found
    assert "<img" in json.dumps(data_of(pages[1]))


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_no_script_of_a_page_makes_elements_of_a_text(path):
    text = path.read_text(encoding="utf-8")
    assert re.findall(r"\b(?:innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval|new Function)\b", text) == []
