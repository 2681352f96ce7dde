"""The times of an algorithm at many points at once: each has what it has alone."""

import numpy as np
import pytest

from simtmm.errors import ModelError
from simtmm.machine import load_machine
from simtmm.model.algorithms import ALGORITHMS, find
from simtmm.model.algorithms.machine_letters import letters_of
from simtmm.model.algorithms.times import predict_algorithm, times_of_algorithm

GTX_480 = load_machine("gtx480")  # X 48, Z 12288 words
CRAY_XMT = load_machine("cray-xmt")  # no shared memory
ROUNDED = 1e-14  # a power of many numbers at once may round otherwise than that of one: a handful of last places


def times(name, parameters, threads=None, machine=GTX_480):
    points = len(next(iter(parameters.values())))
    letters = {letter: np.full(points, value) for letter, value in letters_of(machine).items()}
    columns = {symbol: np.array(values, dtype=float) for symbol, values in parameters.items()}
    given = None if threads is None else np.array(threads, dtype=float)
    return times_of_algorithm(find(name), letters, columns, given, machine=f"machine {machine.name}")


def alone(name, machine=GTX_480, threads=None, **parameters):
    with pytest.raises(ModelError) as raised:
        predict_algorithm(find(name), machine, parameters, threads)
    return str(raised.value)


@pytest.mark.parametrize("name", ALGORITHMS)
def test_each_point_has_the_times_that_it_has_alone(name):
    grid = [2e4, 1e5, 3e6]
    parameters = {symbol.name: grid for symbol in find(name).symbols if symbol.name not in find(name).defaults}
    result = times(name, parameters)
    assert len(result.points) > 0
    for place, point in enumerate(result.points):
        own = predict_algorithm(find(name), GTX_480, {symbol: values[point] for symbol, values in parameters.items()})
        for model, evaluation in result.by_model.items():
            at = evaluation.at(place)
            assert float(at.total) == pytest.approx(own[model].cycles, rel=ROUNDED)
            assert str(at.bound) == own[model].bound


def test_points_that_have_no_time_are_reported_by_reason_and_with_their_values_as_alone():
    sizes, threads = [float("nan"), 0.5, 12288, 12289, 1e8, 1e8, 1e8], [8, 8, 8, 8, 49, -1, 8]
    result = times("merge-sort", {"n": sizes}, threads)
    assert result.points.tolist() == [3, 6]
    assert [(reason, points.tolist()) for reason, points in result.refused] == [
        ("merge-sort: n: must be at least 1 (elements)", [0, 1]),
        ("merge-sort: n: must be above Z", [2]),
        ("merge-sort: T: must be at most what the machine holds, X and Z / (Q S)", [4]),
        ("merge-sort: T: must be above 0 (threads in use on a core)", [5]),
    ]
    for refusal in result.refusals:
        for place, point in enumerate(refusal.points):
            assert refusal.message(place) == alone("merge-sort", n=sizes[point], threads=threads[point])


def test_a_machine_without_shared_memory_has_no_time_where_some_is_needed():
    result = times("matrix-multiplication", {"n": [99, 99], "S_D": [8, 9]}, machine=CRAY_XMT)
    (refusal,) = result.refusals
    assert refusal.reason == "matrix-multiplication: Z: the machine has no shared memory (resources.shared_memory)"
    assert [refusal.message(place) for place in (0, 1)] == [
        alone("matrix-multiplication", CRAY_XMT, n=99, S_D=size) for size in (8, 9)
    ]


def test_a_need_is_reported_with_what_it_comes_to():
    result = times("matrix-multiplication", {"n": [99] * 3, "S_D": [64, 111, 112]})
    (refusal,) = result.refusals
    assert refusal.points.tolist() == [1, 2]
    assert refusal.message(1) == alone("matrix-multiplication", n=99, S_D=112)
    assert refusal.message(1).startswith("matrix-multiplication: S_D = 112: must be at most sqrt(Z) = 110.8")
