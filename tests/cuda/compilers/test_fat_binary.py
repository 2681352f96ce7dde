"""PTX out of fat binaries: as they are laid out, compressed or not, and cut anywhere."""

import struct

import pyarrow as pa
import pytest

from simtmm.cuda.compilers import load_module, module_of_ptx
from simtmm.cuda.compilers.binaries.elf import ELF, sections_of
from simtmm.cuda.compilers.binaries.fat_binary import embedded_ptx
from simtmm.errors import CompilerError

PTX = ".version 8.0\n.target sm_{}\n.address_size 64\n" + ".visible .entry k()\n{{\n\tret;\n}}\n" * 3
CODECS = {0: None, 0x2000: "lz4_raw", 0x8000: "zstd"}


def entry(text, architecture, flags=0, kind=1):
    payload = text.encode()
    packed = pa.compress(payload, codec=CODECS[flags], asbytes=True) if CODECS[flags] else payload
    padded = packed + bytes(-len(packed) % 8)
    header = struct.pack("<HHIQIIHHIIIQQQ", kind, 0x101, 64, len(padded), len(packed) if flags else 0, 64, 0, 8,
                         architecture, 0, 0, flags, 0, len(payload) if flags else 0)  # fmt: skip
    return header + padded


def fat_binary(*entries):
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, sum(map(len, entries))) + b"".join(entries)


@pytest.mark.parametrize("flags", CODECS)
def test_ptx_is_found_compressed_or_not(flags):
    content = fat_binary(entry("machine code", 80, kind=2), entry(PTX.format(80), 80, flags))
    [[unit]] = embedded_ptx(content, "x")
    assert (unit.text, unit.architecture) == (PTX.format(80), 80)


def test_each_translation_unit_is_found_with_its_variants():
    units = fat_binary(entry(PTX.format(75), 75), entry(PTX.format(90), 90)) + bytes(8) + fat_binary(entry("b", 80))
    assert [[each.architecture for each in unit] for unit in embedded_ptx(units, "x")] == [[75, 90], [80]]


@pytest.mark.parametrize(("architecture", "target"), [(75, 75), (80, 75), (90, 90), (120, 90), (50, 75), (None, 90)])
def test_the_latest_variant_that_the_machine_could_run_is_taken(architecture, target, tmp_path):
    path = tmp_path / "x.fatbin"
    path.write_bytes(fat_binary(entry(PTX.format(75), 75), entry(PTX.format(90), 90)))
    [module] = load_module(path, architecture)
    assert module.ptx == PTX.format(target)


def test_a_fat_binary_without_ptx_is_reported_with_what_helps():
    with pytest.raises(CompilerError, match="x: has no PTX: compile it with -gencode"):
        embedded_ptx(fat_binary(entry("machine code", 80, kind=2)), "x")


@pytest.mark.parametrize("flags", CODECS)
def test_a_fat_binary_that_is_cut_anywhere_is_one_line(flags):
    content = fat_binary(entry(PTX.format(80), 80, flags))
    for end in range(4, len(content)):
        with pytest.raises(CompilerError, match=r"x: is truncated or damaged|x: holds no PTX"):
            embedded_ptx(content[:end], "x")


def test_damage_to_any_byte_is_one_line_or_no_harm():
    content = fat_binary(entry(PTX.format(80), 80, 0x8000))
    for place in range(4, len(content)):
        damaged = bytearray(content)
        damaged[place] ^= 0xFF
        try:
            embedded_ptx(bytes(damaged), "x")
        except CompilerError as error:
            assert str(error).startswith("x: ")  # noqa: PT017, as some damage does no harm


@pytest.mark.parametrize(
    "text",
    ["", "int x;", ".version 8.0\n", ".target sm_80\n", "// .version 8.0\n// .target sm_80\n", PTX.format("9" * 5000)],
)
def test_a_text_that_does_not_look_like_ptx_is_refused(text):
    with pytest.raises(CompilerError, match="mine: is not PTX"):
        module_of_ptx(text, "mine")


@pytest.mark.parametrize(("target", "architecture", "found"), [("80", 90, 90), ("90a", 80, 90), ("89", None, 89)])
def test_ptx_is_assembled_for_the_machine_or_for_its_own_target_if_that_is_later(target, architecture, found):
    assert module_of_ptx(PTX.format(target), architecture=architecture).architecture == found


def test_a_target_of_one_architecture_alone_is_kept():
    assert module_of_ptx(PTX.format("90a"), architecture=90).target == "sm_90a"


def test_sections_that_overlap_are_not_copied_each():
    """Sixty thousand sections of all of a file would take its size as often; a few share their bytes in good files."""
    header = ELF + b"\2\1" + bytes(34) + struct.pack("<QIHHHHHH", 64, 0, 64, 0, 0, 64, 20, 0)
    size = 64 * 21
    section = struct.pack("<IIQQQQ", 0, 1, 0, 0, 0, size) + bytes(24)
    with pytest.raises(ValueError, match="overlap"):
        dict(sections_of(header + 20 * section))
    shared = struct.pack("<IIQQQQ", 0, 1, 0, 0, 0, size // 4) + bytes(24)
    assert list(sections_of(header + 20 * shared))
