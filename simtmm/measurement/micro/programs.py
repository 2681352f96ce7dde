"""Micro-kernels as programs: those of a file together, each launched twice, with few trips and with more.

Before them stands a launch that takes what a program pays once: translations, say, and loading the code.
"""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import groupby
from typing import Any, TypeVar

import numpy as np

from simtmm.kernel import Array, Kernel, Launch
from simtmm.measurement.case import Case, case_kernel
from simtmm.measurement.micro.kernel import IN, OUT, TRIPS, MicroKernel
from simtmm.measurement.micro.table import FOLDER, given_words, rows
from simtmm.parameter import Parameter

T = TypeVar("T")
SCALE = Parameter(1, "how many times the trips of each launch are taken", minimum=1, maximum=2**16)


def by_file(capability: tuple[int, int] | None = None) -> dict[str, tuple[MicroKernel, ...]]:
    """The rows of each file that a GPU of this compute capability has, all of them if left out.

    capability: major and minor number.
    """
    able = [row for row in rows() if capability is None or row.capability <= capability]
    return {source: tuple(of) for source, of in groupby(able, key=lambda row: row.source)}


def pairs(of_launches: Sequence[T]) -> Iterator[tuple[T, T]]:
    """What there is of each row's two launches, of what there is of all launches of a file's program.

    of_launches: a value for each launch, in order.
    """
    return zip(of_launches[1::2], of_launches[2::2], strict=True)


def program(source: str, chosen: Sequence[MicroKernel]) -> Kernel:
    """The program of a file's rows: a launch before them, two launches each, in their order, and the answers of all.

    It has the parameter `scale`.

    source: the name of a file beside this one.
    chosen: rows of that file.
    """
    name = f"micro-{source.removesuffix('.cu')}"
    about = "Micro-kernels, each launched with few trips and with more."
    case = cache(lambda scale: _case(chosen, scale))
    return case_kernel(name, FOLDER / source, lambda p: case(p.scale), {"scale": SCALE}, about)


def _case(chosen: Sequence[MicroKernel], scale: int) -> Case:
    given = given_words()
    launches: list[Launch] = []
    expected: dict[str, Array] = {}
    first = (chosen[0], chosen[0].trips[0])
    for row, trips in [first, *((each, trips) for each in chosen for trips in each.trips)]:
        times = trips * scale
        out = f"out{len(launches)}"
        expected[out] = row.answer(given, times)
        words: dict[Any, Any] = {TRIPS: times, OUT: out}
        arguments = tuple(words.get(each, each) if isinstance(each, str) else each for each in row.arguments)
        launches.append(Launch(row.kernel, arguments, 1, row.block))
    reads = any(IN in row.arguments for row in chosen)
    arrays = {IN: given} if reads else {}
    arrays |= {name: np.zeros_like(array) for name, array in expected.items()}
    return Case(chosen[0].source, arrays, tuple(launches), expected)
