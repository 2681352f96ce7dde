"""Runs as rows of a Parquet file, a row a block: writing them, and reading them back.

    column      dtype          meaning
    launch      int32          the launch, from 0
    block       int32          the block within the launch
    structure   int32          of the structures of its row group, from 0 in the order in which they come; -1: plain
    values      list<int64>    of the block; of a plain one its events, two words each as they lie in memory
    nodes       list<int64>    parent and end of the steps of each node,
    threads     list<uint64>   the bits of each node's threads, and
    steps       list<int64>    STEPS of each step: where the structure comes first, null elsewhere

What these are says simtmm/trace/runs/layout.py. What follows from them is not in the file.
"""

import json
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
from simtmm.trace.runs import layout as at
from simtmm.trace.runs.blocks import Runs, Shape
from simtmm.trace.runs.checking import check_blocks, complete_all
from simtmm.trace.runs.layout import Structures
from simtmm.trace.schema import BEYOND, METADATA_KEY, Kind

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
STEPS = [at.STEP_WHAT, at.STEP_X, at.STEP_Y, at.STEP_Z, at.STEP_INNER, at.STEP_MIDDLE, at.STEP_OUTER, at.STEP_FORM]
NODES = [at.NODE_PARENT, at.NODE_STEPS]
ROW_GROUP_VALUES, ROW_GROUP_BLOCKS = 1 << 19, 1 << 15  # from so many on a row group is written

Integers = npt.NDArray[np.int64]

_COMPLETE, _CHECK = Loop(complete_all), Loop(check_blocks)


class RowGroup:
    """Blocks that come together; each structure stands once."""

    def __init__(self) -> None:
        self.values = 0
        self.blocks = 0
        self._pieces: list[tuple[Runs, Integers]] = []
        self._numbers: dict[bytes, int] = {}
        self._structures: list[tuple[Integers, npt.NDArray[np.uint64], Integers]] = []

    def add(self, runs: Runs) -> None:
        """Take blocks in."""
        numbers = np.array([self._number(runs.structures, own) for own in range(len(runs.structures.structure))] + [-1])
        self._pieces.append((runs, numbers[runs.structure].astype(np.int64)))
        self.values += len(runs.values)
        self.blocks += len(runs.block)

    def _number(self, structures: Structures, own: int) -> int:
        begin = structures.structure[own - 1] if own else np.zeros(at.STRUCTURE_ROW, np.int64)
        end = structures.structure[own]
        node, step, words = (
            table[begin[column] : end[column]]
            for table, column in (
                (structures.node, at.STRUCTURE_NODES),
                (structures.step, at.STRUCTURE_STEPS),
                (structures.words, at.STRUCTURE_WORDS),
            )
        )
        parts = np.ascontiguousarray(node[:, NODES]), words, np.ascontiguousarray(step[:, STEPS])
        key = b"|".join([str(end[at.STRUCTURE_THREADS]).encode(), *(part.tobytes() for part in parts)])
        if key not in self._numbers:
            self._numbers[key] = len(self._structures)
            self._structures.append(parts)
        return self._numbers[key]

    def batch(self) -> pa.RecordBatch:
        """All of it with the columns of the file."""
        numbers = np.concatenate([own for _, own in self._pieces])
        _, firsts = np.unique(numbers[numbers >= 0], return_index=True)
        firsts = np.flatnonzero(numbers >= 0)[firsts]
        order = np.argsort(firsts)  # the file numbers structures in the order in which they come
        renamed = np.empty(len(self._structures) + 1, np.int64)
        renamed[order], renamed[-1] = np.arange(len(order)), -1
        lengths = np.concatenate([np.diff(runs.value_ends, prepend=0) for runs, _ in self._pieces])
        values = np.concatenate([runs.values for runs, _ in self._pieces])
        columns = [
            pa.array(np.concatenate([np.full(len(runs.block), runs.launch, np.int32) for runs, _ in self._pieces])),
            pa.array(np.concatenate([runs.block for runs, _ in self._pieces])),
            pa.array(renamed[numbers].astype(np.int32)),
            _lists(lengths, values, COLUMNS.field("values").type, None),
        ]
        chosen = np.zeros(len(numbers), bool)
        chosen[firsts] = True
        listed = [self._structures[number] for number in order]
        for part, name in enumerate(("nodes", "threads", "steps")):
            parts = [structure[part].reshape(-1) for structure in listed]
            own = np.zeros(len(numbers), np.int64)
            own[np.sort(firsts)] = [len(each) for each in parts]
            kind = COLUMNS.field(name).type
            flat = np.concatenate([np.empty(0, kind.value_type.to_pandas_dtype()), *parts])
            columns.append(_lists(own, flat, kind, ~chosen))
        return pa.RecordBatch.from_arrays(columns, schema=COLUMNS)


def _lists(
    lengths: Integers, values: npt.NDArray[Any], kind: pa.DataType, missing: npt.NDArray[np.bool_] | None
) -> Any:
    ends = np.cumsum(lengths, dtype=np.int64)
    if len(ends) and ends[-1] > np.iinfo(np.int32).max:  # of which a block alone must have most
        raise TraceError(f"a row group of {ends[-1]:,} values: a file can hold {np.iinfo(np.int32).max:,}")
    offsets = np.concatenate([np.zeros(1, np.int32), ends]).astype(np.int32)
    mask = None if missing is None else pa.array(missing)
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array(values), type=kind, mask=mask)


class RunWriter:
    """Writes runs to a Parquet file; memory is bounded by a row group."""

    def __init__(self, path: Path) -> None:
        self._writer = pq.ParquetWriter(
            path,
            COLUMNS,
            compression="zstd",
            compression_level=3,
            use_dictionary=False,
            column_encoding={"block": "DELTA_BINARY_PACKED", "values.list.element": "DELTA_BINARY_PACKED"},
            write_statistics=["launch", "block"],
        )
        self._group = RowGroup()

    def __enter__(self) -> "RunWriter":
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()

    def add(self, runs: Runs) -> None:
        """Append blocks."""
        if not len(runs.block):
            return
        self._group.add(runs)
        if self._group.values >= ROW_GROUP_VALUES or self._group.blocks >= ROW_GROUP_BLOCKS:
            self._write()

    def _write(self) -> None:
        if self._group.blocks:
            self._writer.write_batch(self._group.batch(), row_group_size=self._group.blocks)
            self._group = RowGroup()

    def close_with(self, info: TraceInfo) -> None:
        """Write the metadata and end the file."""
        self._write()
        self._writer.add_key_value_metadata({METADATA_KEY: json.dumps(info.to_dict()).encode()})
        self._writer.close()


def holds_runs(path: Path) -> bool:
    """Whether a Parquet file has the columns of runs. Raises OSError and ArrowException."""
    with pq.ParquetFile(path) as file:
        return bool(file.schema_arrow.remove_metadata() == COLUMNS)


def read_runs(path: Path, info: TraceInfo) -> Iterator[Runs]:
    """All blocks of a file. Raises TraceError where they are no runs, or contradict the metadata."""
    shapes, blocks = [launch.block for launch in info.launches], [launch.blocks for launch in info.launches]
    before = (-1, -1)
    try:
        with pq.ParquetFile(path) as file:
            for group in range(file.num_row_groups):
                for runs in _of_group(file.read_row_group(group), path, shapes, blocks):
                    first = runs.launch, int(runs.block[0])
                    if first <= before or np.any(np.diff(runs.block) <= 0):
                        raise TraceError(f"{path}: rows must be in the order of launch and block")
                    before = runs.launch, int(runs.block[-1])
                    yield runs
    except (OSError, pa.ArrowException) as error:
        raise TraceError(f"{path}: can't be read ({shown_error(error)})") from None


def _of_group(table: pa.Table, path: Path, shapes: list[Shape], blocks: list[int]) -> Iterator[Runs]:
    table = table.combine_chunks()
    launch, block, number = (_numbers(table.column(name)) for name in ("launch", "block", "structure"))
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
                f"{path}: launch {own}, block {int(runs.block[wrong])}: is no block of its launch's threads"
            )
        yield runs


def _structures(table: pa.Table, path: Path, number: Integers, threads: Integers) -> Structures:
    """The structures of a row group, all there is to them."""
    is_new = np.zeros(len(number), bool)
    parts = {name: _listed(table.column(name), is_new) for name in ("nodes", "threads", "steps")}
    news = np.flatnonzero(is_new)
    if not np.array_equal(number[news], np.arange(len(news))) or np.any(number >= np.cumsum(is_new)):
        raise TraceError(f"{path}: structures must be numbered in the order in which they come")
    structure = np.zeros((len(news), at.STRUCTURE_ROW), np.int64)
    for name, column, width in (
        ("nodes", at.STRUCTURE_NODES, len(NODES)), ("steps", at.STRUCTURE_STEPS, len(STEPS)),
        ("threads", at.STRUCTURE_WORDS, 1),
    ):  # fmt: skip
        lengths = parts[name][0][news]
        if np.any(lengths % width):
            raise TraceError(f"{path}: {name} must be {width} numbers each")
        structure[:, column] = np.cumsum(lengths // width)
    structure[:, at.STRUCTURE_THREADS] = threads[news]
    node = np.zeros((len(parts["nodes"][1]) // len(NODES), at.NODE_ROW), np.int64)
    node[:, NODES] = parts["nodes"][1].reshape(-1, len(NODES))
    step = np.zeros((len(parts["steps"][1]) // len(STEPS), at.STEP_ROW), np.int64)
    step[:, STEPS] = parts["steps"][1].reshape(-1, len(STEPS))
    made = Structures(structure, node, step, parts["threads"][1].astype(np.uint64))
    of_nodes = np.diff(structure[:, at.STRUCTURE_NODES], prepend=0).max(initial=1)
    of_words = np.diff(structure[:, at.STRUCTURE_WORDS], prepend=0).max(initial=1)
    room = np.zeros(int(of_nodes), np.int64), np.zeros(int(of_words), np.uint64), np.zeros((3, 2), np.int64)
    wrong = np.zeros(1, np.int64)
    bad = _COMPLETE(made, *room, wrong)
    if bad >= 0:
        raise TraceError(f"{path}: structure {bad} of a row group contradicts itself ({int(wrong[0])})")
    return made


def _numbers(column: pa.ChunkedArray) -> npt.NDArray[Any]:
    """A column of integers."""
    if column.null_count:
        raise pa.ArrowInvalid("a value is missing")
    array = column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)
    return _flat(array)


def _flat(array: pa.Array) -> npt.NDArray[Any]:
    """An array of integers without nulls. Arrow's own way imports pandas, where that is installed."""
    kind = np.dtype(str(array.type))
    if not len(array):
        return np.empty(0, kind)
    return np.frombuffer(array.buffers()[1], kind, len(array), array.offset * kind.itemsize)


def _listed(column: pa.ChunkedArray, given: npt.NDArray[np.bool_] | None = None) -> tuple[Integers, npt.NDArray[Any]]:
    """How long the list of each row is, and the elements of all. given: is set where there is a list."""
    array = column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)
    if given is None and array.null_count:
        raise pa.ArrowInvalid("a list is missing")
    if given is not None:
        given[:] = np.frombuffer(array.is_valid().cast(pa.uint8()).buffers()[1], np.uint8, len(array)).astype(bool)
    elements = array.flatten()
    if elements.null_count:
        raise pa.ArrowInvalid("a value is missing")
    lengths = array.value_lengths().fill_null(0)
    return _flat(lengths).astype(np.int64), _flat(elements)
