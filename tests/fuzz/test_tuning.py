"""Problems in Kernel Tuner's T1, and what stands behind `tune`: read and searched, or refused in one line.

Nothing is compiled or simulated here: a trial's time is drawn from its configuration.
"""

import json
import zlib

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from simtmm import load_machine
from simtmm.__main__ import main
from simtmm.analysis.tuning import search
from simtmm.analysis.tuning.space import Space
from simtmm.analysis.tuning.t1 import read_problem
from simtmm.analysis.tuning.trial import Subject, Trial, forget_kernels
from tests.analysis.test_tuning import PROBLEM, SCALE
from tests.examples import examples
from tests.fuzz.bounds import bounded, check_line, read_or_refused
from tests.fuzz.mutations import WORST, Many, changed_bytes, changed_documents, drawn_from

MACHINE = load_machine("v100")
TEXTS_OF_T1 = [
    "[1e400]", "[1, 2.5, 1" + "0" * 400 + "]", "range(0, 200000)", "range(0, 9" + "9" * 5000 + ")", "range(1, 10, 0)",
    "[True]", "[1, 'a']", "[" * 500, "(" * 5000, "-" * 5000 + "1", "['a' * 9]", "ProblemSize[0]", "ProblemSize[7]",
    "ceil(1 / 0)", "ceil(1e308 * 10)", "1e308 * 10 - 1e308 * 10", "min(1)", "max('a', 1)", "block_size_x.x", "tile",
    "block_size_x * " * 300 + "1", "1 if tile else 2", "'\\d' < 1", "__import__('os')", "(1, 2)", "-1", "0", "0.5",
    "Vector", "Scalar", "Random", "Constant", "Global", "Shared", "bool", "half", "double", "OpenCL", "scale.cu",
    "/dev/zero", "../scale.cu", "\0", ".", "-DX=1", "x" * 300, "seed", "class", "\u212b",
]  # fmt: skip


def changed_specification(**changes):
    """The problem with other entries of its kernel."""
    return {**PROBLEM, "KernelSpecification": {**PROBLEM["KernelSpecification"], **changes}}


def changed_space(**changes):
    """The problem with another first parameter."""
    first, *others = PROBLEM["ConfigurationSpace"]["TuningParameters"]
    return {**PROBLEM, "ConfigurationSpace": {"TuningParameters": [{**first, **changes}, *others]}}


def searched(path):
    """All that is made of a problem before anything is compiled."""
    forget_kernels()
    problem, subject = read_problem(path), Subject(str(path), {}, MACHINE, None, ())
    kept, excluded = Space(subject, problem.over, problem.where).admitted()
    kernel = subject.kernel
    parameters = kernel.resolve(kept[0])
    arrays = kernel.inputs(parameters)
    for launch in kernel.launches(parameters, arrays):
        assert all(size >= 1 for size in (*launch.grid, *launch.block))
    kernel.defines(parameters)
    return len(kept), excluded


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


WORDS = [
    "nan", "inf", "-1", "0", "1", "3%", "0.03", "100%", "1e308%", "%", "1e400", "9" * 5000, "", "none", "true", "a=b",
    "side=4", "side=4,16", "side=1:8", "side=1:8:log:3", "side=-1e308:1e308:linear:3", "side=1:1e9", "side=nan",
    "side=", "side=none", "side=true", "=4", "n=1:100000", "n=0:9223372036854775807", "n=" + "9" * 5000, "seed=1,2",
    "side < 8", "side * n < 1e6", "memory.latency > 3", "'x' * 9999999999 == 'y'", "(" * 300, "side", "zz > 1",
    "tmm", "roofline", "mwp-cwp", "written", "ptx", "compiled", "x\0y", "\udcff", "/dev/full", ".", "../x/y", "-", "--",
    "seconds", "seconds <= 1e-3", "seconds / side", "cycles * memory.latency", "cycles * zz", "memory.latency=200,400",
    "memory.zz=1", "cores.groups=2147483647", "tpe", "nsga2", "random",
]  # fmt: skip
FLAGS = [
    "--over",
    "--over",
    "--param",
    "--where",
    "--error",
    "--top",
    "--model",
    "--as",
    "--store",
    "--t4",
    "-j",
    "--set",
    "--minimise",
    "--sampler",
]


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
    monkeypatch.setattr(search, "screened", lambda subject, configuration: None)
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


def timed(subject, configuration, precision):
    """A trial, as a simulation would give it: its time by a hash of the configuration."""
    number = zlib.crc32(repr(sorted(configuration.items())).encode())
    if number % 7 == 0:
        return Trial(configuration, "failed", "does not run")
    cycles = float(number % 10_000)
    return Trial(
        configuration, cycles=cycles, seconds=cycles / 1e9 if number % 2 else None, error=precision / 2,
        precision=precision, bound="memory latency", predictions=dict.fromkeys(subject.models, cycles + 1),
        registers=8, blocks=1,
    )  # fmt: skip
