"""The verdict: one sentence on what binds a run and what would help, and one on why the TMM has another time."""

import re
from dataclasses import replace

import pytest
from hypothesis import given

from simtmm import Machine, Workload, load_machine, lower, record, simulate
from simtmm.analysis.cost import cost
from simtmm.analysis.run import run
from simtmm.analysis.verdict import Verdict, beside_the_model, verdict
from simtmm.analysis.what_if import CHANGES, MORE_WARPS, WhatIf, try_out
from simtmm.analysis.what_if.speedups import Speedups
from simtmm.engine import causes
from simtmm.engine.causes import Where
from simtmm.machine.part import part_of
from simtmm.machine.tables.memory import SharedCache
from simtmm.result import Prediction, Result
from simtmm.testing import machines, workloads
from simtmm.trace.counts import Counts, LaunchCounts
from tests.analysis.verdicts import contradiction
from tests.examples import SHARING, examples, several
from tests.trace.build import load, store, trace, work


def machine(**memory):
    return Machine.from_dict(
        {
            "name": "m",
            "cores": {"groups": 2, "cores_per_group": 8, "warp_width": 8, "max_threads_per_core": 4},
            "memory": {"latency": 100, "chunk_words": 8, **memory},
        }
    )


LOADS = Workload.from_dict({"blocks": [{"warps": [[["load", [number]], ["compute", 9]]]} for number in range(2)]})


def found(what_ifs=(), told="", on=None, workload=LOADS):
    on = on or machine()
    message = verdict(on, simulate(on, workload, stalls=True), workload, what_ifs, told)
    assert_one_sentence(message.words)
    return message


def assert_one_sentence(said):
    assert "\n" not in said
    assert said[0].isupper()
    assert said.endswith(".")
    assert ". " not in said


LATENCY = WhatIf(causes.LATENCY, "the latency halved", 1.8, True)
BANDWIDTH = WhatIf(causes.MEMORY_BANDWIDTH, "memory's bandwidth doubled", 1.01, True)
BARRIERS = WhatIf(causes.BARRIERS, "no barriers", 1.5, False)
WARPS = WhatIf(MORE_WARPS, "twice the warps", 1.3, True)

# What binds


def test_halving_a_cost_shows_half_of_its_part_and_taking_it_away_all_of_it():
    assert LATENCY.share == pytest.approx(2 * (1 - 1 / 1.8))
    assert BARRIERS.share == pytest.approx(1 - 1 / 1.5)
    assert WhatIf(causes.LATENCY, "", 2.5, True).share == 1  # never more than all
    assert WhatIf(causes.LATENCY, "", 0.9, True).share == 0
    assert WhatIf(causes.ISSUE, "", 2.0, True, part=0.25).share == 0.25


def test_what_helps_most_binds_and_stands_first():
    message = found([BANDWIDTH, WARPS, LATENCY, BARRIERS])
    assert (message.cause, message.is_tried, message.share) == (causes.LATENCY, True, LATENCY.share)
    assert message.words == (
        "Memory latency binds, about 89 % of the time, all of it at load; with the latency halved 1.80x, "
        "no barriers 1.50x, twice the warps 1.30x, memory's bandwidth doubled 1.01x."
    )


SHORT, LATE = [["compute", 9], ["barrier"]], [["compute", 900], ["barrier"]]
TOGETHER = Workload.from_dict({"blocks": [{"warps": [SHORT, SHORT, SHORT, LATE]}] * 2})


@pytest.mark.parametrize(
    ("cause", "speedup", "binds"),
    [
        (causes.SHARED_MEMORY, 1.63, causes.SHARED_MEMORY),  # 39 % of the time: the last of the warps has the conflicts
        (causes.SHARED_MEMORY, 1.3, causes.BARRIERS),
        (causes.LAUNCHES, 1.63, causes.BARRIERS),
        (causes.LAUNCHES, 2.5, causes.LAUNCHES),
    ],
)
def test_barriers_are_named_where_nothing_that_was_tried_says_what_warps_wait_for_there(cause, speedup, binds):
    tried = [WhatIf(cause, "without", speedup, False), replace(BARRIERS, speedup=1.05)]
    assert found(tried, workload=TOGETHER).cause == binds


def test_what_does_not_help_is_left_out_but_for_what_people_think_of_first():
    message = found([LATENCY, replace(BARRIERS, speedup=1.05), BANDWIDTH])
    assert "no barriers" not in message.words
    assert "memory's bandwidth doubled 1.01x" in message.words


def test_of_equals_what_can_be_taken_away_as_a_whole_is_named():
    issue = WhatIf(causes.ISSUE, "twice the issue rate", 2.0, True, part=0.5)
    conflicts = WhatIf(causes.SHARED_MEMORY, "no bank conflicts", 2.0, False)
    assert found([issue, conflicts]).cause == found([conflicts, issue]).cause == causes.SHARED_MEMORY


def test_where_nothing_is_tried_it_is_what_warps_wait_for_and_the_reason_is_reported():
    message = found(told="estimated from what its warps wait for")
    assert (message.cause, message.is_tried) == (causes.LATENCY, False)
    assert (
        message.words
        == "Memory latency binds, about 91 % of the time, all of it at load (estimated from what its warps wait for)."
    )


def test_a_run_of_no_time_has_nothing():
    message = found(workload=Workload.from_dict({"blocks": [{"warps": [[]]}]}))
    assert (message.words, message.cause, message.share, message.where) == (
        "There is nothing to simulate.",
        "",
        0,
        None,
    )


def test_a_store_that_drains_nearly_for_ever_is_reported():
    on = machine(stores="posted", store_latency=1e15).replace({"cores.groups": 64})
    done = run(Workload.from_dict({"blocks": [{"warps": [[["store", [0]]]]}]}), on)
    assert_one_sentence(done.verdict.words)
    assert 0 <= done.verdict.share <= 1


def test_updates_that_nobody_waits_for_bind_where_the_run_ends_with_them():
    warps = [[["load", [1]], ["reduce", [0] * 8]]] * 4
    on = machine(atomic_service=90)
    done = run(Workload.from_dict({"blocks": [{"warps": warps}]}), on)
    assert done.result.stalls is not None
    assert done.result.stalls.reasons["atomics_queue"] == 0
    assert (done.verdict.cause, done.verdict.where) == (causes.ATOMICS, Where("", 0, "reduce", "", 1.0))
    assert done.verdict.share > 0.8
    assert done.verdict.words.startswith("Atomics bind, about 9")


def test_the_line_and_the_array_with_most_of_it_are_named():
    done = run(trace([[[load(n % 2, 4096 + 64 * n) for n in range(6)] for _ in range(8)]]), machine())
    assert done.verdict.where == Where("", 0, "unknown", "", 1.0)
    with_lines = run("gemm", "gtx280")
    assert re.fullmatch(r"kernel\.cu:\d+ \((a|b|c)\)", str(with_lines.verdict.where))
    assert str(with_lines.verdict.where) in with_lines.verdict.words


def test_who_fills_a_queue_is_named_before_who_waits_in_it():
    """Copies of eight chunks that nobody waits for, and loads of one that wait behind them."""
    copies = {"warps": [[["async", [*range(8 * turn, 8 * turn + 8)]] for turn in range(20)]]}
    loads = {"warps": [[["load", [1000 + turn]] for turn in range(20)]]}
    done = run(Workload.from_dict({"blocks": [copies, loads, loads, loads]}), machine(service=40))
    place = done.verdict.where
    assert done.verdict.cause == causes.MEMORY_BANDWIDTH
    assert (place.source, place.share, place.waiting) == ("async", pytest.approx(160 / 220), "load")
    assert "73 % of it at async, for which load waits most; with" in done.verdict.words
    alone = run(Workload.from_dict({"blocks": [loads] * 8}), machine(service=40))
    assert (alone.verdict.where.source, alone.verdict.where.waiting) == ("load", "")


def test_causes_that_help_only_together_are_named_together():
    """Two ports bring chunks as fast as a partition serves them: with either twice as fast the other holds them up."""
    on = machine(port_interval=40, service=20)
    block = {"warps": [[["load", [9 * turn + number for number in range(4)]] for turn in range(60)]] * 2}
    workload = Workload.from_dict({"blocks": [block] * 2})
    tried = try_out(on, workload, simulate(on, workload, stalls=True))
    assert all(each.speedup < 1.1 for each in tried if not each.together)
    (both,) = [each for each in tried if each.together]
    assert both.together == (causes.PORT_BANDWIDTH, causes.MEMORY_BANDWIDTH)  # the latency does not add to it
    assert both.speedup > 1.5
    words = found(tried, on=on, workload=workload).words
    assert words.startswith("Bandwidth of the memory ports and memory bandwidth bind together, about 9")
    assert "with the memory ports' bandwidth doubled and memory's bandwidth doubled 1." in words


GAINS = {  # of a product with its sum in memory, n = 512, on a part of an H100 PCIe
    causes.LATENCY: 1.113, causes.PORT_BANDWIDTH: 1.057, causes.L2_BANDWIDTH: 1.003, "warps": 1.283,
}  # fmt: skip


@pytest.mark.parametrize(("together", "said"), [(1.97, True), (1.34, True), (1.32, False)])
def test_causes_are_relieved_together_where_none_alone_takes_half_of_the_time(together, said, monkeypatch):
    """A cause with a fifth of the time says little: others are named with it where they take half of it together."""

    def speedup(self, change):
        parts = change.cause.replace(" and ", ", ").split(", ")
        needed = {causes.LATENCY, causes.PORT_BANDWIDTH, causes.L2_BANDWIDTH}
        return together if needed <= {*parts} else max(GAINS.get(part, 1.0) for part in parts)

    monkeypatch.setattr(Speedups, "of", speedup)
    free = {f"scheduling.{key}": 0 for key in ("launch_overhead", "graph_launch_overhead", "block_launch")}
    on = load_machine("h100-pcie").replace(free)
    tried = try_out(on, LOADS, simulate(on, LOADS, stalls=True))
    found = [each.together for each in tried if each.together]
    assert [{*each} for each in found] == (
        [{causes.LATENCY, causes.L2_BANDWIDTH, causes.PORT_BANDWIDTH}] if said else []
    )


def test_causes_that_help_only_together_are_tried_however_long_that_takes():
    """A sum that is stored in each step passes ports and L2 while loads wait: each alone is held up by the others.

    What is tried of a long run, one change at a time, leaves no time for several at once.
    """
    on = part_of(load_machine("h100-pcie"), 2)
    workload = lower(record("gemm", {"n": 128}), on, places=True)
    result = simulate(on, workload, stalls=True)
    tried = try_out(on, workload, result, 4.5 * cost(on, workload, result))
    assert len(tried) == 5
    assert all(each.speedup < 1.1 for each in tried if not each.together)
    assert set(tried[-1].together) == {causes.LATENCY, causes.PORT_BANDWIDTH, causes.L2_BANDWIDTH}
    told = verdict(on, result, workload, tried)
    assert " bind together, about " in told.words
    assert not contradiction(told)


def test_blocks_that_can_not_be_shared_out_evenly_are_named_beside_what_binds():
    """Three blocks on two core groups: one of them has two, whose instructions queue, and the other one waits."""
    block = {"warps": [[["compute", 400, "fp32"]]] * 4}
    on = machine().replace({"pipes.fp32": {"interval": 4}})
    odd, even = (run(Workload.from_dict({"blocks": [block] * count}), on) for count in (3, 4))
    assert odd.verdict.words.endswith("% of the time, since 3 blocks are 1.5 for each of 2.")
    assert "; core groups have no block for 2" in odd.verdict.words
    assert "core groups have no block" not in even.verdict.words


def test_a_path_of_one_core_group_is_told_from_what_all_share():
    """A block loads as fast as its group may fetch; the partitions are idle, as are the other groups."""
    turns = {"warps": [[["load", [40 * warp + turn]] for turn in range(40)] for warp in range(4)]}
    on = machine(service=1, partitions=8, fetch_interval=60)
    done = run(Workload.from_dict({"blocks": [turns]}), on)
    assert done.verdict.cause == causes.GROUPS_PATH
    assert done.verdict.where.source == "load"
    assert "; with each core group's path to memory doubled 1.9" in done.verdict.words
    assert done.verdict.words.endswith(
        "core groups have no block for 50 % of the time, since 1 block is 0.5 for each of 2."
    )
    assert "more blocks, on more core groups would help" in done.verdict.words
    shared = run(Workload.from_dict({"blocks": [turns] * 2}), machine(service=40, fetch_interval=60))
    assert shared.verdict.cause == causes.MEMORY_BANDWIDTH


def test_one_that_helps_alone_is_not_put_together_with_others():
    on = machine(service=40)
    tried = try_out(on, LOADS, simulate(on, LOADS, stalls=True))
    assert not any(each.together for each in tried)


def test_what_was_tried_on_a_part_says_so():
    message = verdict(machine(), simulate(machine(), LOADS, stalls=True), LOADS, [LATENCY], "", "4 of 64 blocks")
    assert message.words.endswith("with the latency halved 1.80x (tried on 4 of 64 blocks).")


def test_what_a_verdict_is_made_of_goes_into_json():
    message = found([LATENCY]).to_dict()
    assert message["cause"] == "memory latency"
    assert message["what_ifs"] == [
        {"cause": "memory latency", "words": "the latency halved", "speedup": 1.8, "halves": True, "part": 1.0,
         "together": [], "parameter": "", "share": LATENCY.share}
    ]  # fmt: skip
    assert message["where"]["source"] == "load"


# What would help


def test_trying_halves_what_there_is_and_leaves_out_what_there_is_not():
    on = machine()
    tried = {each.cause: each for each in try_out(on, LOADS, simulate(on, LOADS, stalls=True))}
    assert set(tried) == {causes.LATENCY, causes.ISSUE}  # no bandwidth to double, no room for more warps
    assert tried[causes.LATENCY].speedup == pytest.approx(110 / 60)
    assert tried[causes.ISSUE].speedup == 1  # a second port, for the only warp of a group


def test_the_bandwidth_of_the_l2_is_all_that_takes_its_slices():
    (change,) = (each for each in CHANGES if each.cause == causes.L2_BANDWIDTH)
    taking = {f"memory.l2.{name}" for name in SharedCache.model_fields if name.endswith("service")}
    assert set(change.keys) == taking >= {"memory.l2.service", "memory.l2.request_service"}


def test_what_was_left_before_its_end_is_compared_as_a_whole():
    on = machine(partitions=1, service=3)
    many = Workload.from_dict({"blocks": [{"warps": [[["load", [number]]] * 2]} for number in range(60)]})
    whole = simulate(on, many, "fast", stalls=True)
    part = replace(whole, ticks=whole.ticks // 4)
    assert try_out(on, many, part, is_left=True) == try_out(on, many, whole)
    assert try_out(on, many, part) != try_out(on, many, whole)


def test_where_each_of_several_helps_little_none_is_said_to_bind():
    tried = [
        WhatIf(causes.LATENCY, "the latency halved", 1.06, True),
        WhatIf(causes.PORT_BANDWIDTH, "the memory ports' bandwidth doubled", 1.04, True),
        WhatIf(causes.ISSUE, "twice the issue rate", 1.005, True),
    ]
    words = found(tried).words
    assert words.startswith("Nothing binds alone: memory latency takes most, about 11 % of the time, all of it at ")
    assert words.endswith("; with the latency halved 1.06x, the memory ports' bandwidth doubled 1.04x.")
    alone = found([replace(tried[0], speedup=1.2), *tried[1:]]).words
    assert alone.startswith("Memory latency takes most, about 33 % of the time, all of it at ")
    assert "ports" not in alone


def test_nothing_is_tried_where_there_is_no_time():
    on = machine()
    assert try_out(on, LOADS, simulate(on, LOADS, stalls=True), seconds=0.0) == ()


def test_twice_the_warps_are_tried_where_blocks_wait_for_room():
    on = machine(partitions=1, service=1)
    many = Workload.from_dict({"blocks": [{"warps": [[["load", [number]]]] * 2} for number in range(20)]})
    tried = {each.words: each.speedup for each in try_out(on, many, simulate(on, many, stalls=True))}
    assert 1.5 < tried["twice the warps"] <= 2.1
    limited = Workload.from_dict({"launches": [{**many.to_dict()["launches"][0], "blocks_per_group": 1}]})
    tried = {each.words: each.speedup for each in try_out(on, limited, simulate(on, limited, stalls=True))}
    assert 1.5 < tried["twice the warps"] <= 2.1
    few = Workload.from_dict({"blocks": [{"warps": [[["load", [0]]]]}] * 2})
    assert "twice the warps" not in {each.words for each in try_out(on, few, simulate(on, few, stalls=True))}


@pytest.mark.parametrize(("blocks", "waits"), [(2, False), (3, True)])
def test_a_block_waits_where_a_group_has_room_for_a_part_of_it(blocks, waits):
    on = machine()  # two groups of four warps
    workload = Workload.from_dict({"blocks": [{"warps": [[["load", [number]]]] * 3} for number in range(blocks)]})
    tried = {each.words for each in try_out(on, workload, simulate(on, workload, stalls=True))}
    assert ("twice the warps" in tried) == waits


@given(drawn=several(machines()), workload=workloads())
@examples(40 // SHARING)
def test_no_verdict_claims_more_than_all_of_the_time(drawn, workload):
    for on in drawn:
        result = simulate(on, workload, stalls=True)
        message = verdict(on, result, workload, try_out(on, workload, result))
        assert_one_sentence(message.words)
        assert 0 <= message.share <= 1
        assert all(float(part) <= 100 for part in re.findall(r"(\d+) %", message.words))


def test_what_its_own_trial_does_not_help_is_not_said_to_bind():
    """A warp alone on a group issues all the time, and can't use a second port."""
    on = machine().replace({"cores.groups": 1})
    alone = Workload.from_dict({"blocks": [{"warps": [[["compute", 500]]]}]})
    issue = WhatIf(causes.ISSUE, "twice the issue rate", 1.0, True)
    found = verdict(on, simulate(on, alone, stalls=True), alone, (issue,))
    assert found.cause == causes.ISSUE
    assert found.words.startswith("Nothing binds alone: instruction issue takes most, about 100 % of the time")


@given(drawn=several(machines()), workload=workloads())
@examples(200 // SHARING)  # 2,000 pairs with the long profile
def test_no_verdict_is_contradicted_by_its_own_trials(drawn, workload):
    """What binds gains when it is relieved, and what gains as much is said to bind."""
    for on in drawn:
        done = simulate(on, workload, stalls=True)
        found = verdict(on, done, workload, try_out(on, workload, done))
        assert not contradiction(found)


@pytest.mark.parametrize(
    ("cause", "speedup", "share", "says"),
    [
        (causes.LATENCY, 1.05, 0.9, "relieving it gains 1.05x"),
        (causes.LATENCY, 1.5, 0.67, ""),
        (causes.ISSUE, None, 0.9, "nothing was tried"),
        (causes.LAUNCHES, None, 1.0, ""),
    ],
)
def test_a_contradiction_is_noticed(cause, speedup, share, says):
    tried = () if speedup is None else (WhatIf(cause, "with it", speedup, True),)
    words = f"{cause} binds, about 90 % of the time."
    found = Verdict(cause, share, True, {}, None, (*tried, BANDWIDTH), words)
    assert contradiction(found).startswith(says)
    assert bool(contradiction(found)) == bool(says)
    silent = replace(found, words=f"Nothing binds alone: {cause} takes most, about 90 % of the time.")
    assert contradiction(silent).startswith("half of the time, and not said to bind")


TURNS = {"warps": [[["load", [9 * turn + number for number in range(4)]] for turn in range(10)]]}


def launched(times, overhead, blocks=8):
    on = machine(service=40).replace({"scheduling.launch_overhead": overhead})
    return run(Workload.from_dict({"launches": [{"blocks": [TURNS] * blocks}] * times}), on)


def test_behind_launches_the_line_is_named_that_would_bind_next():
    found = launched(2, 20000).verdict
    assert found.cause == causes.LAUNCHES
    assert (found.behind.cause, found.where.source) == (causes.MEMORY_BANDWIDTH, "load")
    assert "; behind that, memory bandwidth takes most, at load; with " in found.words
    assert found.words.endswith("fewer launches, or more work in each would help.")
    assert found.to_dict()["behind"] == {"cause": "memory bandwidth", "share": found.behind.share}


def test_of_a_single_launch_the_kernels_own_cause_is_named_and_what_starting_it_takes_stands_beside_it():
    """Half of the time is the launch, and half of it the kernel, which memory binds: nobody could launch less."""
    done = launched(1, 20000)
    found = done.verdict
    assert 0.5 < 20000 / done.result.ticks < 2 / 3
    assert (found.cause, found.behind, found.where.source) == (causes.MEMORY_BANDWIDTH, None, "load")
    assert found.words.startswith("Memory bandwidth (DRAM) takes most beside the launch, about ")
    part = f"{100 * 20000 / done.result.ticks:.0f} %, 20,000 of {done.result.ticks:,} cycles"
    assert f"; starting the launch takes {part}, which more work in it (" in found.words
    (trial,) = [each for each in found.what_ifs if each.cause == causes.MEMORY_BANDWIDTH]
    assert found.share == trial.share < 0.5


def test_a_launch_that_is_nearly_all_binds_and_is_said_to_be_too_small_for_the_machine():
    done = launched(1, 90000)
    found = done.verdict
    assert (found.cause, found.behind.cause) == (causes.LAUNCHES, causes.MEMORY_BANDWIDTH)
    whole = f"90,000 of {done.result.ticks:,} cycles"
    assert "Starting the launch binds, about 8" in found.words
    assert f" of the time, {whole}: 8 blocks do little; behind that, memory bandwidth takes most" in found.words
    few = launched(1, 90000, blocks=1).verdict.words
    assert ": too small to fill the machine, 1 block where 8 fit; " in few


def test_few_blocks_are_named_where_groups_are_idle_for_most_of_what_the_kernel_takes():
    """However much of the time starting the launch takes beside it."""
    on = machine().replace({"cores.groups": 16, "scheduling.launch_overhead": 6000})
    turns = {"warps": [[["load", [40 * warp + turn]] for turn in range(40)] for warp in range(4)]}
    done = run(Workload.from_dict({"blocks": [turns]}), on)
    assert 0.5 * done.result.ticks < 6000
    assert (done.verdict.cause, done.verdict.share < 0.5) == (causes.FEW_BLOCKS, True)


def test_blocks_are_too_few_in_the_longest_launch_whatever_others_have():
    turns = {"warps": [[["load", [40 * warp + turn]] for turn in range(40)] for warp in range(4)]}
    short = {"warps": [[["compute", 1]]]}
    launches = [{"blocks": [short] * 30}, {"blocks": [turns]}, {"blocks": [turns]}]
    on = machine().replace({"cores.groups": 16})
    found = run(Workload.from_dict({"launches": launches}), on).verdict
    assert found.cause == causes.FEW_BLOCKS
    assert found.words.startswith("Too few blocks, 1 in the longest launch for 16 core groups: these have no work for ")
    found = run(Workload.from_dict({"launches": launches[1:]}), on).verdict
    assert found.words.startswith("Too few blocks, 1 for 16 core groups: ")


def test_one_block_that_waits_for_memory_is_too_few_blocks_and_a_chain_of_one_warp_is_not():
    turns = {"warps": [[["load", [40 * warp + turn]] for turn in range(40)] for warp in range(4)]}
    on = machine().replace({"cores.groups": 16})
    found = run(Workload.from_dict({"blocks": [turns]}), on).verdict
    assert found.cause == causes.FEW_BLOCKS
    assert found.words.startswith("Too few blocks, 1 for 16 core groups: these have no work for 94 % of the time; ")
    assert "; behind that, memory latency takes most, at load; with its work in 16 blocks 1" in found.words
    chain = run(Workload.from_dict({"blocks": [{"warps": turns["warps"][:1]}]}), on).verdict
    assert chain.cause == causes.LATENCY


def test_the_parameter_that_limits_is_named():
    on = machine(service=40, turnaround=1, partitions=1)
    many = Workload.from_dict({"blocks": [{"warps": [[["load", [number]]]] * 2} for number in range(40)]})
    found = run(many, on).verdict
    assert (found.cause, found.parameter) == (causes.MEMORY_BANDWIDTH, "DRAM")
    assert found.words.startswith("Memory bandwidth (DRAM) binds, about ")
    doubles = Workload.from_dict({"blocks": [{"warps": [[["compute", 50, "fp64"]]] * 4}] * 8})
    found = run(doubles, machine().replace({"pipes.fp64.interval": 16, "pipes.fp32.interval": 2})).verdict
    assert (found.cause, found.parameter) == (causes.PIPES, "fp64")


# Why the TMM has another time


def result(cycles, issued=100, transactions=100, l1_hits=0, l2_hits=0):
    return Result(cycles, issued, transactions, l1_hits, l2_hits, 0, None, (cycles,))


def prediction(model, cycles, bound, work=800):
    return Prediction(model, cycles, bound, {bound: cycles}, {"T1": work}, "")


def counts(chunks=100, waits=0):
    return Counts.of_launch(LaunchCounts("f", 1, 1, chunks, 1, 1, 1, 1, 1, 1, 1.0, waits=waits))


def because(  # noqa: PLR0913, PLR0917 - each is a part of what is made
    run_, cause=causes.LATENCY, share=0.9, bound="compute", tmm=1000, warps=1000, work=800, on=None, counted=None,
    what_ifs=(),
):  # fmt: skip
    message = beside_the_model(
        on or machine(),
        run_,
        prediction("tmm", tmm, bound, work),
        prediction("tmm-warps", warps, bound, work),
        counted or counts(),
        Verdict(cause, share, True, {}, None, what_ifs, ""),
    )
    assert_one_sentence(message)
    return message


@pytest.mark.parametrize(("cycles", "ratio"), [(800, "0.80"), (1000, "1.00"), (1250, "1.25")])
def test_within_a_quarter_the_simulation_agrees(cycles, ratio):
    assert because(result(cycles)) == f"The simulation agrees with the TMM, at {ratio} times its time."


@pytest.mark.parametrize(("cycles", "tmm"), [(0, 5), (5, 0)])
def test_nothing_is_compared_with_nothing(cycles, tmm):
    assert because(result(cycles), tmm=tmm) == "The simulation has nothing to be compared with."


def test_faster_because_of_caches():
    assert because(result(500, l1_hits=30, l2_hits=21)) == (
        "The simulation takes 0.5 times the TMM's time, "
        "because 51 % of the chunks come from a cache, which the TMM does not have."
    )


@pytest.mark.parametrize("run_", [result(799, l1_hits=25, l2_hits=25), result(799, transactions=0)])
def test_faster_because_chunks_are_in_flight_together(run_):
    assert because(run_) == (
        "The simulation takes 0.799 times the TMM's time, because the chunks of an instruction are in flight together, "
        "where the TMM takes them one after another."
    )


def test_faster_on_serial_transfers():
    message = because(result(500), on=machine(transfers="serial"))
    assert message.endswith("because not every warp waits for every transfer.")


def test_slower_because_of_what_the_tmm_leaves_out():
    message = because(result(2000), cause=causes.MEMORY_BANDWIDTH, share=0.82)
    assert message == (
        "The simulation takes 2 times the TMM's time, "
        "because memory bandwidth, which the TMM leaves out, takes 82 % of it."
    )
    assert because(result(2000), cause=causes.ISSUE).endswith("because instruction issue takes 90 % of it.")
    message = because(result(2000), cause=causes.TAIL, share=0.6)
    assert message.endswith("because core groups have no work for 60 % of it.")


@pytest.mark.parametrize(
    ("several", "left_out"),
    [
        ((causes.LATENCY, causes.L2_BANDWIDTH), ", and the TMM leaves out L2 bandwidth"),
        (
            (causes.PORT_BANDWIDTH, causes.L2_BANDWIDTH),
            ", and the TMM leaves out bandwidth of the memory ports and L2 bandwidth",
        ),
        ((causes.LATENCY, causes.ISSUE), ""),
    ],
)
def test_slower_because_of_several_causes_of_which_the_tmm_knows_some(several, left_out):
    both = " and ".join(several)
    together = WhatIf(both, "", 1.4, True, together=several)
    message = because(result(2000), cause=both, share=0.53, what_ifs=(WhatIf("launches", "", 1.2, False), together))
    assert message.endswith(f"because {both} together take 53 % of it{left_out}.")


def test_slower_because_warps_wait_as_one():
    message = because(result(3000), bound="memory", warps=2900)
    assert message.endswith("because the threads of a warp wait for its transfers together.")


def test_slower_because_lanes_are_idle():
    message = because(result(2000), cause=causes.ISSUE, work=400)
    assert message.endswith("because lanes are idle: 50 % of the lanes of an instruction do work.")
    wider = machine().replace({"cores.warp_width": 32})  # on as many cores: the lanes are the warp's
    message = because(result(2000), cause=causes.ISSUE, work=400, on=wider)
    assert message.endswith("because lanes are idle: 12 % of the lanes of an instruction do work.")


def test_slower_because_a_warp_waits_again_and_again():
    message = because(result(2000), counted=counts(waits=15))
    assert message.endswith(
        "because a warp waits for memory 15 times in a row, at L = 100 each, which the TMM's span leaves out and which "
        "takes 75 % of it."
    )
    assert "waits for memory" not in because(result(2000, l1_hits=1), counted=counts(waits=15))
    assert "takes 100 % of it" in because(result(2000), counted=counts(waits=25))  # and never more


def test_the_sentence_of_a_program_is_of_its_own_counts():
    threads = [[work(0, 2), load(1, 4096 + 4 * n), store(2, 8192 + 4 * n)] for n in range(8)]
    done = run(trace([threads]), machine())
    assert done.beside_the_model.startswith("The simulation ")
    assert done.verdict.cause == causes.LATENCY


def test_a_small_run_has_one_verdict_whichever_engine_ran():
    """Which one runs depends on what was compiled before, and what is tried must not."""
    by_engine = [run("list-ranking-wyllie", engine=engine) for engine in ("reference", "fast")]
    assert str(by_engine[0].verdict) == str(by_engine[1].verdict)
    assert by_engine[0].advice == by_engine[1].advice
