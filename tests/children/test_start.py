"""A tool run to its end: what it gets, what it gives, and what it may take."""

import contextlib
import os
import sys
import time

import psutil
import pytest

from simtmm.children import start
from simtmm.children.start import Limits, of_compilers, run
from simtmm.errors import CompilerError, LimitError

ROOMY = Limits(seconds=600.0, memory=8 << 30)


def python(script, **options):
    return run([sys.executable, "-c", script], limits=options.pop("limits", ROOMY), **options)


def test_a_tool_gives_its_status_and_what_it_prints_on_either_stream():
    done = python("import sys; print('out'); print('err', file=sys.stderr); sys.exit(3)")
    assert (done.status, done.text, done.complaints, done.log) == (3, "out\n", "err\n", "out\nerr")


def test_what_is_given_arrives_whole_while_as_much_comes_back():
    given = bytes(range(256)) * 20_000
    done = python("import sys; sys.stdout.buffer.write(sys.stdin.buffer.read()[::-1])", given=given)
    assert done.output == given[::-1]


def test_a_tool_that_takes_nothing_of_its_input_is_no_error():
    assert python("pass", given=bytes(1 << 22)).status == 0


def test_a_tool_works_in_the_folder_that_is_given_with_temporary_files_in_another(tmp_path):
    done = python("import os, tempfile; print(os.getcwd(), tempfile.gettempdir())", folder="/", scratch=tmp_path)
    assert done.text == f"/ {tmp_path}\n"


def test_a_tool_gets_the_variables_of_the_list_and_those_that_are_named(monkeypatch):
    monkeypatch.setenv("SIMTMM_PASS_VARIABLES", "MY_WRAPPER, OTHER")
    for name in ("MY_WRAPPER", "OTHER", "NOBODYS", "LC_MESSAGES", "CPATH", "NVCC_APPEND_FLAGS", "PYTHONSTARTUP"):
        monkeypatch.setenv(name, "C")
    given = set(python("import os; print(*os.environ)").text.split())
    assert {"MY_WRAPPER", "OTHER", "LC_MESSAGES", "CPATH", "PATH"} <= given
    assert not {"NOBODYS", "NVCC_APPEND_FLAGS", "PYTHONSTARTUP"} & given


def test_a_tool_that_takes_too_long_is_ended_with_what_it_started(tmp_path):
    script = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(3000)'])\n"
        f"open({str(tmp_path / 'child')!r}, 'w').write(str(child.pid))\n"
        "time.sleep(3000)\n"
    )
    with pytest.raises(
        LimitError, match=r"^python\S*: took longer than 5 s and was stopped \(SIMTMM_COMPILER_TIMEOUT\)$"
    ):
        python(script, limits=Limits(seconds=5.0, memory=8 << 30))
    if (tmp_path / "child").exists():  # else it was ended before it came so far
        with contextlib.suppress(psutil.NoSuchProcess):  # it has gone
            psutil.Process(int((tmp_path / "child").read_text())).wait(600)  # raises for one that goes on


def test_a_tool_that_prints_without_end_is_ended():
    with pytest.raises(LimitError, match=r"^python\S*: printed more than 100,000 bytes and was stopped$"):
        python("while True: print('x' * 1000)", limits=Limits(600.0, 8 << 30, output=100_000))


@pytest.mark.skipif(sys.platform != "linux", reason="Linux alone lets another process's limits be set")
def test_a_tool_has_so_much_memory_and_no_more():
    script = "import resource, sys\nsys.stdin.read(1)\nprint(resource.getrlimit(resource.RLIMIT_AS)[0])"
    assert python(script, given=b"x", limits=Limits(600.0, 3 << 30)).text == f"{3 << 30}\n"


def test_a_tool_that_leaves_its_output_to_another_has_said_all_when_it_ends(monkeypatch):
    """As a compiler's cache does that begins its server."""
    monkeypatch.setattr(start, "_LEFT_OPEN", 0.1)
    script = "import subprocess, sys; print('done', flush=True); subprocess.Popen([sys.executable, '-c', '{}'])"
    begun = time.monotonic()
    done = python(script.format("import time; time.sleep(60)"))
    assert (done.status, done.text) == (0, "done\n")
    assert time.monotonic() - begun < 60


@pytest.mark.parametrize("text", ["0", "-1", "inf", "nan", "soon"])
def test_a_limit_of_time_that_is_none_is_refused(text, monkeypatch):
    monkeypatch.setenv("SIMTMM_COMPILER_TIMEOUT", text)
    with pytest.raises(CompilerError, match=r"^SIMTMM_COMPILER_TIMEOUT = .*: must be a number of seconds above 0$"):
        of_compilers()


def test_the_limit_of_time_is_the_environments(monkeypatch):
    monkeypatch.setenv("SIMTMM_COMPILER_TIMEOUT", "12.5")
    assert of_compilers().seconds == 12.5
    assert os.environ["SIMTMM_COMPILER_TIMEOUT"] == "12.5"
