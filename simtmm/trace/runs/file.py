"""Runs as rows of a Parquet file, a row for each block, and how they are read (writing.py writes them).

    column      dtype          meaning
    launch      int32          the launch, from 0
    block       int32          the block within the launch
    structure   int32          of the structures of its row group, from 0 in the order in which they come; -1: plain
    values      list<int64>    of the block; of a plain one its events, two words each as they lie in memory
    nodes       list<int64>    parent and end of the steps of each node,
    threads     list<uint64>   the bits of each node's threads, and
    steps       list<int64>    STEPS of each step: where the structure comes first, null elsewhere

simtmm/trace/runs/layout.py describes them. What follows from them is not in the file.

A plain block with too many events for a row has rows that follow one another, each in a row group of its own.
"""

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from simtmm.errors import TraceError, shown_error
from simtmm.native import Loop
from simtmm.trace.info import TraceInfo
from simtmm.trace.parquet import flat, numbers
from simtmm.trace.runs import layout as at
from simtmm.trace.runs.blocks import Runs, Shape
from simtmm.trace.runs.checking import check_blocks, complete_all
from simtmm.trace.runs.layout import Structures
from simtmm.trace.runs.mapped import Spool
from simtmm.trace.schema import BEYOND, Kind

COLUMNS = pa.schema(
    [
        pa.field("launch", pa.int32(), nullable=False),
        pa.field("block", pa.int32(), nullable=False),
        pa.field("structure", pa.int32(), nullable=False),
        pa.field("values", pa.list_(pa.field("element", pa.int64(), nullable=False)), nullable=False),
        pa.field("nodes", pa.list_(pa.field("element", pa.int64(), nullable=False))),
        pa.field("threads", pa.list_(pa.field("element", pa.uint64(), nullable=False))),
        pa.field("steps", pa.list_(pa.field("element", pa.int64(), nullable=False))),
    ]
)
STEPS = [at.Step.what, at.Step.x, at.Step.y, at.Step.z, at.Step.inner, at.Step.middle, at.Step.outer, at.Step.form]
NODES = [at.Node.parent, at.Node.steps]

Integers = npt.NDArray[np.int64]

_COMPLETE, _CHECK = Loop(complete_all), Loop(check_blocks)


def holds_runs(path: Path) -> bool:
    """Whether a Parquet file has the columns of runs. Raises OSError and ArrowException."""
    with pq.ParquetFile(path) as file:
        return bool(file.schema_arrow.remove_metadata() == COLUMNS)


def read_runs(path: Path, info: TraceInfo, launch: int | None = None) -> Iterator[Runs]:
    """All blocks of a file, or of a launch. Raises TraceError where they are no runs, or contradict the metadata."""
    shapes, blocks = [launch.block for launch in info.launches], [launch.blocks for launch in info.launches]
    before = (-1, -1)
    for runs in _whole(_of_file(path, shapes, blocks, launch), path):
        first = runs.launch, int(runs.block[0])
        if first <= before or np.any(np.diff(runs.block) <= 0):
            raise TraceError(f"{path}: rows must be in the order of launch and block")
        before = runs.launch, int(runs.block[-1])
        yield runs


def _of_file(path: Path, shapes: list[Shape], blocks: list[int], launch: int | None) -> Iterator[Runs]:
    """The rows of a file, or of a launch of it, those of a launch within a row group together."""
    try:
        with pq.ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                if launch is not None and not _may_have(file, group, launch):
                    continue
                for runs in _of_group(file.read_row_group(group), path, shapes, blocks):
                    if launch in (None, runs.launch):
                        yield runs
    except (OSError, pa.ArrowException, UnicodeDecodeError) as error:
        raise TraceError(f"{path}: can't be read ({shown_error(error)})") from None


def _may_have(file: pq.ParquetFile, group: int, launch: int) -> bool:
    """Whether a row group may have rows of a launch, by its metadata."""
    statistics = file.metadata.row_group(group).column(COLUMNS.get_field_index("launch")).statistics
    return statistics is None or not statistics.has_min_max or statistics.min <= launch <= statistics.max


def _whole(pieces: Iterator[Runs], path: Path) -> Iterator[Runs]:
    """The same with all rows of a block in one."""
    waiting: Runs | None = None  # a plain block of which there may be more
    spool: Spool | None = None  # that it goes to then
    for runs in pieces:
        if waiting is not None:
            if _is_plain(runs) and (runs.launch, runs.block[0]) == (waiting.launch, waiting.block[0]):
                if spool is None:
                    spool = Spool()
                    spool.append(waiting.values)
                if _threads(waiting)[-1:] > _threads(runs)[:1]:
                    raise TraceError(
                        f"{path}: launch {runs.launch}, block {int(runs.block[0])}: threads must be in their order"
                    )
                spool.append(runs.values)
                waiting = runs
                continue
            yield _ended(waiting, spool)
            waiting, spool = None, None
        if _is_plain(runs):
            waiting = runs
        else:
            yield runs
    if waiting is not None:
        yield _ended(waiting, spool)


def _is_plain(runs: Runs) -> bool:
    """Whether these are one plain block that does something."""
    return len(runs.block) == 1 and runs.structure[0] == at.PLAIN and len(runs.values) > 0


def _threads(runs: Runs) -> Integers:
    """The thread of each event of a plain block."""
    return runs.values[1::2] >> at.THREAD_SHIFT & at.THREAD_MASK


def _ended(last: Runs, spool: Spool | None) -> Runs:
    """A plain block of which this is the last row. spool: what all its rows have gone to, if there are several."""
    if spool is None:
        return last
    values = spool.mapped(np.int64)
    return dataclasses.replace(last, values=values, value_ends=np.full(1, len(values)))


def _of_group(table: pa.Table, path: Path, shapes: list[Shape], blocks: list[int]) -> Iterator[Runs]:
    table = table.combine_chunks()
    launch, block, number = (numbers(table.column(name)) for name in ("launch", "block", "structure"))
    lengths, values = _listed(table.column("values"))
    if not len(launch):
        return
    most = np.array(blocks, np.int64)
    if launch.min() < 0 or launch.max() >= len(most) or block.min() < 0 or np.any(block >= most[launch]):
        raise TraceError(f"{path}: a row names a launch or block that its metadata does not have")
    threads = np.array([x * y * z for x, y, z in shapes], np.int64)[launch]
    structures = _structures(table, path, number, threads)
    ends = np.cumsum(lengths)
    begins = np.flatnonzero(np.diff(launch, prepend=-1)).tolist()
    for first, last in zip(begins, [*begins[1:], len(launch)], strict=True):
        begin = int(ends[first] - lengths[first])
        own = int(launch[first])
        runs = Runs(
            own, shapes[own], block[first:last].copy(), number[first:last].astype(np.int64), ends[first:last] - begin,
            values[begin : int(ends[last - 1])].copy(), structures,
        )  # fmt: skip
        wrong = _CHECK(
            structures, runs.structure, runs.values, runs.value_ends, int(threads[first]), int(Kind.BARRIER), BEYOND
        )
        if wrong >= 0:
            raise TraceError(
                f"{path}: launch {own}, block {int(runs.block[wrong])}: has another number of threads than its launch"
            )
        yield runs


def _structures(table: pa.Table, path: Path, number: Integers, threads: Integers) -> Structures:
    """The structures of a row group, all there is to them."""
    is_new = np.zeros(len(number), bool)
    parts, given = {}, []
    for name in ("nodes", "threads", "steps"):
        parts[name] = _listed(table.column(name), is_new)
        given.append(is_new.copy())
    if not np.array_equal(given[0], given[2]) or not np.array_equal(given[1], given[2]):
        raise TraceError(f"{path}: a row must have all of nodes, threads and steps, or none")
    news = np.flatnonzero(is_new)
    if not np.array_equal(number[news], np.arange(len(news))) or np.any(number >= np.cumsum(is_new)):
        raise TraceError(f"{path}: structures must be numbered in order of appearance")
    structure = np.zeros((len(news), len(at.Structure)), np.int64)
    for name, column, width in (
        ("nodes", at.Structure.nodes, len(NODES)), ("steps", at.Structure.steps, len(STEPS)),
        ("threads", at.Structure.words, 1),
    ):  # fmt: skip
        lengths = parts[name][0][news]
        if np.any(lengths % width):
            raise TraceError(f"{path}: {name} must be {width} numbers each")
        structure[:, column] = np.cumsum(lengths // width)
    structure[:, at.Structure.threads] = threads[news]
    node = np.zeros((len(parts["nodes"][1]) // len(NODES), len(at.Node)), np.int64)
    node[:, NODES] = parts["nodes"][1].reshape(-1, len(NODES))
    step = np.zeros((len(parts["steps"][1]) // len(STEPS), len(at.Step)), np.int64)
    step[:, STEPS] = parts["steps"][1].reshape(-1, len(STEPS))
    structures = Structures(structure, node, step, parts["threads"][1].astype(np.uint64))
    of_nodes = np.diff(structure[:, at.Structure.nodes], prepend=0).max(initial=1)
    of_words = np.diff(structure[:, at.Structure.words], prepend=0).max(initial=1)
    room = np.zeros(int(of_nodes), np.int64), np.zeros(int(of_words), np.uint64), np.zeros((3, 2), np.int64)
    wrong = np.zeros(1, np.int64)
    bad = _COMPLETE(structures, *room, wrong)
    if bad >= 0:
        raise TraceError(f"{path}: structure {bad} of a row group contradicts itself ({int(wrong[0])})")
    return structures


def _listed(column: pa.ChunkedArray, given: npt.NDArray[np.bool_] | None = None) -> tuple[Integers, npt.NDArray[Any]]:
    """How long the list of each row is, and the elements of all. given: is set where there is a list."""
    array = column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)
    if given is None and array.null_count:
        raise pa.ArrowInvalid("a list is missing")
    offsets = flat(array.offsets).astype(np.int64) if len(array) else np.zeros(1, np.int64)
    lengths = np.diff(offsets)
    if given is not None:
        given[:] = _is_there(array)
        if np.any(lengths[~given]):
            raise pa.ArrowInvalid("a list that is missing has elements")
    elements = array.values[int(offsets[0]) : int(offsets[-1])]
    if elements.null_count:
        raise pa.ArrowInvalid("a value is missing")
    return lengths, flat(elements)


def _is_there(array: pa.Array) -> npt.NDArray[np.bool_]:
    """Whether each element is no null. Arrow's own ways import pyarrow.compute, and pandas where that is installed."""
    bits = array.buffers()[0]
    if bits is None:
        return np.ones(len(array), bool)
    whole = np.unpackbits(np.frombuffer(bits, np.uint8), bitorder="little")
    return whole[array.offset : array.offset + len(array)].astype(bool)
