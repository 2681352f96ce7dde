"""What a workload took on a machine is known the next time: by all that decides it, and only if it is sound."""

from dataclasses import replace

import pytest

from simtmm import Workload, load_machine, simulate
from simtmm.cache import compiled, find, keep
from simtmm.engine import known_cycles
from simtmm.engine.known_cycles import MODULE, cycles_of, key_of, store, ticks_of
from simtmm.files import PACKAGE
from tests.test_keys import keys_apart

FILE = "cycles", "all", ".json"
MACHINE = load_machine("gtx480")


def loads(count, step=1, limit=0):
    table = {"blocks": [{"warps": [[["load", [step * number]] for number in range(count)]]}]}
    return Workload.from_dict({"launches": [{**table, **({"blocks_per_group": limit} if limit else {})}]})


SMALL = loads(40)


@pytest.fixture
def simulated(monkeypatch, tmp_path):
    """What is simulated from here on, with nothing known and all of it worth storing."""
    begun = []
    monkeypatch.setattr(known_cycles, "kept_folder", {MODULE: tmp_path}.get)
    monkeypatch.setattr(known_cycles, "WORTH", 1)
    monkeypatch.setattr(known_cycles, "_known", {})
    monkeypatch.setattr(known_cycles, "_new", set())
    monkeypatch.setattr(
        known_cycles, "simulate", lambda *given, **more: (begun.append(given), simulate(*given, **more))[1]
    )
    return begun


def forget(monkeypatch):
    """As another process begins."""
    monkeypatch.setattr(known_cycles, "_known", {})


def stored():
    return find(known_cycles.kept_folder(MODULE), *FILE)


def test_it_is_found_by_all_that_decides_it():
    faster = MACHINE.model_copy()
    faster.__dict__["durations"] = replace(MACHINE.durations, shared_pass=MACHINE.durations.shared_pass + 1)
    parts = {
        "machine": (MACHINE, MACHINE.replace({"memory.latency": 7}), MACHINE.replace({"ticks_per_cycle": 2}), faster),
        "workload": (SMALL, loads(41), loads(40, 2), loads(40, limit=2)),
    }
    keys_apart(key_of, parts)


def test_it_is_forgotten_with_any_source_that_it_came_of():
    found = {}
    compiled._collect(compiled._file_of(MODULE), found)
    needed = {*(PACKAGE / "engine" / "fast").rglob("*.py"), PACKAGE / "machine" / "durations.py"}
    assert len(needed) > 40
    assert needed <= {*found, *(path for path in needed if not path.read_text("utf-8").partition('"""\n')[2].strip())}


def test_what_was_simulated_is_not_simulated_again(simulated, monkeypatch):
    first = cycles_of(MACHINE, SMALL, "fast")
    assert first == simulate(MACHINE, SMALL).cycles
    assert cycles_of(MACHINE, SMALL, "fast") == first
    assert len(simulated) == 1
    store()
    forget(monkeypatch)
    slower = MACHINE.replace({"memory.latency": 700})
    assert cycles_of(MACHINE, SMALL, "fast") == first
    assert ticks_of(slower, SMALL, "fast") > ticks_of(MACHINE, SMALL, "fast") == first * MACHINE.ticks_per_cycle
    assert len(simulated) == 2
    store()
    assert len(list(stored().parent.glob("cycles-*"))) == 1  # in the place of the one before
    forget(monkeypatch)
    assert cycles_of(slower, SMALL, "fast") > cycles_of(MACHINE, SMALL, "fast") == first
    assert len(simulated) == 2


def test_two_processes_that_store_lose_nothing_of_one_another(simulated, monkeypatch):
    cycles_of(MACHINE, SMALL, "fast")
    other = dict(known_cycles._known)
    forget(monkeypatch)
    cycles_of(MACHINE, loads(41), "fast")
    store()
    monkeypatch.setattr(known_cycles, "_known", other)
    monkeypatch.setattr(known_cycles, "_new", set(other))
    store()
    forget(monkeypatch)
    for workload in (SMALL, loads(41)):
        cycles_of(MACHINE, workload, "fast")
    assert len(simulated) == 2


@pytest.mark.parametrize("content", ["", "[1]", '{"k": "9"}', '{"k": 1.5}', '{"k": -1}', "\x00"])
def test_what_is_not_sound_is_not_believed(content, simulated, monkeypatch):
    taken = cycles_of(MACHINE, SMALL, "fast")
    store()
    damaged = stored()
    damaged.write_text(content.replace("k", key_of(MACHINE, SMALL)))  # no longer what its name says
    forget(monkeypatch)
    assert cycles_of(MACHINE, SMALL, "fast") == taken
    keep(damaged.parent, *FILE[:2], FILE[2], lambda path: path.write_text(content.replace("k", key_of(MACHINE, SMALL))))
    forget(monkeypatch)
    assert cycles_of(MACHINE, SMALL, "fast") == taken
    assert len(simulated) == 3


def test_the_latest_are_stored(simulated, monkeypatch):
    monkeypatch.setattr(known_cycles, "MOST", 2)
    for count in (40, 41, 42):
        cycles_of(MACHINE, loads(count), "fast")
    store()
    forget(monkeypatch)
    for count in (42, 41, 40):
        cycles_of(MACHINE, loads(count), "fast")
    assert [workload.operations for _, workload, _ in simulated] == [40, 41, 42, 40]


def test_short_ones_other_engines_and_what_has_no_folder_are_simulated_each_time(simulated, monkeypatch):
    monkeypatch.setattr(known_cycles, "WORTH", 41)
    taken = [cycles_of(MACHINE, loads(40), "fast"), cycles_of(MACHINE, loads(41), "reference")]
    monkeypatch.setattr(known_cycles, "kept_folder", lambda module: None)
    taken.append(cycles_of(MACHINE, loads(41), "fast"))
    assert len(simulated) == 3
    assert taken[1] == taken[2]
    store()
    monkeypatch.undo()
    assert known_cycles._new == set()
