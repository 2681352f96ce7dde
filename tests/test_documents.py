"""Documents that users write are read or refused in one line, and soon, whatever a file holds."""

import dataclasses
import math
import os
import threading
from pathlib import Path

import pytest

from simtmm.analysis.prediction.equations import fit
from simtmm.calibration.csv_rows import read_rows
from simtmm.calibration.micro_rows import load_micro
from simtmm.cuda.build import build
from simtmm.cuda.compilers import load_module
from simtmm.documents import (
    DEEPEST,
    LARGEST_TOML,
    LONGEST_CODE_LINE,
    MOST_CODE_LINES,
    MOST_LINES,
    MOST_ROWS,
    as_float,
    parsed_json,
    parsed_toml,
    read_json,
    read_toml,
)
from simtmm.errors import MachineError, SimtmmError, StudyError
from simtmm.machine import load_machine
from simtmm.measurement.timings import load_timings
from simtmm.programs.building.main_function import has_main
from simtmm.recorder.compiled.launches_file import load_launches
from simtmm.scripts.run import _source
from simtmm.study.design.study_file import read_study
from simtmm.trace.io import Trace, load_trace
from tests.study.programs import trace

REPRO = Path(__file__).parents[2] / "shared" / "repro"
READERS = {"machine": load_machine, "study": read_study, "launches": load_launches}


@pytest.fixture
def file(tmp_path):
    """A file with that content."""

    def make(content, name="x.toml"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


def refusal(call, *arguments):
    with pytest.raises(SimtmmError) as caught:
        call(*arguments)
    message = str(caught.value)
    assert message.isprintable()
    return message


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (f"n = 0x1{'0' * 16}", "n = 18446744073709551616: must be a whole number from -2^63 to 2^64 - 1"),
        ("n = 0x" + "f" * 6000, "n = 2^23999...: must be a whole number from -2^63 to 2^64 - 1"),
        ("[axes]\nn = [1, -9223372036854775809]", "axes.n[1] = -9223372036854775809: must be a whole number from"),
        ("n = " + "9" * 5000, "Exceeds the limit (4300 digits) for integer string conversion"),
        ("a.b = 2026-11-22", "a.b = datetime.date(2026, 11, 22): must be a number, a text, true or false, a list or"),
        ("a = 12:30:00", "a = datetime.time(12, 30): must be a number, a text, true or false, a list or a table"),
        ("x = 1\n" + ".".join("a" * 33) + " = 1", "line 2: 'a.a.a.a.a.a.a.a.a.a.a.a.a.a...a.a.a.a.a.a.a.a.a.a.a.a"),
        ("[" + '"a" . ' * 40 + "b]", "line 1: "),
        ("a = " + "[" * 40 + "]" * 40, "must be nested at most 32 deep"),
        ("a = " + "[" * 5000 + "]" * 5000, "must be nested at most 32 deep"),
        ("a = " + "{a=" * 2000 + "1" + "}" * 2000, "must be nested at most 32 deep"),
    ],
)
@pytest.mark.parametrize("reader", READERS)
def test_toml_of_other_numbers_and_depths_is_refused(file, reader, text, said):
    path = file(text)
    assert refusal(READERS[reader], path).startswith(f"{path}: is not TOML ({said}")


def test_numbers_of_64_bits_and_some_depth_are_read():
    assert parsed_toml(f"a = {2**64 - 1}\nb = {-(2**63)}") == {"a": 2**64 - 1, "b": -(2**63)}
    deep = "[" * DEEPEST + "]" * DEEPEST
    assert len(parsed_toml(f"a = {deep[1:-1]}")["a"]) == 1
    assert parsed_toml(".".join("a" * DEEPEST) + " = 1")
    assert parsed_toml('a = "' + "x." * 31 + '"')


def test_a_key_of_many_parts_is_refused_at_once(file):
    """Python's parser takes 7 s for 20,000 parts, and a hundred times that for ten times as many."""
    path = file("a." * 200_000 + "a = 1")
    assert "a key must have at most 32 parts" in refusal(load_machine, path)


def test_toml_of_empty_lines_alone_is_refused_before_it_is_parsed(tmp_path, monkeypatch):
    path = tmp_path / "empty.toml"
    path.write_bytes(b"\n" * (MOST_LINES + 1))
    monkeypatch.setattr("tomllib.loads", None)
    with pytest.raises(MachineError, match=r"empty\.toml: has 524,289 lines: must have at most 524,288$"):
        read_toml(path, MachineError)


TABLES = {
    "measured times": load_timings,
    "a column to fit": lambda path: fit(path, "seconds", "n"),
    "a pointer chase": lambda path: read_rows(path, None, ["gpu"]),
    "micro-benchmarks": load_micro,
}


@pytest.mark.parametrize("read", TABLES.values(), ids=TABLES)
def test_csv_of_empty_lines_alone_is_refused_before_it_is_parsed(read, file, monkeypatch):
    path = file(b"\n" * (MOST_ROWS + 1), "empty.csv")
    monkeypatch.setattr("csv.DictReader", None)
    assert refusal(read, path) == f"{path}: has 2,097,153 lines: must have at most 2,097,152"


CODE = {
    "PTX": (load_module, "k.ptx"),
    "CUDA": (lambda path: build([path], 80), "k.cu"),
    "a program": (has_main, "k.cu"),
    "a script": (_source, "k.py"),
}


@pytest.mark.parametrize(("read", "name"), CODE.values(), ids=CODE)
def test_code_of_empty_lines_alone_is_refused_before_it_is_compiled(read, name, file):
    path = file(b"\n" * (MOST_CODE_LINES + 1), name)
    assert refusal(read, path) == f"{path}: has 4,194,305 lines: must have at most 4,194,304"


@pytest.mark.parametrize("read", [CODE["CUDA"][0], has_main])
def test_cuda_on_a_line_that_nobody_writes_is_refused_before_it_is_compiled(read, file):
    path = file(b"\n" + b"/" * (LONGEST_CODE_LINE + 1), "k.cu")
    assert refusal(read, path) == f"{path}: a line is too long: must be at most 1 MiB"


def test_comments_that_are_begun_and_never_ended_are_read_once(file):
    """Each was looked for the end of, which took an hour for so many."""
    path = file(b"/*" * 300_000, "k.cu")
    assert not has_main(path)


@pytest.mark.parametrize("read", [read_toml, read_json])
def test_a_pipe_that_nobody_writes_to_is_refused_at_once_and_one_with_a_writer_is_waited_for(read, tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    with pytest.raises(MachineError, match=r"pipe: is a pipe without a writer: must be a file$"):
        read(path, MachineError)
    text = {read_toml: b"a = 1\n", read_json: b'{"a": 1}'}[read]
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)  # so that a writer does not wait
    writer = os.open(path, os.O_WRONLY)
    os.close(reader)
    late = threading.Timer(0.2, lambda: (os.write(writer, text), os.close(writer)))
    late.start()
    assert read(path, MachineError) == {"a": 1}
    late.join()


def test_a_file_that_never_ends_is_refused():
    assert refusal(read_toml, "/dev/zero", StudyError) == "/dev/zero: is too large: must be at most 4 MiB"


def test_a_file_that_is_too_large_is_refused(file):
    path = file("#" * LARGEST_TOML + "\n")
    assert refusal(read_toml, path, StudyError) == f"{path}: is too large: must be at most 4 MiB"
    assert read_toml(file("#" * (LARGEST_TOML - 1) + "\n"), StudyError) == {}


def test_a_mark_of_the_byte_order_is_no_part_of_the_text(file):
    assert read_toml(file("\ufeffa = 1"), StudyError) == {"a": 1}
    path = file("\ufeffkernel,machine,seconds\nstream,v100,1\n", "t.csv")
    assert [time.kernel for time in load_timings(path)] == ["stream"]


@pytest.mark.parametrize("name", ["no.toml", "a\0b.toml"])
def test_a_file_that_can_not_be_read_is_reported(tmp_path, name):
    assert "can't be read (" in refusal(read_toml, tmp_path / name, StudyError)


def test_a_line_that_is_not_utf_8_is_named(file):
    assert "is not TOML (line 3 is not UTF-8: invalid start byte)" in refusal(
        read_toml, file(b"a = 1\n\nb = '\xff'"), StudyError
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[{"kernel": 1, "kernel": 2}]', "key 'kernel' appears more than once"),
        ("[" * 100_000, "must be nested at most 32 deep"),  # deeper than any Python's parser goes
        ("[" * 40 + "]" * 40, "must be nested at most 32 deep"),
        (
            '[{"seconds": 1' + "0" * 400 + "}]",
            "[0].seconds = 100000000000000000...0000000000000000000: must",
        ),
    ],
)
def test_json_is_refused_likewise(file, text, said):
    path = file(text, "x.json")
    assert refusal(read_json, path, StudyError).startswith(f"{path}: is not JSON ({said}")


def test_json_whose_keys_come_once_is_read():
    assert parsed_json('{"a": {"b": 1}, "b": [{"b": 2}]}', once=True) == {"a": {"b": 1}, "b": [{"b": 2}]}


def test_a_csv_with_an_endless_field_is_refused(file):
    path = file("kernel,machine,seconds\nstream,v100," + "1" * 200_000 + "\n", "t.csv")
    assert refusal(load_timings, path) == f"{path}: is not CSV (field larger than field limit (131072))"
    path = file("kernel,machine,seconds" + "1" * 200_000 + "\n", "t.csv")
    assert refusal(load_timings, path) == f"{path}: is not CSV (field larger than field limit (131072))"


@pytest.mark.skipif(not REPRO.is_dir(), reason="the shared faults stand beside the project, not in it")
@pytest.mark.parametrize("name", ["machine_dotted.toml", "machine_hex.toml", "study_deep.toml", "study_hex.toml"])
def test_the_files_that_broke_it_are_refused(name):
    reader = load_machine if name.startswith("machine") else read_study
    assert refusal(reader, REPRO / name).startswith(f"{REPRO / name}: is not TOML (")


@pytest.mark.skipif(not REPRO.is_dir(), reason="the shared faults stand beside the project, not in it")
def test_the_trace_and_the_times_that_broke_it_are_refused():
    assert "can't be understood" in refusal(load_trace, REPRO / "trace_deep_metadata.parquet")
    assert "seconds = 100" in refusal(load_timings, REPRO / "timings_big.json")


def test_whole_numbers_that_simtmm_wrote_are_read_again():
    text = f'{{"parameters": {{"seed": {2**70}}}, "events": 1}}'
    assert parsed_json(text, own=["parameters"])["parameters"] == {"seed": 2**70}
    assert parsed_json(text, own=[])
    with pytest.raises(ValueError, match=r"parameters\.seed = 1180591620717411303424: must be a whole number"):
        parsed_json(text, own=["provenance"])


def test_a_trace_of_any_seed_is_read_again(tmp_path):
    result = trace()
    info = dataclasses.replace(result.info, parameters={"seed": 2**70})
    Trace(info, list(result.batches())).save(tmp_path / "t.parquet")
    assert load_trace(tmp_path / "t.parquet").info.parameters == {"seed": 2**70}


def test_a_number_of_any_size_is_a_floating_point_one():
    assert [as_float(value) for value in (10**400, -(10**400), 3, "2.5")] == [math.inf, -math.inf, 3.0, 2.5]
    with pytest.raises(ValueError, match="could not convert"):
        as_float("x")
