"""Damaged files of other tools: refused with file, line and what was expected, and nothing is written."""

import lzma
import re
from pathlib import Path

import pytest

from simtmm.errors import TraceError
from simtmm.trace.importers import import_trace
from tests.trace.importers.build import drawn, line, load, store, traceg

GLOBAL = 0x7F0000000000
REPRO = Path(__file__).parents[4] / "shared" / "repro"
GOOD = traceg(
    [[line("MOV", to=["R1"]), load(GLOBAL, "R4", mode=1), store(GLOBAL, "R4", mask=0x7, mode=2)]], block=(32, 1, 1)
)
MOV, LDG, STG = GOOD[GOOD.index("insts = 3") :].splitlines()[1:4]
FIRST = 1 + GOOD[: GOOD.index(MOV)].count("\n")  # the line of the first instruction


@pytest.fixture
def refused(tmp_path):
    """What is said of a file's text; nothing may be written for it."""

    def call(text, name="kernel.traceg"):
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        before = sorted(tmp_path.iterdir())
        with pytest.raises(TraceError) as caught:
            import_trace(path, output=tmp_path / "t.parquet")
        assert sorted(tmp_path.iterdir()) == before
        message = str(caught.value)
        assert message.startswith(f"{path}: ")
        assert "\n" not in message
        return message.removeprefix(f"{path}: ")

    return call


def changed(old, new):
    assert GOOD.count(old) == 1
    return GOOD.replace(old, new)


def test_the_file_that_is_damaged_below_is_whole(tmp_path):
    (tmp_path / "kernel.traceg").write_text(GOOD, encoding="utf-8")
    assert import_trace(tmp_path / "kernel.traceg").info.events == 32 * 2 + 3 + 3  # and three lanes join


COUNT = "expected a number of registers from 0 to 16, not "
DELTA = "expected a delta for each active lane but the first, decimal, not "
IMMEDIATE = "expected an immediate, the last word of a line of version 5, not the end of the line"
INSTRUCTIONS = {
    "program counter": (MOV, MOV.replace("0000 f", "zz f", 1), "expected a program counter, hexadecimal, not 'zz'"),
    "mask": (MOV, MOV.replace("ffffffff", "1ffffffff"), "expected a mask of 32 lanes, hexadecimal, not '1ffffffff'"),
    "no mask": (MOV, "0000", "expected a mask of 32 lanes, hexadecimal, not the end of the line"),
    "count of registers": (
        MOV,
        MOV.replace(" 1 R1", " 17 R1"),
        COUNT + "'17'",
    ),
    "negative count": (MOV, MOV.replace(" 1 R1", " -1 R1"), COUNT + "'-1'"),
    "register": (MOV, MOV.replace("R1", "R256"), "expected a register from R0 to R255, not 'R256'"),
    "no register": (MOV, MOV.replace("R1", "17"), "expected a register from R0 to R255, not '17'"),
    "too few registers": (MOV, MOV.replace(" 1 R1 MOV", " 2 R1 MOV"), "expected a register from R0 to R255, not 'MOV'"),
    "opcode": (MOV, MOV.replace("MOV", "0x7"), "expected an opcode, not '0x7'"),
    "sources": (MOV, MOV.replace("MOV 0", "MOV x"), COUNT + "'x'"),
    "width": (LDG, LDG.replace(" 4 1 0x", " 129 1 0x"), "expected a width from 0 to 128 bytes, not '129'"),
    "mode": (
        LDG,
        LDG.replace(" 4 1 0x", " 4 3 0x"),
        "expected an address mode: 0 (list), 1 (base and stride) or 2 (base and deltas), not '3'",
    ),
    "base": (LDG, LDG.replace("0x7", "0xg"), "expected an address below 2^60, hexadecimal, not '0xg"),
    "large base": (
        LDG,
        LDG.replace("0x7f0000000000", "0x1000000000000000"),
        "expected an address below 2^60, hexadecimal, not '0x1000000000000000'",
    ),
    "stride": (LDG, LDG.replace(" 4 0", " 4x 0"), "expected a stride, decimal, not '4x'"),
    "stride below zero": (
        LDG,
        LDG.replace(" 4 0", " -99999999999999999 0"),
        "expected an address below 2^60, hexadecimal, not '0'",
    ),
    "list": (
        LDG,
        LDG.split(" 1 0x")[0] + " 0 0x4 0x8 0",
        "expected an address below 2^60, hexadecimal, not the end of",
    ),
    "delta": (
        STG,
        STG.replace(" 4 4 0", " 4 x 0"),
        DELTA + "'x'",
    ),
    "few deltas": (
        STG,
        STG.replace(" 4 4 0", " 4"),
        DELTA + "the end of the line",
    ),
    "stride over gaps": (
        LDG,
        LDG.replace("ffffffff", "000000f5"),
        "expected adjacent lanes for a base and a stride, not '1'",
    ),
    "immediate": (
        MOV,
        MOV.removesuffix(" 0"),
        IMMEDIATE,
    ),
    "more words": (MOV, MOV + " 7", "expected the end of the line, not '7'"),
}


@pytest.mark.parametrize("name", INSTRUCTIONS)
def test_an_instruction_that_is_none_is_refused(refused, name):
    old, new, message = INSTRUCTIONS[name]
    where = FIRST + [MOV, LDG, STG].index(old)
    found = refused(changed(old, new))
    assert found.startswith(f"line {where}: {message}"), found


def test_an_instruction_too_few_or_too_many_is_refused(refused):
    assert (
        refused(changed(MOV + "\n", "")) == f"line {FIRST + 3}: expected a program counter, hexadecimal, not '#END_TB'"
    )
    more = refused(changed(MOV + "\n", f"{MOV}\n{MOV}\n"))
    assert more == f"line {FIRST + 3}: expected 'warp = w' or '#END_TB', not '0000'"


@pytest.mark.parametrize("version", [3, 4])
def test_before_version_5_no_word_follows_the_addresses(refused, version):
    text = traceg([[line("MOV")]], version=version).replace("MOV 0 0", "MOV 0 0 0")
    assert refused(text).endswith("expected the end of the line, not '0'")


def test_before_version_3_a_line_says_where_it_stands(refused):
    text = traceg([[line("MOV"), line("EXIT")]], version=2)
    message = "expected the thread block and the warp that the line stands in (versions before 3), not "
    assert refused(text.replace("0 0 0 0 0000", "0 0 1 0 0000", 1)).endswith(message + "'1'")
    assert refused(text.replace("0 0 0 0 0000", "0 0 0 1 0000", 1)).endswith(message + "'1'")


def test_with_lineinfo_a_line_has_a_number(refused):
    text = traceg([[line("MOV")]], version=4, lineinfo=True).replace("\n7 0000", "\nseven 0000")
    assert refused(text).endswith("expected a line number, not 'seven'")


FRAMES = {
    "begin": ("#BEGIN_TB", "#END_TB", "expected '#BEGIN_TB', not '#END_TB'"),
    "block": ("thread block = 0,0,0", "thread block = 0,0", "expected 'thread block = x,y,z', not '0,0'"),
    "no block": ("thread block = 0,0,0", "block 0", "expected 'thread block = x,y,z', not 'block'"),
    "outside the grid": ("block = 0,0,0", "block = 0,1,0", "expected a thread block within the grid, not '0,1,0'"),
    "warp": ("warp = 0", "wrap = 0", "expected 'warp = w' or '#END_TB', not 'wrap'"),
    "warp outside": ("warp = 0", "warp = 1", "expected a warp within the thread block, not '1'"),
    "insts": ("insts = 3", "0000 1", "expected 'insts = n', not '0000'"),
    "negative insts": ("insts = 3", "insts = -3", "expected 'insts = n', not 'insts'"),
    "more behind": ("#END_TB", "#END_TB 7", "expected the end of the line, not '7'"),
}


@pytest.mark.parametrize("name", FRAMES)
def test_a_frame_that_is_none_is_refused(refused, name):
    old, new, message = FRAMES[name]
    where = 1 + GOOD[: GOOD.index(old)].count("\n")
    assert refused(changed(old, new)) == f"line {where}: {message}"


def test_a_warp_that_comes_twice_is_refused(refused):
    text = traceg({(0, 0, 0): {0: [line("EXIT")], 1: [line("EXIT")]}}, block=(64, 1, 1)).replace("warp = 1", "warp = 0")
    assert refused(text).endswith("expected a warp that the thread block has not had, not '0'")


@pytest.mark.parametrize(
    ("threads", "there", "missing"),
    [(32, [], 0), (64, [0], 1), (64, [1], 0), (33, [0], 1), (1024, [*range(31)], 31), (128, [3, 0, 1], 2)],
)
@pytest.mark.parametrize("blocks", [1, 3])
def test_a_block_with_a_warp_that_is_missing_is_refused(refused, threads, there, missing, blocks):
    whole = {warp: [line("EXIT", mask=1)] for warp in range(-(-threads // 32))}
    last = {warp: whole[warp] for warp in there}
    shapes = {(block, 0, 0): whole if block < blocks - 1 else last for block in range(blocks)}
    text = traceg(shapes, block=(threads, 1, 1))
    end = text.rstrip().count("\n") + 1
    assert refused(text) == f"line {end}: expected warp {missing} of the thread block before its end, not '#END_TB'"


def test_a_warp_without_instructions_is_there(tmp_path):
    (tmp_path / "kernel.traceg").write_text(traceg([[line("EXIT")], []], block=(64, 1, 1)), encoding="utf-8")
    assert import_trace(tmp_path / "kernel.traceg").info.events == 32


def test_a_file_with_a_warp_that_is_missing_is_refused():
    if not REPRO.is_dir():
        pytest.skip("this file lies beside the project, where it is there at all")
    with pytest.raises(TraceError, match=r"misswarp\.traceg: line 25: expected warp 1 of the thread block"):
        import_trace(REPRO / "misswarp.traceg")


@pytest.mark.parametrize("byte", ["\0", "\x0c", "\x1f"])
def test_a_byte_that_no_text_has_is_no_blank(refused, byte):
    for index in [place for place, character in enumerate(LDG) if character == " "]:
        assert refused(changed(LDG, LDG[:index] + byte + LDG[index + 1 :])).startswith(f"line {FIRST + 1}: expected ")


def test_an_opcode_of_other_letters_is_refused(refused):
    assert refused(changed(MOV, MOV.replace("MOV", "MÖV"))) == f"line {FIRST}: expected an opcode, not 'MÖV'"
    raw = changed(MOV, MOV.replace("MOV", "M?V")).encode().replace(b"M?V", b"M\xffV")
    assert refused(raw) == f"line {FIRST}: expected an opcode, not 'M\\udcffV'"


@pytest.mark.parametrize("batch", [1, 1 << 18])
def test_a_block_that_comes_twice_is_refused(refused, monkeypatch, batch):
    monkeypatch.setattr("simtmm.trace.importers.accelsim.importer.BATCH_EVENTS", batch)
    blocks = {(block, 0, 0): {0: [line("EXIT")]} for block in range(3)}
    text = traceg(blocks).replace("thread block = 2,", "thread block = 0,")
    last = text.rstrip().count("\n") + 1
    assert refused(text) == f"line {last}: expected a thread block that has not come before, not its second end"


def test_lanes_outside_the_block_are_refused(refused):
    text = traceg([[line("EXIT", mask=0x100)]], block=(8, 1, 1))
    assert refused(text).endswith("expected a mask of lanes within the thread block, not '00000100'")


CUTS = {
    "behind a block": (GOOD + "\n", (2, 1, 1), "thread block 1,0,0 of the grid"),
    "in a block": (GOOD.replace("#END_TB\n", ""), None, "'warp = w' or '#END_TB'"),
    "in a warp": (GOOD[: GOOD.index(LDG)], None, "2 more instructions of warp 0"),
    "before insts": (GOOD[: GOOD.index("insts")], None, "'insts = n'"),
    "before the block": (GOOD[: GOOD.index("thread block")], None, "'thread block = x,y,z'"),
    "in the header": (GOOD[: GOOD.index("#traces")], None, "'#traces format = ...' behind the header"),
}


@pytest.mark.parametrize("name", CUTS)
def test_a_file_that_was_cut_is_refused(refused, name):
    text, grid, message = CUTS[name]
    if grid:
        text = text.replace("(1,1,1)", "({},{},{})".format(*grid), 1)
    line_number, lines = re.fullmatch(r"line (\d+): (.*)", refused(text)).groups()
    assert lines == f"expected {message}, not the end of the file"
    assert text.count("\n") <= int(line_number) <= text.count("\n") + 1


def test_a_cut_anywhere_is_refused(refused):
    text = drawn("cut", 5, blocks=2, warps=1, length=6, partial=4)
    for end in range(len(text.rstrip()) - 1):
        refused(text[:end])


def test_a_packed_file_that_was_cut_or_changed_is_refused(refused):
    packed = lzma.compress(GOOD.encode() * 50)
    assert "expected more: is not a whole xz file" in refused(packed[: len(packed) // 2], "k.traceg.xz")
    changed_byte = bytearray(packed)
    changed_byte[len(packed) // 2] ^= 0xFF
    assert "is not a whole xz file" in refused(bytes(changed_byte), "k.traceg.xz")


def test_a_line_without_end_is_refused(refused, monkeypatch):
    monkeypatch.setattr("simtmm.trace.importers.reading.MOST_LINE", 1000)
    monkeypatch.setattr("simtmm.trace.importers.reading.BLOCK_BYTES", 500)
    found = refused(changed(MOV, MOV + " " * 5000))
    assert found == f"line {FIRST}: expected lines of at most 1000 bytes, not a longer one"


VERSION = "'accelsim tracer version =' a number from 2 to 99, not "
GRID = "'grid dim =' (x,y,z), each at least 1 and at most 2,147,483,647 together, not "
BLOCK = "'block dim =' (x,y,z), each at least 1 and at most 1,024 together, not "
BASE = "'shmem base_addr =' a number from 0 to 0xfffffffffffffff, hexadecimal, not "
HEADERS = {
    "version 1": ("tracer version = 5", "tracer version = 1", VERSION + "'1'"),
    "version 100": ("tracer version = 5", "tracer version = 100", VERSION + "'100'"),
    "grid": ("(1,1,1)", "(0,1,1)", GRID + "'(0,1,1)'"),
    "large grid": ("(1,1,1)", "(65536,65536,1)", GRID + "'(65536,65536,1)'"),
    "block": ("(32,1,1)", "(32,33,1)", BLOCK + "'(32,33,1)'"),
    "no block": ("(32,1,1)", "32", BLOCK + "'32'"),
    "shmem": ("-shmem = 0", "-shmem = -4", "'shmem =' a number from 0 to 16,777,216, not '-4'"),
    "nregs": (
        "nregs = 16",
        "nregs = 256",
        "'nregs =' a number from 0 to 255 (--registers N replaces it), not '256'",
    ),
    "base": ("= 0x00007f0010000000", "= zero", BASE + "'zero'"),
    "bases": ("0x00007f0020000000", "0x00007f0010000000", "'local mem base_addr =' another address than shmem's"),
    "no value": ("-nregs = 16", "-nregs", "'-key = value', not '-nregs'"),
    "no header": ("-nregs = 16", "nregs = 16", "'-key = value' or '#traces format = ...', not 'nregs = 16'"),
    "twice": ("-nregs = 16", "-nregs = 16\n-nregs = 16", "each key once, not 'nregs' again"),
}


@pytest.mark.parametrize("name", HEADERS)
def test_nonsense_in_a_header_is_refused(refused, name):
    old, new, message = HEADERS[name]
    found = refused(changed(old, new))
    where = 1 + GOOD[: GOOD.index(old)].count("\n") + new.count("\n")
    assert found.startswith(f"line {where}: expected {message}"), found


@pytest.mark.parametrize("key", ["kernel name", "grid dim", "block dim", "shmem", "nregs"])
def test_a_header_without_what_is_needed_is_refused(refused, key):
    text = re.sub(rf"^-{key} = .*\n", "", GOOD, count=1, flags=re.MULTILINE)
    assert f"expected a header with '-{key} = ...' before this line" in refused(text)


def test_a_list_that_names_no_file_or_a_missing_one_is_refused(refused):
    assert refused("MemcpyHtoD,0x0,4\nk.traceg\n", "kernelslist.g") == (
        "line 2: expected the name of a kernel file beside kernelslist.g, not 'k.traceg'"
    )
    assert refused("MemcpyHtoD,zero,4\nk.traceg\n", "kernelslist.g") == (
        "line 1: expected 'MemcpyHtoD,0xADDRESS,BYTES', not 'MemcpyHtoD,zero,4'"
    )


def test_more_program_counters_than_a_trace_holds_are_refused(refused, monkeypatch):
    monkeypatch.setattr("simtmm.trace.importers.accelsim.importer.MOST_PCS", 2)
    text = traceg([[line("MOV", pc=16 * index) for index in range(3)]])
    assert refused(text) == ("kernel '_Z1fv': 3 program counters with those of earlier kernels: a trace can hold 2")


@pytest.mark.parametrize("text", ["", "hello\n", "PAR1\0\0", "\xff\xfe\0"])
def test_a_file_of_no_known_format_is_refused(refused, text):
    assert refused(text, "x").startswith("unknown format")


def test_a_missing_file_and_a_folder_are_refused(tmp_path):
    with pytest.raises(TraceError, match=r"none\.g: can't be read"):
        import_trace(tmp_path / "none.g")
    with pytest.raises(TraceError, match="is not a regular file"):
        import_trace(tmp_path)


def test_an_unknown_format_is_refused(tmp_path):
    with pytest.raises(TraceError, match="format 'accelsin': unknown; did you mean 'accelsim'"):
        import_trace(tmp_path / "x", "accelsin")
