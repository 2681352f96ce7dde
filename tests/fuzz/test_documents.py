"""Machines, workloads, studies and files of launches with anything in them are read, or refused in one line."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm import Workload, load_machine, load_workload, simulate
from simtmm.machine import machine_toml
from tests.examples import examples
from tests.fuzz.bounds import read_or_refused
from tests.fuzz.mutations import WORST, WORST_OF_TOML, Many, changed_bytes, changed_documents, drawn_from, toml
from tests.fuzz.targets.documents import (
    CONDITIONS,
    KEYS,
    LAUNCHES,
    MACHINES,
    RANGES,
    SHIPPED,
    SPELLED,
    STUDIES,
    WORKLOADS,
    as_json,
    designed,
    laid_out,
    used_machine,
    with_keys,
)  # fmt: skip
from tests.study.programs import write

OF_TOML = drawn_from(WORST_OF_TOML)


@pytest.fixture(scope="module")
def study_folder(folder):
    """The folder with the trace and the machine that studies name."""
    return folder if (folder / "traced.parquet").exists() else write(folder)


CHANGES = st.lists(st.tuples(st.sampled_from(KEYS), OF_TOML), min_size=1, max_size=3)
DRAWN_MACHINES = st.one_of(
    changed_bytes(Many([toml(tables) for tables in MACHINES] + SHIPPED)),
    changed_documents(Many(MACHINES), OF_TOML).map(toml),
    st.builds(with_keys, st.sampled_from(Many(MACHINES)), CHANGES).map(toml),
)


@examples(200)
@given(DRAWN_MACHINES)
def test_a_machine_is_read_or_refused(folder, content):
    path = folder / "m.toml"
    path.write_bytes(content)
    read_or_refused(lambda: used_machine(path), path)


@examples(100)
@given(st.dictionaries(st.sampled_from([*KEYS, "cores", "sources.x", "a.b.c", ""]), drawn_from(WORST), max_size=3))
def test_a_changed_machine_is_made_or_refused(changes):
    read_or_refused(lambda: machine_toml(load_machine("gtx280").replace(changes)))


@pytest.mark.parametrize("tables", MACHINES, ids=lambda tables: tables["name"])
def test_the_machines_that_are_changed_are_read(folder, tables):
    path = folder / "m.toml"
    path.write_bytes(toml(tables))
    assert used_machine(path)


@pytest.mark.parametrize("document", WORKLOADS)
def test_the_workloads_that_are_changed_are_simulated(folder, document):
    path = folder / "w.json"
    path.write_bytes(as_json(document))
    assert simulate(load_machine("gtx280"), load_workload(path), "fast").ticks > 0


@examples(100)
@given(changed_bytes(Many(as_json(each) for each in WORKLOADS)) | changed_documents(Many(WORKLOADS)).map(as_json))
def test_a_workload_is_simulated_or_refused(folder, content):
    path = folder / "w.json"
    path.write_bytes(content)
    workload = read_or_refused(lambda: load_workload(path), path)
    if workload is not None:
        assert Workload.from_dict(workload.to_dict()) == workload
        read_or_refused(lambda: simulate(load_machine("gtx280"), workload, "fast"))


@examples(150)
@given(
    changed_bytes(Many(toml(tables) for tables in STUDIES))
    | changed_documents(Many(STUDIES), drawn_from(WORST_OF_TOML, RANGES, CONDITIONS)).map(toml)
)
def test_a_study_is_designed_or_refused(study_folder, content):
    path = study_folder / "s.toml"
    path.write_bytes(content)
    read_or_refused(lambda: designed(path), path)


@pytest.mark.parametrize("tables", STUDIES)
def test_the_studies_that_are_changed_can_be_computed(study_folder, tables):
    path = study_folder / "s.toml"
    path.write_bytes(toml(tables))
    assert designed(path) is not None


@examples(200)
@given(
    changed_bytes(Many([toml(LAUNCHES)]))
    | changed_documents(Many([LAUNCHES]), drawn_from(WORST_OF_TOML, SPELLED)).map(toml)
)
def test_launches_are_laid_out_or_refused(folder, content):
    path = folder / "l.toml"
    path.write_bytes(content)
    read_or_refused(lambda: laid_out(path), path)


def test_the_launches_that_are_changed_can_be_laid_out(folder):
    path = folder / "l.toml"
    path.write_bytes(toml(LAUNCHES))
    assert set(laid_out(path)) == {"x", "y", "z"}
