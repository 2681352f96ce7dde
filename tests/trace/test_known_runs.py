"""What is found of blocks is looked for once, for all launches that do the same, and for nothing else."""

import dataclasses

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from simtmm.trace.digest import TraceDigest
from simtmm.trace.runs import known
from simtmm.trace.runs.encoder import Encoder
from simtmm.trace.runs.known import Known
from tests.examples import examples
from tests.trace.programs import Program
from tests.trace.test_runs import SHAPES

RUNS = Encoder().runs(Program(5, (32, 1, 1)).batch(3), 0, (32, 1, 1))


def looked_at(*pieces):
    found = []

    def find(runs):
        found.append(runs)
        return len(found)

    of = Known(find)
    return [of.of(runs) for runs in pieces]


def test_another_launch_of_the_same_is_known():
    again = dataclasses.replace(RUNS, launch=7, values=RUNS.values.copy(), block=RUNS.block.copy())
    assert looked_at(RUNS, again, RUNS) == [1, 1, 1]


def test_what_is_given_besides_is_part_of_what_is_known():
    found = []
    of = Known(lambda *given: found.append(given) or len(found), 3)
    assert [of.of(RUNS, number) for number in (1, 2, 1)] == [1, 2, 1]
    assert [given[1:] for given in found] == [(1,), (2,)]
    assert [of.of(RUNS, number) for number in (3, 1)] == [3, 4]  # of three at once


def test_what_differs_in_anything_else_is_looked_at():
    assert len(RUNS.values)
    assert len(RUNS.block) == 3
    others = {
        "shape": (16, 2, 1),
        "block": RUNS.block + 1,
        "structure": RUNS.structure[::-1].copy() + 1,
        "value_ends": RUNS.value_ends - (np.arange(3) == 0),
        "values": RUNS.values + (np.arange(len(RUNS.values)) == len(RUNS.values) - 1),
        "structures": type(RUNS.structures)(*RUNS.structures),
    }
    assert others.keys() | {"launch"} == {field.name for field in dataclasses.fields(RUNS)}
    for name, other in others.items():
        assert looked_at(RUNS, dataclasses.replace(RUNS, **{name: other}))[-1] == 2, name


def test_blocks_with_many_values_are_looked_at_each_time(monkeypatch):
    monkeypatch.setattr(known, "MOST_VALUES", len(RUNS.values) - 1)
    assert looked_at(RUNS, RUNS) == [1, 2]


def test_so_many_are_known_and_no_more(monkeypatch):
    monkeypatch.setattr(known, "MOST_KNOWN", 2)
    pieces = [dataclasses.replace(RUNS, block=RUNS.block + number) for number in range(3)]
    assert looked_at(*pieces, *pieces[1:]) == [1, 2, 3, 4, 5]


@examples(20)
@given(program=st.builds(Program, st.integers(0, 2**32), st.sampled_from(SHAPES)))
def test_a_digest_is_what_it_was_with_nothing_known(program):
    pieces = [Encoder().runs(program.batch(2), launch, program._shape) for launch in (0, 1, 1, 4)]
    pieces = [dataclasses.replace(runs, structures=pieces[0].structures) for runs in pieces]
    digests = []
    for forgets in (False, True):
        digest = TraceDigest()
        for runs in pieces:
            if forgets:
                digest._known._known.clear()
            digest.add(runs)
        digests.append(digest.finish([], []))
    assert digests[0] == digests[1]
