"""The first pass over NVBit's mem_trace: its lines become launches, opcodes, and records of accesses in a file."""

import re
from pathlib import Path
from typing import IO

import numpy as np

from simtmm.trace.importers import memtrace_lines as lines
from simtmm.trace.importers import warps as table
from simtmm.trace.importers.memtrace_order import Counts
from simtmm.trace.importers.opcodes import check_opcode, without_memory
from simtmm.trace.importers.reading import NEWLINE, DamagedError, Text, rest_of_line, token
from simtmm.trace.importers.words import hash_of
from simtmm.trace.schema import TraceLaunch

RECORDS = 1 << 14  # held in memory at once: 4.5 MiB


MOST_BLOCKS = 1 << 31  # of all launches together


_THREE = r"([0-9]{1,10}),([0-9]{1,10}),([0-9]{1,10})"


_LAUNCH = re.compile(
    r"MEMTRACE: CTX 0x[0-9a-fA-F]+ - LAUNCH - Kernel pc 0x[0-9a-fA-F]+ - Kernel name (.+)"
    + r" - grid launch id ([0-9]{1,18})"
    + rf" - grid size {_THREE} - block size {_THREE} - nregs ([0-9]{{1,3}}) - shmem ([0-9]{{1,9}})"
    + r" - cuda stream id [0-9]+"
)


_OPCODE = re.compile(r"[A-Z][A-Za-z0-9_.]*")


class MemtraceRecords:
    """The first pass: records of accesses go to a file as they come."""

    def __init__(self, path: Path, file: IO[bytes]) -> None:
        self.launches: list[TraceLaunch] = []
        self.opcodes: list[str] = []
        self.counts = Counts()
        self.blocks = 0  # of all launches so far
        self._path = path
        self._file = file
        self.reader = lines.Reader(
            state=np.zeros(len(lines.State), np.int64),
            launches=np.zeros((1 << 6, len(lines.Launch)), np.int64),
            opcode_hash=np.zeros(0, np.int64),
            records=np.zeros(RECORDS, lines.RECORD),
        )

    def read(self, text: Text, first: int) -> None:
        """Read a block of lines."""
        position = 0
        self.reader.state[lines.State.line] = first
        while True:
            state = self.reader.state
            status = lines.read_lines(self.reader, text, position)
            position = int(state[lines.State.next])
            if status == lines.MORE_TEXT:
                return
            if status == lines.FULL:
                self.spool()
            elif status == lines.NEW_OPCODE:
                opcode = token(text, int(state[lines.State.at]))
                check_opcode(self._path, int(state[lines.State.line]), opcode, len(self.opcodes))
                if not _OPCODE.fullmatch(opcode) or without_memory(opcode):
                    raise DamagedError(self._path, int(state[lines.State.line]), lines.EXPECTED[lines.E_OPCODE], opcode)
                self.opcodes.append(opcode)
                known = np.append(self.reader.opcode_hash, hash_of(opcode))
                self.reader = self.reader._replace(opcode_hash=known)
            elif status == lines.LAUNCH:
                stop = position + int(np.argmax(text[position:] == NEWLINE))
                self._launch(text[position:stop].tobytes().decode("utf-8", "backslashreplace").rstrip(" \t\r"))
                position = stop + 1
                state[lines.State.line] += 1
            else:
                found = (rest_of_line if state[lines.State.error] in lines.E_OF_LINE else token)(
                    text, int(state[lines.State.at])
                )
                raise DamagedError(
                    self._path, int(state[lines.State.line]), lines.EXPECTED[state[lines.State.error]], found
                )

    def spool(self) -> None:
        """Write what has been read to the file."""
        records = self.reader.records[: self.reader.state[lines.State.records]]
        self.counts.add(records["block"])
        self._file.write(records.tobytes())
        self.reader.state[lines.State.records] = 0

    def _launch(self, line: str) -> None:
        number = int(self.reader.state[lines.State.line])
        found = _LAUNCH.fullmatch(line)
        if not found or "MEMTRACE:" in found[1] or any(mark in found[1] for mark in lines.MARKS):
            raise DamagedError(
                self._path,
                number,
                "'... - LAUNCH - Kernel pc 0x... - Kernel name N - grid launch id I - grid size x,y,z "
                "- block size x,y,z - nregs n - shmem b - cuda stream id s'",
                line,
            )
        grid = int(found[3]), int(found[4]), int(found[5])
        block = int(found[6]), int(found[7]), int(found[8])
        launch = TraceLaunch(found[1], grid, block, int(found[9]), int(found[10]))
        first, count = self.blocks, len(self.launches)
        if min(grid) < 1 or first + launch.blocks >= MOST_BLOCKS:
            raise DamagedError(
                self._path, number, "a grid size of at least 1,1,1 and fewer than 2^31 blocks in all", line
            )
        if min(block) < 1 or launch.threads_per_block > table.MOST_THREADS:
            raise DamagedError(
                self._path, number, f"a block size of at least 1,1,1 and at most {table.MOST_THREADS:,} threads", line
            )
        self.launches.append(launch)
        self.blocks += launch.blocks
        table_of_launches = self.reader.launches
        if count == len(table_of_launches):
            table_of_launches = np.concatenate([table_of_launches, np.zeros_like(table_of_launches)])
            self.reader = self.reader._replace(launches=table_of_launches)
        table_of_launches[count] = int(found[2]), first, *grid, launch.threads_per_block
        self.reader.state[lines.State.launches] = count + 1
