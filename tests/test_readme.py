"""The README shows what is there."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import simtmm

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
REPORT = (ROOT / "docs" / "report.md").read_text()
OTHER = {"x": "y", "y": "x"}
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", README, flags=re.DOTALL)


def test_the_first_command_prints_what_the_page_of_reports_shows():
    found = re.findall(r"```(\w*)\n(.*?)```", REPORT, flags=re.DOTALL)
    ((command, shown),) = [text.split("\n", 1) for _, text in found if text.startswith("$ python -m simtmm run")]
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
    _, example, _ = [text for language, text in BLOCKS if language == "python"]
    recorded = 'simtmm.record("apsp-minplus", {"n": 64})'
    assert recorded in example
    shipped = ROOT / "traces" / "list-ranking-wyllie.parquet"
    script = example.replace(recorded, f"simtmm.load_trace({str(shipped)!r})")
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert 1 < float(done.stdout) < 2


def test_the_python_example_of_names_and_commands_runs(tmp_path, monkeypatch, capsys):
    _, _, example = [text for language, text in BLOCKS if language == "python"]
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


def test_the_python_example_of_a_users_own_kernel_runs(tmp_path, monkeypatch, capsys):
    pytest.importorskip("nvidia.cu13", reason="CUDA's compilers are not installed")
    example, _, _ = [text for language, text in BLOCKS if language == "python"]
    page = (ROOT / "docs" / "own-kernel.md").read_text(encoding="utf-8")
    (tmp_path / "saxpy.cu").write_text(re.search(r"`saxpy.cu`:\n\n```cuda\n(.*?)```", page, flags=re.DOTALL)[1])
    monkeypatch.chdir(tmp_path)
    exec(compile(example, "README.md", "exec"), {})
    first, ratio = capsys.readouterr().out.splitlines()
    assert 0 < float(first.split()[0]) < 1e-3
    assert float(ratio) > 0


def test_no_formula_stands_on_the_first_screen():
    first = README[: README.index("## Which question do you have?")]
    assert "T1" not in first
    assert "max(" not in first


def test_every_file_the_readme_links_to_is_there():
    links = re.findall(r"\]\(([^)]+)\)", README)
    assert links
    assert [link for link in links if not (ROOT / link).exists()] == []


def test_the_first_example_prints_what_the_readme_shows(tmp_path, monkeypatch):
    pytest.importorskip("nvidia.cu13", reason="CUDA's compilers are not installed")
    (source,) = [text for language, text in BLOCKS if language == "cuda"]
    ((command, shown),) = [text.split("\n", 1) for _, text in BLOCKS if text.startswith("$ simtmm run sgemm.cu")]
    monkeypatch.setenv("COLUMNS", "120")
    printed = {}
    for name, text in (
        ("sgemm.cu", source),
        ("swapped.cu", re.sub(r"\.([xy])\b", lambda found: "." + OTHER[found[1]], source)),
    ):
        (tmp_path / name).write_text(text)
        words = [sys.executable, "-m", *command[2:].replace("sgemm.cu", name).split()]
        done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=tmp_path)
        printed[name] = "\n".join(line.rstrip() for line in done.stdout.splitlines())
    assert printed["sgemm.cu"].startswith(shown.removesuffix("...\n"))
    times = [float(re.search(r"simulated \(\w+\) +[\d,]+ +([\d.]+) us", text)[1]) for text in printed.values()]
    assert times == [37.2, 8.62]
    assert f"{times[0] / times[1]:.2f} times as fast here: {times[1]} us instead of {times[0]} us" in README


@pytest.mark.parametrize(
    ("title", "error"),
    [
        ("PolyBench-GPU's naive gemm, mvt and syrk on an H100 SXM", "9.7 %"),
        ("Kernels of the CUDA SDK and sums in shared memory on an H100 SXM", "7.0 %"),
        ("Streaming kernels over occupancy on an H100 SXM, never calibrated on them", "6.8 %"),
        ("Sums and products of matrices on an H100 SXM", "9.9 %"),
    ],
)
def test_how_far_off_it_is_is_what_the_page_of_accuracy_says(title, error):
    page = (ROOT / "docs" / "accuracy.md").read_text(encoding="utf-8")
    (row,) = [line for line in page.splitlines() if line.startswith(f"| [{title}]")]
    assert row.split("|")[5].strip() == error
    assert error in README[README.index("## How far off is it?") : README.index("## See it move")]


def test_the_command_of_a_users_own_kernel_runs(tmp_path):
    pytest.importorskip("nvidia.cu13", reason="CUDA's compilers are not installed")
    (command,) = [text.strip() for _, text in BLOCKS if text.startswith("simtmm run saxpy.cu")]
    page = (ROOT / "docs" / "own-kernel.md").read_text(encoding="utf-8")
    (tmp_path / "saxpy.cu").write_text(re.search(r"`saxpy.cu`:\n\n```cuda\n(.*?)```", page, flags=re.DOTALL)[1])
    words = [sys.executable, "-m", *command.split()]
    done = subprocess.run(words, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.startswith("saxpy (seed=0) on A100 80 GB, from a warm L2\n")
    assert "\nVerdict: Starting the launch binds, " in done.stdout
