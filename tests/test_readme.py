"""The README shows what is there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import simtmm

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, flags=re.DOTALL)


def test_the_example_prints_what_the_readme_shows():
    ((command, shown),) = [text.split("\n", 1) for _, text in BLOCKS if text.startswith("$ python -m simtmm run")]
    assert command.split()[5:] == ["list-ranking-wyllie", "--param", "n=4096", "--machine", "gtx280"]
    simtmm.simulate("gtx280", "list-ranking-wyllie", "fast")  # compiled: else the other engine has it sooner
    # The shipped trace is that kernel's with these parameters, so this needs no compiler.
    done = subprocess.run([sys.executable, "-m", "simtmm", "run"], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout == shown


@pytest.mark.parametrize("needed", ["-m simtmm run", "-m pytest"])
def test_ci_runs_the_readmes_commands_as_they_stand(needed):
    (command,) = [text.strip() for _, text in BLOCKS if text.startswith("python3 -m venv") and needed in text]
    assert command in (ROOT / ".ci" / "run").read_text().splitlines()


def test_the_python_example_runs(tmp_path):
    example, _ = [text for language, text in BLOCKS if language == "python"]
    recorded = 'simtmm.record("apsp-minplus", {"n": 64})'
    assert recorded in example
    shipped = ROOT / "traces" / "list-ranking-wyllie.parquet"
    script = example.replace(recorded, f"simtmm.load_trace({str(shipped)!r})")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert 1 < float(done.stdout) < 2


def test_the_python_example_of_names_and_commands_runs(tmp_path, monkeypatch, capsys):
    _, example = [text for language, text in BLOCKS if language == "python"]
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(example, "README.md", "exec"), names)
    assert [case.parameters["n"] for case in names["compared"].cases] == [1024, 1024, 4096, 4096]
    frame = names["frame"]
    assert frame["memory.latency"].tolist() == [200, 400, 800, 1600]
    assert frame["simulated.cycles"].is_monotonic_increasing
    cycles, bound, verdict, last = capsys.readouterr().out.splitlines()
    assert float(cycles) > 0
    assert bound in ("compute", "span", "memory")
    assert "latency" in verdict.lower()
    assert "a100-80" in last


def test_every_file_the_readme_links_to_is_there():
    links = re.findall(r"\]\(([^)]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_command_of_a_users_own_kernel_runs(tmp_path):
    pytest.importorskip("nvidia.cu13", reason="CUDA's compilers are not installed")
    (command,) = [text.strip() for _, text in BLOCKS if text.startswith("simtmm run saxpy.cu")]
    page = (ROOT / "docs" / "own-kernel.md").read_text(encoding="utf-8")
    (tmp_path / "saxpy.cu").write_text(re.search(r"`saxpy.cu`:\n\n```cuda\n(.*?)```", page, flags=re.DOTALL)[1])
    words = [sys.executable, "-m", *command.split()]
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.startswith("saxpy (seed=0) on A100 80 GB, from a warm L2\n")
    assert "\nVerdict: Launches bind, " in done.stdout
