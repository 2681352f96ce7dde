"""What importers hold is bounded, whatever a text holds: opcodes, headers, launches, arrays. Files may be packed."""

import gzip
import lzma
import random

import numpy as np
import pyarrow as pa
import pytest

from simtmm.errors import TraceError
from simtmm.trace.importers import blocks, import_trace, opcodes
from simtmm.trace.importers import warps as table
from simtmm.trace.importers.accelsim import header as headers
from simtmm.trace.schema import TraceLaunch
from tests.trace.importers.build import line, load, traceg
from tests.trace.importers.test_memtrace import GLOBAL, access, launch, rows

KERNEL = traceg([[load(GLOBAL, "R4"), line("FADD", pc=16, of=["R4"]), line("EXIT", pc=32)]])
MEM_TRACE = launch() + access("LDG.E", GLOBAL)


def zstd(text):
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as packed:
        packed.write(text)
    return sink.getvalue().to_pybytes()


PACKINGS = {"xz": (".xz", lzma.compress), "gzip": (".gz", gzip.compress), "zstd": (".zst", zstd)}


@pytest.fixture
def written(tmp_path):
    """A file with that content."""

    def make(name, content):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


def refusal(path, **options):
    with pytest.raises(TraceError) as caught:
        import_trace(path, **options)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert message.isprintable()
    return message.removeprefix(f"{path}: ")


# Packings


@pytest.mark.parametrize("packing", PACKINGS)
@pytest.mark.parametrize(("name", "text"), [("k.traceg", KERNEL), ("m.txt", MEM_TRACE)])
def test_a_packed_file_is_what_it_packs(written, packing, name, text):
    suffix, pack = PACKINGS[packing]
    done = []
    path = written(name + suffix, pack(text.encode()))
    packed = import_trace(path, progress=lambda *of: done.append(of))
    assert rows(packed) == rows(import_trace(written(name, text)))
    assert packed.info.kernel == name.partition(".")[0]
    assert done[-1][0] == done[-1][1]


@pytest.mark.parametrize("packing", PACKINGS)
def test_a_list_names_packed_files(written, packing):
    suffix, pack = PACKINGS[packing]
    written("k.traceg" + suffix, pack(KERNEL.encode()))
    assert import_trace(written("kernelslist.g", f"k.traceg{suffix}\n")).info.events == 96
    packed = written("kernelslist.g" + suffix, pack(f"k.traceg{suffix}\n".encode()))
    assert import_trace(packed).info.events == 96


@pytest.mark.parametrize("packing", PACKINGS)
def test_a_packed_file_that_is_not_whole_is_refused(written, packing):
    suffix, pack = PACKINGS[packing]
    packed = pack(KERNEL.encode())
    for content in (packed[: len(packed) // 2], packed[:-1], packed[:12] + b"\xff" * 9 + packed[21:]):
        message = refusal(written("k.traceg" + suffix, content), format="accelsim")
        assert f"expected more: is not a whole {packing} file (" in message


# Opcodes


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("k.traceg", traceg([[line("Z" * 129)]])),
        ("m.txt", launch() + access("LDG." + "E" * 125, GLOBAL)),
    ],
)
def test_an_opcode_has_some_length(written, name, text):
    message = refusal(written(name, text))
    assert "expected an opcode of at most 128 characters, not '" in message
    assert len(message) < 200
    assert import_trace(written(name, text.replace("ZZ", "Z", 1).replace("EE", "E", 1))).info.events == 32


@pytest.mark.parametrize("name", ["k.traceg", "m.txt"])
def test_there_are_so_many_opcodes(written, monkeypatch, name):
    monkeypatch.setattr(opcodes, "MOST_OPCODES", 2)
    names = ["LDG.E.U8", "LDG.E.U16", "LDG.E.64"]
    if name == "m.txt":
        text = launch() + "".join(access(each, GLOBAL) for each in names)
    else:
        text = traceg([[load(GLOBAL, "R4", pc=16 * place, opcode=each) for place, each in enumerate(names)]])
    assert "expected at most 2 opcodes in a trace, not 'LDG.E.64'" in refusal(written(name, text))


# Headers and launches


def test_a_header_has_some_length(written):
    endless = KERNEL.replace("-kernel name", "-x = " + "y" * headers.MOST_HEADER + "\n-kernel name")
    assert f"behind a header of at most {headers.MOST_HEADER} bytes" in refusal(written("k.traceg", endless))
    lines = "".join(f"-x{number} = y\n" for number in range(headers.MOST_HEADER // 10))
    assert "behind a header of at most" in refusal(written("k.traceg", lines + KERNEL))
    comments = "# a comment\n" * (headers.MOST_HEADER // 10)
    assert "behind a header of at most" in refusal(written("k.traceg", comments + KERNEL))
    empty = "\n" * (4 * headers.MOST_HEADER)  # each line was looked for through all that follows: 12 s
    assert "behind a header of at most" in refusal(written("k.traceg", empty + KERNEL))


def test_launches_are_read_in_a_time_that_grows_as_they_do(written, monkeypatch):
    """A program that launched 32,000 times took 220 s, and one that launched twice as often four times as long."""
    looked = []
    blocks_of = TraceLaunch.blocks.fget
    monkeypatch.setattr(TraceLaunch, "blocks", property(lambda own: looked.append(own) or blocks_of(own)))
    counts = []
    for count in (200, 800):
        texts = "".join(launch(number) for number in range(count)) + access("LDG.E", GLOBAL, number=count - 1)
        looked.clear()
        trace = import_trace(written("m.txt", texts))
        counts.append(len(looked))
        assert len(trace.info.launches) == count
        assert rows(trace)[0][0] == count - 1
    assert counts[1] < 5 * counts[0]


def test_each_launch_keeps_its_shape_among_many(written):
    texts = [launch(number, grid=(number + 1, 1, 1)) for number in range(200)]
    texts += [access("LDG.E", GLOBAL, number=number, block=(number, 0, 0)) for number in range(200)]
    trace = import_trace(written("m.txt", "".join(texts)))
    assert [entry.blocks for entry in trace.info.launches] == list(range(1, 201))
    table_of = trace.to_table()
    assert sorted(set(zip(table_of["launch"].to_pylist(), table_of["block"].to_pylist(), strict=True))) == [
        (number, number) for number in range(200)
    ]
    outside = "".join(texts) + access("LDG.E", GLOBAL, number=7, block=(8, 0, 0))
    assert "expected a thread block within the grid, x,y,z, not '8,0,0'" in refusal(written("m.txt", outside))


# Arrays


def touched_by(addresses):
    """What importers keep of accesses of 4 bytes to these addresses."""
    result = blocks.Touched()
    for first in range(0, len(addresses), table.LANES * 64):
        some = np.array(addresses[first : first + table.LANES * 64], np.int64)
        some = np.concatenate([some, np.full(-len(some) % table.LANES, some[0])])
        operations = table.no_operations()
        operations.pool[: len(some)] = some
        operations.counts[table.Counts.pool] = len(some)
        for warp in range(len(some) // table.LANES):
            operations.kind[warp], operations.width[warp] = table.Kind.LOAD, 4
            operations.mask[warp], operations.value[warp] = (1 << table.LANES) - 1, warp * table.LANES
        operations.counts[table.Counts.operations] = len(some) // table.LANES
        result.add(operations)
    return result


def check_covered(arrays, addresses):
    """Each access lies in an array; arrays lie apart, and begin and end where something was accessed."""
    bases, ends = np.array([(array.base, array.base + array.bytes) for array in arrays]).T
    assert np.all(bases[1:] >= ends[:-1])
    own = np.searchsorted(bases, addresses, side="right") - 1
    assert np.all((bases[own] <= addresses) & (np.asarray(addresses) + 4 <= ends[own]))
    assert set(bases.tolist()) <= set(addresses)
    assert {end - 4 for end in ends.tolist()} <= set(addresses)


@pytest.mark.parametrize("spread", [1 << 20, 1 << 32, 1 << 59])
def test_scattered_accesses_make_few_arrays(monkeypatch, spread):
    monkeypatch.setattr(blocks, "MOST_STRETCHES", 50)
    draw = random.Random(spread)
    addresses = [GLOBAL // 2 + draw.randrange(0, spread, 4) for _ in range(5_000)]
    arrays = touched_by(addresses).arrays([])
    assert len(arrays) <= 50
    check_covered(arrays, addresses)


def test_what_is_kept_of_scattered_accesses_is_bounded(monkeypatch):
    monkeypatch.setattr(blocks, "MOST_PLACES", 1 << 12)
    draw = random.Random(1)
    addresses = [draw.randrange(0, 1 << 59, 4) for _ in range(20_000)]
    result = touched_by(addresses)
    assert len(result._pages) == 1 << 12
    check_covered(result.arrays([]), addresses)


def test_few_stretches_are_distinguished_to_the_page():
    addresses = [GLOBAL, GLOBAL + 4096, GLOBAL + 3 * 4096, GLOBAL + 1000 * 4096 + 8]
    assert [(array.base, array.bytes) for array in touched_by(addresses).arrays([])] == [
        (GLOBAL, 4100),
        (GLOBAL + 3 * 4096, 4),
        (GLOBAL + 1000 * 4096 + 8, 4),
    ]
