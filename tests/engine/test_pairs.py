"""What was compared at new seeds, and how `python -m tests.engine.pairs` counts it."""

import json

import pytest

from simtmm import Machine, Workload
from tests.engine import pairs
from tests.engine.smaller_pair import smaller


def test_every_seed_that_is_kept_was_compared_once_and_nothing_differed():
    rows = pairs.rows_of()
    assert len(rows) >= 10
    assert all(row.pairs >= 1 for row in rows)
    assert sum(row.failed for row in rows) == 0


def test_the_page_has_their_number():
    rows = pairs.rows_of()
    page = (pairs.FILE.parents[2] / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert f"{sum(row.pairs for row in rows):,} pairs at {len(rows)} seeds" in " ".join(page.split())


def test_a_batch_counts_its_pairs_and_is_the_same_again(monkeypatch, tmp_path):
    seen = []
    monkeypatch.setattr(pairs, "compare", lambda machine, workload, timeline: not seen.append(machine.digest()))
    rows = [pairs.batch(7, 24, tmp_path) for _ in range(2)]
    assert [row.pairs for row in rows] == [len(seen) // 2] * 2
    assert rows[0].pairs >= 24
    assert seen[: len(seen) // 2] == seen[len(seen) // 2 :]
    assert not any(tmp_path.iterdir())


def test_pairs_that_differ_are_counted_and_kept(monkeypatch, tmp_path):
    def differ(machine, workload, timeline):
        raise pairs.DifferError(machine, workload)

    monkeypatch.setattr(pairs, "compare", differ)
    row = pairs.batch(8, 16, tmp_path)
    assert (row.failed, row.pairs) == (1, 1)
    kept = json.loads((tmp_path / "8.json").read_text())
    assert kept["workload"] == {"launches": []}  # all of it can go
    assert "name" in kept["machine"]  # and none of what a machine must have
    assert "DifferError" in (tmp_path / "8.txt").read_text()


def test_a_pair_that_fails_is_made_as_small_as_still_fails():
    def fails(machine, workload):
        blocks = [block for launch in workload.get("launches", []) for block in launch.get("blocks", [])]
        operations = [one for block in blocks for warp in block.get("warps", []) for one in warp]
        stores = [one for one in operations if one[:1] == ["store"] and len(one) > 1]
        return machine.get("memory", {}).get("latency") == 9 and any(3 in one[1] for one in stores)

    launch = {"blocks": [{"warps": [[["compute", 2], ["store", [1, 3, 5]]], []]}, {"warps": []}]}
    machine = {"name": "m", "memory": {"latency": 9, "l1": {"sets": 1}}}
    assert smaller(machine, {"launches": [launch, launch]}, fails) == {
        "machine": {"memory": {"latency": 9}},
        "workload": {"launches": [{"blocks": [{"warps": [[["store", [3]]]]}]}]},
    }


def test_the_file_takes_a_row_and_refuses_a_seed_twice(tmp_path):
    file = tmp_path / "pairs.csv"
    pairs.add(pairs.Row(2, 10, 0, 1.5), file)
    pairs.add(pairs.Row(1, 20, 1, 2.0), file)
    assert pairs.rows_of(file) == [pairs.Row(1, 20, 1, 2.0), pairs.Row(2, 10, 0, 1.5)]
    with pytest.raises(ValueError, match="two rows"):
        pairs.rows_of(doubled(tmp_path))


def doubled(folder):
    file = folder / "doubled.csv"
    file.write_text("seed,pairs,failed,seconds\n1,2,0,1.0\n1,2,0,1.0\n")
    return file


def test_engines_that_differ_are_told_apart(monkeypatch):
    machine = Machine.from_dict(
        {
            "name": "m",
            "cores": {"groups": 1, "cores_per_group": 8, "warp_width": 8, "max_threads_per_core": 8},
            "memory": {"latency": 10, "chunk_words": 8},
        }
    )
    workload = Workload.from_dict({"blocks": [{"warps": [[["load", [1]]]]}]})
    pairs.compare(machine, workload, True)
    right = pairs.simulate
    other = machine.replace({"memory.latency": 11})
    monkeypatch.setattr(
        pairs,
        "simulate",
        lambda on, work, engine, **more: right(other if engine == "fast" else on, work, engine, **more),
    )
    with pytest.raises(pairs.DifferError):
        pairs.compare(machine, workload, True)
