"""Traces, measured times and texts of other tools: samples, and all that is made of one."""

import json
from pathlib import Path

import pyarrow.parquet as pq

from simtmm import count, load_machine, load_trace, lower
from simtmm.files import data_file
from simtmm.trace.importers import import_trace
from simtmm.trace.schema import METADATA_KEY
from tests.fuzz.bounds import naming, read_or_refused
from tests.study.programs import trace
from tests.trace.importers.build import line, load, traceg
from tests.trace.importers.test_memtrace import GLOBAL, access, launch

HUGE = [2**31, 2**31 - 1, 2**16, 10**6, 10**9, 2**40, 2**62, 2**63 - 1, -1, 0, 2.5]
TRACE = trace(blocks=2, threads=8, rounds=2)
DOCUMENT = json.loads(json.dumps(TRACE.info.to_dict()))


def with_metadata(folder, document):
    """The trace's file with another document in it."""
    path = folder / "t.parquet"
    if not (folder / "whole.parquet").exists():
        TRACE.save(folder / "whole.parquet")
    table = pq.read_table(folder / "whole.parquet")
    pq.write_table(table.replace_schema_metadata({METADATA_KEY: document}), path)
    return path


def used_trace(path):
    """All that is made of a trace, but for a simulation."""
    result = naming(path, lambda: load_trace(path))
    json.dumps([result.info.to_dict(), result.info.warnings_on(32)])
    lowered = lower(result, load_machine("gtx280"))
    count(result, load_machine("gtx280"))
    assert sum(len(batch.events) for batch in result.batches()) == result.info.events
    return lowered


def shaped(which, key, axis, size):
    """The document with another size of a launch."""
    document = json.loads(json.dumps(DOCUMENT))
    document["launches"][which][key][axis] = size
    return document


NUMBERS_OF_RUNS = [-(2**63), -(2**31), -2, -1, 0, 1, 2, 3, 7, 8, 63, 64, 255, 2**16, 2**31 - 1, 2**32, 2**62, 2**63 - 1]
LISTS_OF_RUNS = ("values", "nodes", "threads", "steps")
TIMES = [
    {"kernel": "stream", "machine": {"name": "gtx280"}, "seconds": [1e-3, 2e-3], "parameters": {"n": 100}},
    {"kernel": "stream", "machine": "v100", "seconds": 1, "parameters": {}},
]
CSV = b"# taken by hand\nkernel,machine,seconds,n\nstream,v100,1e-3,4096\nstream,v100,2e-3,8192\n"
LATENCY = Path(__file__).parents[2] / "golden" / "v100_latency.csv"
CURVES = [
    b"\n".join(path.read_bytes().split(b"\n")[:40])
    for path in (LATENCY, data_file("traces", "measured/stream_occupancy.csv"))
]
GPU = "v100"
KERNEL = traceg(
    [
        [load(GLOBAL, "R4"), load(GLOBAL + 4096, "R5", pc=16), line("FADD", pc=32, of=["R4", "R5"])],
        [line("EXIT", pc=48)],
    ],
    block=(64, 1, 1),
).encode()
MEM_TRACE = (launch() + access("LDG.E", GLOBAL) + access("STG.E.64", GLOBAL + 4096, stride=8)).encode()
LIST = b"MemcpyHtoD,0x00007f0000000000,4096\nkernel-1.traceg\n"
LISTS = [LIST, b"../../etc/passwd\n", b"/dev/zero\n", b".\n", b"kernel-1.traceg\n" * 3, b"kernelslist.g\n"]
TEXTS = {"k.traceg": [KERNEL], "m.txt": [MEM_TRACE], "kernelslist.g": LISTS}


def imported(folder, name, content, output=None):
    """What becomes of a text, its events looked at."""
    (folder / "kernel-1.traceg").write_bytes(KERNEL)
    (folder / name).write_bytes(content)

    result = naming(folder, lambda: import_trace(folder / name, output=output))
    assert sum(len(batch.events) for batch in result.batches()) == result.info.events
    if sum(each.blocks for each in result.info.launches) < 10_000:
        read_or_refused(lambda: lower(result, load_machine("a100-80")))
    return result
