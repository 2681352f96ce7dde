"""Files with a row an event, as traces were written before there were runs."""

import json
from itertools import pairwise

import numpy as np
import pyarrow.parquet as pq

from simtmm.trace.parquet import COLUMNS, to_arrow
from simtmm.trace.schema import METADATA_KEY, Batch

ROW_GROUP = 1 << 20  # events


def write_rows(path, batches, info, row_group=ROW_GROUP):
    """Write batches, a row group each, a large batch in several, whose blocks need not be whole."""
    with pq.ParquetWriter(
        path,
        COLUMNS,
        compression="zstd",
        compression_level=1,
        use_dictionary=False,
        column_encoding={"thread": "DELTA_BINARY_PACKED", "value": "BYTE_STREAM_SPLIT"},
        write_statistics=["launch", "block"],
    ) as writer:
        for batch in batches:
            count = len(batch.events)
            pieces = max(1, round(count / row_group))
            for start, stop in pairwise(count * piece // pieces for piece in range(pieces + 1)):
                writer.write_batch(to_arrow(cut(batch, start, stop)), row_group_size=max(1, stop - start))
        writer.add_key_value_metadata({METADATA_KEY: json.dumps(info.to_dict()).encode()})


def cut(batch, start, stop):
    """The events from `start` to `stop`."""
    first = int(np.searchsorted(batch.ends, start, side="right"))
    last = int(np.searchsorted(batch.ends, stop, side="left")) + 1
    ends = np.minimum(batch.ends[first:last], stop) - start
    return Batch(batch.events[start:stop], batch.launch[first:last], batch.block[first:last], ends)
