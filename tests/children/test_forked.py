"""A program's process is forked from the command's, and sees nothing of it."""

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from simtmm.children import brief, forked, guard
from simtmm.children.forked import Forked

# What a process finds that it did not bring: open files, signals, its group, what is on its command line
PROGRAM = """#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <unistd.h>
__global__ void one(int *a) { *a = 1; }
int main(int count, char **words) {
    int *a;
    cudaMalloc(&a, 4);
    one<<<1, 1>>>(a);
    cudaDeviceSynchronize();
    char line[4096];
    FILE *file = fopen("/proc/self/status", "r");
    while (fgets(line, sizeof line, file)) if (!strncmp(line, "Sig", 3) && line[3] != 'Q') fputs(line, stdout);
    fclose(file);
    int open = 0;
    DIR *folder = opendir("/proc/self/fd");
    while (dirent *each = readdir(folder)) {
        ssize_t length = readlinkat(dirfd(folder), each->d_name, line, sizeof line - 1);
        line[length > 0 ? length : 0] = 0;
        open += length > 0 && !strstr(line, "/memfd:") && strcmp(line, "/dev/null");  // of a forked one
    }
    closedir(folder);
    printf("files %d, group %d, family %d, words %d %s\\n", open, getpgrp() == getpgid(getppid()),
           getenv("SIMTMM_FAMILY") != 0, count, words[1]);
    char read[64];
    printf("%s", fgets(read, sizeof read, stdin));
    file = fopen("/proc/self/cmdline", "r");
    size_t bytes = fread(line, 1, sizeof line - 1, file);
    for (size_t at = 0; at < bytes; at++) if (!line[at]) line[at] = ' ';
    line[bytes] = 0;
    fprintf(stderr, "as %s\\n", strstr(line, "bond.py") ? "started" : "forked");
}
"""
OTHER_THREAD = """
import sys, threading
threading.Thread(target=threading.Event().wait, name="other", daemon=True).start()
from simtmm.__main__ import start
start()
"""


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """What a program printed, whose process was forked, or was not as the command has a thread that is none of ours."""
    folder = tmp_path_factory.mktemp("forked")
    (folder / "found.cu").write_text(PROGRAM)
    package = str(Path(forked.__file__).parents[2])

    def run(*python):
        words = [sys.executable, *python, "run", "found.cu", "-m", "h100-pcie", "--", "word"]
        return subprocess.run(
            words, cwd=folder, capture_output=True, text=True, input="given\n", timeout=600,
            env={**os.environ, "PYTHONPATH": package},
        )  # fmt: skip

    return run("-m", "simtmm"), run("-c", OTHER_THREAD)


def test_a_program_is_forked_where_no_other_thread_is_there(ran):
    assert [re.findall("^as (.*)$", each.stderr, re.MULTILINE) for each in ran] == [["forked"], ["started"]], ran


def test_it_finds_the_files_signals_words_and_input_of_a_process_that_was_started(ran):
    one, other = (each.stdout.partition("given\n") for each in ran)  # what it printed, and then the command
    assert [each.returncode for each in ran] == [0, 0]
    assert one[:2] == other[:2]
    assert one[0].endswith("files 9, group 1, family 1, words 2 word\n")


def test_a_process_that_is_not_for_one_command_forks_none(monkeypatch):
    assert not forked.can_fork()
    monkeypatch.setattr(brief, "is_for_one_command", lambda: True)
    monkeypatch.setattr(threading, "enumerate", lambda: [threading.main_thread()])
    monkeypatch.setattr(threading, "current_thread", threading.main_thread)
    assert forked.can_fork() == (sys.platform == "linux" and not sys.gettrace() and not sys.getprofile())
    monkeypatch.setattr(forked, "_OPEN", "/nowhere")
    assert not forked.can_fork()
    monkeypatch.undo()
    monkeypatch.setattr(brief, "is_for_one_command", lambda: True)
    monkeypatch.setattr(threading, "enumerate", lambda: [threading.main_thread()])
    monkeypatch.setattr(threading, "current_thread", lambda: None)
    assert not forked.can_fork()


def sleeping():
    words = [sys.executable, "-c", "import time; time.sleep(600)"]
    return Forked(os.posix_spawn(sys.executable, words, os.environ))


def test_one_that_goes_on_is_waited_for_so_long_and_is_ended_by_signals():
    process = sleeping()
    assert process.poll() is None
    with pytest.raises(subprocess.TimeoutExpired):
        process.wait(0.01)
    process.send_signal(signal.SIGTERM)
    assert (process.wait(60), process.poll(), process.returncode) == (-signal.SIGTERM, -signal.SIGTERM, -15)
    process.kill()  # it has ended: nothing is done
    other = sleeping()
    other.kill()
    assert other.wait() == -signal.SIGKILL


def test_one_that_nobody_can_wait_for_has_ended():
    process = sleeping()
    process.kill()
    os.waitpid(process.pid, 0)  # as the system does where SIGCHLD is ignored
    assert (process.wait(60), process.returncode) == (0, 0)


def test_who_bears_a_family_s_name_in_memory_is_of_it_and_so_is_what_it_forks():
    marked = """
import os, sys, time
sys.path.insert(0, sys.argv[1])
from simtmm.children import guard
kept = guard.mark(sys.argv[2])
inner = os.fork()
if inner:
    print(os.getpid(), inner, flush=True)
time.sleep(600)
"""
    package, name = str(Path(guard.__file__).parents[2]), "family-of-a-test-1"
    process = subprocess.Popen(
        [sys.executable, "-c", marked, package, name], stdout=subprocess.PIPE, text=True, start_new_session=True
    )
    numbers = sorted(map(int, process.stdout.readline().split()))
    assert sorted(guard.members(name)) == numbers
    assert guard.members(f"{name}2") == []
    guard.end_members(name)
    assert process.wait(60) == -signal.SIGKILL
    assert guard.members(name) == []
    process.stdout.close()
