"""Where warps' ticks go, by hand: worked cases of docs/machine.md, section 10, on both engines."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from simtmm import Machine, Workload, simulate
from simtmm.engine import ENGINES
from simtmm.engine.fast.launches import launch
from simtmm.errors import EngineError
from simtmm.stalls import COUNTS, REASONS, Place, Places, Stalls

pytestmark = pytest.mark.parametrize("engine", ENGINES)


def machine(**changes):
    """One group of one port, an instruction a cycle; L = 20."""
    return Machine.from_dict(
        {
            "name": "one",
            "cores": {"groups": 1, "cores_per_group": 8, "warp_width": 8, "max_threads_per_core": 8},
            "memory": {"latency": 20, "chunk_words": 8},
        }
    ).replace(changes)


EVERY = {"scheduling.switch": "every-instruction", "scheduling.pipeline_depth": 4}


CACHES = {"memory.l1": {"sets": 1, "ways": 4, "latency": 3}, "memory.l2": {"sets": 1, "ways": 8, "latency": 9}}


def stalls(on, warps, engine, launches=1):
    workload = Workload.from_dict({"launches": [{"blocks": [{"warps": warps}]}] * launches})
    found = simulate(on, workload, engine, stalls=True).stalls
    assert isinstance(found, Stalls)
    return found


def reasons(on, warps, engine):
    """What is not 0."""
    return {name: ticks for name, ticks in stalls(on, warps, engine).reasons.items() if ticks}


def test_a_load_issues_and_waits_for_memory(engine):
    assert reasons(machine(), [[["compute", 3], ["load", [0]]]], engine) == {"issuing": 4, "memory_latency": 20}


def test_a_ready_warp_waits_for_the_one_that_has_the_port(engine):
    assert reasons(machine(), [[["compute", 3]], [["compute", 2]]], engine) == {"issuing": 5, "not_granted": 3}


def test_the_pipeline_and_pauses_are_latencies_of_instructions(engine):
    # Each instruction waits until 4 cycles after its grant.
    found = reasons(machine(**EVERY), [[["compute", 2], ["pause", 5]]], engine)
    assert found == {"issuing": 2, "instruction_latency": 3 + 3 + 5}


def test_bank_conflicts_hold_the_port_longer(engine):
    for switch in ({}, EVERY | {"scheduling.pipeline_depth": 1}):
        assert reasons(machine(**switch), [[["shared", 4]]], engine) == {"issuing": 1, "bank_conflicts": 3}


def test_chunks_queue_at_the_port(engine):
    # The third chunk, which finishes last, starts 2 * 3 ticks behind the first.
    found = reasons(machine(**{"memory.port_interval": 3}), [[["load", [0, 1, 2]]]], engine)
    assert found == {"issuing": 1, "port_queue": 6, "memory_latency": 20}


def test_chunks_queue_at_a_partition(engine):
    on = machine(**{"memory.service": 5, "memory.atomic_service": 9})
    assert reasons(on, [[["load", [0, 1, 2]]]], engine) == {"issuing": 1, "memory_queue": 10, "memory_latency": 20}
    assert reasons(on, [[["atomic", [0, 0]]]], engine) == {"issuing": 1, "atomics_queue": 9, "memory_latency": 20}


def test_who_waits_behind_an_atomic_waits_for_atomics(engine):
    # The atomic has the partition from 1 to 10; the load, which leaves its port at 2, behind it until 15; then a load
    # waits for that one. An atomic that takes no time holds nobody up.
    on = machine(**{"memory.service": 5, "memory.atomic_service": 9})
    two = [[["atomic", [0]]], [["load", [1]]]]
    assert reasons(on, two, engine) == {
        "issuing": 2, "not_granted": 1, "atomics_queue": 8, "memory_latency": 40,
    }  # fmt: skip
    three = [*two, [["load", [2]]]]
    assert reasons(on, three, engine) == {
        "issuing": 3, "not_granted": 1 + 2, "atomics_queue": 8, "memory_queue": 12, "memory_latency": 60,
    }  # fmt: skip
    # The path of a load is that of its chunk that finishes last
    assert reasons(on, [[["atomic", [0]]], [["load", [1, 2]]]], engine)["memory_queue"] == 13
    free = machine(**{"memory.service": 5, "memory.atomic_service": 0})
    found = reasons(free, [[["load", [0]]], [["atomic", [1]]], [["load", [2]]]], engine)
    assert (found["atomics_queue"], found["memory_queue"]) == (4, 3)


def test_a_partition_turns_round_and_opens_rows_after_the_queue(engine):
    rows = {"chunks": 1, "open": 1, "opening": 2}
    on = machine(**{"memory.turnaround": 7, "memory.service": 4, "memory.rows": rows})
    # A store turns it round in 7 ticks and opens a row in 2; a second chunk waits for the first and opens another one.
    assert reasons(on, [[["store", [0]]]], engine) == {
        "issuing": 1, "turnaround": 7, "rows": 2, "memory_latency": 20,
    }  # fmt: skip
    assert reasons(on, [[["store", [0, 1]]]], engine) == {
        "issuing": 1, "memory_queue": 7 + 2 + 4, "rows": 2, "memory_latency": 20,
    }  # fmt: skip


def test_a_port_hides_what_a_partition_needs_before(engine):
    # The second chunk starts at its port 6 ticks later; of turning round (7) and the first's service (4) 5 are left.
    on = machine(**{"memory.turnaround": 7, "memory.service": 4, "memory.port_interval": 6})
    assert reasons(on, [[["store", [0, 1]]]], engine) == {
        "issuing": 1, "port_queue": 6, "memory_queue": 5, "memory_latency": 20,
    }  # fmt: skip


def test_hits_wait_for_a_cache_and_for_lines_in_flight(engine):
    on = machine(**CACHES)
    assert reasons(on, [[["load", [0]], ["load", [0]]]], engine) == {
        "issuing": 2, "memory_latency": 20, "l1_latency": 3,
    }  # fmt: skip
    # Behind the async, whose line comes at 1 + 20, the load leaves its port at 2 and could have it at 5.
    assert reasons(on, [[["async", [0]], ["load", [0]]]], engine) == {
        "issuing": 2, "l1_latency": 3, "line_in_flight": 16,
    }  # fmt: skip
    small = on.replace({"memory.l1": {"sets": 1, "ways": 1, "latency": 3}})
    found = reasons(small, [[["load", [0]], ["load", [1]], ["load", [0]]]], engine)
    assert found == {"issuing": 3, "memory_latency": 40, "l2_latency": 9}


def test_slices_of_the_l2_have_a_queue_of_their_own(engine):
    on = machine(**{"memory.l2": {"sets": 1, "ways": 8, "latency": 9, "service": 2}})
    assert reasons(on, [[["load", [0, 1, 2]]]], engine) == {"issuing": 1, "l2_queue": 4, "memory_latency": 20}
    stays = on.replace({"memory.l2.writes": "back"})
    assert reasons(stays, [[["store", [0, 1]]]], engine) == {"issuing": 1, "l2_queue": 2, "l2_latency": 20}


def test_ports_and_the_stores_own_make_accesses_wait(engine):
    on = machine(**{"memory.port_interval": 9, "memory.ports": 2})
    found = reasons(on, [[["load", [0, 1]]], [["load", [2, 3]]]], engine)
    assert found == {"issuing": 2, "not_granted": 1, "port_queue": 18, "memory_latency": 40}
    on = machine(**{"memory.port_interval": 3, "memory.store_interval": 5})
    assert reasons(on, [[["store", [0, 1]]]], engine) == {"issuing": 1, "port_queue": 5, "memory_latency": 20}
    on = machine(**{"memory.return_interval": 4})
    found = reasons(on, [[["load", [0, 1]], ["store", [2]]]], engine)
    assert found == {"issuing": 2, "port_queue": 8, "memory_latency": 40}
    on = machine(**{"memory.return_delay": 4})
    found = reasons(on, [[["load", [0, 1]], ["store", [2]]]], engine)
    assert found == {"issuing": 2, "port_queue": 4, "memory_latency": 40}


def test_a_store_that_its_partition_takes_in_waits_for_no_more_than_room(engine):
    on = machine(**{"memory.service": 5, "memory.store_buffer": 2})
    found = reasons(on, [[["store", [0, 1, 2, 3]]]], engine)
    assert found == {"issuing": 1, "memory_queue": 5, "memory_latency": 20}


def test_stores_are_waited_for_at_the_end_where_they_stand(engine):
    on = machine(**{"memory.stores": "at-end"})
    found = reasons(on, [[["store", [0]], ["compute", 5]]], engine)
    assert found == {"issuing": 6, "memory_latency": 15}


def test_what_is_fetched_from_memory_waits_at_a_port_behind_the_slices(engine):
    on = machine(**{"memory.fetch_interval": 3, "memory.port_interval": 2})
    assert reasons(on, [[["load", [0, 1, 2]]]], engine) == {
        "issuing": 1, "port_queue": 4, "memory_queue": 2, "memory_latency": 20,
    }  # fmt: skip
    sliced = on.replace({"memory.port_interval": 1, "memory.l2": {"sets": 1, "ways": 8, "latency": 9, "service": 2}})
    found = reasons(sliced, [[["load", [0, 1, 2]], ["load", [0, 1]]]], engine)
    assert found == {
        "issuing": 2, "port_queue": 3, "l2_queue": 3, "memory_queue": 2, "memory_latency": 20, "l2_latency": 9,
    }  # fmt: skip


def test_first_accesses_come_last(engine):
    on = machine(**{"memory.first_access": 6})
    found = reasons(on, [[["load", [0]]]], engine)
    assert found == {"issuing": 1, "memory_latency": 20, "first_access": 6}


def test_translations_are_waited_for_like_first_accesses(engine):
    on = machine(**{"memory.tlb": {"entries": 1, "page": 128, "miss": 8}, "memory.first_access": 6})
    found = reasons(on, [[["load", [0, 1, 0]]]], engine)
    assert found == {"issuing": 1, "memory_latency": 20, "first_access": 14}


def test_serial_transfers_add_up(engine):
    on = machine(**{"memory.transfers": "serial", "memory.l1": {"sets": 1, "ways": 4, "latency": 3}})
    found = reasons(on, [[["load", [0, 1, 0]]]], engine)
    assert found == {"issuing": 1, "memory_latency": 40, "l1_latency": 3}


def test_a_wait_is_the_end_of_an_access_s_path(engine):
    # The async leaves its port at 1, waits for it until 7 (third chunk) and is there at 27; the join is reached at 11.
    on = machine(**{"memory.port_interval": 3})
    warp = [["async", [0, 1, 2]], ["compute", 10], ["join"]]
    assert reasons(on, [warp], engine) == {"issuing": 11, "memory_latency": 16}
    early = [["async", [0, 1, 2]], ["compute", 3], ["join"]]
    assert reasons(on, [early], engine) == {"issuing": 4, "port_queue": 3, "memory_latency": 20}


def test_the_load_that_finishes_last_is_to_blame(engine):
    on = machine(**{"memory.service": 30, "memory.partitions": 2})
    # Chunks 0 and 2 share a partition: the async of the second place finishes last, the join waits for that one.
    found = stalls(on, [[["async", [0]], ["async", [2]], ["async", [1]], ["join"]]], engine)
    row = found.rows()[0]
    assert (row["kind"], row["memory_queue"], row["memory_latency"]) == ("async", 28, 20)


def test_waits_are_booked_to_the_place_of_the_load_and_not_of_the_join(engine):
    found = stalls(machine(), [[["async", [0]], ["compute", 3], ["join"], ["compute", 1]]], engine)
    assert {row["kind"]: row["memory_latency"] for row in found.rows()} == {"async": 17, "compute": 0}


def test_a_limit_on_asyncs_is_a_reason_of_its_own(engine):
    found = reasons(machine(**{"memory.outstanding": 1}), [[["async", [0]], ["async", [1]]]], engine)
    assert found == {"issuing": 2, "outstanding": 20, "memory_latency": 20}


def test_barriers_and_launches(engine):
    on = machine(**{"scheduling.block_launch": 5, "scheduling.warp_launch": 2})
    # The warps begin at 7 and 9; the first one waits at the barrier for the second.
    found = stalls(on, [[["compute", 1], ["barrier"]], [["compute", 4], ["barrier"]]], engine)
    assert {name: ticks for name, ticks in found.reasons.items() if ticks} == {
        "issuing": 5, "barrier": 13 - 8, "launch": 7 + 9,
    }  # fmt: skip
    assert [row["launch"] for row in found.rows() if row["kind"] == "start"] == [16]
    assert [row["barrier"] for row in found.rows() if row["kind"] == "barrier"] == [5]


def test_launches_are_apart(engine):
    found = stalls(machine(), [[["load", [0]]]], engine, launches=3)
    assert found.launches.tolist() == [[1 if name == "issuing" else 20 if name == "memory_latency" else 0
                                        for name in REASONS]] * 3  # fmt: skip


def test_what_is_counted(engine):
    on = machine(**CACHES)
    warp = [["compute", 5], ["load", [0, 1]], ["load", [1, 2]], ["store", [7]], ["shared", 3]]
    found = stalls(on, [warp], engine)
    counts = {row["kind"]: [row[name] for name in COUNTS] for row in found.rows()}
    assert COUNTS == (
        "instructions",
        "requests",
        "chunks",
        "l1_hits",
        "l2_hits",
        "l1_stores",
        "conflicts",
        "l2_sectors",
        "memory_sectors",
        "last_level_hits",
        "last_level_sectors",
        "shared_l1_hits",
        "shared_l1_sectors",
    )
    assert counts == {
        "compute": [5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        "load": [2, 2, 4, 1, 0, 0, 0, 3, 3, 0, 0, 0, 0],
        "store": [1, 1, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0],
        "shared": [1, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0],
    }


def test_places_of_a_workload_are_what_is_booked_to(engine):
    workload = Workload.from_dict({"blocks": [{"warps": [[["load", [0]], ["compute", 2], ["load", [1]]]]}]})
    places = Places((Place("load", "k.cu", 3), Place("load", "k.cu", 9)), ("", "x"))
    placed = replace(workload, place=np.array([1, 0, 3], np.int32), places=places)
    rows = simulate(machine(), placed, engine, stalls=True).stalls.rows()
    assert [(row["line"], row["array"], row["issuing"], row["memory_latency"]) for row in rows] == [
        (3, "", 2, 0), (3, "x", 1, 20), (9, "x", 1, 20),
    ]  # fmt: skip


def test_there_are_none_unless_asked_for(engine):
    workload = Workload.from_dict({"blocks": [{"warps": [[["compute", 3]]]}]})
    assert simulate(machine(), workload, engine).stalls is None


def test_ticks_that_do_not_fit_64_bits_are_refused(engine):
    # 64 warps that begin 2^54 ticks after one another live 2^65 ticks together.
    workload = Workload.from_dict({"blocks": [{"warps": [[["compute", 3]]] * 64}]})
    slow = machine(**{"scheduling.warp_launch": 2.0**34, "ticks_per_cycle": 2**20, "cores.max_threads_per_core": 64})
    with pytest.raises(EngineError, match="which stalls can't tell: leave them out, or use fewer ticks_per_cycle"):
        simulate(slow, workload, engine, stalls=True)


def test_more_asyncs_in_flight_than_there_is_memory_for_are_refused(engine, monkeypatch):
    workload = Workload.from_dict({"blocks": [{"warps": [[["async", [number]] for number in range(40)]]}]})
    slow = machine(**{"memory.latency": 1000})
    assert simulate(slow, workload, engine, stalls=True).ticks == 1040
    monkeypatch.setattr(launch, "available_memory", lambda: 1000)
    if engine == "fast":
        with pytest.raises(
            EngineError, match="16 asyncs in flight, whose stalls take 0 MiB with those of others, more"
        ):
            simulate(slow, workload, engine, stalls=True)
    assert simulate(slow, workload, engine).ticks == 1040
    monkeypatch.setattr(launch, "available_memory", lambda: 300)  # of 40 finishes, 8 bytes each
    if engine == "fast":
        with pytest.raises(EngineError, match=r"whose finishes take 0 MiB .*: give memory\.outstanding$"):
            simulate(slow, workload, engine)


PAGE = (Path(__file__).parents[2] / "docs" / "machine.md").read_text(encoding="utf-8")
WORKED = re.findall(r"^\| (.*?) \| (.*?) \|$", PAGE[PAGE.index("Worked cases") :], flags=re.MULTILINE)[1:]


@pytest.mark.parametrize(("case", "told"), WORKED, ids=[case for case, _ in WORKED])
def test_a_worked_case_of_the_page(engine, case, told):
    named = dict(re.findall(r"`(\w+)` = (\d+)", case))
    changes = {f"memory.{key}": int(value) for key, value in named.items() if key != "interval"}
    if "`memory.pipe`" in case:
        own = {key: int(named[key]) for key in ("tag_interval", "interval") if key in named}
        changes = {key: value for key, value in changes.items() if key != "memory.tag_interval"}
        changes["memory.pipe"] = own
        if "`banks.latency` = 6" in case:
            changes["banks.latency"] = 6
    elif "interval" in named:
        changes["pipes.fp64.interval"] = int(named["interval"])
    if "a shared L1 of latency 6" in case:
        cache = {"groups": 1, "sets": 1, "ways": 4, "latency": 6, "service": changes.pop("memory.service")}
        changes["memory.shared_l1"] = cache
    if "an L1 of latency 3" in case:
        changes["memory.l1"] = CACHES["memory.l1"] | {"local_writes": "back" if "written back" in case else "through"}
    if "an L2 of latency 6" in case:
        assert "where atomics are done" in case
        changes["memory.l2"] = {"sets": 1, "ways": 8, "latency": 6, "atomics": "here"}
    if "`tlb` of 1 entry, pages of a chunk" in case:
        words = changes["memory.chunk_words"] = 32
        changes["memory.tlb"] = {"entries": 1, "page": 4 * words, "miss": changes.pop("memory.miss")}
    if "stores `at-end`" in case:
        changes["memory.stores"] = "at-end"
    case = re.sub("`(tlb|at-end|memory.pipe|banks.latency)`", "", case)
    warps = [
        [
            [
                word,
                *json.loads(f"[{rest.replace('2^60', str(2**60)).replace('] ', '], ')}]"),
                *([of_class] if of_class else []),
            ]
            for word, rest, of_class in re.findall(r"`(\w+) ?([^`]*?) ?(fp64)?`(?! =)", warp)
        ]
        for warp in case.split(" beside ")
    ]
    expected = {reason: int(ticks) for reason, ticks in re.findall(r"(\w+) (\d+)", told)}
    assert reasons(machine(**changes), warps, engine) == expected


def test_the_page_has_worked_cases(engine):
    assert len(WORKED) == 24
