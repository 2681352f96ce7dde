"""Runs to rows of a Parquet file, in row groups of blocks that come together; the columns are those of file.py."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from simtmm.trace.info import TraceInfo
from simtmm.trace.parquet import column_of
from simtmm.trace.runs import layout as at
from simtmm.trace.runs.blocks import Runs
from simtmm.trace.runs.file import COLUMNS, NODES, STEPS, Integers
from simtmm.trace.runs.layout import Structures
from simtmm.trace.schema import METADATA_KEY

ROW_GROUP_VALUES, ROW_GROUP_BLOCKS = 1 << 19, 1 << 15  # from so many on a row group is written


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
        begin = structures.structure[own - 1] if own else np.zeros(len(at.Structure), np.int64)
        end = structures.structure[own]
        node, step, words = (
            table[begin[column] : end[column]]
            for table, column in (
                (structures.node, at.Structure.nodes),
                (structures.step, at.Structure.steps),
                (structures.words, at.Structure.words),
            )
        )
        parts = np.ascontiguousarray(node[:, NODES]), words, np.ascontiguousarray(step[:, STEPS])
        key = b"|".join([str(end[at.Structure.threads]).encode(), *(part.tobytes() for part in parts)])
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
            column_of(np.concatenate([np.full(len(runs.block), runs.launch, np.int32) for runs, _ in self._pieces])),
            column_of(np.concatenate([runs.block for runs, _ in self._pieces])),
            column_of(renamed[numbers].astype(np.int32)),
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
    """Lists of these lengths, null where they are missing. Arrow's own way imports pyarrow.compute."""
    offsets = np.concatenate([np.zeros(1, np.int32), np.cumsum(lengths)]).astype(np.int32)
    there = None if missing is None else pa.py_buffer(np.packbits(~missing, bitorder="little"))
    elements = column_of(values.astype(kind.value_type.to_pandas_dtype(), copy=False))
    return pa.Array.from_buffers(kind, len(lengths), [there, pa.py_buffer(offsets)], children=[elements])


class RunWriter:
    """Writes runs to a Parquet file; memory is bounded by a row group."""

    def __init__(self, path: Path) -> None:
        # Measured over kernels and imported traces: half to a tenth of the bytes of deltas, in less time. Addresses
        # have equal upper bytes, which stand together when a value's bytes are split.
        self._writer = pq.ParquetWriter(
            path,
            COLUMNS,
            compression="zstd",
            compression_level=1,
            use_dictionary=False,
            column_encoding={"block": "DELTA_BINARY_PACKED", "values.list.element": "BYTE_STREAM_SPLIT"},
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
        if runs.is_long:
            self._add_long(runs)
            return
        self._group.add(runs)
        if self._group.values >= ROW_GROUP_VALUES or self._group.blocks >= ROW_GROUP_BLOCKS:
            self._write()

    def _add_long(self, runs: Runs) -> None:
        """A block in rows that follow one another, a row group each."""
        for stretch in runs.stretches():
            self._write()
            self._group.add(dataclasses.replace(runs, value_ends=np.full(1, len(stretch)), values=np.array(stretch)))
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
