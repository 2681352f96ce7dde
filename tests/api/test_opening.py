"""Names and paths do what objects do; what is none of them is one line that names the argument and what is allowed."""

import pytest

import simtmm
from simtmm.errors import EngineError, KernelError, MachineError, ModelError, StudyError, TraceError, WorkloadError

TRACE = "list-ranking-wyllie"


@pytest.fixture(scope="module")
def machine():
    return simtmm.load_machine("gtx480")


@pytest.fixture(scope="module")
def trace():
    return simtmm.load_trace(TRACE)


@pytest.fixture(scope="module")
def files(machine, trace, tmp_path_factory):
    """The same machine, trace and workload as files."""
    folder = tmp_path_factory.mktemp("files")
    (folder / "machine.toml").write_text(simtmm.machine.machine_toml(machine))
    trace.save(folder / "trace.parquet")
    simtmm.lower(trace, machine).save(folder / "workload.json")
    return folder


def test_lower_takes_names_and_paths(machine, trace, files):
    expected = simtmm.lower(trace, machine)
    assert simtmm.lower(TRACE, "gtx480") == expected
    assert simtmm.lower(files / "trace.parquet", str(files / "machine.toml")) == expected


def test_count_takes_names_and_paths(machine, trace, files):
    expected = simtmm.count(trace, machine)
    assert simtmm.count(TRACE, "gtx480") == expected
    assert simtmm.count(str(files / "trace.parquet"), files / "machine.toml", simtmm.lower(trace, machine)) == expected


@pytest.mark.parametrize("given", ["workload.json", "trace.parquet"])
def test_simulate_takes_the_path_of_a_workload_or_a_trace(machine, trace, files, given):
    expected = simtmm.simulate(machine, simtmm.lower(trace, machine))
    assert simtmm.simulate("gtx480", str(files / given)) == expected
    assert simtmm.simulate(files / "machine.toml", files / given) == expected


def test_simulate_lowers_a_trace_to_the_machine_that_is_given(trace):
    wide = simtmm.load_machine("gtx480").replace({"cores.warp_width": 64})
    assert simtmm.simulate(wide, trace) == simtmm.simulate(wide, simtmm.lower(trace, wide))
    assert simtmm.simulate(wide, TRACE).issued < simtmm.simulate("gtx480", TRACE).issued


def test_predict_takes_a_trace_in_the_place_of_its_counts(machine, trace, files):
    expected = simtmm.predict("tmm", machine, simtmm.count(trace, machine))
    for given in (trace, TRACE, files / "trace.parquet"):
        assert simtmm.predict("tmm", "gtx480", given) == expected


def test_a_trace_is_found_by_name_in_a_folder_that_the_user_gave(trace, tmp_path, monkeypatch):
    (tmp_path / "traces").mkdir()
    trace.save(tmp_path / "traces" / "mine.parquet")
    monkeypatch.setenv("SIMTMM_PATH", str(tmp_path))
    found = simtmm.load_trace("mine")
    assert found.info.kernel == trace.info.kernel
    assert found.to_table().equals(trace.to_table())


def test_a_file_comes_before_a_trace_of_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / TRACE).write_text("no trace")
    with pytest.raises(TraceError, match="is not a whole Parquet file"):
        simtmm.load_trace(TRACE)


REFUSED = {
    "machine": (MachineError, "machine = 480: must be a Machine, a machine's name, or a path to its file (.toml)"),
    "trace": (TraceError, "trace = 480: must be a Trace, a trace's name, or a path to its file (.parquet)"),
    "workload": (WorkloadError, "workload = 480: must be a Workload, a path to its file (.json), a Trace,"),
}


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: simtmm.simulate(480, TRACE), *REFUSED["machine"]),
        (lambda: simtmm.simulate("gtx480", 480), *REFUSED["workload"]),
        (lambda: simtmm.simulate("gtx480", TRACE, 480), EngineError, "engine 480: unknown; known: fast, reference"),
        (lambda: simtmm.simulate("gtx480", TRACE, ["fast"]), EngineError, "engine ['fast']: unknown"),
        (lambda: simtmm.simulate("gtx480", TRACE, scheduler=1), EngineError, "scheduler = 1: must be a function of"),
        (lambda: simtmm.simulate("gtx48", TRACE), MachineError, "machine 'gtx48': unknown; did you mean 'gtx480'"),
        (lambda: simtmm.simulate("gtx480", "list-rank"), TraceError, "trace 'list-rank': unknown; did you mean"),
        (lambda: simtmm.simulate("gtx480", "no.json"), WorkloadError, "no.json: can't be read"),
        (lambda: simtmm.lower(480, "gtx480"), *REFUSED["trace"]),
        (lambda: simtmm.lower(TRACE, 480), *REFUSED["machine"]),
        (lambda: simtmm.lower("no.parquet", "gtx480"), TraceError, "no.parquet: can't be read"),
        (lambda: simtmm.count(480, "gtx480"), *REFUSED["trace"]),
        (lambda: simtmm.count(TRACE, None), MachineError, "machine = None: must be a Machine"),
        (lambda: simtmm.count(TRACE, "gtx480", "w.json"), WorkloadError, "workload = 'w.json': must be the result of"),
        (lambda: simtmm.predict("tmm", 480, TRACE), *REFUSED["machine"]),
        (lambda: simtmm.predict("tmm", "gtx480", 480), ModelError, "counts = 480: must be Counts"),
        (lambda: simtmm.predict(480, "gtx480", TRACE), ModelError, "model = 480: must be one of pram, tmm"),
        (lambda: simtmm.run(480), KernelError, "source = 480: must be a kernel's name or folder"),
        (lambda: simtmm.run(TRACE, 480), *REFUSED["machine"]),
        (lambda: simtmm.record(480), KernelError, "kernel = 480: must be a kernel's name or folder, a file of"),
        (lambda: simtmm.record("stream", 480), KernelError, "parameters = 480: must be a dict of names and values"),
        (lambda: simtmm.record("stream", on=480), simtmm.SimtmmError, "recorder 480: unknown; known: cpu, gpu"),
        (lambda: simtmm.sweep(480), StudyError, "study = 480: must be a path to a study file (.toml), or a dict"),
        (lambda: simtmm.sweep({"axes": {}}), StudyError, "study: program: is missing"),
        (lambda: simtmm.compare(480, "gtx480"), StudyError, "sources = 480: must be names or folders of kernels"),
        (lambda: simtmm.compare(TRACE, 480), StudyError, "machines = 480: must be Machines, names, or paths"),
        (lambda: simtmm.compare(TRACE, [480]), *REFUSED["machine"]),
        (lambda: simtmm.compare(TRACE, ["gtx480", "gtx480"]), StudyError, "machines: 'gtx480': is given more"),
        (lambda: simtmm.calibrate(480), StudyError, "latency = 480: must be a path to a file of measurements (.csv)"),
        (lambda: simtmm.calibrate("l.csv", 480), StudyError, "stream = 480: must be a path to a file of measurements"),
        (lambda: simtmm.load_machine(480), MachineError, "machine = 480: must be a machine's name, or a path"),
        (lambda: simtmm.load_trace(480), TraceError, "trace = 480: must be a trace's name, or a path"),
        (lambda: simtmm.import_trace(480), TraceError, "source = 480: must be a path to another tool's trace"),
        (lambda: simtmm.load_workload(480), WorkloadError, "path = 480: must be a path to a workload (.json)"),
        (lambda: simtmm.load_kernel(480), KernelError, "kernel = 480: must be a kernel's name, or a path"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_one_line_that_says_what_would(call, error, message):
    with pytest.raises(error) as caught:
        call()
    assert str(caught.value).startswith(message)
    assert "\n" not in str(caught.value)
