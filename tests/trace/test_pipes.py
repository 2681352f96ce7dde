"""Instructions of classes with a pipe: a compute of their own (docs/machine.md, section 9)."""

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simtmm import count, lower, simulate
from simtmm.engine import ENGINES
from simtmm.errors import WorkloadError
from simtmm.trace.specification import LoweringSpecification
from simtmm.trace.warps.holding import MOST_TURNS
from tests.examples import examples
from tests.trace.build import barrier, store, trace, work
from tests.trace.test_compiled import lowered, site
from tests.trace.test_lower import machine, threads
from tests.trace.test_stalls import as_even_as_can_be, stalled

MIXED = [("special", 4), ("fp32", 3), ("fp64", 2), ("control", 5)]
FP64 = {"pipes.fp64.interval": 16}
BOTH = {**FP64, "pipes.special.interval": 8}


def test_instructions_of_a_class_with_a_pipe_stand_behind_all_others_in_the_order_of_the_table():
    found = lowered([[store(0, 0)]], [stalled(0, 7, "store", work=MIXED)], **BOTH)
    assert found == [[["compute", 8], ["compute", 2, "fp64"], ["compute", 4, "special"], ["pause", 7], ["store", [0]]]]


def test_machines_without_a_pipe_that_takes_time_have_computes_of_no_class():
    sites = [site(0, "store", work=MIXED)]
    for pipes in ({}, {"pipes.fp64.interval": 0}, {"pipes.fp16.interval": 3}):
        assert lowered([[store(0, 0)]], sites, **pipes) == [[["compute", 14], ["store", [0]]]]
    assert LoweringSpecification.of(machine()) == LoweringSpecification.of(machine(**{"pipes.fp64.interval": 0}))


def test_products_of_integers_are_integers_where_there_is_no_pipe_for_them():
    sites = [site(0, "store", work=[("integer", 2), ("multiply", 3), ("fp32", 1)])]
    integer, multiply = {"pipes.integer.interval": 2}, {"pipes.multiply.interval": 2}

    def computes(**keys):
        (warp,) = lowered([[store(0, 0)]], sites, **keys)
        return warp[:-1]

    assert computes(**integer) == [["compute", 1], ["compute", 5, "integer"]]
    assert computes(**multiply) == [["compute", 3], ["compute", 3, "multiply"]]
    assert computes(**integer, **multiply) == [["compute", 1], ["compute", 2, "integer"], ["compute", 3, "multiply"]]
    assert computes(**FP64) == [["compute", 6]]
    assert computes(**{"instructions.integer": 5}) == [["compute", 6], ["pause", 5 * 4]]
    assert computes(**{"instructions.integer": 5, "instructions.multiply": 2}) == [["compute", 6], ["pause", 2 * 4 + 3]]


def test_neighbours_of_one_class_are_one():
    sites = [site(0, "work", work=[("fp64", 2)]), site(1, "store", work=[("fp64", 3)])]
    assert lowered([[work(0, 5), store(1, 0)]], sites, **FP64) == [[["compute", 13, "fp64"], ["store", [0]]]]


def test_work_of_several_classes_takes_turns():
    sites = [site(0, "work", work=[("fp32", 3), ("fp64", 2)])]
    assert lowered([[work(0, 3)]], sites, **FP64) == [[["compute", 3], ["compute", 2, "fp64"]] * 3]
    (often,) = lowered([[work(0, 1_000)]], sites, **FP64)
    times = as_even_as_can_be(1_000, MOST_TURNS)
    assert often == [operation for n in times for operation in (["compute", 3 * n], ["compute", 2 * n, "fp64"])]


def test_work_of_one_class_alone_is_no_operation_of_another():
    assert lowered([[work(0, 3)]], [site(0, "work", work=[("fp64", 1)])], **FP64) == [[["compute", 3, "fp64"]]]


def test_work_whose_classes_nobody_knows_has_none():
    assert lowered([[work(0, 3)]], [site(0, "work")], **FP64) == [[["compute", 3]]]


def test_barriers_at_several_sites_add_up_by_class():
    sites = [site(number, "barrier", work=[("fp64", number), ("integer", 1)]) for number in (1, 2)]
    block = [[barrier(1)], [barrier(2)]]
    assert lowered(block, sites, **FP64) == [[["compute", 2], ["compute", 3, "fp64"], ["barrier"]]]


said = st.dictionaries(st.integers(0, 14), st.integers(0, 3), max_size=9)


@given(threads=threads, width=st.sampled_from([1, 4, 32]), fp32=said, fp64=said)
@examples(80)
def test_but_for_classes_lowering_is_what_it_is_without_pipes(threads, width, fp32, fp64):
    sites = [
        site(number, work=[(name, of[number]) for name, of in (("fp32", fp32), ("fp64", fp64)) if of.get(number)])
        for number in range(15)
    ]
    found = lowered(threads, sites, width=width, **FP64)
    assert [without_classes(warp) for warp in found] == lowered(threads, sites, width=width)
    recorded = trace([threads], sites=sites)
    assert count(recorded, machine(width=width)) == count(recorded, machine(width=width, **FP64))


def without_classes(warp):
    """A warp's operations with neighbouring computes made one."""
    made = []
    for operation in warp:
        if operation[0] == "compute" and made and made[-1][0] == "compute":
            made[-1] = ["compute", made[-1][1] + operation[1]]
        else:
            made.append(operation[:2])
    return made


def test_latencies_of_a_class_begin_behind_its_pipe():
    sites = [site(0, "store", work=[("fp64", 3)])]
    assert lowered([[store(0, 0)]], sites, **FP64, **{"instructions.fp64": 20}) == [
        [["compute", 3, "fp64"], ["pause", 3 * (20 - 16)], ["store", [0]]]
    ]
    assert lowered([[store(0, 0)]], sites, **FP64, **{"instructions.fp64": 16})[0][1] == ["store", [0]]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_program_of_doubles_takes_its_pipe(engine):
    recorded = trace([[[work(0, 50)]]] * 2, sites=[site(0, "work", work=[("fp64", 10)])])
    on = machine(**{"cores.groups": 1, **FP64})
    # Two blocks of a warp each, 500 instructions.
    assert simulate(on, lower(recorded, on), engine).ticks == 1 + (2 * 500 - 1) * 16


def test_work_of_several_classes_beyond_64_bits_is_refused():
    sites = [site(0, "work", work=[("fp32", 3), ("fp64", 4)])]
    seventh = (2**63 - 1) // 7
    (warp,) = lowered([[work(0, seventh)]], sites, **FP64)
    assert sum(operation[1] for operation in warp) == 2**63 - 1
    with pytest.raises(WorkloadError, match="must be below 2"):
        lowered([[work(0, seventh + 1)]], sites, **FP64)


def test_places_are_as_they_were():
    sites = [dataclasses.replace(site(0, "store", work=MIXED), line=3)]
    on = machine(**FP64)
    workload = lower(trace([[[store(0, 0)]]], sites=sites), on, places=True)
    assert len(workload.place) == len(workload.kind) == 3
    stalls = simulate(on, workload, stalls=True).stalls
    assert sum(row["pipe_queue"] for row in stalls.rows()) == 16 - 1
