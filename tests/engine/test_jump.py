"""Jumps over long computes, where each instruction is granted by itself: no tick is other by them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm import Machine, Workload, load_machine, simulate
from simtmm.engine import ENGINES
from simtmm.engine.fast.launches import launch, part
from simtmm.engine.reference import jump, schedulers
from simtmm.errors import EngineError
from simtmm.testing import launches, machines
from simtmm.timeline import WarpState
from tests.examples import SHARING, examples, several

SCHEDULERS = list(schedulers.SCHEDULERS)


def jumps_from(instructions, monkeypatch):
    """Have computes of so many instructions be worth it."""
    monkeypatch.setattr(launch, "LONG_COMPUTE", instructions)
    monkeypatch.setattr(jump, "LONG", instructions)


@st.composite
def long_computes(draw):
    """One or two launches, some of their computes and pauses long."""
    drawn = draw(st.lists(launches(), min_size=1, max_size=2))
    for operations in (warp for one in drawn for block in one["blocks"] for warp in block["warps"]):
        for operation in operations:
            if operation[0] in ("compute", "pause"):
                operation[1] *= draw(st.sampled_from([1, 7, 40]))
    return Workload.from_dict({"launches": drawn})


def every_instruction(**others):
    return machines(**others).map(lambda machine: machine.replace({"scheduling.switch": "every-instruction"}))


@pytest.fixture
def leaps(monkeypatch):
    """The ticks of each jump of the reference engine."""
    ticks = []
    ahead = jump.Jumps.ahead

    def noted(jumps):
        ticks.append(ahead(jumps))
        return ticks[-1]

    monkeypatch.setattr(jump.Jumps, "ahead", noted)
    return ticks


def test_a_jump_moves_no_tick(monkeypatch, leaps):
    @examples(280 // SHARING)
    @given(drawn=several(every_instruction()), workload=long_computes())
    def agree(drawn, workload):
        for machine in drawn:
            jumps_from(2**62, monkeypatch)
            step_by_step = simulate(machine, workload, "fast", stalls=True)
            jumps_from(1, monkeypatch)
            assert simulate(machine, workload, "fast", stalls=True) == step_by_step
            assert simulate(machine, workload, "reference", stalls=True) == step_by_step

    agree()
    assert sum(ticks > 0 for ticks in leaps) > 50  # or nothing has been jumped over


def test_groups_jump_in_threads_of_their_own(monkeypatch):
    monkeypatch.setattr(part, "WORTH_SHARING", 0)

    @examples(60 // SHARING)
    @given(drawn=several(every_instruction(coupled=False)), workload=long_computes())
    def agree(drawn, workload):
        for machine in drawn:
            jumps_from(2**62, monkeypatch)
            step_by_step = simulate(machine, workload, "fast", threads=1, stalls=True)
            jumps_from(1, monkeypatch)
            assert simulate(machine, workload, "fast", threads=3, stalls=True) == step_by_step

    agree()


def workload_of(*blocks):
    return Workload.from_dict({"blocks": [{"warps": warps} for warps in blocks]})


def machine_of(scheduler, **changes):
    tables = {
        "name": "barrel",
        "cores": {"groups": 1, "cores_per_group": 8, "warp_width": 8, "max_threads_per_core": 4096},
        "scheduling": {"switch": "every-instruction", "scheduler": scheduler, "pipeline_depth": 5},
        "memory": {"latency": 100, "chunk_words": 8},
        "limits": {"warps_per_group": 256},
    }
    return Machine.from_dict(tables).replace(changes)


class Counted:
    """How often an engine looks at a group: each grant of the reference, some thousand steps of the fast one."""

    STRETCH = 2_000

    def __init__(self, monkeypatch):
        self.looks = 0
        monkeypatch.setattr(launch, "STRETCH", self.STRETCH)
        self._count(monkeypatch, launch.Launch, "_simulate")
        self._count(monkeypatch, jump.Jumps, "ahead")

    def _count(self, monkeypatch, owner, name):
        looked = getattr(owner, name)

        def counted(*arguments):
            self.looks += 1
            return looked(*arguments)

        monkeypatch.setattr(owner, name, counted)

    def steps(self, engine):
        return self.looks * (self.STRETCH if engine == "fast" else 1)


XMT = load_machine("cray-xmt")  # an instruction of a stream each 21 cycles, 128 streams
BILLIONS = 2**32


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("amounts", "ticks", "most"),
    [
        ([BILLIONS], 21 * BILLIONS, 4_000),
        ([BILLIONS, BILLIONS // 2, 2 * BILLIONS + 7], 21 * (2 * BILLIONS + 7) + 2, 4_000),
        ([BILLIONS] * 128, 128 * BILLIONS + 20, 4_000),  # the last one waits out the pipeline
        # As long as more than 21 streams are left the port is always busy.
        ([BILLIONS + 1000 * warp for warp in range(128)], None, 200_000),
    ],
    ids=["one", "three", "all alike", "all different"],
)
def test_billions_of_instructions_take_thousands_of_steps(engine, amounts, ticks, most, monkeypatch):
    counted = Counted(monkeypatch)
    result = simulate(XMT, workload_of([[["compute", amount]] for amount in amounts]), engine)
    assert counted.steps(engine) <= most
    assert result.issued == result.port_busy == result.time["issuing"] == sum(amounts)
    assert ticks is None or result.ticks == ticks


@pytest.mark.parametrize("scheduler", SCHEDULERS)
@pytest.mark.parametrize("warps", [1, 3, 40])
@pytest.mark.parametrize("cores", [2, 8, 24, 64])  # a port that takes 4 cycles, a port, 3 and 8 of them
def test_every_scheduler_jumps_over_any_ports(scheduler, warps, cores, monkeypatch):
    on = machine_of(scheduler, **{"cores.cores_per_group": cores})
    workload = workload_of([[["compute", 10**12 + 7 * warp]] for warp in range(warps)])
    counted = Counted(monkeypatch)
    fast = simulate(on, workload, "fast")
    assert counted.steps("fast") < 1_000_000
    assert fast == simulate(on, workload, "reference")


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    ("other", "ticks"),
    [
        ([["pause", 10**9], ["load", [1]]], 5 * 10**12),
        ([["pause", 10**13], ["load", [1]]], 10**13 + 1 + 100),
        # Issued at 1, as the other is older; behind it their instructions are two cycles apart.
        ([["load", [1]], ["compute", 10**12]], 1 + 1 + 100 + 5 * 10**12),
        ([["barrier"], ["compute", 3]], 5 * 10**12 + 15),
    ],
    ids=["pause", "longer pause", "load", "barrier"],
)
def test_a_warp_that_sleeps_wakes_on_its_tick(engine, other, ticks, monkeypatch):
    counted = Counted(monkeypatch)
    result = simulate(machine_of("fifo"), workload_of([[["compute", 10**12]], other]), engine)
    assert counted.steps(engine) <= 4_000
    assert result.ticks == ticks


@pytest.mark.parametrize("engine", ENGINES)
def test_a_block_that_fits_is_placed_on_its_tick(engine, monkeypatch):
    """Blocks never overtake one another: the last waits for the one before it, which waits for the first."""
    on = machine_of("fifo", **{"cores.groups": 2, "limits.warps_per_group": 4})
    blocks = [[[["compute", amount]]] * warps for warps, amount in ((3, 500), (2, 700), (4, 1), (2, 400))]
    placed = 2 + 5 * 500  # the first one's third warp is done, and its group has room for the large block
    for instructions in (2**62, 1):
        jumps_from(instructions, monkeypatch)
        # The last one's warps follow one another, and their instructions fall between those of the second.
        assert simulate(on, workload_of(*blocks), engine).ticks == placed + 1 + 5 * 400


def test_the_fast_engine_jumps_as_far_as_it_counts(monkeypatch):
    on, amount = machine_of("fifo"), 2**58  # of 5 ticks each; 6 bound them
    assert simulate(on, workload_of([[["compute", amount]]]), "fast").ticks == 5 * amount
    with pytest.raises(EngineError, match=r"could take 2\^61 ticks and more"):
        simulate(on, workload_of([[["compute", 2 * amount]]]), "fast")
    assert simulate(on, workload_of([[["compute", 2**62]]]), "reference").ticks == 5 * 2**62


def test_a_timeline_has_every_interval(leaps):
    on, workload = machine_of("fifo"), workload_of([[["compute", 500]]] * 2)
    for engine in ENGINES:
        timeline = simulate(on, workload, engine, timeline=True).timeline
        assert (timeline.state == WarpState.ISSUING).sum() == 1000
    assert not leaps


def test_a_rule_of_ones_own_is_asked_each_time(leaps):
    asked = []

    def rule(ready, group):
        asked.append(group.now)
        return ready[0]

    simulate(machine_of("fifo"), workload_of([[["compute", 500]]]), scheduler=rule)
    assert len(asked) == 500
    assert not leaps
