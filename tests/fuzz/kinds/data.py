"""Traces, measured times, texts of other tools and stores: what programs write."""

import gzip
import io
import lzma
import shutil
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq

from simtmm import load_machine, lower
from simtmm.calibration.latency_levels import find_levels, load_latency
from simtmm.calibration.micro_rows import load_micro
from simtmm.calibration.streams.occupancy_curve import load_stream
from simtmm.errors import SimtmmError, WorkloadError
from simtmm.measurement.contributed import load_contributed
from simtmm.measurement.measure import load_measurement
from simtmm.measurement.nsight import load_profile
from simtmm.measurement.timings import load_timings
from simtmm.study.store.schema import COLUMNS
from simtmm.study.store.store import Store
from simtmm.study.sweep import read, sweep
from simtmm.trace.exporters import export_accelsim
from simtmm.trace.importers import import_trace
from simtmm.trace.schema import METADATA_KEY
from tests.fuzz import at_random
from tests.fuzz.bounds import check_line, naming
from tests.fuzz.kinds.kind import Kind, Make, Use, as_json, written
from tests.fuzz.mutations import WORST
from tests.fuzz.targets.data import (
    CSV,
    CURVES,
    DOCUMENT,
    GPU,
    HUGE,
    KERNEL,
    LISTS_OF_RUNS,
    NUMBERS_OF_RUNS,
    TEXTS,
    TIMES,
    TRACE,
    imported,
    shaped,
    used_trace,
)
from tests.fuzz.targets.profiles import PROFILES, ROWS
from tests.study.programs import designed, write


@cache
def _table() -> pa.Table:
    with TemporaryDirectory() as folder:
        TRACE.save(Path(folder) / "t.parquet")
        table = pq.read_table(Path(folder) / "t.parquet")
    return table.replace_schema_metadata({METADATA_KEY: as_json(DOCUMENT)})


def _file(table: pa.Table) -> bytes:
    made = io.BytesIO()
    pq.write_table(table, made)
    return made.getvalue()


@cache
def _whole() -> tuple[bytes, str]:
    with TemporaryDirectory() as folder:
        TRACE.save(Path(folder) / "t.parquet")
        return (Path(folder) / "t.parquet").read_bytes(), lower(TRACE, load_machine("gtx280")).digest()


def _metadata(random: Random) -> bytes:
    match random.randrange(3):
        case 0:
            key, axis = random.choice(["grid", "block"]), random.randrange(3)
            document = as_json(shaped(random.randrange(2), key, axis, random.choice(HUGE)))
        case 1:
            changed = at_random.changed_document(random, [DOCUMENT], lambda own: at_random.value(own, WORST, HUGE))
            document = as_json(changed)
        case _:
            document = at_random.changed_bytes(random, [as_json(DOCUMENT)])
    return _file(_table().replace_schema_metadata({METADATA_KEY: document}))


def _damaged(folder: Path, content: bytes) -> None:
    """A damaged file is what it was, or refused."""
    path = folder / "t.parquet"
    path.write_bytes(content)
    try:
        digest = used_trace(path).digest()
    except WorkloadError:  # a block that has become too large for a machine, which is told by the program's name
        raise
    except SimtmmError as error:
        check_line(str(error), path)
        raise
    assert digest == _whole()[1]


def _rows(random: Random) -> bytes:
    """A whole file with other rows: what they say a block's threads have in common fits nothing else."""
    table = _table()
    columns = {name: table[name].to_pylist() for name in table.column_names}
    for _ in range(random.randint(1, 3)):
        name, row = random.choice(table.column_names), random.randrange(len(table))
        number = random.choice(NUMBERS_OF_RUNS)
        if name not in LISTS_OF_RUNS:
            columns[name][row] = max(-(2**31), min(number, 2**31 - 1))
            continue
        made = list(columns[name][row] or [])
        at = random.randint(0, len(made))
        made[at : at + random.randint(0, 2)] = [abs(number) if name == "threads" else number]
        columns[name][row] = None if name != "values" and random.random() < 0.1 else made
    return _file(pa.Table.from_pydict(columns, schema=table.schema))


def _times(random: Random) -> bytes:
    if random.random() < 0.5:
        return at_random.changed_bytes(random, [as_json(TIMES)])
    return as_json(at_random.changed_document(random, [TIMES]))


def _read_by(*loaders) -> Use:
    """What one of the loaders gives; refused where none takes it."""

    def use(path: Path) -> list[object]:
        found, refusals = [], []
        for load in loaders:
            try:
                found.append(naming(path, lambda own=load: own(path)))
            except SimtmmError as error:
                refusals.append(error)
        if not found:
            raise refusals[0]
        return found

    return use


def _levels(path: Path) -> object:
    curve = load_latency(path, GPU)
    try:
        return find_levels(curve)
    except SimtmmError as error:
        raise type(error)(f"{path}: {error}") from None


MICRO = [
    b"kernel,parameters,seconds,machine\nempty,threads=256;blocks=64,2e-6,v100\nempty,threads=32;blocks=1,1e-6,v100\n",
    b"sass,cycles,gpu,class\nFFMA,4,v100,floating\nMUFU.RSQ,22.5,v100,\nLDS,19,v100,shared\n",
]


def _text(name: str, packed: bool = False) -> tuple[Make, Use]:
    def make(random: Random) -> bytes:
        if packed:
            return at_random.changed_bytes(random, [random.choice([gzip.compress, lzma.compress])(KERNEL)])
        return at_random.changed_bytes(random, TEXTS[name])

    def use(folder: Path, content: bytes) -> object:
        return imported(folder, name, content, folder / "o.parquet" if len(content) % 2 else None)

    return make, use


def _exported(folder: Path, content: bytes) -> None:
    """What is imported comes back, but where the export says that work was merged."""
    trace = imported(folder, "k.traceg", content)
    shutil.rmtree(folder / "exported", ignore_errors=True)
    written = export_accelsim(trace, folder / "exported", 80)
    back = import_trace(folder / "exported" / "kernelslist.g")
    assert back.info.events == trace.info.events or written.merged
    assert back.info.digest == trace.info.digest or written.merged


@cache
def _store() -> tuple[bytes, object, object]:
    """The bytes of a complete study's store, the study, and what it gives."""
    folder = _kept_folder()
    design = designed(write(folder), axes={"memory.latency": [40, 80], "cores.groups": [1, 2]}, compute=["tmm", "pram"])
    found = sweep(design, folder / "s.sqlite", workers=1).to_table()
    with closing(sqlite3.connect(folder / "s.sqlite")) as database:
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.execute("VACUUM")
    return (folder / "s.sqlite").read_bytes(), design, found


_FOLDERS: list[TemporaryDirectory] = []


def _kept_folder() -> Path:
    """One that is there as long as the process."""
    _FOLDERS.append(TemporaryDirectory())
    return Path(_FOLDERS[-1].name)


def _cells(random: Random) -> bytes:
    """A store of which some cells hold other values, as any program could write them."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.deserialize(_store()[0][:18] + b"\1\1" + _store()[0][20:])  # with no write-ahead log
        database.execute("PRAGMA ignore_check_constraints = 1")
        for _ in range(random.randint(1, 3)):
            table = random.choice(list(COLUMNS))
            column = random.choice([*COLUMNS[table], "checksum"])
            ((count,),) = database.execute(f"SELECT count(*) FROM {table}")
            at = random.randrange(max(count, 1))
            old = database.execute(f"SELECT {column} FROM {table} LIMIT 1 OFFSET {at}").fetchone()
            value = random.choice([None, -1, 0, 1.5, 2**63 - 1, b"\xff", "", "x" * 1000, float("inf"), "[" * 2000])
            if old and isinstance(old[0], (str, bytes)) and random.random() < 0.6:
                raw = old[0].encode() if isinstance(old[0], str) else old[0]
                value = at_random.changed_bytes(random, [raw])
                value = value.decode("utf-8", "replace") if isinstance(old[0], str) else value
            try:
                database.execute(f"UPDATE {table} SET {column} = ? WHERE {column} IS ?", (value, old and old[0]))
            except sqlite3.Error:  # as of a key that is there already
                continue
        database.commit()
        return database.serialize()


def _reported(folder: Path, content: bytes) -> None:
    """A store that was changed gives what it gave, or is refused."""
    _, design, expected = _store()
    path = folder / "s.sqlite"
    for beside in folder.glob("s.sqlite*"):
        beside.unlink()
    path.write_bytes(content)

    def table():
        with Store(path, make=False) as store:
            return read(design, store).to_table()

    assert naming(path, table).equals(expected)


KINDS = [
    Kind("trace-metadata", "the document in a trace", _metadata, written("t.parquet", used_trace)),
    Kind("trace-bytes", "a trace's file: as it was, or refused",
         lambda random: at_random.changed_bytes(random, [_whole()[0]]), _damaged),
    Kind("trace-rows", "rows of a compact trace", _rows, written("t.parquet", used_trace)),
    Kind("times-json", "measured times as JSON", _times, written("t.json", _read_by(load_timings, load_measurement))),
    Kind("times-csv", "measured times, curves and latencies as CSV",
         lambda random: at_random.changed_bytes(random, [CSV, *CURVES, *MICRO]),
         written("t.csv", _read_by(load_timings, lambda path: load_stream(path, GPU), _levels, load_micro))),
    Kind("profile", "exports of Nsight Compute and Nsight Systems as CSV",
         lambda random: at_random.changed_bytes(random, PROFILES),
         written("t.csv", lambda path: load_profile([path]))),
    Kind("contributed", "rows that users send, as CSV", lambda random: at_random.changed_bytes(random, [ROWS]),
         written("t.csv", load_contributed)),
    Kind("accelsim", "Accel-Sim's .traceg, imported and lowered", *_text("k.traceg")),
    Kind("mem-trace", "NVBit's mem_trace, imported and lowered", *_text("m.txt")),
    Kind("kernelslist", "lists of Accel-Sim's kernels", *_text("kernelslist.g")),
    Kind("packed", "a .traceg as gzip or xz", *_text("k.traceg.xz", packed=True)),
    Kind("exported", ".traceg, imported, exported and imported again",
         lambda random: at_random.changed_bytes(random, [KERNEL]), _exported),
    Kind("store-bytes", "a store's file: as it was, or refused",
         lambda random: at_random.changed_bytes(random, [_store()[0]]), _reported),
    Kind("store-cells", "cells of a store: as they were, or refused", _cells, _reported),
]  # fmt: skip
