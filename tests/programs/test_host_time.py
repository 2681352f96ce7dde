"""Whether the time of a program's own code counts on its clocks: chosen, and where nobody chose."""

import os
import subprocess
import sys

import pytest

from simtmm.requests.cuda_program import IN_DIFF, own_clock

LOOP = """#include <chrono>
#include <cstdio>
__global__ void one(int *x) { *x = 1; }
int main() {
    int *x;
    cudaMalloc(&x, sizeof(int));
    auto begin = std::chrono::steady_clock::now();
    one<<<1, 1>>>(x);
    cudaDeviceSynchronize();
    volatile double sum = 0;
    for (int i = 0; i < 10000000; i++) sum += i;
    bool counts = std::chrono::steady_clock::now() - begin > std::chrono::milliseconds(1);
    puts(counts ? "host time counts" : "host time does not count");
    cudaFree(x);
}
"""
LINE = "its clocks leave out the time of its own code: --host-time off, the default"


@pytest.fixture
def command(tmp_path, monkeypatch):
    (tmp_path / "p.cu").write_text(LOOP)
    monkeypatch.chdir(tmp_path)

    def printed(*words, ci=None):
        environment = {name: value for name, value in os.environ.items() if name != "CI"}
        environment |= {} if ci is None else {"CI": ci}
        done = subprocess.run(
            [sys.executable, "-m", "simtmm", *words],
            capture_output=True, text=True, check=False, timeout=600, env=environment,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    return printed


@pytest.mark.parametrize(
    ("ci", "words", "counts", "line"),
    [
        (None, (), True, None),
        ("true", (), False, f"{LINE} where the environment sets CI"),
        ("true", ("--host-time", "on"), True, None),
        (None, ("--host-time", "off"), False, None),
    ],
)
def test_host_time_is_off_by_default_where_the_environment_sets_ci(command, ci, words, counts, line):
    out = command("run", "p.cu", "--machine", "a100-80", *words, ci=ci)
    assert ("host time counts\n" in out, "host time does not count\n" in out) == (counts, not counts)
    assert [each for each in out.splitlines() if each.startswith(LINE)] == ([line] if line else [])


def test_diff_leaves_the_programs_own_time_out_and_says_so(command):
    out = command("diff", "p.cu", "p.cu", "--machine", "a100-80")
    assert out.count("host time does not count\n") == 2
    assert out.count(f"{LINE} in diff\n") == 2


@pytest.mark.parametrize(
    ("value", "counts"), [("true", False), ("1", False), ("ci", False), ("", True), ("false", True), ("0", True)]
)
def test_ci_is_what_services_set_it_to(monkeypatch, value, counts):
    monkeypatch.setenv("CI", value)
    assert own_clock("virtual", None, usual=True).has_host_time == counts
    assert own_clock("virtual", "on", usual=True).has_host_time
    found = own_clock("virtual", None, usual=False)  # scripts: off anywhere, which needs no line
    assert (found.has_host_time, found.why_off) == (False, "")
    assert own_clock("virtual", IN_DIFF, usual=True).why_off == "in diff"
