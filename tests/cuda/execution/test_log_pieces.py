"""A core's log goes to its reader without a copy, and comes back once nothing of it is left."""

import gc

import numpy as np
import pytest

from simtmm.cuda.execution.launches import logs
from simtmm.cuda.execution.launches.launch import aligned


@pytest.fixture
def spare(monkeypatch):
    found = []
    monkeypatch.setattr(logs, "_spare", found)
    return found


@pytest.mark.parametrize(
    "part_of",
    [
        lambda piece: piece,
        lambda piece: piece[8:24],
        lambda piece: piece.view(np.int64),
        lambda piece: piece[8:24].view(np.int64)[1:],
        lambda piece: piece[:16][8:].view(np.int32)[:1],
    ],
)
def test_a_log_is_nobody_elses_while_a_part_of_it_is_left(spare, part_of):
    log = aligned(logs.LOG_BYTES)
    log[:32] = np.arange(32)
    piece = logs.handed(log, 32)
    part = part_of(piece)
    kept = part.tobytes()
    del piece
    gc.collect()
    assert (spare, part.tobytes()) == ([], kept)
    del part
    gc.collect()
    assert [each is log for each in spare] == [True]


def test_no_more_logs_are_kept_than_a_few_and_none_of_another_size(spare):
    pieces = [logs.handed(np.empty(logs.LOG_BYTES, np.uint8), 8) for _ in range(logs.MOST_SPARE + 3)]
    pieces.append(logs.handed(np.empty(64, np.uint8), 8))
    pieces.clear()
    gc.collect()
    assert [len(each) for each in spare] == [logs.LOG_BYTES] * logs.MOST_SPARE
