"""Families: what a machine's file takes from its family, how it says so, and that the shipped families hold."""

import copy
import tomllib
from pathlib import Path

import pytest

from simtmm.calibration import donors
from simtmm.errors import MachineError
from simtmm.machine import Machine, load_machine, machine_files, machine_toml, new_machine
from simtmm.machine.family import RULES, load_family, with_family
from simtmm.machine.known import family_files

ROOT = Path(__file__).parents[1]
FAMILIES = sorted(family_files())
OF_A_FAMILY = [name for name in machine_files() if load_machine(name).family]
CALIBRATED = [name for name in OF_A_FAMILY if donors.is_calibrated(load_machine(name))]

PARENT = """
name = "old"
[cores]
warp_width = 32
cores_per_group = 64
max_threads_per_core = 32
[scheduling]
block_launch = 300
[memory]
chunk_words = 32
store_latency = 40
[memory.l2]
ways = 16
latency = 200
[rules]
latency_seconds = 400e-9
efficiency = 0.5
[sources]
"scheduling.block_launch" = { certainty = "family", source = "an old GPU" }
"""
CHILD = """
name = "young"
family = "old"
[scheduling]
block_launch = 200
[memory.l1]
sets = 8
ways = 4
latency = 30
[rules]
partition_bandwidth = 10e9
read_efficiency = 1.25
turnaround = 0.25
fetch_interval = 0.75
[sources]
"scheduling.block_launch" = { certainty = "family", source = "a young GPU", note = "fitted" }
"rules.latency_seconds" = { certainty = "family", source = "a chase" }
"""
OWN = """
name = "mine"
family = "young"
clock_hz = 2e9
peak_bandwidth = 800e9
[cores]
groups = 10
[memory.l2]
size = "4MiB"
[sources]
"memory.l2.size" = { certainty = "confirmed", source = "its data sheet" }
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "families").mkdir()
    for name, text in (("old", PARENT), ("young", CHILD)):
        (tmp_path / "families" / f"{name}.toml").write_text(text, encoding="utf-8")
    return tmp_path


def machine_in(folder, text=OWN):
    path = folder / "mine.toml"
    path.write_text(text, encoding="utf-8")
    return load_machine(path)


def test_a_machine_takes_what_it_lacks_from_its_family_and_that_ones_family(folder):
    machine = machine_in(folder)
    assert machine.scheduling.block_launch == 200  # the nearest one's
    assert (machine.cores.warp_width, machine.memory.store_latency) == (32, 40)
    assert (machine.memory.l1.sets, machine.memory.l2.ways) == (8, 16)
    assert machine.family == "young"


def test_what_is_a_machines_own_stays(folder):
    machine = machine_in(folder, OWN.replace("[memory.l2]", "[scheduling]\nblock_launch = 7\n[memory.l2]"))
    assert machine.scheduling.block_launch == 7
    assert "scheduling.block_launch" not in machine.sources


def test_a_value_of_the_family_is_reported(folder):
    sources = machine_in(folder).sources
    assert sources["scheduling.block_launch"].model_dump() == {
        "source": "family young: a young GPU", "certainty": "family", "note": "fitted",
    }  # fmt: skip
    assert sources["cores.warp_width"].source.startswith("family young: no source is given")
    assert sources["memory.l2.sets"].source == "its data sheet"


def test_latency_follows_from_the_clock_and_service_from_bandwidth_and_clock(folder):
    memory = machine_in(folder).memory
    assert memory.latency == 800  # 400 ns at 2 GHz
    assert memory.partitions == 40  # 400 GB/s, 10 of each
    assert memory.service == 25.6  # 128 bytes in 12.8 ns
    assert memory.atomic_service == memory.service
    assert memory.turnaround == 6.4
    assert (
        machine_in(folder).sources["memory.service"].note == "what all partitions move is 0.5 of peak_bandwidth 8e+11"
    )


def test_a_groups_fetches_follow_from_its_share_of_the_bandwidth(folder):
    """A chunk in 25.6 / 40 cycles of the machine is one in 6.4 of each of 10 groups; of twice as many one in 12.8."""
    assert machine_in(folder).memory.fetch_interval == 4.8
    assert machine_in(folder, OWN.replace("groups = 10", "groups = 20")).memory.fetch_interval == 9.6
    assert machine_in(folder, OWN.replace("800e9", "1600e9")).memory.fetch_interval == 2.4
    own = machine_in(folder, OWN.replace("[cores]", "[memory]\nfetch_interval = 1\n[cores]"))
    assert own.memory.fetch_interval == 1
    assert "memory.fetch_interval" not in own.sources


def test_a_measured_bandwidth_comes_before_the_data_sheets_and_up_to_it(folder):
    measured = OWN.replace("peak_bandwidth", "measured_bandwidth = 320e9\npeak_bandwidth")
    assert machine_in(folder, measured).memory.partitions == 40  # 1.25 times 320 GB/s
    assert machine_in(folder, measured.replace("320e9", "700e9")).memory.partitions == 80


def test_sets_of_its_own_stand_for_the_familys_size_and_none_for_nothing(folder):
    assert machine_in(folder).memory.l2.sets == 2048
    machine = machine_in(folder, OWN.replace("[cores]", '[memory]\nl1 = "none"\nstore_latency = "none"\n[cores]'))
    assert (machine.memory.l1, machine.memory.store_latency) == (None, None)


def test_a_machine_of_a_family_is_written_whole_and_reads_back_as_it_was(folder, tmp_path):
    machine = machine_in(folder).replace({"memory.l1": None, "memory.latency": "x0.5"})
    path = tmp_path / "written.toml"
    path.write_text(machine_toml(machine), encoding="utf-8")
    again = load_machine(path)
    assert again == machine
    assert (again.memory.l1, again.family, again.name) == (None, "young", machine.name)


def test_a_flat_dictionary_takes_nothing_from_a_family():
    tables = load_machine("v100").to_dict()
    assert Machine.from_dict(copy.deepcopy(tables)) == load_machine("v100")
    del tables["memory"]["store_latency"]
    tables["sources"].pop("memory.store_latency")
    assert Machine.from_dict(tables).memory.store_latency is None


@pytest.mark.parametrize(
    ("family", "text", "line"),
    [
        ("young", 'family = "olde"', "family = 'olde': unknown; did you mean 'old'?"),
        ("old", 'family = "young"', "must not lead back to itself"),
        ("young", "[rules]\nspeed = 1", "rules.speed: unknown"),
        ("young", "[rules]\nefficiency = -1", "rules.efficiency = -1: must be a number above 0"),
        ("young", "[memory]\nlatencies = 4", "memory.latencies: unknown key of a family; did you mean"),
        ("young", "clock_hz = 1e9", "clock_hz: unknown key of a family"),
        ("young", "donors = 4", "donors = 4: must be a list"),
        ("young", "rules = 4", "rules = 4: must be a table"),
    ],
)
def test_a_family_that_makes_no_sense_is_refused_in_a_line(folder, family, text, line):
    head = f'name = "{family}"\n'
    (folder / "families" / f"{family}.toml").write_text(head + text, encoding="utf-8")
    with pytest.raises(MachineError) as caught:
        machine_in(folder)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_an_unknown_family_is_reported_with_the_machines_file(folder):
    with pytest.raises(MachineError, match=r"mine\.toml: family = 'yung': unknown; did you mean 'young'"):
        machine_in(folder, OWN.replace('"young"', '"yung"'))


def test_a_family_beside_a_machine_is_taken_before_the_shipped_one(folder):
    (folder / "families" / "ada.toml").write_text(CHILD, encoding="utf-8")
    assert machine_in(folder, OWN.replace('"young"', '"ada"')).scheduling.block_launch == 200
    assert load_machine("rtx-4090").scheduling.block_launch != 200  # the shipped machine has the shipped family


def test_a_new_machines_own_values_are_yours_and_the_others_its_familys():
    given = {"clock_hz": 2.52e9, "peak_bandwidth": 1008e9, "cores.groups": 128, "memory.l2.size": "72MiB"}
    machine = new_machine("Mine", "ada", given)
    like = load_machine("rtx-4090")
    assert machine.digest() == like.digest()
    assert {key for key, source in machine.sources.items() if source.source == "yours"} == {
        "clock_hz", "peak_bandwidth", "cores.groups", "memory.l2.sets",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("clock", "bandwidth"), [(1e308, 1e-308), (0, 1e11), (1e9, float("inf")), (1e9, float("nan")), (10**400, 1e11)]
)
@pytest.mark.parametrize("family", ["ada", "hopper", "cdna3"])
def test_numbers_of_which_the_rules_make_none_are_refused_in_a_line(family, clock, bandwidth):
    values = {"cores.groups": 10, "clock_hz": clock, "peak_bandwidth": bandwidth, "memory.l2.size": "4MiB"}
    with pytest.raises(MachineError, match=rf"^machine m of family {family}: .*(clock_hz|bandwidth|latency) = "):
        new_machine("m", family, values)


@pytest.mark.parametrize("family", ["ada", "hopper", "cdna3"])
def test_a_value_in_the_place_of_a_table_is_refused_in_a_line(family):
    values = {"cores.groups": 10, "clock_hz": 1e9, "peak_bandwidth": 1e11, "memory": "xx"}
    with pytest.raises(MachineError, match=rf"^machine m of family {family}: memory = 'xx': must be a table of keys$"):
        new_machine("m", family, values)


# The families that ship


@pytest.mark.parametrize("name", FAMILIES)
def test_every_value_and_rule_of_a_shipped_family_has_a_source(name):
    tables = tomllib.loads(family_files()[name].read_text(encoding="utf-8"))
    assert tables["name"] == name
    family = load_family(name)
    keys = {*family.values, *(f"rules.{rule}" for rule in family.rules)}
    assert all(family.sources[key]["source"] for key in keys)
    assert set(tables["sources"]) <= keys


@pytest.mark.parametrize("name", [name for name in FAMILIES if load_family(name).donors])
def test_what_a_shipped_family_has_from_donors_is_what_they_give(name):
    tables = tomllib.loads(family_files()[name].read_text(encoding="utf-8"))
    machines = [load_machine(donor) for donor in tables["donors"]]
    assert all(donors.is_calibrated(machine) for machine in machines)
    readers = [load_machine(reader) for reader in tables.get("reads", ())]
    fitted = {rule: number for rule, number in tables["rules"].items() if rule not in donors.MEASURED_RULES}
    values, rules = donors.donated(machines, fitted, readers)
    assert fitted == rules
    for key, value in values.items():
        table, last = key.split(".")
        assert tables[table][last] == value, key


@pytest.mark.parametrize("name", OF_A_FAMILY)
def test_a_calibrated_machine_of_a_family_with_donors_is_one_of_them(name):
    families = [load_family(each) for each in load_family(load_machine(name).family).chain]
    lines = [family for family in families if name in family.donors]
    assert bool(lines) == (name in CALIBRATED)


def test_leaving_a_machine_out_takes_nothing_from_it():
    machines = [load_machine(name) for name in CALIBRATED]
    for machine in machines:
        left, given = donors.left_out(machine, machines, measured=True)
        assert machine.name not in [donor.name for donor in given]
        values, _ = donors.donated(given, RULES)
        for key, value in values.items():
            assert left.values()[key] == value
        assert left.memory.latency == machine.memory.latency
        by_sheet, _ = donors.left_out(machine, machines, measured=False)
        assert by_sheet.memory.latency != machine.memory.latency
        assert by_sheet.measured_bandwidth is None


def test_a_warp_start_that_holds_reads_to_the_measured_bandwidth_is_not_taken_for_one():
    machine = load_machine("mi300a").replace({"scheduling.warp_launch": 74})
    note = "by simtmm machines calibrate"
    sources = {
        key: {"certainty": "derived", "source": "a curve", "note": note}
        for key in ("scheduling.block_launch", "scheduling.warp_launch")
    }
    machine = Machine.from_dict({**machine.to_dict(), "sources": sources})
    values, rules = donors.donated([machine], ["read_efficiency"])
    loaded = 228 * 64 * 8 * 2.096e9
    assert values["scheduling.warp_launch"] == pytest.approx(loaded / (2 * 2677e9), rel=1e-3)
    whole = machine.scheduling.block_launch + machine.scheduling.warp_launch
    assert values["scheduling.block_launch"] + values["scheduling.warp_launch"] == pytest.approx(whole, rel=1e-3)
    assert rules == {"read_efficiency": 1.0}


def test_what_an_l2_moves_and_a_launch_takes_follow_from_a_familys_rules():
    machine = load_machine("rtx-4090")
    durations, cycle = machine.durations, machine.ticks_per_cycle * machine.clock_hz
    moved = machine.memory.partitions * machine.chunk_bytes / machine.memory.l2.service / machine.cores.groups
    assert moved == pytest.approx(17, rel=1e-3)
    assert machine.memory.l2.store_service == machine.memory.l2.service  # of the A40, which stores as fast as it loads
    assert durations.launch_overhead / cycle == pytest.approx(1.5e-6, rel=1e-3)
    assert durations.graph_launch_overhead / cycle == pytest.approx(7.1e-7, rel=1e-3)
    assert "17 bytes a cycle of each of 128 groups" in machine.sources["memory.l2.service"].note


@pytest.mark.parametrize(
    ("groups", "given", "service"), [(56, {}, 0.54), (28, {}, 1.081), (56, {"far_service": 2.5}, 2.5)]
)
def test_the_way_between_halves_is_as_wide_as_the_familys_for_so_many_groups(groups, given, service):
    tables = {"name": "m", "family": "ampere", "clock_hz": 1.4e9, "peak_bandwidth": 9e11, "ticks_per_cycle": 1000}
    tables |= {"cores": {"groups": groups}, "memory": {"l2": {"size": "24MiB", **given}}}
    machine = Machine.from_dict(with_family(tables, "m"))
    assert (machine.memory.l2.halves, machine.memory.l2.far_service) == (2, service)
    assert given or machine.memory.l2.far_service == round(128 / (4.23 * groups), 3)


def test_an_l2_in_one_piece_has_no_way_between_halves():
    tables = {"name": "m", "family": "ampere", "clock_hz": 1.4e9, "peak_bandwidth": 9e11, "ticks_per_cycle": 1000}
    tables |= {"cores": {"groups": 56}, "memory": {"l2": {"size": "24MiB", "halves": 1, "far_latency": 0}}}
    assert Machine.from_dict(with_family(tables, "m")).memory.l2.far_service == 0


def test_a_machine_without_an_l2_takes_no_rule_for_one():
    tables = {"name": "m", "family": "ada", "clock_hz": 2e9, "peak_bandwidth": 5e11, "ticks_per_cycle": 100}
    tables |= {"cores": {"groups": 10}, "memory": {"l2": "none"}}
    assert Machine.from_dict(with_family(tables, "m")).memory.l2 is None


def test_a_donor_with_hashed_partitions_gives_a_machine_whose_chunks_rotate_what_its_reads_reached():
    v100 = load_machine("v100")
    reached = v100.measured_bandwidth / v100.peak_bandwidth
    _, hashed = donors.donated([v100], ["efficiency", "read_efficiency"])
    _, rotated = donors.donated([v100], ["efficiency", "read_efficiency"], rotates=True)
    assert hashed["efficiency"] > 1.05 * reached  # partitions that are never all busy
    assert rotated["efficiency"] == pytest.approx(reached, rel=1e-3)  # of four digits
    assert rotated["read_efficiency"] == 1
    _, own = donors.donated([load_machine("a100-80")], ["efficiency"], rotates=True)
    assert own == donors.donated([load_machine("a100-80")], ["efficiency"])[1]  # whose own chunks rotate
