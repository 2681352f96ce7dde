"""Problems in Kernel Tuner's T1, and what stands behind `tune`: read and searched, or refused in one line.

Nothing is compiled or simulated here: a trial's time is drawn from its configuration.
"""

import json

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from simtmm.__main__ import main
from simtmm.analysis.tuning import search
from tests.analysis.test_tuning import PROBLEM, SCALE
from tests.examples import examples
from tests.fuzz.bounds import bounded, check_line, read_or_refused
from tests.fuzz.mutations import WORST, Many, changed_bytes, changed_documents, drawn_from
from tests.fuzz.targets.problems import FLAGS, TEXTS_OF_T1, WORDS, changed_space, changed_specification, searched, timed


@pytest.fixture(scope="module")
def problem_file(folder):
    (folder / "scale.cu").write_text(SCALE)
    return folder / "problem.json"


def test_the_problem_that_is_changed_has_configurations(problem_file):
    problem_file.write_text(json.dumps(PROBLEM))
    assert searched(problem_file) == (4, 2)


@examples(150)
@example(content=changed_specification(Arguments=[{"Type": [], "MemoryType": "Scalar"}]))
@example(
    content=changed_specification(Arguments=[{"Type": "int32", "MemoryType": "Scalar", "FillValue": float("inf")}])
)
@example(content=changed_space(Values="range(0, 9" + "9" * 5000 + ")"))
@example(content=changed_space(Values="[0.5, 1" + "0" * 400 + "]"))
@given(
    content=changed_documents(Many([PROBLEM]), drawn_from(WORST, TEXTS_OF_T1, TEXTS_OF_T1))
    | changed_bytes(Many([json.dumps(PROBLEM).encode()]))
)
def test_a_problem_is_searched_or_refused(problem_file, content):
    problem_file.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    read_or_refused(lambda: searched(problem_file))


@examples(60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.sampled_from(["vector-add", "vector-add", "p.json", "none", "s.sqlite"]),
    st.sampled_from([["--over", "side=4,16"], ["--over", "side=4:8"], []]),
    st.lists(st.tuples(st.sampled_from(FLAGS), st.sampled_from(WORDS)), max_size=3),
    st.sampled_from([[], ["--json"]]),
)
def test_words_of_a_search_give_its_table_or_one_line(tmp_path, monkeypatch, capfd, kernel, over, words, form):
    (tmp_path / "scale.cu").write_text(SCALE)
    (tmp_path / "p.json").write_text(json.dumps(PROBLEM))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(search, "screened", lambda subject, configuration, is_bounded=False: 0.0)
    for each in ("tried", "attempted"):
        monkeypatch.setattr(search, each, timed)
    given = [each for pair in words for each in pair]
    line = ["simtmm", "tune", kernel, "-m", "gtx480", "--store", "s.sqlite", "-j", "1", *over, *given, *form]
    monkeypatch.setattr("sys.argv", line)
    with bounded(), pytest.raises(SystemExit) as caught:
        main()
    out, err = capfd.readouterr()
    assert caught.value.code in (0, 2)
    assert "Traceback" not in err
    if caught.value.code == 2:
        (complaint,) = (each for each in err.splitlines() if each.startswith("simtmm: error: "))
        check_line(complaint.removeprefix("simtmm: error: "))
    elif form:
        json.loads(out)
