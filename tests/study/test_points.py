"""Plans: a study file's points, in order, each with a key of its content."""

import pytest

from simtmm.errors import KernelError, MachineError, StudyError
from simtmm.machine import load_machine
from simtmm.study.design.design import design_file, design_of, is_machine_key, whole_key
from simtmm.study.design.in_common import in_common, scales
from simtmm.study.design.points import points_of
from simtmm.study.design.study_file import read_study, study_of
from simtmm.study.sweep import evaluation_of
from tests.study.programs import designed, write


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write(tmp_path_factory.mktemp("plan"))


def made(**tables):
    return design_of(study_of({"program": "list-ranking-wyllie", **tables}))


def test_points_come_in_the_order_of_the_axes_the_last_changing_fastest():
    points = points_of(made(machines=["ideal", "gtx280"], axes={"n": [64, 128], "memory.latency": "100,200"}))
    assert [tuple(point.axes.values()) for point in points] == [
        (machine, n, latency) for machine in ("ideal", "gtx280") for n in (64, 128) for latency in (100, 200)
    ]
    assert [point.number for point in points] == list(range(8))


def test_a_point_has_the_machine_and_all_parameters():
    (point,) = points_of(
        made(machines=["gtx280"], parameters={"n": 64}, set={"memory.latency": 77}, axes={"threads": 32})
    )
    assert point.machine == load_machine("gtx280").replace({"memory.latency": 77})
    assert point.parameters == {"n": 64, "threads": 32, "order": "random", "seed": 0}
    assert point.axes == {"threads": 32}  # one machine is no axis
    assert not point.skipped


def test_what_all_points_have_in_common_is_known_and_how_axes_go():
    one = made(
        machines=["gtx280"],
        parameters={"threads": 64},
        set={"memory.latency": "x2"},
        axes={"n": "64:1024:times:2", "cores.max_threads_per_core": [1, 2]},
        sample={"points": 2, "axes": {"memory.service": "1:4:log"}},
    )
    assert in_common(one) == {"threads": 64, "order": "random", "machine": "GeForce GTX 280 (memory.latency x2)"}
    assert scales(one) == {"n": "log", "memory.service": "log"}
    two = made(machines=["gtx280", "gtx480"], set={"memory.latency": 100})
    assert in_common(two) == {"n": 4096, "threads": 128, "order": "random", "memory.latency": 100}


def test_nested_tables_of_a_study_file_are_dotted_keys(tmp_path):
    path = tmp_path / "s.toml"
    path.write_text(
        'program = "list-ranking-wyllie"\n[set]\nscheduling.scheduler = "oldest"\n'
        '[axes]\nmemory.latency = "100:300:linear:3"\nn = [64]\n',
        encoding="utf-8",
    )
    points = points_of(design_of(*read_study(path)))
    assert [point.axes for point in points] == [{"memory.latency": latency, "n": 64} for latency in (100, 200, 300)]
    assert {point.machine.scheduling.scheduler for point in points} == {"oldest"}


def test_paths_are_told_from_the_study_files_folder(folder, monkeypatch):
    monkeypatch.chdir(folder.parent)
    (folder / "s.toml").write_text('program = "traced.parquet"\nmachines = ["small.toml"]\n', encoding="utf-8")
    found = design_of(*read_study(folder / "s.toml"))
    assert (found.subject.kind, found.subject.name) == ("trace", "traced")
    assert points_of(found)[0].machine.name == "small"


def test_ranges_of_whole_keys_and_parameters_are_rounded():
    found = made(machines=["ideal"], axes={"cores.groups": "1:10:log:3", "n": "10:100:log:3"})
    assert [point.axes["n"] for point in points_of(found)[:3]] == [10, 32, 100]
    assert [point.axes["cores.groups"] for point in points_of(found)[::3]] == [1, 3, 10]


@pytest.mark.parametrize(
    ("key", "whole"),
    [
        ("cores.groups", True), ("limits.blocks_per_group", True), ("memory.l1.sets", True), ("memory.latency", False),
        ("clock_hz", False), ("memory.l2.latency", False), ("ticks_per_cycle", True), ("scheduling.scheduler", False),
    ],
)  # fmt: skip
def test_which_keys_take_whole_numbers_only(key, whole):
    assert is_machine_key(key)
    assert whole_key(key) is whole


def test_same_content_same_key_whatever_the_name_and_the_way_there():
    one = points_of(made(machines=["ideal"], parameters={"n": "64"}, axes={"memory.latency": [100, 200]}))
    other = points_of(made(machines=["ideal"], axes={"n": [64.0]}, set={"memory.latency": 100.0, "cores.groups": 10}))
    assert one[0].key == other[0].key  # 100 is what the machine has
    assert one[0].key != one[1].key


@pytest.mark.parametrize(
    "change",
    [
        {"parameters": {"n": 65}},
        {"machines": ["gtx280"]},
        {"set": {"memory.latency": 99}},
        {"program": "stream"},
        {"engine": "reference"},
    ],
)
def test_other_content_other_key(change):
    base = {"program": "list-ranking-wyllie", "machines": ["ideal"], "parameters": {"n": 64}}
    assert points_of(design_of(study_of(base)))[0].key != points_of(design_of(study_of({**base, **change})))[0].key


def test_a_kernel_that_was_edited_has_other_keys(tmp_path):
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "kernel.cu").write_text("int one;\n", encoding="utf-8")
    host = "from simtmm.kernel import Parameter\nPARAMETERS = {}\ndef inputs(p): ...\ndef launches(p, m): ...\n"
    (folder / "host.py").write_text(f"{host}def check(p, b, a): ...\n", encoding="utf-8")
    before = points_of(design_of(study_of({"program": str(folder)})))[0].key
    assert points_of(design_of(study_of({"program": str(folder)})))[0].key == before
    (folder / "kernel.cu").write_text("int two;\n", encoding="utf-8")
    assert points_of(design_of(study_of({"program": str(folder)})))[0].key != before


def test_points_that_do_not_meet_a_constraint_are_kept_as_skipped():
    found = made(
        machines=["ideal"],
        axes={"threads": [32, 64, 128], "memory.latency": [100, 200]},
        constraints=["threads <= 64", "memory.latency * threads < 12800 or cores.groups == 3"],
    )
    assert [point.skipped for point in points_of(found)] == [
        "", "", "", "does not meet memory.latency * threads < 12800 or cores.groups == 3",
        "does not meet threads <= 64", "does not meet threads <= 64",
    ]  # fmt: skip


def test_points_whose_machine_is_refused_are_skipped_with_the_reason():
    found = made(machines=["ideal"], axes={"memory.transfers": ["serial", "pipelined"], "memory.service": [0, 2]})
    assert [bool(point.skipped) for point in points_of(found)] == [False, True, False, False]
    assert "memory.service = 2" in points_of(found)[1].skipped
    assert "serial" in points_of(found)[1].skipped


@pytest.mark.parametrize(
    ("tables", "error", "said"),
    [
        ({"axes": {"memory.latency": [-1]}}, MachineError, "memory.latency = -1"),
        ({"axes": {"threads": [0]}}, KernelError, "parameter threads = 0"),
        ({"axes": {"memory.latencyy": [1]}}, StudyError, "did you mean 'memory.latency'"),
        ({"axes": {"name": ["x"]}}, StudyError, "axis name: not a machine"),
        ({"axes": {"n": [64]}, "parameters": {"n": 3}}, StudyError, "axis n: also has a fixed value"),
        ({"axes": {"n": [64]}, "linked": [{"n": [3]}]}, StudyError, "axis n: appears more than once"),
        ({"linked": [{}]}, StudyError, "linked"),
        ({"parameters": {"m": 3}}, StudyError, "parameter 'm': unknown"),
        ({"machines": ["gtx28"]}, MachineError, "did you mean 'gtx280'"),
        ({"machines": []}, StudyError, "machines"),
        ({"compute": ["tmmm"]}, StudyError, "did you mean 'tmm'"),
        ({"compute": ["measured"]}, StudyError, "needs a file"),
        ({"engine": "fats"}, StudyError, "did you mean 'fast'"),
        ({"constraints": ["threads <"]}, StudyError, "is not an expression"),
        ({"constraints": ["blocks < 3"]}, StudyError, "blocks: has no value"),
        ({"axis": {}}, StudyError, "did you mean 'axes'"),
        ({"program": "list-rankin"}, StudyError, "did you mean 'list-ranking'"),
        ({"sample": {"points": 0, "axes": {"n": "1:2"}}}, StudyError, "sample.points = 0"),
        ({"sample": {"axes": {"n": "1:2"}}}, StudyError, "sample.points: is missing"),
        ({"sample": {"points": 3, "axes": {}}}, StudyError, "at least one axis"),
        ({"sample": {"points": 3, "axes": {"n": "1:2"}, "sead": 1}}, StudyError, "did you mean 'sample.seed'"),
        ({"axes": {"memory.latency": "1:1001", "n": "1:1001"}}, StudyError, "1002001 points"),
    ],
)
def test_what_is_wrong_is_named(tables, error, said):
    with pytest.raises(error) as caught:
        points_of(made(**tables))
    assert said in str(caught.value)


def test_a_study_file_that_is_none_is_refused(tmp_path):
    with pytest.raises(StudyError, match=r"none\.toml: can't be read"):
        read_study(tmp_path / "none.toml")
    (tmp_path / "bad.toml").write_text("program =", encoding="utf-8")
    with pytest.raises(StudyError, match=r"bad\.toml: is not TOML"):
        read_study(tmp_path / "bad.toml")


def test_a_trace_takes_no_parameters(folder):
    with pytest.raises(StudyError, match="axis n: not a machine"):
        designed(folder, axes={"n": [1, 2]})


def test_a_kernel_comes_before_an_algorithm_of_its_name():
    assert design_of(study_of({"program": "fft"})).subject.kind == "kernel"
    found = design_of(study_of({"program": "fft", "kind": "algorithm", "parameters": {"N": 1024}}))
    assert found.subject.kind == "algorithm"
    assert found.compute == ("tmm", "pram")


def test_an_algorithm_is_not_simulated():
    with pytest.raises(StudyError, match="compute: 'simulated': unknown for algorithm"):
        design_of(study_of({"program": "list-ranking", "compute": ["simulated"]}))


def test_sampled_axes_are_crossed_with_the_others():
    found = made(
        machines=["ideal"],
        axes={"threads": [32, 64]},
        sample={"points": 5, "seed": 3, "axes": {"memory.latency": "100:1000:log"}},
    )
    latencies = [point.axes["memory.latency"] for point in points_of(found)]
    assert len(points_of(found)) == 10
    assert latencies[:5] == latencies[5:]
    assert found.axes == ("threads", "memory.latency")
    assert (found.crossed, found.sampled) == ((("threads",),), ("memory.latency",))


def test_points_of_another_engine_have_other_keys(monkeypatch):
    """What was computed before an edit is not what would be computed after it, whatever the version says."""
    before = points_of(made(machines=["ideal"]))[0].key
    monkeypatch.setattr("simtmm.provenance.sources", lambda *parts: "edited")
    assert points_of(made(machines=["ideal"]))[0].key != before


def test_an_error_in_a_study_file_names_the_file(tmp_path):
    path = tmp_path / "wrong.toml"
    path.write_text('program = "stream"\n[axes]\n"memory.latency" = []\n', encoding="utf-8")
    with pytest.raises(StudyError, match=r"wrong\.toml: axis memory\.latency: must have at least one value"):
        design_file(path)
    path.write_text('program = "stream"\n[parameters]\nn = "many"\n', encoding="utf-8")
    with pytest.raises(KernelError, match=r"wrong\.toml: kernel stream: parameter n = 'many'"):
        evaluation_of(design_file(path))
