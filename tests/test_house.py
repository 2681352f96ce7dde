"""The house rules: lint, format, types, layers, and no path of one particular computer."""

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

import pytest

from simtmm.files import cache_folder

ROOT = Path(__file__).parents[1]
PACKAGE_FILES = sorted((ROOT / "simtmm").rglob("*.py"))


def check(*command):
    done = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def needs(module):
    return pytest.mark.skipif(find_spec(module) is None, reason=f"{module} is not installed")


@needs("ruff")
def test_ruff_finds_nothing():
    check("-m", "ruff", "check", "--no-cache", ".")


@needs("ruff")
def test_every_file_is_formatted():
    folders = ("simtmm", "kernels", "tests")  # code in Markdown is set by hand
    check("-m", "ruff", "format", "--check", "--no-cache", *folders)


def test_lines_of_cuda_are_no_longer_than_those_of_python():
    files = [*(ROOT / "simtmm").rglob("*.cuh"), *(ROOT / "kernels").rglob("*.cu")]
    long = [
        f"{path.relative_to(ROOT)}:{number}"
        for path in files
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if len(line) > 120
    ]
    assert files
    assert long == []


@needs("mypy")
def test_types_are_right():
    # Its cache goes with what else is compiled: a new checkout then has it, too. It is checked by content.
    check("-m", "mypy", "--cache-dir", str(cache_folder() / "mypy"))


@needs("importlinter")
def test_imports_point_up_the_house():
    check("-c", "import sys; from importlinter.cli import lint_imports; sys.exit(lint_imports(no_cache=True))")


def tracked_files():
    """What git tracks or would track; every file of the project where there is no git."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        done = subprocess.run(command, cwd=ROOT, capture_output=True, check=False)
    except OSError:
        pytest.skip("git is not installed")
    if done.returncode:
        pytest.skip("not a git checkout")
    return [path for name in done.stdout.decode().split("\0") if name and (path := ROOT / name).is_file()]


# written in pieces, so that this file does not name them itself
FOREIGN_PATH = re.compile("|".join(("/" + "work/", "/" + r"root\b", "/" + "tmp/venv", "/" + r"home/\w")))


def test_no_file_names_a_path_of_one_particular_computer():
    found = []
    for path in tracked_files():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue  # no text
        found += [f"{path.relative_to(ROOT)}: {line}" for line in text.splitlines() if FOREIGN_PATH.search(line)]
    assert found == []


def test_a_foreign_path_would_be_found():
    for path in ("/" + "work/shared", "see /" + "root/x", "/" + "tmp/venv/bin/python", "/" + "home/someone"):
        assert FOREIGN_PATH.search(path)


@pytest.mark.parametrize("path", PACKAGE_FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_every_module_says_what_it_is(path):
    assert path.read_text(encoding="utf-8").startswith('"""')


MOST_MODULES = 20


def test_a_folder_has_no_more_modules_than_one_holds_in_the_head():
    found = Counter(path.parent.relative_to(ROOT / "simtmm").as_posix() for path in PACKAGE_FILES)
    assert found.total() > 900
    assert {folder: count for folder, count in found.items() if count > MOST_MODULES} == {}


MOST_LINES = 350


def test_no_module_is_longer_than_one_holds_in_the_head():
    modules = [*PACKAGE_FILES, *(ROOT / "kernels").rglob("*.py")]
    lines = {path: len(path.read_text(encoding="utf-8").splitlines()) for path in modules}
    assert sum(lines.values()) > 100_000
    assert {str(path.relative_to(ROOT)): count for path, count in lines.items() if count > MOST_LINES} == {}


LIMITS = re.compile(r"\b(?:C901|PLR09\d*)\b")


def test_no_room_is_exempt_from_the_limits_of_functions():
    """Exceptions are made one function at a time; only of tests and of users' programs is nobody asked."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["ruff"]["lint"]
    assert (settings["mccabe"]["max-complexity"], settings["pylint"]["max-args"]) == (12, 8)
    exempt = {
        files for files, rules in settings["per-file-ignores"].items() if any(LIMITS.match(rule) for rule in rules)
    }
    assert exempt == {"tests/*", "docs/scripts/triton_*"}


def test_each_function_beyond_a_limit_has_its_reason_beside_it():
    lines = [line for path in PACKAGE_FILES for line in path.read_text(encoding="utf-8").splitlines()]
    exceptions = [line for line in lines if "# noqa:" in line and LIMITS.search(line.partition("# noqa:")[2])]
    assert len(exceptions) > 100
    assert [line for line in exceptions if not re.search(r"# noqa: [A-Z0-9, ]+ - \w.*\w", line)] == []


# What a program under simtmm reads as the day begins with it
ITS_OWN_CLOCKS = {
    "simtmm/scripts/own_time.py",
    "simtmm/scripts/own_date.py",
    "simtmm/programs/runtime/clock.cpp",
    "simtmm/programs/building/wrapped.py",
}
WALL_CLOCK = re.compile(
    r"\btime\.(?:time|time_ns|ctime|localtime|gmtime)\(|from time import (?:.*\b)?(?:time|time_ns)\b"
    r"|datetime\.(?:now|utcnow|today)\(|\b(?:system_clock|gettimeofday)\b"
)


def test_nothing_hangs_on_the_time_of_day():
    """A clock that is set, forwards or back, ends no wait, and makes nothing old that is new."""
    sources = [path for path in (ROOT / "simtmm").rglob("*") if path.suffix in {".py", ".h", ".cuh", ".cu", ".cpp"}]
    lines = ((path, line) for path in sources for line in path.read_text(encoding="utf-8").splitlines())
    found = {f"{path.relative_to(ROOT)}" for path, line in lines if WALL_CLOCK.search(line)}
    assert found == ITS_OWN_CLOCKS


@pytest.mark.parametrize("line", ["now = time.time()", "from time import sleep, time", "datetime.now(UTC)"])
def test_a_look_at_the_time_of_day_would_be_found(line):
    assert WALL_CLOCK.search(line)


def test_no_class_has_a_method_of_the_name_that_its_annotations_use():
    """Python 3.14 looks annotations up late, and in the class first: the method would be called for the option."""
    shadowed = []
    for path in sorted((ROOT / "simtmm").rglob("*.py")):
        for each in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(each, ast.ClassDef):
                continue
            methods = {own.name for own in each.body if isinstance(own, ast.FunctionDef)}
            annotated = [own.annotation for own in each.body if isinstance(own, ast.AnnAssign)]
            used = {name.id for of in annotated for name in ast.walk(of) if isinstance(name, ast.Name)}
            shadowed += [f"{path.name}: {each.name}: {name}" for name in sorted(methods & used)]
    assert shadowed == []
