"""Who may name which kernel, which of several of a name is taken, and that the list runs none."""

import logging
import os
import shutil

import pytest

from simtmm.catalogue import describe, kernel_folders, known_kernels, named_kernel, typed_kernel
from simtmm.catalogue import names as known_names
from simtmm.errors import KernelError
from simtmm.files import shipped_folders
from tests.recorder.build import host

SHIPPED = shipped_folders("kernels")[0]


@pytest.fixture(autouse=True)
def _working_directory(tmp_path, monkeypatch):
    """An empty one; nothing is given, and nothing has been told yet."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    monkeypatch.setenv("SIMTMM_KERNEL_PATH", "")
    monkeypatch.setenv("SIMTMM_PATH", "")
    monkeypatch.setattr(known_names, "_told", set())


@pytest.fixture
def kernel(tmp_path):
    """Make a kernel in a folder of kernels."""

    def make(name, folder):
        path = tmp_path / folder / name
        path.mkdir(parents=True)
        (path / "kernel.cu").touch()
        (path / "host.py").write_text(host())
        return path

    return make


@pytest.fixture
def here(kernel):
    """Make a kernel in ./kernels."""
    return lambda name: kernel(name, "work/kernels")


@pytest.fixture
def given(kernel, monkeypatch):
    """Make a kernel in a folder that is given."""

    def make(name):
        path = kernel(name, "given")
        monkeypatch.setenv("SIMTMM_KERNEL_PATH", str(path.parent))
        return path

    return make


# --- which is taken ---------------------------------------------------------------------------------------------------


def test_a_user_finds_a_kernel_of_the_working_directory_by_name(here):
    own = here("own")
    assert typed_kernel("own") == own


def test_data_finds_no_kernel_of_the_working_directory(here):
    here("own")
    assert named_kernel("own") is None
    assert "own" not in kernel_folders()


def test_a_shipped_kernel_comes_before_one_of_the_working_directory(here):
    here("stream")
    assert typed_kernel("stream") == named_kernel("stream") == SHIPPED / "stream"


def test_a_kernel_that_is_given_comes_before_all_others(here, given):
    here("stream")
    own = given("stream")
    assert typed_kernel("stream") == named_kernel("stream") == own


def test_the_roots_of_the_path_are_given_too(kernel, tmp_path, monkeypatch):
    own = kernel("own", "root/kernels")
    monkeypatch.setenv("SIMTMM_PATH", str(tmp_path / "root"))
    assert named_kernel("own") == own


@pytest.mark.parametrize("name", ["", ".", "..", "./stream", "../kernels/stream", str(SHIPPED / "stream"), "stream/"])
def test_data_names_a_kernel_by_nothing_but_its_name(name):
    assert named_kernel(name) is None


def test_a_user_may_name_any_folder_by_its_path(kernel):
    path = kernel("own", "elsewhere")
    assert typed_kernel(str(path)) == typed_kernel(path) == path


def test_what_is_no_kernel_is_refused_with_those_near_it():
    with pytest.raises(KernelError, match="kernel 'streem': unknown; did you mean 'stream'"):
        typed_kernel("streem")


@pytest.mark.parametrize("name", ["x" * 5000, "a\0b", ""])
def test_a_word_that_can_be_no_path_is_no_kernel(name):
    with pytest.raises(KernelError, match="unknown"):
        typed_kernel(name)


def test_a_link_to_a_kernel_goes_by_the_links_name(kernel, given, tmp_path):
    own = kernel("own", "elsewhere")
    given("other")
    (tmp_path / "given" / "alias").symlink_to(own)
    assert named_kernel("alias") == tmp_path / "given" / "alias"


# --- what is said of it -----------------------------------------------------------------------------------------------


def warnings(caplog):
    return [record.getMessage() for record in caplog.records if record.name == "simtmm"]


def test_that_a_given_kernel_hides_a_shipped_one_is_reported_once(given, caplog):
    own = given("stream")
    with caplog.at_level(logging.WARNING):
        typed_kernel("stream")
        named_kernel("stream")
    assert warnings(caplog) == [f"kernel stream: using {own} instead of the shipped one of that name"]


def test_that_the_working_directorys_is_not_taken_is_reported_with_what_helps(here, caplog):
    here("stream")
    with caplog.at_level(logging.WARNING):
        typed_kernel("stream")
        typed_kernel("stream")
    assert warnings(caplog) == [
        "kernel stream: using the shipped one, not kernels/stream; to use that one, give its path or "
        "--kernel-path kernels"
    ]


def test_nothing_is_reported_of_kernels_that_are_not_asked_for(here, given, caplog):
    here("stream")
    given("scan")
    with caplog.at_level(logging.WARNING):
        typed_kernel("fft")
        known_kernels()
    assert warnings(caplog) == []


def test_in_a_checkout_nothing_is_hidden(monkeypatch, caplog):
    monkeypatch.chdir(SHIPPED.parent)
    with caplog.at_level(logging.WARNING):
        assert typed_kernel("stream") == SHIPPED / "stream"
    assert warnings(caplog) == []
    assert not [known for known in known_kernels().values() if known.hidden]


def test_the_working_directorys_own_kernels_can_be_given(here, monkeypatch):
    own = here("stream")
    monkeypatch.setenv("SIMTMM_KERNEL_PATH", "kernels")
    assert named_kernel("stream") == own


# --- the list ---------------------------------------------------------------------------------------------------------


def test_the_list_tells_where_each_is_from_and_what_it_hides(here, given):
    mine, own, scan = here("mine"), given("stream"), here("scan")
    known = known_kernels()
    assert (known["mine"].origin, known["mine"].path) == ("here", mine)
    assert (known["stream"].origin, known["stream"].path) == ("given", own)
    assert [other.path for other in known["stream"].hidden] == [SHIPPED / "stream"]
    assert (known["scan"].origin, [other.path for other in known["scan"].hidden]) == ("shipped", [scan])


def test_describing_a_kernel_does_not_run_it(here, tmp_path):
    folder = here("own")
    marker = tmp_path / "ran"
    (folder / "host.py").write_text(f"{host()}\nopen({str(marker)!r}, 'w').close()\n")
    description = describe("own", folder)
    assert description.summary == "A probe"
    assert list(description.parameters) == ["n", "seed"]
    assert not marker.exists()


def pipe(path):
    path.unlink()
    os.mkfifo(path)


def folder(path):
    path.unlink()
    path.mkdir()


def huge(path):
    os.truncate(path, 1 << 40)


def loop(path):
    path.unlink()
    path.symlink_to(path)


@pytest.mark.parametrize(
    ("broken", "fault"),
    [
        (lambda path: path.write_text("def inputs(p:\n"), "host.py:1: SyntaxError: "),
        (lambda path: path.write_bytes(b"\x7fELF\x01\xff\xfe"), "host.py"),
        (pipe, "host.py: is not a regular file"),
        (folder, "host.py: is not a regular file"),
        (huge, "host.py: has 1,099,511,627,776 bytes: must have at most 262,144"),
        (loop, "host.py: can't be read ("),
    ],
    ids=["syntax", "binary", "pipe", "folder", "huge", "loop"],
)
def test_a_kernel_whose_host_py_is_broken_is_listed_with_the_reason(here, broken, fault):
    path = here("own") / "host.py"
    broken(path)
    known = known_kernels()
    assert {"own", "stream"} <= set(known)
    description = describe("own", known["own"].path)
    assert f"{path.parent}/{fault}" in description.fault
    assert "\n" not in description.fault


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is kept from root")
def test_a_kernel_that_may_not_be_read_is_listed_with_the_reason(here):
    path = here("own") / "host.py"
    path.chmod(0)
    assert describe("own", known_kernels()["own"].path).fault == f"{path}: can't be read (Permission denied)"


def test_a_folder_without_one_of_the_files_is_no_kernel(here):
    (here("own") / "kernel.cu").unlink()
    assert "own" not in known_kernels()


def test_a_name_that_would_command_a_terminal_is_none(here):
    shutil.copytree(here("own"), "kernels/\x1b[2J")
    assert [name for name in known_kernels() if "\x1b" in name] == []


def test_a_file_of_no_known_kind_is_no_kernel_that_is_unknown(tmp_path):
    path = tmp_path / "notes.txt"
    path.touch()
    with pytest.raises(KernelError, match=r"notes\.txt: unknown kind of file: must be a kernel's name or folder"):
        typed_kernel(path)
