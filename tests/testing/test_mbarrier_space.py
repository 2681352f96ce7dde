"""Drawn pipelines: each stage's phases follow one another, so that whoever waits meets who arrives."""

from hypothesis import given
from hypothesis import strategies as st

from simtmm.testing.draw import HypothesisDraw
from simtmm.testing.mbarrier_space import pipeline
from tests.examples import examples


@examples(60)
@given(st.data())
def test_waits_of_a_stage_are_for_one_phase_after_another(data):
    producer, *consumers = pipeline(data.draw(st.composite(lambda draw: HypothesisDraw(draw))()))["warps"]
    begun = sum(each[:2] == ["mbarrier", "init"] for each in producer) // 2
    turns = [each[2] for each in producer if each[:2] == ["mbarrier", "expect"]]
    assert turns == [turn % begun for turn in range(len(turns))]

    def waits(warp, first):
        return [
            tuple(each[2:4]) for each in warp if each[:2] == ["mbarrier", "wait"] and (each[2] >= 8) == (first == 8)
        ]

    before = dict.fromkeys(range(begun), 0)
    expected = []
    for stage in turns:
        expected.append((stage, before[stage]))
        before[stage] = 1 - before[stage]
    assert waits(producer, 8) == [(8 + stage, 1 - phase) for stage, phase in expected]
    for warp in consumers:
        assert waits(warp, 0)[: len(expected)] == expected
