"""Bandwidth as a key of its own: what a chunk takes follows from it, and the chunk does not change it."""

import pytest

from simtmm import Machine, Workload, load_machine, simulate
from simtmm.errors import MachineError
from simtmm.machine.levels import levels_of

GIVEN = 177.4e9  # bytes a second


@pytest.fixture(scope="module")
def machine():
    """A GTX 480, by whose file service is 6.07 cycles and no bandwidth is given."""
    return load_machine("gtx480")


def bandwidth(machine):
    """What the engines' partitions move [bytes a second], by their whole ticks."""
    return levels_of(machine).peaks[2] * machine.clock_hz


def test_with_a_bandwidth_the_chunk_does_not_change_it(machine):
    own = machine.replace({"memory.bandwidth": GIVEN})
    for words in (4, 32, 128):
        assert bandwidth(own.replace({"memory.chunk_words": words})) == pytest.approx(GIVEN, rel=0.01)
        assert bandwidth(machine.replace({"memory.chunk_words": words})) == pytest.approx(GIVEN * words / 32, rel=0.01)


@pytest.mark.parametrize("key", ["memory.partitions", "memory.word_bytes", "clock_hz"])
def test_service_follows_whatever_else_is_changed(machine, key):
    own = machine.replace({"memory.bandwidth": GIVEN}).replace({key: "x2"})
    assert bandwidth(own) == pytest.approx(GIVEN, rel=0.01)
    assert own.memory.atomic_service == own.memory.service  # as before
    assert own.sources["memory.service"].source == "memory.bandwidth"


def test_as_many_bytes_take_as_long_whatever_the_chunk(machine):
    """Loads of 48 KiB by one warp each, all at once: with little latency only bandwidth counts."""
    alone = {"memory.latency": 1, "memory.l1": None, "memory.l2": None, "memory.interleave": "modulo"}
    own = machine.replace({"memory.bandwidth": GIVEN, **alone})
    seconds = []
    for words in (8, 16, 32):
        chunks = 48 * 1024 // (4 * words)
        work = Workload.from_dict({"blocks": [{"warps": [[["load", list(range(chunks))]]]}] * 8})
        seconds.append(simulate(own.replace({"memory.chunk_words": words}), work).seconds)
    assert seconds == pytest.approx([8 * 48 * 1024 / GIVEN] * 3, rel=0.01)  # whole ticks, and a latency of a cycle


def test_a_multiple_is_one_of_the_bandwidth_before_the_change(machine):
    changed = machine.replace({"memory.chunk_words": 64, "memory.bandwidth": "x1"})
    assert bandwidth(changed) == pytest.approx(bandwidth(machine), rel=0.01)


def test_what_a_bandwidth_decides_is_in_the_digest_by_its_service(machine):
    own = machine.replace({"memory.bandwidth": GIVEN})
    same = machine.replace(
        {name: getattr(own.memory, name.split(".")[1]) for name in ("memory.service", "memory.atomic_service")}
    )
    assert own.digest() == same.digest() != machine.digest()
    assert Machine.from_dict(own.to_dict()) == own


def test_a_service_or_no_bandwidth_ends_the_following(machine):
    own = machine.replace({"memory.bandwidth": GIVEN})
    assert own.replace({"memory.service": 5}).memory.bandwidth is None
    freed = own.replace({"memory.bandwidth": None})
    assert (freed.memory.bandwidth, freed.memory.service) == (None, own.memory.service)


def test_the_name_tells_the_bandwidth_and_not_what_follows(machine):
    assert machine.replace({"memory.bandwidth": "x0.5", "memory.chunk_words": 64}).changes.keys() == {
        "memory.bandwidth",
        "memory.chunk_words",
    }


def test_a_file_of_a_family_takes_the_rest_from_it(tmp_path):
    path = tmp_path / "mine.toml"
    own = 'name = "mine"\nfamily = "ada"\nclock_hz = 2e9\nticks_per_cycle = 100\n[cores]\ngroups = 8\n'
    path.write_text(own + "[memory]\nbandwidth = 2e11\nl2.size = '1MiB'\n", encoding="utf-8")
    mine = load_machine(path)
    assert bandwidth(mine) == pytest.approx(2e11, rel=0.01)
    assert mine.memory.partitions > 1


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"memory.bandwidth": 1e9, "memory.service": 5}, "give one of them"),
        ({"memory.bandwidth": 1e15}, "ticks_per_cycle = 100 can't count"),
        ({"memory.bandwidth": 0}, "memory.bandwidth = 0: must be a number above 0"),
        ({"memory.bandwidth": 1e9, "clock_hz": None}, "needs clock_hz"),
        ({"memory.bandwidth": 1e9, "memory.transfers": "serial"}, "must be left out with memory.transfers"),
    ],
)
def test_what_can_not_be_is_refused(machine, changes, line):
    with pytest.raises(MachineError, match=line):
        machine.replace(changes)
    with pytest.raises(MachineError, match=r"memory.service = 5.0: follows from memory.bandwidth"):
        Machine.from_dict(
            {**(tables := machine.to_dict()), "memory": {**tables["memory"], "service": 5.0, "bandwidth": GIVEN}}
        )


def test_an_integer_that_no_float_holds_is_refused():
    with pytest.raises(MachineError, match=r"memory\.bandwidth = 1000"):
        load_machine("gtx480").replace({"memory.bandwidth": 10**400})
