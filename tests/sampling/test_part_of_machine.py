"""Rough times: a launch on a part of the machine."""

from pathlib import Path

import numpy as np
import pytest

import simtmm
from simtmm import load_machine, simulate
from simtmm.kernel import load_kernel
from simtmm.machine.part import part_of
from simtmm.sampling import part_of_machine
from simtmm.sampling.part_of_machine import FEWEST, UNEVEN, groups_of_part, strip
from simtmm.sampling.sampled import sampled_kernel
from simtmm.trace.lower import lower

DIFFER = str(Path(__file__).with_name("differing"))
ROUGHLY = 0.12  # as the first step of a search asks for


@pytest.mark.parametrize("name", ["gtx480", "rtx-a4000", "h100-sxm", "h200", "mi210", "mi300x", "rx7900xtx"])
@pytest.mark.parametrize("taken", [3, 7, 8])
def test_each_group_of_a_part_has_the_share_of_memory_that_it_has_of_the_machine(name, taken):
    machine = load_machine(name)
    part = part_of(machine, taken)

    def share(of):
        return of.memory.partitions / of.memory.service / of.cores.groups

    assert part.cores.groups == taken
    assert share(part) == pytest.approx(share(machine), rel=1e-9)
    if machine.memory.l2:
        lines = [of.memory.l2.sets / of.cores.groups for of in (part, machine)]
        assert lines[0] == pytest.approx(lines[1], rel=0.05)  # sets are whole
        for key in (name for name in type(machine.memory.l2).model_fields if name.endswith("service")):
            taken_by, alone = getattr(part.memory.l2, key), getattr(machine.memory.l2, key)
            if alone:
                rates = [of.memory.partitions / of.cores.groups for of in (part, machine)]
                by_group = key == "far_service"  # of a link that all groups of a half have in common
                rates = [1 / of.cores.groups for of in (part, machine)] if by_group else rates
                assert rates[0] / taken_by == pytest.approx(rates[1] / alone, rel=1e-9), key
    if machine.memory.last_level:
        lines = [of.memory.last_level.sets / of.cores.groups for of in (part, machine)]
        assert lines[0] == pytest.approx(lines[1], rel=0.05)
        rates = [
            (of.memory.last_level.bandwidth or of.memory.partitions / of.memory.last_level.service) / of.cores.groups
            for of in (part, machine)
        ]
        assert rates[0] == pytest.approx(rates[1], rel=1e-9)
    if machine.memory.shared_l1:
        rates, lines = (
            [of.shared_l1s * each(of.memory.shared_l1) / of.cores.groups for of in (part, machine)]
            for each in (lambda cache: 1 / cache.service, lambda cache: cache.sets)
        )
        assert rates[0] == pytest.approx(rates[1], rel=1e-9)
        assert lines[0] == pytest.approx(lines[1], rel=0.05)


@pytest.mark.parametrize("bandwidth", [None, 12.0])
def test_a_part_has_its_share_of_the_last_level_cache(bandwidth):
    changes = {"memory.last_level.bandwidth": bandwidth} if bandwidth else {"memory.last_level.service": 1.5}
    machine = load_machine("mi300x").replace({"memory.last_level.bandwidth": None}).replace(changes)
    part = part_of(machine, 19)  # of 304, a sixteenth
    own, cache = machine.memory.last_level, part.memory.last_level
    assert cache.sets == own.sets / 16
    assert (cache.bandwidth or 0) * 16 == pytest.approx(bandwidth or 0)
    if bandwidth is None:
        assert part.memory.partitions / cache.service * 16 == pytest.approx(machine.memory.partitions / own.service)


@pytest.mark.parametrize("groups", [5, 7, 9, 24, 25, 27, 31, 48, 107])
@pytest.mark.parametrize("grid", [(10, 1, 1), (10, 40, 1), (1, 7, 40), (33, 4, 5), (1, 1, 9)])
@pytest.mark.parametrize("most", [1, 5, 13, 10**9])
def test_the_fewest_groups_are_taken_whose_strip_and_partitions_miss_their_shares_little(groups, grid, most):
    machine = load_machine("rtx-a4000").replace({"cores.groups": groups})
    across, *others = [each for each in grid if each > 1]

    def missed(taken):
        shares = [across * taken / groups if others else 1, machine.memory.partitions * taken / groups]
        return [abs(max(1, round(share)) / share - 1) for share in shares]

    fewest = min(12, groups // 2, most)
    may_be = range(fewest, max(fewest, min(groups // 2, most)) + 1)
    best = min(may_be, key=lambda taken: sum(missed(taken)))
    few = next((taken for taken in may_be if sum(missed(taken)) <= 0.1), best)
    assert groups_of_part(machine, grid, most) == (few, pytest.approx(missed(few)[0]))


@pytest.mark.parametrize("grid", [(9, 7, 1), (10, 7, 1), (9, 4, 2), (1, 11, 6), (64, 33, 1), (31, 1, 1), (1, 1, 30)])
@pytest.mark.parametrize("share", [0.1, 0.25, 0.34, 0.5])
@pytest.mark.parametrize("wanted", [1, 3, 8, 13, 27])
def test_a_strip_is_in_the_middle_with_as_much_before_it_as_behind(grid, share, wanted):
    """Where that does not come out even, one more lies behind."""
    blocks = strip(grid, share, wanted)
    across, *others = [each for each in grid if each > 1]
    rows, columns = np.divmod(blocks, across)
    assert len(blocks) == wanted
    assert (np.diff(blocks) > 0).all()
    if not others or columns.max() - columns.min() == across - 1:
        assert np.diff(blocks).tolist() == [1] * (wanted - 1)
        before, behind = blocks[0], np.prod(grid) - 1 - blocks[-1]
        assert before <= behind <= before + 1
        return
    taken = max(max(1, round(across * share)), -(-wanted // np.prod(others)))
    assert columns.max() - columns.min() + 1 == min(taken, wanted)
    before, behind = (across - taken) // 2, -(-(across - taken) // 2)
    assert columns.min() == before == across - taken - behind
    first, left = rows[0], np.prod(others) - 1 - rows[-1]
    assert first <= left <= first + 1


@pytest.mark.parametrize("across", [1, 2, 3, 5, 8, 10, 11, 15, 31, 128, 5000])
@pytest.mark.parametrize("name", ["rtx-a4000", "v100", "h100-sxm", "mi210"])
def test_a_strip_of_a_row_is_the_share_that_a_part_is_of_the_machine(name, across):
    machine = load_machine(name)
    groups, missed = groups_of_part(machine, (across, 5000, 2), 10**9)
    assert FEWEST <= groups <= machine.cores.groups / 2
    assert missed <= UNEVEN or across < 4  # of two or three columns, a half or a third
    blocks = strip((across, 5000, 2), groups / machine.cores.groups, 3000)
    width = len(set((blocks % across).tolist()))
    if across > 1:
        assert width / across == pytest.approx(groups / machine.cores.groups, rel=missed + 1e-9)


def test_a_row_has_no_say_where_there_is_one_and_fewer_groups_are_taken_where_blocks_are_long():
    machine = load_machine("rtx-a4000")
    assert groups_of_part(machine, (5, 1, 1), 10**9)[1] == 0
    groups, missed = groups_of_part(machine, (4, 1000, 1), 5)
    assert groups <= 5
    assert missed >= 1  # a fourth of each row is more than twice the share of five groups of 48
    assert groups_of_part(machine, (10, 1000, 1), 0)[0] == 1


def test_a_machine_of_few_groups_has_no_part(monkeypatch):
    monkeypatch.setattr(part_of_machine, "SMALL", 0)
    machine = load_machine("gtx480").replace({"cores.groups": 4})
    found = sampled_kernel(load_kernel("stream"), {"n": 1 << 19}, machine, error=ROUGHLY).sampled
    assert found is not None
    assert not any("part of the machine" in note for note in found.notes)


def test_a_strip_has_the_same_share_of_each_row():
    blocks = strip((48, 40, 1), 1 / 12, 20)
    assert len(set(blocks.tolist())) == 20
    assert (np.diff(blocks) > 0).all()
    rows, columns = np.divmod(blocks, 48)
    assert (sorted(set(columns.tolist())), sorted(set(rows.tolist()))) == ([22, 23, 24, 25], [17, 18, 19, 20, 21])


@pytest.mark.parametrize(("grid", "wanted"), [((100, 1, 1), 10), ((1, 100, 1), 10), ((10, 4, 1), 40), ((2, 9, 1), 17)])
def test_of_one_row_and_where_all_of_rows_are_wanted_they_follow_one_another(grid, wanted):
    blocks = strip(grid, 0.1, wanted)
    assert np.diff(blocks).tolist() == [1] * (wanted - 1)


def test_a_strip_is_as_wide_as_holds_all_that_are_wanted():
    blocks = strip((10, 4, 1), 0.1, 7)  # of each row, rounded down, one: four
    assert blocks.tolist() == [4, 5, 14, 15, 24, 25, 34]


ROUGH = [("stream", {"n": 1 << 19}), ("transpose", {"n": 768, "columns": 768})]


@pytest.mark.parametrize(("kernel", "parameters"), ROUGH)
def test_a_rough_time_is_within_its_interval_of_the_whole(kernel, parameters, monkeypatch):
    monkeypatch.setattr(part_of_machine, "SMALL", 0)
    machine = load_machine("gtx480")
    found = sampled_kernel(load_kernel(kernel), parameters, machine, error=ROUGHLY).sampled
    trace = simtmm.record(kernel, parameters)
    whole = simulate(machine, lower(trace, machine))
    assert abs(found.result.ticks / whole.ticks - 1) <= found.error
    assert found.simulated_blocks < found.blocks / 4
    assert any("part of the machine" in note for note in found.notes)
    assert sum(found.result.time.values()) == pytest.approx(15 * found.result.ticks, rel=0.02)  # its overhead apart


def test_where_waves_are_too_few_for_a_pace_all_blocks_of_the_part_are_simulated(monkeypatch):
    monkeypatch.setattr(part_of_machine, "SMALL", 0)
    monkeypatch.setattr(part_of_machine, "MOST_PACED", part_of_machine.PACED - 1)
    machine = load_machine("gtx480")
    found = sampled_kernel(load_kernel("stream"), {"n": 1 << 19}, machine, error=ROUGHLY).sampled
    groups = found.simulated_blocks / found.blocks * machine.cores.groups
    assert groups == pytest.approx(round(groups), rel=0.01)
    assert round(groups) == machine.cores.groups // 2


def test_what_is_soon_simulated_is_not_told_roughly():
    found = sampled_kernel(load_kernel("vector-add"), {"n": 1 << 18}, load_machine("gtx480"), error=ROUGHLY)
    assert found.sampled is None
    assert "all blocks were simulated" in found.why


def test_an_l2_that_takes_up_stores_and_is_empty_at_first_is_not_cut(monkeypatch):
    """So few waves would not fill it, and would store faster than memory takes up what is written."""
    monkeypatch.setattr(part_of_machine, "SMALL", 0)
    machine, parameters = load_machine("rtx-a4000"), {"case": "window", "n": 1024, "blocks": 3072}
    found = sampled_kernel(load_kernel(DIFFER), parameters, machine, error=ROUGHLY).sampled
    whole = simulate(machine, lower(simtmm.record(DIFFER, parameters), machine))
    assert found is None or abs(found.result.ticks / whole.ticks - 1) < ROUGHLY


def test_blocks_of_a_narrow_grid_meet_their_neighbours_in_caches_as_seldom_as_in_the_whole(monkeypatch):
    """Strips of a column, which three groups of 48 had of a grid of eight, found 56 % of what they read in the L1."""
    monkeypatch.setattr(part_of_machine, "SMALL", 0)
    machine = load_machine("rtx-a4000").replace(
        {"memory.l2.writes": "through", "memory.l2.start": "cold", "memory.l2.service": 0}
    )
    parameters = {"case": "window", "n": 1024, "blocks": 3072}
    found = sampled_kernel(load_kernel(DIFFER), parameters, machine, error=ROUGHLY).sampled
    whole = simulate(machine, lower(simtmm.record(DIFFER, parameters), machine))
    assert abs(found.result.ticks / whole.ticks - 1) < 0.04
    hits = [result.l1_hits / result.transactions for result in (whole, found.result)]
    assert hits[0] < hits[1] < hits[0] + 0.2
