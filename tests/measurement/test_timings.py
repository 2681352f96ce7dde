"""Measured times from files."""

import json

import pytest

from simtmm.errors import StudyError
from simtmm.measurement.timings import Timing, load_timings, matching, shipped_timings
from simtmm.result import Measurement, Quartiles
from simtmm.validation.cases.papers import printed


def written(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text if isinstance(text, str) else json.dumps(text))
    return path


def test_csv_with_parameters_in_one_column(tmp_path):
    path = written(tmp_path, "t.csv", "kernel,parameters,machine,seconds\ncopy,n=64; threads=32,gtx280,1.5e-3\n")
    assert load_timings(path) == [Timing("copy", "gtx280", 1.5e-3, {"n": "64", "threads": "32"})]


def test_csv_with_a_column_a_parameter(tmp_path):
    path = written(tmp_path, "t.csv", "seconds,kernel,machine,n\n2,copy,gtx280,64\n3,copy,gtx280,\n")
    assert [(time.seconds, time.parameters) for time in load_timings(path)] == [(2.0, {"n": "64"}), (3.0, {})]


def test_csv_may_begin_with_lines_of_comment(tmp_path):
    path = written(tmp_path, "t.csv", "# who,when\n# where\nkernel,machine,seconds\ncopy,gtx280,0\n")
    with pytest.raises(StudyError, match="line 4: seconds"):
        load_timings(path)
    path = written(tmp_path, "t.csv", "# who,when\nkernel,machine,seconds\ncopy,gtx280,2\n")
    assert load_timings(path) == [Timing("copy", "gtx280", 2.0, {})]
    with pytest.raises(StudyError, match="line 2: column 'kernel'"):
        load_timings(written(tmp_path, "t.csv", "# who\nmachine,seconds\n"))
    with pytest.raises(StudyError, match="column 'kernel'"):
        load_timings(written(tmp_path, "t.csv", "# who"))


@pytest.mark.parametrize("wrapped", [lambda entry: [entry], lambda entry: {"measurements": [entry]}, lambda e: e])
def test_json_as_a_list_under_a_key_or_alone(tmp_path, wrapped):
    entry = {"kernel": "copy", "machine": "gtx280", "seconds": 0.5, "parameters": {"n": 64}}
    assert load_timings(written(tmp_path, "t.json", wrapped(entry))) == [Timing("copy", "gtx280", 0.5, {"n": 64})]


def test_what_measure_writes_is_read(tmp_path):
    times = Quartiles.of([3e-5, 1e-5, 2e-5])
    measurement = Measurement("copy", {"n": 64}, "H200", (), times, times, 3, 1, True, {"device": "NVIDIA H200"}, "abc")
    assert load_timings(written(tmp_path, "t.json", measurement.to_dict())) == [Timing("copy", "H200", 2e-5, {"n": 64})]


def test_of_repetitions_the_median_is_taken(tmp_path):
    entry = {"kernel": "copy", "machine": {"name": "H200"}, "seconds": [3.0, 1.0, 2.0]}
    assert load_timings(written(tmp_path, "t.json", entry)) == [Timing("copy", "H200", 2.0)]


def test_a_time_belongs_to_what_has_its_kernel_machine_and_parameters():
    times = [
        Timing("copy", "gtx280", 1, {"n": "64"}),
        Timing("copy", "GeForce GTX 280", 1, {"n": 64.0}),
        Timing("copy", "gtx280", 1),
        Timing("copy", "gtx480", 1, {"n": 64}),
        Timing("stream", "gtx280", 1, {"n": 64}),
        Timing("copy", "gtx280", 1, {"n": 65}),
        Timing("copy", "gtx280", 1, {"order": "random"}),
        Timing("copy", "gtx280", 1, {"unheard-of": 1}),
    ]
    names = ("gtx280", "GeForce GTX 280")
    assert matching(times, "copy", {"n": 64, "order": "random"}, names) == [0, 1, 2, 6]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("t.csv", "kernel,seconds\n", "line 1: column 'machine' is missing"),
        ("t.csv", "kernel,machine,seconds\ncopy,a,-1\n", "line 2: seconds = '-1': must be a number above 0"),
        ("t.csv", "kernel,machine,seconds\ncopy,a,x\n", "line 2: seconds = 'x': must be a number above 0"),
        ("t.csv", "kernel,machine,seconds\ncopy,a\n", "line 2: must have 3 columns, like the header"),
        ("t.csv", "kernel,machine,seconds,parameters\ncopy,a,1,n\n", "line 2: parameters = 'n': must be NAME=VALUE"),
        ("t.csv", "kernel,machine,seconds,seconds\ncopy,a,1,2\n", "line 1: column 'seconds': appears more than once"),
        ("t.csv", "kernel,machine,seconds\ncopy,a," + "1" * 200_000, r"is not CSV \(field larger than field limit"),
        ("t.json", "[", "is not JSON"),
        ("t.json", [{"kernel": "c", "machine": "a", "seconds": 10**400}], r"is not JSON \(\[0\]\.seconds = 1000"),
        ("t.json", [{"kernel": "c", "machine": "a", "seconds": True}], r"\[0\]: seconds = True: must be a number"),
        (
            "t.json",
            '[{"kernel": "c", "machine": "a", "seconds": [1, NaN, 2]}]',
            r"seconds = \[1, nan, 2\]: must be a number above 0",
        ),
        ("t.json", "3", "must be a list of measured times"),
        ("t.json", [{"kernel": "copy", "machine": "a"}], r"\[0\]: seconds: is missing"),
        ("t.json", [3], r"\[0\]: 3: must be an object"),
        (
            "t.json",
            [{"kernel": "c", "machine": "a", "seconds": []}],
            r"\[0\]: seconds = \[\]: must be a number above 0",
        ),
    ],
)
def test_what_is_wrong_is_named_with_its_place(tmp_path, name, text, message):
    with pytest.raises(StudyError, match=message):
        load_timings(written(tmp_path, name, text))


def test_a_file_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(StudyError, match=r"none\.csv: can't be read \(No such file"):
        load_timings(tmp_path / "none.csv")


def test_a_parameter_that_is_there_by_its_old_name_as_well_is_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("kernel,machine,seconds,local_memory,shared_memory\nstream,gtx480,1,0,1\n", encoding="utf-8")
    with pytest.raises(StudyError, match=r"t\.csv: line 2: parameters\.local_memory: is the old name of shared_memory"):
        load_timings(path)


def test_the_papers_times_ship_and_go_by_name():
    times = load_timings("rehman-table-6.2")
    assert [(time.parameters["n"], time.seconds) for time in times][::6] == [
        ("262144", 0.773e-3),
        ("16777216", 82.542e-3),
    ]
    assert {"rehman-table-4.1", "rehman-table-6.2", "rehman-preorder", "ma-apsp"} <= set(shipped_timings())


def test_the_papers_times_are_those_of_the_reproductions():
    """The same numbers stand in traces/measured/papers.toml, which is compared with what was transcribed."""
    for name, table, key, unit in (
        ("rehman-table-6.2", "gtx280-local-ranking", "actual_ms", 1e-3),
        ("rehman-table-4.1", "gtx280-profile", "total_us", 1e-6),
    ):
        reported = printed(table)
        expected = {str(n): time * unit for n, time in zip(reported["n"], reported[key], strict=True)}
        assert {time.parameters["n"]: time.seconds for time in load_timings(name)} == pytest.approx(expected)


def test_a_file_of_that_name_comes_before_what_ships(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path, "ma-apsp", "kernel,machine,seconds\ncopy,gtx280,2\n")
    assert load_timings("ma-apsp") == [Timing("copy", "gtx280", 2.0, {})]


def test_a_name_that_does_not_ship_is_refused_with_those_that_do():
    with pytest.raises(StudyError, match=r"rehman-table-9: not a file, and .*rehman-table-6\.2"):
        load_timings("rehman-table-9")
