"""Data names no code to run: an evil host.py leaves a mark when it is run, and whatever names it, there is none."""

import dataclasses
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from simtmm.catalogue import names as known_names
from simtmm.study.design.design import Design, design_of
from simtmm.study.design.points import points_of
from simtmm.study.design.study_file import study_of
from simtmm.study.store.store import Store
from simtmm.trace.io import Trace
from tests.recorder.build import host
from tests.recorder.conftest import needs_compiler
from tests.study.programs import trace

REPRO = Path(__file__).parents[3] / "shared" / "repro" / "report_runs_code.sqlite"
STUDY = {"machines": ["ideal"], "compute": ["tmm"], "axes": {"memory.latency": "1:3"}}
NAMES = ["./evil", "evil", "kernels/evil", "../evil"]  # as data may name it, from where it lies


@pytest.fixture
def command(called, monkeypatch, tmp_path):
    """The command in this process, in an empty folder: status, output, errors."""
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    monkeypatch.setenv("SIMTMM_KERNEL_PATH", "")  # put back behind the test
    monkeypatch.setenv("SIMTMM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(known_names, "_told", set())

    return called


@pytest.fixture
def evil(tmp_path, command):
    """The kernel in a folder, and in ./kernels, whose host.py leaves a mark; and whether it has."""
    marker = tmp_path / "ran"
    text = f"open({str(marker)!r}, 'w').close()\n{host()}\n\ndef algorithm(p):\n    return 'fft', {{'N': 4}}\n"

    def make(*folders, name="evil"):
        for folder in folders:
            path = tmp_path / folder / name
            path.mkdir(parents=True)
            (path / "kernel.cu").write_text('#include "device.cuh"\n')
            (path / "host.py").write_text(text)
        return marker

    return make


@pytest.fixture
def marker(evil):
    """The mark of an evil kernel that lies wherever data could name it."""
    return evil("here", "here/kernels", ".")


@dataclasses.dataclass(frozen=True)
class Forged(Design):
    """A design that keeps another study than its own."""

    said: str = ""

    def document(self):
        return self.said


def stored(path, program, **changes):
    """A store of that program's study, as an older simtmm or an enemy would have written it."""
    design = design_of(study_of({"program": "list-ranking", "kind": "algorithm", "axes": {"n": "8:9"}}))
    fields = {field.name: getattr(design, field.name) for field in dataclasses.fields(Design)}
    with Store(path) as store:
        store.begin(Forged(**fields, said=json.dumps({"program": program, **STUDY, **changes})), (), {})
    return path


# --- traces -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_trace_that_names_a_kernel_is_predicted_without_it(command, marker, name):
    result = trace()
    Trace(dataclasses.replace(result.info, kernel=name), list(result.batches())).save("t.parquet")
    for words in (("predict", "t.parquet"), ("run", "t.parquet"), ("compare", "t.parquet"), ("threads", "t.parquet")):
        status, _, errors = command(*words, "--machine", "ideal")
        assert (status, errors) == (0, "")
    assert not marker.exists()


def test_a_trace_of_a_kernel_that_is_given_has_its_closed_form(command, marker):
    result = trace()
    Trace(dataclasses.replace(result.info, kernel="evil", parameters={"n": 4}), list(result.batches())).save(
        "t.parquet"
    )
    status, out, _ = command("predict", "t.parquet", "--kernel-path", "kernels", "--json")
    assert (status, json.loads(out)["algorithm"]) == (0, "fft")
    assert marker.exists()


# --- stores -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_a_store_that_names_a_kernel_is_reported_on_without_it(command, marker, name):
    status, out, errors = command("sweep", "report", stored("s.sqlite", name))
    assert (status, out) == (2, "")
    assert errors.startswith(f"simtmm: error: s.sqlite: program = {name!r}: is a ")
    assert errors.endswith("run the sweep again, into a new store\n")
    assert not marker.exists()


@pytest.mark.parametrize("name", NAMES)
def test_a_store_that_describes_a_kernel_is_reported_on_without_it(command, marker, name):
    kernel = {"name": name, "digest": "1", "parameters": {}}
    status, _, errors = command("sweep", "report", stored("s.sqlite", name, kind="kernel", kernel=kernel))
    assert (status, errors) == (0, "")
    assert not marker.exists()


def test_a_store_is_reported_on_when_its_kernel_is_gone(command, marker):
    design = design_of(study_of({"program": "./evil", **STUDY}))
    with Store("s.sqlite") as store:
        run = store.begin(design, points_of(design), {})
        for point in points_of(design):
            store.put(point.key, {"tmm": {"cycles": 5.0, "bound": "memory"}}, {}, run)
    shutil.rmtree("evil")
    marker.unlink()
    status, out, errors = command("sweep", "report", "s.sqlite", "--json")
    assert (status, errors, json.loads(out)["rows"]) == (0, "", 3)
    assert "tmm.cycles" in json.loads(out)["columns"]
    assert not marker.exists()


def test_an_old_store_of_a_kernel_that_is_given_is_read_and_the_kernel_is_not_run(command, marker):
    status, _, errors = command("sweep", "report", stored("s.sqlite", "evil"), "--kernel-path", "kernels")
    assert (status, errors) == (0, "")
    assert not marker.exists()


def test_an_old_store_of_a_kernel_that_only_running_tells_is_reported(command, marker):
    path = Path("kernels", "evil", "host.py")
    path.write_text(path.read_text().replace("PARAMETERS =", "PARAMETERS = {} |"))
    status, _, errors = command("sweep", "report", stored("s.sqlite", "evil"), "--kernel-path", "kernels")
    assert status == 2
    assert "its parameters are known only by running " in errors
    assert not marker.exists()


@pytest.mark.skipif(not REPRO.is_file(), reason="the shared faults stand beside the project, not in it")
def test_the_store_that_ran_code_runs_none(command, marker):
    shutil.copy(REPRO, "x.sqlite")
    Path("x.sqlite").chmod(0o600)
    status, _, errors = command("sweep", "report", "x.sqlite")
    assert (status, errors.count("\n")) == (2, 1)
    assert "x.sqlite: program = './evil': is a path" in errors
    assert not marker.exists()


@pytest.mark.parametrize(
    ("said", "told"), [("[" * 5000, "has invalid JSON"), ("3", "has 3: must be an object"), ("{", "has invalid JSON")]
)
def test_a_store_whose_study_is_none_is_refused(command, said, told):
    design = design_of(study_of({"program": "list-ranking", "kind": "algorithm", "axes": {"n": "8:9"}}))
    fields = {field.name: getattr(design, field.name) for field in dataclasses.fields(Design)}
    with Store("s.sqlite") as store:
        store.begin(Forged(**fields, said=said), (), {})
    status, _, errors = command("sweep", "report", "s.sqlite")
    assert (status, errors.count("\n")) == (2, 1)
    assert told in errors


# --- study files ------------------------------------------------------------------------------------------------------


def study_file(program, **more):
    lines = {"program": program, "machines": ["ideal"], "compute": ["tmm"], **more}
    Path("s.toml").write_text("\n".join(f"{key} = {json.dumps(value)}" for key, value in lines.items()))
    return "s.toml"


@pytest.mark.parametrize("kind", [{}, {"kind": "kernel"}])
@pytest.mark.parametrize("name", [*NAMES, "absolute"])
def test_a_study_file_names_no_kernel_that_is_not_given(command, marker, name, kind):
    name = str(Path("evil").resolve()) if name == "absolute" else name
    status, out, errors = command("sweep", study_file(name, **kind))
    assert (status, out, errors.count("\n")) == (2, "", 1)
    assert errors.startswith(f"simtmm: error: s.toml: program = {name!r}: is a ")
    assert "--kernel-path " in errors
    assert not marker.exists()


@pytest.mark.parametrize("name", ["l.toml", "./l.toml", "k.cu", "k.ptx", "x.py"])
def test_a_study_file_names_no_program(command, marker, name):
    Path("l.toml").write_text('source = "k.cu"\n[[launch]]\ngrid = 1\nblock = 1\n')
    for path in ("k.cu", "k.ptx", "x.py"):
        Path(path).write_text(f"open({str(marker)!r}, 'w').close()\n")
    status, out, errors = command("sweep", study_file(name))
    assert (status, out, errors.count("\n")) == (2, "", 1)
    assert errors.startswith(f"simtmm: error: s.toml: {name!r}: not a kernel, trace or algorithm")
    assert not marker.exists()


@pytest.mark.parametrize("name", [*NAMES, "absolute"])
def test_a_file_of_kernels_names_no_kernel_that_is_not_given(command, marker, name):
    name = str(Path("evil").resolve()) if name == "absolute" else name
    Path("kernels.toml").write_text(f'[k]\nsource = {json.dumps(name)}\nmachine = "ideal"\n')
    status, out, errors = command("diff", "--baseline", "perf.json", "kernels.toml")
    assert (status, out, errors.count("\n")) == (2, "", 1)
    assert errors.startswith(f"simtmm: error: kernels.toml: k.source = {name!r}: is a ")
    assert not marker.exists()


@pytest.mark.parametrize("name", ["evil", "kernels/evil"])
def test_a_study_file_names_a_kernel_that_is_given(command, marker, name):
    status, _, errors = command("sweep", study_file(name), "--dry-run", "--kernel-path", "kernels")
    assert (status, errors) == (0, "")
    assert marker.exists()


def test_a_study_file_names_an_algorithm_whatever_lies_beside_it(command, evil):
    marker = evil("here", "here/kernels", name="list-ranking")
    Path("s.toml").write_text('program = "list-ranking"\n[axes]\nn = "8:9"\n')
    status, _, errors = command("sweep", "s.toml", "--dry-run")
    assert (status, errors) == (0, "")
    assert not marker.exists()


@pytest.mark.parametrize("name", NAMES)
def test_a_study_files_report_runs_no_kernel(command, marker, name):
    stored("s.sqlite", name)
    assert command("sweep", "report", study_file(name))[0] == 2
    stored("s.sqlite", name, kind="kernel", kernel={"name": "evil", "digest": "1", "parameters": {}})
    status, _, errors = command("sweep", "report", study_file(name))
    assert (status, errors) == (0, "")
    assert not marker.exists()


def test_a_store_of_another_program_is_reported(command, marker):
    stored("s.sqlite", "stream", kind="kernel", kernel={"name": "stream", "digest": "1", "parameters": {}})
    status, _, errors = command("sweep", "report", study_file("evil"))
    assert (status, errors) == (2, "simtmm: error: s.toml: program = 'evil': s.sqlite has points of 'stream'\n")
    assert not marker.exists()


# --- measured times ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_measured_times_name_no_kernel_that_is_not_given(command, marker, name):
    Path("m.csv").write_text(f"kernel,machine,seconds\n{name},gtx280,1e-3\n")
    status, out, errors = command("sweep", "compare", "--measured", "m.csv")
    assert (status, out, errors.count("\n")) == (2, "", 1)
    assert errors.startswith(f"simtmm: error: m.csv: line 2: kernel = {name!r}: is a ")
    assert not marker.exists()


# --- the list, and names that are typed -------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [(), ("--json",), ("--kernel-path", "kernels")])
def test_the_list_of_kernels_runs_none(command, marker, words):
    status, out, errors = command("kernels", *words)
    assert (status, errors) == (0, "")
    assert "evil" in out
    assert not marker.exists()


def test_a_kernel_of_the_working_directory_is_shown_by_name_and_not_run(command, marker):
    status, out, errors = command("kernels", "evil")
    assert (status, errors) == (0, "")
    assert out.splitlines()[-1] == "algorithm: fft (see `simtmm paper predict fft`)"
    assert not marker.exists()


def test_a_kernel_that_is_named_by_its_path_is_shown_with_its_symbols(command, marker):
    out = command("kernels", "kernels/evil")[1]
    assert out.splitlines()[-1] == "algorithm: fft, by default with N=4 (see `simtmm paper predict fft`)"
    assert marker.exists()


@needs_compiler
def test_a_kernel_of_the_working_directory_hides_no_shipped_one(command, evil, caplog):
    marker = evil("here/kernels", name="stream")
    status, out, _ = command("run", "stream", "-p", "n=64", "--machine", "ideal")
    assert (status, out.partition(" ")[0]) == (0, "stream")
    assert [record.getMessage() for record in caplog.records] == [
        "kernel stream: using the shipped one, not kernels/stream; to use that one, give its path or "
        "--kernel-path kernels"
    ]
    assert not marker.exists()


def test_which_kernel_is_taken_is_reported_on_standard_error(evil, tmp_path):
    evil("here/kernels", name="stream")
    done = subprocess.run(
        [sys.executable, "-m", "simtmm", "kernels", "stream"], cwd=tmp_path / "here", capture_output=True, text=True,
        check=False, env={"PYTHONPATH": str(Path(__file__).parents[2]), "PATH": ""},
    )  # fmt: skip
    assert done.returncode == 0
    assert done.stderr == (
        "simtmm: kernel stream: using the shipped one, not kernels/stream; to use that one, give its path or "
        "--kernel-path kernels\n"
    )
