"""What `Machine.replace` makes of multiples and sizes, and how a changed machine's name says so."""

import pytest

from simtmm.errors import MachineError
from simtmm.machine import Machine, load_machine

TABLES = {
    "name": "m",
    "cores": {"groups": 10, "cores_per_group": 8, "warp_width": 32, "max_threads_per_core": 128},
    "memory": {
        "latency": 400, "chunk_words": 32, "stores": "posted", "l2": {"sets": 512, "ways": 16, "latency": 90},
    },
    "resources": {"shared_memory": 49152},
}  # fmt: skip


def machine():
    return Machine.from_dict(TABLES)


@pytest.mark.parametrize(
    ("key", "value", "made"),
    [
        ("memory.latency", "x0.5", 200),
        ("memory.latency", "x1.25", 500),
        ("cores.groups", "x2", 20),
        ("resources.shared_memory", "96KiB", 98304),
        ("resources.shared_memory", "0.5MiB", 524288),
    ],
)
def test_a_multiple_or_size_becomes_a_number(key, value, made):
    found = machine().replace({key: value}).values()[key]
    assert found == made
    assert type(found) is type(machine().values()[key])


@pytest.mark.parametrize(
    ("value", "sets"), [("2MiB", 1024), ("x3", 1536), ({"size": "4KiB", "ways": 2, "latency": 9}, 16)]
)
def test_a_cache_may_be_reported_by_its_size(value, sets):
    cache = machine().replace({"memory.l2": value}).memory.l2
    assert cache.sets == sets


def test_sizes_stand_in_dictionaries_too():
    result = Machine.from_dict(
        {**TABLES, "memory": {**TABLES["memory"], "l2": {"size": "1MiB", "ways": 16, "latency": 90}}}
    )
    assert result == machine()


@pytest.mark.parametrize(
    ("key", "value", "line"),
    [
        ("memory.stores", "x2", "must be a multiple of a number, but memory.stores is 'posted'"),
        ("memory.store_latency", "x2", "must be a multiple of a number, but memory.store_latency has no value"),
        ("cores.groups", "x0.25", "cores.groups = 2.5: must be a whole number"),
        ("resources.shared_memory", "96KB", "must be in B, KiB, MiB, GiB"),
        ("resources.shared_memory", "0.3B", "must be a whole number of bytes"),
        ("memory.latency", "96KiB", "memory.latency = '96KiB': must be a number"),
        ("memory.l2", "1KiB", "must be at least a set, 2048 bytes"),
        ("memory.l1", "64KiB", "needs memory.l1.ways and memory.chunk_words"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_line(key, value, line):
    with pytest.raises(MachineError) as caught:
        machine().replace({key: value})
    assert line in str(caught.value)
    assert str(caught.value).startswith("machine m: ")


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"memory.latency": "x0.5"}, "m (memory.latency x0.5)"),
        ({"memory.latency": 800}, "m (memory.latency = 800)"),
        ({"memory.l2": None}, "m (memory.l2 = none)"),
        ({"memory.latency": 400}, "m"),  # as it was
        ({"memory.l2.ways": 8, "memory.stores": "blocking"}, "m (memory.stores = blocking, memory.l2.ways = 8)"),
    ],
)
def test_the_name_says_what_is_changed(changes, name):
    assert machine().replace(changes).name == name


def test_the_name_says_what_was_changed_before_and_no_more_than_three_things():
    once = machine().replace({"memory.latency": "x0.5"})
    twice = once.replace({"memory.latency": 300, "cores.groups": 3})
    assert twice.name == "m (memory.latency = 300, cores.groups = 3)"
    many = twice.replace({"memory.port_interval": 1, "memory.service": 2})
    assert many.name == "m (memory.latency = 300, cores.groups = 3, memory.port_interval = 1, 1 more)"
    assert many.changes == {
        "memory.latency": "= 300", "cores.groups": "= 3", "memory.port_interval": "= 1", "memory.service": "= 2",
    }  # fmt: skip


def test_a_changed_name_is_no_part_of_what_the_machine_is():
    assert machine().replace({"memory.latency": "x0.5"}).digest() == machine().replace({"memory.latency": 200}).digest()


@pytest.mark.parametrize("name", ["v100", "a40", "mi210"])
def test_a_family_and_a_measured_bandwidth_leave_the_digest_of_a_machine_as_it_was(name):
    # What is kept of simulations is found by it
    tables = load_machine(name).to_dict()
    del tables["family"], tables["measured_bandwidth"], tables["sources"]
    assert Machine.from_dict(tables).digest() == load_machine(name).digest()
