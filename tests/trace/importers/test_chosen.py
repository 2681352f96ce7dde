"""What of another tool's files is imported, what was in them, and what of it is doubtful."""

import lzma
import re

import numpy as np
import pytest

from simtmm import load_machine, lower
from simtmm.errors import TraceError
from simtmm.trace.importers import import_trace
from simtmm.trace.sampled_blocks import sampled_blocks
from tests.trace.importers.build import line, load, store, traceg
from tests.trace.importers.test_memtrace import GLOBAL, access, launch

EXIT = line("EXIT", pc=64)


@pytest.fixture
def listed(tmp_path):
    """A list of kernels, and the trace of it."""

    def call(*texts, **options):
        for number, text in enumerate(texts):
            (tmp_path / f"kernel-{number}.traceg").write_text(text)
        path = tmp_path / "kernelslist.g"
        path.write_text("".join(f"kernel-{number}.traceg\n" for number in range(len(texts))))
        return import_trace(path, **options)

    return call


@pytest.fixture
def mem_trace(tmp_path):
    """The trace of what mem_trace printed."""

    def call(text, **options):
        (tmp_path / "m.txt").write_text(text)
        return import_trace(tmp_path / "m.txt", **options)

    return call


def kernel(name="f", blocks=1, **header):
    """Each of its blocks loads from a place of its own."""
    return traceg({(b, 0, 0): {0: [load(GLOBAL + 4096 * b, "R4"), EXIT]} for b in range(blocks)}, name=name, **header)


def batches(trace):
    """Events by launch and block."""
    found = {}
    for batch in trace.batches():
        begins = np.concatenate([[0], batch.ends[:-1]])
        for launch_, block, begin, end in zip(batch.launch, batch.block, begins, batch.ends, strict=True):
            if end > begin:
                found[int(launch_), int(block)] = batch.events[begin:end].tolist()
    return found


# Launches


@pytest.mark.parametrize(("words", "names"), [("0", "a"), ("1-2", "bc"), ("2,0", "ac"), ("0-2", "abc"), (None, "abc")])
def test_launches_are_chosen_by_their_numbers(listed, words, names):
    texts = [kernel("a"), kernel("b", 2), kernel("c", 3)]
    trace = listed(*texts, launches=words)
    assert "".join(each.kernel for each in trace.info.launches) == names
    alone = listed(*[text for text, name in zip(texts, "abc", strict=True) if name in names])
    assert trace.info.digest == alone.info.digest


def test_launches_of_mem_trace_are_chosen_likewise(mem_trace):
    texts = [launch(number=n) + access("LDG.E", GLOBAL + 4096 * n, number=n) for n in range(3)]
    trace = mem_trace("".join(texts), launches="1-2")
    assert [launch_ for launch_, _ in batches(trace)] == [0, 1]
    alone = mem_trace("".join(texts[1:]))
    assert list(batches(trace).values()) == list(batches(alone).values())


@pytest.mark.parametrize("words", ["3", "1-3", "2-1", "999999999"])
def test_a_launch_that_the_program_lacks_is_refused(listed, words):
    with pytest.raises(TraceError, match=rf"launches = {words}: {words}: the program has launches 0 to 2"):
        listed(kernel("a"), kernel("b"), kernel("c"), launches=words)


@pytest.mark.parametrize("words", ["", "a", "1-", "-1", "1,,2", "0x1", 3, "9" * 5000])
def test_other_words_are_refused(listed, words):
    with pytest.raises(TraceError, match=r"launches = .*: must be numbers from 0 and ranges, as 0-3,7"):
        listed(kernel(), launches=words)


# Blocks


@pytest.mark.parametrize("form", ["accelsim", "mem-trace"])
def test_blocks_are_sampled_as_a_recording_samples_them(listed, mem_trace, form):
    if form == "accelsim":
        whole, some = (listed(kernel(blocks=7), blocks=most) for most in (None, 3))
    else:
        text = launch(grid=(7, 1, 1)) + "".join(access("LDG.E", GLOBAL + 4096 * b, block=(b, 0, 0)) for b in range(7))
        whole, some = (mem_trace(text, blocks=most) for most in (None, 3))
    wanted = sampled_blocks(7, 3).tolist()
    assert batches(some) == {place: events for place, events in batches(whole).items() if place[1] in wanted}
    assert some.info.warnings[0] == ("a sampled trace: 4 of 7 blocks were left out and count as blocks that do nothing")
    assert lower(some, load_machine("gtx280")).blocks == 7


def test_blocks_that_come_out_of_order_are_sampled_too(listed):
    text = kernel(blocks=5)
    head, *parts = text.split("#BEGIN_TB")
    mixed = "#BEGIN_TB".join([head, *reversed(parts)])
    assert listed(mixed, blocks=2).info.digest == listed(text, blocks=2).info.digest


@pytest.mark.parametrize(("name", "value"), [("blocks", 0), ("blocks", True), ("registers", 256), ("registers", "16")])
def test_numbers_that_can_not_be_are_refused(listed, name, value):
    with pytest.raises(TraceError, match=f"{name} = .*: must be a whole number from "):
        listed(kernel(), **{name: value})


# Headers


def test_registers_may_be_given_where_the_header_has_nonsense(listed):
    assert [each.registers_per_thread for each in listed(kernel(nregs=60000), registers=40).info.launches] == [40]
    with pytest.raises(TraceError, match=r"a number from 0 to 255 \(--registers N replaces it\), not '60000'"):
        listed(kernel(nregs=60000))


def test_registers_may_be_given_for_mem_trace(mem_trace):
    assert mem_trace(launch() + access("LDG.E", GLOBAL), registers=7).info.launches[0].registers_per_thread == 7


def test_a_header_without_a_version_is_of_version_2(listed):
    text = traceg([[load(GLOBAL, "R4"), EXIT]], version=2)
    without = text.replace("-accelsim tracer version = 2\n", "")
    assert without != text
    assert listed(without).info.digest == listed(text).info.digest


def test_a_newer_version_is_read_as_the_newest_that_is_known_and_said_so(listed, caplog):
    text = kernel()
    newer = listed(text.replace("tracer version = 5", "tracer version = 6"))
    assert newer.info.digest == listed(text).info.digest
    (doubt,) = newer.info.doubts
    assert doubt == "tracer version 6 is unknown: its lines were read as version 5"
    assert doubt in caplog.text


def test_lines_that_are_not_like_the_newest_version_are_refused(listed):
    with pytest.raises(TraceError, match=r"line [0-9]+: expected an immediate"):
        listed(traceg([[load(GLOBAL, "R4")]], version=4).replace("tracer version = 4", "tracer version = 6"))


@pytest.mark.parametrize(("size", "doubts"), [("(2,1,1)", 1), ("(1,1,16)", 1), ("(1,1,1)", 0)])
def test_clusters_are_reported(listed, size, doubts):
    trace = listed(kernel(cluster_dim=size))
    assert ["placed one by one" in each for each in trace.info.doubts] == [True] * doubts


def test_what_the_tracer_wrote_itself_is_named(tmp_path):
    (tmp_path / "kernelslist").write_text("MemcpyHtoD,0x00007f0000000000,16\nkernel-1.trace\n")
    (tmp_path / "kernel-1.trace").write_text(kernel())
    for form in ("accelsim", None):
        with pytest.raises(TraceError, match=r"line 2: .*post-traces-processing makes it and kernelslist.g"):
            import_trace(tmp_path / "kernelslist", form)


@pytest.mark.parametrize("name", ["kernel-1.trace", "kernel-1.trace.xz"])
def test_a_kernel_as_the_tracer_wrote_it_is_named(tmp_path, name):
    """Each line with its block and warp, in the order of the GPU; nothing is between #BEGIN_TB and #END_TB."""
    text = re.sub(r"#(BEGIN|END)_TB|thread block = .*|warp = .*|insts = .*", "", kernel())
    content = re.sub(r"(?m)^(?=[0-9a-f]{4} )", "0 0 0 0 ", text).encode()
    (tmp_path / name).write_bytes(lzma.compress(content) if name.endswith(".xz") else content)
    (tmp_path / "kernelslist").write_text(f"{name}\n")
    for source in (name, "kernelslist"):
        with pytest.raises(TraceError, match=r"\.traceg\).*: Accel-Sim's post-traces-processing makes it and kern"):
            import_trace(tmp_path / source)


def test_a_processed_kernel_may_have_any_name(tmp_path):
    (tmp_path / "kernel-1.trace").write_text(kernel())
    assert len(import_trace(tmp_path / "kernel-1.trace").info.launches) == 1


# What was in them


def test_warps_and_accesses_are_counted_by_space(listed):
    lines = [
        load(GLOBAL, "R4"),
        store(GLOBAL, "R4", pc=16),
        load(0x7F0010000000, "R5", pc=32, opcode="LDS"),
        load(0x7F0020000000, "R5", pc=48, opcode="LDL"),
        load(0x7F0020000000, "R6", pc=64, opcode="LD"),
        line("BAR.SYNC", pc=80),
        line("FNORD.X", pc=96),
        line("FNORD.Y", pc=112),
        line("EXIT", pc=128),
    ]
    trace = listed(traceg([lines, lines], block=(64, 1, 1), shmem=4096))
    assert trace.info.provenance["statistics"] == {
        "warps": 2,
        "accesses": {"global": 4, "shared": 2, "local": 4},
        "barriers": 2,
        "unknown_opcodes": {"FNORD": 4},
    }
    assert trace.info.doubts == []


def test_mem_traces_are_counted_likewise(mem_trace):
    text = launch() + access("LDG.E", GLOBAL) + access("FNORD", GLOBAL) + access("STG.E", GLOBAL)
    assert mem_trace(text).info.provenance["statistics"] == {
        "warps": 1,
        "accesses": {"global": 2, "shared": 0, "local": 0},
        "barriers": 0,
        "unknown_opcodes": {"FNORD": 1},
    }


def test_accesses_without_an_address_are_reported(listed, mem_trace):
    trace = listed(traceg([[load(0, "R4", stride=0), load(GLOBAL, "R5", pc=16), EXIT]]))
    reported = "1 accesses of warps have no address but 0: the tracer may have lost their addresses"
    assert trace.info.doubts == [reported]
    assert mem_trace(launch() + access("LDG.E", 0, stride=0) + access("LDG.E", GLOBAL)).info.doubts == [reported]


def test_shared_memory_beyond_what_is_declared_is_reported(listed):
    lines = [load(0x7F0010000000 + 1000, "R5", opcode="LDS"), EXIT]
    (doubt,) = listed(traceg([lines], shmem=1024)).info.doubts
    assert doubt.startswith(
        "1 accesses of warps to shared memory are beyond what their blocks declare, up to byte 1,128"
    )
    assert listed(traceg([lines], shmem=1128)).info.doubts == []


def test_what_is_packed_is_chosen_from_as_well(tmp_path):
    (tmp_path / "k.traceg.xz").write_bytes(lzma.compress(kernel(blocks=4).encode()))
    assert len(batches(import_trace(tmp_path / "k.traceg.xz", blocks=1))) == 1
