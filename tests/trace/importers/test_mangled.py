"""Mangled lines of mem_trace: no record is lost without a word, and the program's own words are none."""

import random
from pathlib import Path

import pytest

from simtmm.errors import TraceError
from simtmm.trace.importers import import_trace
from tests.trace.importers.test_memtrace import GLOBAL, access, launch, rows

REPRO = Path(__file__).parents[4] / "shared" / "repro"
LAUNCH, LOAD, STORE = launch(), access("LDG.E", GLOBAL), access("STG.E.64", GLOBAL + 4096, stride=8)
LISTED = LOAD[LOAD.index("LDG.E - ") + 8 :]  # the addresses
PARTS = (
    "expected a whole record, 'MEMTRACE: CTX 0x... - grid_launch_id ...' or '... - LAUNCH - ...', where parts of one"
)


@pytest.fixture
def imported(tmp_path):
    def make(text):
        path = tmp_path / "mem_trace.txt"
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return import_trace(path, "mem-trace")

    return make


@pytest.fixture
def refused(imported, tmp_path):
    """What is said of a text, in one line that names the file."""

    def call(text):
        with pytest.raises(TraceError) as caught:
            imported(text)
        message = str(caught.value)
        assert message.startswith(f"{tmp_path / 'mem_trace.txt'}: ")
        assert message.isprintable()
        return message.removeprefix(f"{tmp_path / 'mem_trace.txt'}: ")

    return call


# The program's own words


@pytest.mark.parametrize(
    "words", ["sum = 3", "sum = 3 ", " ", "M - ", "0x7f00 0x7f04 ", "MEMORY ", "MEM: CTX ", "é\0\xff"]
)
def test_a_record_behind_words_of_the_program_is_read(imported, words):
    text = LAUNCH + words + LOAD + STORE
    assert rows(imported(text)) == rows(imported(LAUNCH + LOAD + STORE))


def test_a_launch_behind_words_of_the_program_is_read(imported):
    trace = imported(LAUNCH + "half way" + launch(1, name="second") + access("LDG.E", GLOBAL, number=1))
    assert [entry.kernel for entry in trace.info.launches] == ["vecAdd(double*, int - 1)", "second"]


@pytest.mark.parametrize(
    "words",
    [
        "",
        "Kernel vecAdd: grid size 8, block size 256, 22 registers",
        "warp 3 of CTA 2: 0x00007f0000000000 0x00007f0000000004",
        "key: " + "0x0f " * 32,
        "sums: " + "0x7fffffff " * 32,
        "LAUNCH - done",
        "MEMTRACE: STARTING CONTEXT 0x55f6aef96ca0",
        "MEMTRACE: TERMINATING CONTEXT 0x55f6aef96ca0",
        "TOOL_VERBOSE = 0 - Enable verbosity inside the tool",
        "used GPU MEM",
        "x\0y\xff",
    ],
)
def test_lines_of_the_program_are_left_out(imported, words):
    assert rows(imported(LAUNCH + LOAD + words + "\n" + STORE)) == rows(imported(LAUNCH + LOAD + STORE))


# Parts of a record


@pytest.mark.parametrize(
    "line",
    [
        LOAD.replace("CTX", "CVX"),
        LOAD.replace("MEMTRACE", "MEMTRAC"),
        LOAD.replace("CTX ", "CTX"),
        LOAD[20:],
        LOAD[60:],
        LISTED,
        LISTED[19 * 24 :],  # eight of the addresses
        LISTED.replace("0x0000", "0x"),
        "lost - grid_launch_id 0\n",
        "lost - CTA 0,0,0 - warp 0\n",
        LAUNCH.replace("MEMTRACE: ", ""),
        LAUNCH[LAUNCH.index("- Kernel pc") :],
        LAUNCH[LAUNCH.index("- Kernel name") :],
        LAUNCH[LAUNCH.index("- grid size") :],
        LAUNCH[LAUNCH.index("- block size") :],
        "lost - LAUNCH - Kernel pc 0x0\n",
        "M\n",
        "MEM\r\n",
        "MEMTRACE:\n",
        "MEMTRACE: CTX\n",
        "the sum isMEMTRA\n",
        "MEMTRACE: the sum is 3\n",
    ],
)
def test_a_line_with_parts_of_a_record_is_refused(refused, line):
    assert refused(LAUNCH + LOAD + line + STORE).startswith(f"line 3: {PARTS}")


def test_a_record_behind_parts_of_another_is_refused(refused):
    for cut in (1, 2, 8, 14, 40, 100, len(LOAD) - 1):
        refused(LAUNCH + LOAD[:cut] + STORE)
        refused(LAUNCH + "sum = 3 - CTA " + STORE)


@pytest.mark.parametrize("first", [LAUNCH, LOAD], ids=["launch", "access"])
@pytest.mark.parametrize("second", [launch(1, name="second"), STORE], ids=["launch", "access"])
@pytest.mark.parametrize("between", ["", " ", " - "])
def test_two_records_on_a_line_are_refused(refused, first, second, between):
    assert refused(LAUNCH + first.rstrip("\n") + between + second).startswith("line 2: expected ")


@pytest.mark.parametrize("words", ["7", "hello", "0x0000000000000000", "\0", "\x0c", "\xa0"])
@pytest.mark.parametrize("record", [LAUNCH, LOAD], ids=["launch", "access"])
def test_anything_behind_a_record_is_refused(refused, record, words):
    assert refused(LAUNCH + record[:-1] + " " + words + "\n").startswith("line 2: expected ")


def test_blanks_stand_between_words_and_nothing_else(refused, imported):
    whole = rows(imported(LAUNCH + LOAD))
    for index in [place for place, byte in enumerate(LOAD[:-2]) if byte == " " and place > len("MEMTRACE: CTX ")]:
        for blank in ("\0", ""):
            refused(LAUNCH + LOAD[:index] + blank + LOAD[index + 1 :])
        for blank in ("  ", "\t"):
            assert rows(imported(LAUNCH + LOAD[:index] + blank + LOAD[index + 1 :])) == whole


@pytest.mark.parametrize(
    "address", ["0", "7f0000001000", "0x0007f0000001000", "0x000007f0000001000", "0x7f0000001000", "0x0", "0x"]
)
def test_an_address_has_16_digits(refused, address):
    assert refused(LAUNCH + LOAD.replace(f"0x{GLOBAL + 8:016x}", address)).startswith(
        "line 2: expected an address below"
    )


@pytest.mark.parametrize("opcode", ["LDC.E", "BAR.E", "FADD.E", "LDG-E", "LDGöE", "LDG.E/64"])
def test_an_opcode_that_is_of_no_access_is_refused(refused, opcode):
    assert refused(LAUNCH + LOAD.replace("LDG.E", opcode)) == f"line 2: expected an opcode, not {opcode!r}"


def test_a_last_record_without_a_newline_was_perhaps_cut(refused):
    for words in ("", "sum = 3"):
        message = refused(LAUNCH + STORE + words + LOAD.rstrip("\n"))
        assert message == "line 3: expected the end of the line, not that of the file"


# Damage anywhere: refused, or as many accesses and launches as before


LINES = [LAUNCH, launch(1), LOAD, STORE, "the program's own words\n"]
GOOD = "".join(LINES)


def cut(line, place, _draw):
    """The line without its end."""
    return line[:place] + b"\n"


def joined(line, place, _draw):
    """The same, and no newline."""
    return line[:place]


def split(line, place, _draw):
    return line[:place] + b"\n" + line[place:]


def deleted(line, place, _draw):
    return line[:place] + line[place + 1 :]


def inserted(line, place, draw):
    return line[:place] + draw.choice([b"0", b" ", b"M", draw.randbytes(1)]) + line[place:]


def flipped(line, place, draw):
    """The line with one bit that is another."""
    return line[:place] + bytes([line[place] ^ 1 << draw.randrange(8)]) + line[place + 1 :]


def changed(line, place, draw):
    """The line with one byte that is another."""
    other = draw.choice([byte for byte in [*b"\0\n -,0x9Mf", draw.randrange(256)] if byte != line[place]])
    return line[:place] + bytes([other]) + line[place + 1 :]


@pytest.mark.parametrize("number", [1, 2], ids=["launch", "access"])
@pytest.mark.parametrize("damage", [cut, joined, split, deleted, inserted, flipped, changed])
def test_no_damage_in_one_place_makes_a_record_vanish(imported, damage, number):
    draw = random.Random(damage.__name__)
    whole = imported(GOOD).info
    lines = [line.encode() for line in LINES]
    size = len(lines[number])
    # All places but most of those in the middle of the addresses, which are alike.
    places = [place for place in range(size) if place < 140 or place > size - 60 or place % 5 == 0]
    # A line that was cut to nothing is one that never was.
    for place in places[damage in (cut, joined) :]:
        damaged = damage(lines[number], place, draw)
        try:
            info = imported(b"".join([*lines[:number], damaged, *lines[number + 1 :]])).info
        except TraceError:
            continue
        assert (info.events, len(info.launches)) == (whole.events, len(whole.launches)), damaged


# What broke something


def test_a_grid_may_be_far_larger_than_what_the_file_tells_of(imported):
    grid = (2**31 - 2, 1, 1)
    lines = [access("LDG.E", GLOBAL, block=(block, 0, 0)) for block in (2**31 - 3, 5, 2**31 - 3, 0)]
    trace = imported(launch(grid=grid) + "".join(lines))
    assert [row[1] for row in rows(trace)][::32] == [0, 5, 2**31 - 3, 2**31 - 3]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("mtgarb.txt", f"line 101: {PARTS}"),
        ("import_mem.txt", "line 2: expected an address"),
        ("fuzz-harness/found-import-69307388.txt", "line 2: expected an address"),
    ],
)
def test_files_that_broke_something_are_refused(name, message):
    if not REPRO.is_dir():
        pytest.skip("these files lie beside the project, where they are there at all")
    with pytest.raises(TraceError) as caught:
        import_trace(REPRO / name)
    assert str(caught.value).startswith(f"{REPRO / name}: {message}")
