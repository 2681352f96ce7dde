"""Accel-Sim's lists of kernels: every line is understood, left out with a word, or refused."""

import lzma
from pathlib import Path

import pytest

from simtmm.errors import TraceError
from simtmm.trace.importers import import_trace
from tests.trace.importers.build import line, traceg

KERNEL = traceg([[line("EXIT")]])
REPRO = Path(__file__).parents[4] / "shared" / "repro"
WANTED = "a kernel file's name (.traceg, also packed) or 'MemcpyHtoD,0xADDRESS,BYTES'"


@pytest.fixture
def imported(tmp_path):
    """The trace of a list beside which the file k.traceg lies."""

    def call(text, name="kernelslist.g", **options):
        (tmp_path / "k.traceg").write_text(KERNEL, encoding="utf-8")
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return import_trace(path, **options)

    return call


@pytest.fixture
def refused(imported, tmp_path):
    """What is said of a list, in one line that names it."""

    def call(text, name="kernelslist.g", **options):
        with pytest.raises(TraceError) as caught:
            imported(text, name, **options)
        message = str(caught.value)
        assert message.startswith(f"{tmp_path / name}: ")
        assert message.isprintable()
        return message.removeprefix(f"{tmp_path / name}: ")

    return call


@pytest.mark.parametrize(
    "text",
    [
        "whatever",
        "kernel-1.tra",
        "k.traceg.x",
        "emcpyHtoD,0x00007f0000000000,400",
        "Memcpy",
        "MemcpyDtoH,0x00007f0000000000,400",
        "ncclAllRed",
        "ncclAllReduce 4",
        "-kernel.traceg",
        "\0\0\0\0",
    ],
)
@pytest.mark.parametrize("end", ["", "\n", "\nk.traceg\n"])
def test_a_line_that_is_not_understood_is_refused(refused, text, end):
    assert refused(f"k.traceg\n\n{text}{end}").startswith(f"line 3: expected {WANTED}, not '")


@pytest.mark.parametrize("end", range(1, len("k.traceg")))
def test_a_name_that_was_cut_is_refused(refused, end):
    cut = "k.traceg"[:end]
    wanted = WANTED.replace(", also packed) or 'MemcpyHtoD,0xADDRESS,BYTES'", ")") if cut == "k.trace" else WANTED
    assert refused(f"k.traceg\n{cut}").startswith(f"line 2: expected {wanted}")
    assert refused(f"k.traceg\n{cut}").endswith(f", not {cut!r}")


@pytest.mark.parametrize(
    "copy",
    [
        "MemcpyHtoD",
        "MemcpyHtoD,0x00007f0000000000",
        "MemcpyHtoD,0x00007f0000000000,",
        "MemcpyHtoD,0x00007f0000000000,4 0",
        "MemcpyHtoD,0x00007f0000000000,-4",
        "MemcpyHtoD,00007f0000000000,400",
        "MemcpyHtoD,0x0007f0000000000,400",  # a digit less than the tracer writes
        "MemcpyHtoD,0x000007f0000000000,400",
        "MemcpyHtoD,0x00007f000000000g,400",
        "MemcpyHtoD,0x00007f0000000000,400,4",
        "MemcpyHtoDk.traceg",
    ],
)
def test_a_copy_that_is_none_is_refused(refused, copy):
    assert refused(f"{copy}\nk.traceg\n").startswith("line 1: expected ")


def test_a_copy_beyond_the_addresses_of_a_trace_is_refused(refused):
    for copy in ("0xffffffffffffffff,4", "0x0fffffffffffffff,2", "0x0,999999999999999999999"):
        assert refused(f"MemcpyHtoD,{copy}\nk.traceg\n").startswith("line 1: expected ")


def test_a_copy_without_a_newline_at_the_end_was_perhaps_cut(refused):
    message = "line 2: expected the end of the line, not that of the file"
    for indent in ("", " "):
        assert refused(f"k.traceg\n{indent}MemcpyHtoD,0x00007f0000000000,40") == message


def test_a_name_without_a_newline_at_the_end_is_whole(imported):
    assert len(imported("k.traceg\nk.traceg").info.launches) == 2


def test_comments_and_blank_lines_say_nothing(imported, caplog):
    trace = imported(
        "# a list\n\n \t\r\n  #MemcpyHtoD\nMemcpyHtoD,0x00007f0000000000,400\r\n k.traceg \r\n# MemcpyHtoD"
    )
    assert len(trace.info.launches) == 1
    assert [array.bytes for array in trace.info.arrays] == [400]
    assert caplog.records == []


def test_commands_of_nccl_are_left_out_with_one_warning_that_names_the_lines(imported, caplog, tmp_path):
    commands = ["ncclCommInitAll", "ncclCommInitRank,0,2", "ncclGroupStart", "ncclAllReduce,0x7f00,4", "ncclGroupEnd"]
    trace = imported("\n".join(["k.traceg", *commands, "k.traceg", "ncclCommDestroy\n"]))
    assert len(trace.info.launches) == 2
    (record,) = caplog.records
    assert (record.name, record.levelname) == ("simtmm", "WARNING")
    assert record.getMessage() == (
        f"{tmp_path / 'kernelslist.g'}: line 2: skipped ncclCommInitAll, and 5 more (line 3, 4, 5, 6, 8): "
        "a trace is for one GPU"
    )


def test_names_of_any_alphabet_are_read_where_the_file_is_there(imported, refused, tmp_path):
    (tmp_path / "größe.traceg").write_text(KERNEL, encoding="utf-8")
    assert len(imported("größe.traceg\n").info.launches) == 1
    assert refused("große.traceg\n").startswith("line 1: expected the name of a kernel file beside kernelslist.g")
    assert refused(b"k.traceg\n\xff\xfek.traceg\n").startswith("line 2: expected the name of a kernel file beside")


@pytest.mark.parametrize("name", ["k" * 300 + ".traceg", "\0.traceg", "k.traceg/.traceg"])
def test_a_name_that_no_file_can_have_is_refused(refused, name):
    assert refused(f"{name}\n").startswith("line 1: expected the name of a kernel file beside kernelslist.g, not '")


@pytest.mark.parametrize("junk", [b"\xff\xfe\0\x01", bytes(range(256)), b"PAR1\0\0", b"\x7fELF\n\n", b"k\0.\0t\0"])
def test_a_list_of_junk_is_refused_in_one_line(refused, junk):
    assert refused(junk).startswith("line ")
    assert refused(junk, "list", format="accelsim").startswith("line ")


def test_a_list_may_begin_with_a_comment(imported):
    assert len(imported("# made by hand\nk.traceg\n", "list.txt").info.launches) == 1


def test_a_kernels_file_whose_first_line_is_damaged_is_no_list(refused):
    for name in ("k2.traceg", "k2"):
        found = refused("garbage" + KERNEL, name, format="accelsim")
        assert found.startswith(
            "line 1: expected '-key = value' or '#traces format = ...', not 'garbage-kernel name"
        ), name


def test_a_list_is_known_by_its_name_where_no_line_is_whole(refused):
    assert refused("kernel-1.tra\n").startswith("line 1: expected a kernel file's name")
    packed = lzma.compress(b"kernel-1.tra\n")
    assert refused(packed, "kernelslist.g.xz").startswith("line 1: expected a kernel file's name")


@pytest.mark.parametrize(
    ("name", "line_number"),
    [("kernelslist.g", 1), ("fuzz-harness/found-import-36175927.g", 2), ("fuzz-harness/found-import-68219586.g", 1)],
)
def test_lists_that_broke_something_are_refused(name, line_number):
    if not REPRO.is_dir():
        pytest.skip("these files lie beside the project, where they are there at all")
    with pytest.raises(TraceError, match=f"line {line_number}: expected the name of a kernel file beside"):
        import_trace(REPRO / name)
