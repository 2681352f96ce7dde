"""CONTRIBUTING.md's lists of files are whole: a kernel and a model are added by touching those and no others."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import simtmm
from simtmm.kernel import kernel_folders
from tests.kernels import test_kernels
from tests.kernels.variants import Variants
from tests.model.test_added_model import FILE
from tests.recorder.conftest import needs_compiler
from tests.recorder.conftest import probe_flags as probe_flags

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
LISTS = {
    what: [path for path in re.findall(r"`([^`\s]+)`", items) if "/" in path or path.endswith(".md")]
    for what, items in re.findall(r"^A (key|kernel|model|column|verb)\b.*?:\n\n(.*?)(?=\n\n)", PAGE, re.M | re.S)
}
# One of each that is there: what NAME stands for
NAMES = {"key": "", "kernel": "vector-add", "model": "pram", "column": "", "verb": "diff"}


def files(what, name):
    """The paths of a list; a dash in a name is an underscore in the names of Python files of its own."""
    return [path.replace("NAME", name.replace("-", "_") if path.endswith("NAME.py") else name) for path in LISTS[what]]


def test_there_are_five_lists():
    assert list(LISTS) == list(NAMES)
    assert all(len(paths) >= 3 for paths in LISTS.values())


@pytest.mark.parametrize("what", NAMES)
def test_the_files_of_a_list_are_there(what):
    assert [path for path in files(what, NAMES[what]) if not (ROOT / path).exists()] == []


@needs_compiler
def test_a_kernel_is_its_listed_files(tmp_path, monkeypatch, probe_flags):
    for old, new in zip(files("kernel", "vector-add"), files("kernel", "new-kernel"), strict=True):
        (tmp_path / new).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / old, tmp_path / new)
    monkeypatch.setenv("SIMTMM_PATH", str(tmp_path))
    monkeypatch.setattr("tests.kernels.cases.__path__", [str(tmp_path / "tests/kernels/cases")])
    assert "new-kernel" in kernel_folders()
    assert simtmm.kernels()["new-kernel"]
    case = test_kernels.Cases("new-kernel")
    (right, wrong, parameters), *_ = case.mistakes
    variants = Variants("new-kernel", [(case.events_at[0], None), (parameters, (right, wrong))], tmp_path / "scratch")
    trace = variants.record(case.events_at[0])
    assert trace.info.events == case.events(**case.events_at[0])
    with pytest.raises(simtmm.SimtmmError, match="wrong answer"):
        variants.record(parameters, (right, wrong))
    assert simtmm.simulate("gtx480", trace).cycles > 0


def test_a_model_is_its_listed_files(tmp_path):
    """In a copy of the package that shares all files with it but the folder of models."""
    package = tmp_path / "simtmm"
    (package / "model").mkdir(parents=True)
    for folder in (Path("simtmm"), Path("simtmm/model")):
        for path in (ROOT / folder).iterdir():
            if path.name not in ("model", "__pycache__"):
                (tmp_path / folder / path.name).symlink_to(path)
    new, models = (tmp_path / path for path in files("model", "one_by_one")[:2])
    new.write_text(FILE, encoding="utf-8")
    text = models.read_text(encoding="utf-8")
    models.unlink()
    pram = "from simtmm.model.pram import PRAM\n"
    text = text.replace(pram, f"from simtmm.model.one_by_one import ONE_BY_ONE\n{pram}")
    models.write_text(text.replace("        PRAM,\n", "        PRAM,\n        ONE_BY_ONE,\n"), encoding="utf-8")
    script = """
import json
import simtmm, simtmm.model
from simtmm.model.series import label
from simtmm.trace.counts import Counts
made = simtmm.predict("one-by-one", "gtx480", Counts(4800, 10, 480, 480, 8.0, 4.0, ()))
print(json.dumps([simtmm.model.__file__, made.cycles, label("one-by-one"), list(simtmm.model.MODELS)]))
"""
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "SIMTMM_PATH": str(ROOT)}
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    assert done.returncode == 0, done.stderr
    where, cycles, label, names = json.loads(done.stdout)
    assert Path(where) == models
    assert cycles == 4800 / 480 + 480 * 512 / 480
    assert label == "One by one"
    assert names[:2] == ["pram", "one-by-one"]
