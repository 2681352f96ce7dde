"""Command lines, states and messages of the live page, pages of hostile names, messages, and scheduling rules."""

import asyncio
import contextlib
import io
import json
import os
import queue
import shutil
import sys
import threading
from dataclasses import replace
from functools import cache
from pathlib import Path
from random import Random
from tempfile import mkdtemp
from unittest import mock
from urllib.parse import urlencode

from simtmm import load_machine, simulate
from simtmm.__main__ import main
from simtmm.analysis.run import run
from simtmm.analysis.tuning import search
from simtmm.errors import SimtmmError, escaped
from simtmm.explorer.programs import Programs
from simtmm.explorer.sending import text_of
from simtmm.explorer.session import Session
from simtmm.explorer.state import MOST_TEXT, State
from simtmm.report.explain_page import explanation
from simtmm.trace.io import Trace
from simtmm.trace.schema import TraceArray, TraceSite
from simtmm.workload import Workload
from tests.analysis.test_tuning import PROBLEM, SCALE
from tests.fuzz import at_random
from tests.fuzz.bounds import PATIENCE, check_line
from tests.fuzz.kinds.kind import Kind, as_json
from tests.fuzz.mutations import TEXTS
from tests.fuzz.mutations import VALUES as ANY
from tests.fuzz.targets import commands, problems
from tests.fuzz.targets.documents import WORKLOADS
from tests.fuzz.targets.pages import HOSTILE, Elements
from tests.fuzz.targets.states import MESSAGE, NAMES, SIZES, STATE, VALUES
from tests.report.test_page import data_of
from tests.study.programs import MACHINE, trace


class RefusedError(SimtmmError):
    """What a command, a page or a server refuses: its line."""


# Command lines


def _command(random: Random) -> bytes:
    """Words as the properties draw them, some changed: not those that name files to be written."""
    command = random.choice(list(commands.OPTIONS))
    line = [*command.split(), *random.choice(commands.FITTING[command])]
    if random.random() < 0.3:
        line = [*command.split(), *at_random.words(random, [*commands.PROGRAMS, *commands.WORDS], 2)]
    for _ in range(random.randint(0, 3) if commands.OPTIONS[command] else 0):
        option = random.choice(commands.OPTIONS[command])
        known = [*commands.WORDS, *commands.PROGRAMS]
        plain = option in ("-o", "--timeline", "--picture") or random.random() < 0.6
        word = random.choice(known) if plain else at_random.changed_text(random, known)
        if option in commands.PAIRS:
            word = f"{random.choice(commands.KEYS)}={word}"
        line += [option] if option in commands.ALONE else [option, word]
    return as_json([*line, "-j", "1", "--store", "s.sqlite"] if command == "sweep" else line)


TUNING = [word for word in problems.WORDS if word != "n=1:100000"]  # as many trials, each of them stored


def _tune(random: Random) -> bytes:
    line = ["tune", random.choice(["vector-add", "vector-add", "p.json", "none", "s.sqlite"]), "-m", "gtx480"]
    line += random.choice([["--over", "side=4,16"], ["--over", "side=4:8"], []])
    for _ in range(random.randint(0, 3)):
        flag = random.choice(problems.FLAGS)
        plain = flag in ("--t4", "--store") or random.random() < 0.6
        line += [flag, random.choice(TUNING) if plain else at_random.changed_text(random, TUNING)]
    return as_json([*line, "--store", "s.sqlite", "-j", "1", *random.choice([[], ["--json"]])])


@cache
def _home(folder: Path) -> Path:
    """A folder with files of several kinds, deep enough for what words lead out of."""
    here = folder / "a" / "b"
    here.mkdir(parents=True, exist_ok=True)
    commands.write_files(here)
    (here / "scale.cu").write_text(SCALE)
    (here / "p.json").write_text(json.dumps(PROBLEM))
    return here


def _ended(folder: Path, content: bytes) -> object:
    """A command in this process; refused where its exit status is 2."""
    here = _home(folder)
    for store in here.glob("s.sqlite*"):
        store.unlink()
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", "surrogateescape", write_through=True) for _ in range(2))
    line = ["simtmm", *json.loads(content)]
    patches = [
        mock.patch.object(sys, "argv", line),
        mock.patch.dict(os.environ, {"SIMTMM_KERNEL_PATH": ""}),
        mock.patch.object(search, "screened", return_value=0.0),
        *(mock.patch.object(search, each, problems.timed) for each in ("tried", "attempted")),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        contextlib.chdir(here),
    ]
    code: object = None
    with contextlib.ExitStack() as stack:
        for patch in patches:
            stack.enter_context(patch)
        try:
            main()
        except SystemExit as end:
            code = end.code
    said, words = (stream.buffer.getvalue().decode("utf-8", "replace") for stream in (out, err))
    complaint = commands.check_ending(code, said, words)
    if complaint:
        raise RefusedError(complaint)
    if code == 2:
        raise RefusedError("usage")
    return code


# The live page


def _state(random: Random) -> bytes:
    match random.randrange(4):
        case 0:
            return at_random.changed_bytes(random, [STATE])
        case 1:
            return random.randbytes(random.randrange(50))
    entries = {random.choice(NAMES): random.choice(VALUES) for _ in range(random.randrange(4))}
    entries = {"k": "copy", "m": "classroom", **entries, "p.n": random.choice(SIZES)}
    entries["drag"] = random.choice(["latency", "p.n", "p.pattern", "zz", *NAMES])
    return urlencode(entries, errors=random.choice(["surrogatepass", "replace"])).encode("utf-8", "surrogateescape")


def _read(folder: Path, content: bytes) -> None:
    state = State.of(content.decode("utf-8", "surrogateescape"), "copy", "classroom")
    if len(state.text()) <= MOST_TEXT:  # the second's program and machine are spelled out
        assert State.of(state.text(), "copy", "classroom") == state


class _Page:
    """A session, with what it sent."""

    def __init__(self) -> None:
        self.parts: queue.Queue = queue.Queue()
        self.session = Session(Programs(), self.parts.put, "copy", "classroom")
        self.asked = 0

    def answered(self, text: str) -> dict:
        """The last part of the answer to a state."""
        self.asked += 1
        self.session.ask(self.asked, text)
        while True:
            part = self.parts.get(timeout=PATIENCE)
            text_of(part)
            assert part["number"] == self.asked
            if part["part"] in ("saved", "error"):
                return part


_page = cache(_Page)


def _answered(folder: Path, content: bytes) -> None:
    last = _page().answered(content.decode("utf-8", "surrogateescape"))
    if last["part"] == "error":
        assert "mistake in simtmm" not in last["words"]
        check_line(last["words"])
        raise RefusedError(last["words"])


class _Served:
    """A server in a thread of its own, to which messages are sent."""

    def __init__(self) -> None:
        from simtmm.explorer.server import Server
        from simtmm.explorer.start import start

        self.loop = asyncio.new_event_loop()
        threading.Thread(target=self.loop.run_forever, daemon=True).start()

        async def made() -> Server:
            return Server(start("copy", "classroom", {"n": 64}))

        self.server = asyncio.run_coroutine_threadsafe(made(), self.loop).result(PATIENCE)

    def sent(self, messages: list[bytes]) -> int | None:
        """Each on one connection; what the server closed it with."""
        from tornado.websocket import WebSocketClosedError, websocket_connect

        async def send() -> int | None:
            socket = await websocket_connect(f"{self.server.address.replace('http', 'ws', 1)}socket")
            try:
                for message in (*messages, b"[]"):  # the last closes it
                    await socket.write_message(message)
            except WebSocketClosedError:
                pass
            while await asyncio.wait_for(socket.read_message(), PATIENCE) is not None:
                pass
            socket.close()
            return socket.close_code

        return asyncio.run_coroutine_threadsafe(send(), self.loop).result(PATIENCE)


_served = cache(_Served)


def _message(random: Random) -> bytes:
    return at_random.changed_bytes(random, [MESSAGE])


def _sent(folder: Path, content: bytes) -> None:
    """One is closed for its message, or for the empty list behind it, and the server goes on."""
    assert _served().sent([content.decode("utf-8", "replace").encode()]) in (1003, 1009)  # not taken; too long


# Pages and messages


@cache
def _small():
    folder = Path(mkdtemp())
    (folder / "small.toml").write_text(MACHINE, encoding="utf-8")
    try:
        return trace(blocks=2, threads=8, rounds=1), load_machine(folder / "small.toml")
    finally:
        shutil.rmtree(folder)


def _explained(source: str, file: str, kernel: str) -> str:
    plain, machine = _small()
    kinds = ("work", "load", "work")
    sites = tuple(TraceSite(number, kind, file, number + 1, source) for number, kind in enumerate(kinds))
    launches = tuple(replace(launch, kernel=kernel) for launch in plain.info.launches)
    arrays = (TraceArray(kernel, 512, 4096, "<i4", (1024,)),)
    info = replace(plain.info, kernel=kernel, launches=launches, sites=sites, arrays=arrays)
    return explanation(run(Trace(info, list(plain.batches())), machine, what_if=False))


@cache
def _elements() -> list:
    return Elements(_explained("a = b;", "k.cu", "k")).found


def _names(random: Random) -> bytes:
    texts = ["".join(at_random.changed_text(random, HOSTILE) for _ in range(random.randint(1, 3))) for _ in range(3)]
    return as_json([text.encode("utf-8", "replace").decode() for text in texts])


def _shown(folder: Path, content: bytes) -> None:
    """Hostile texts add no element to a page, and its data stays data."""
    text = _explained(*json.loads(content))
    assert Elements(text).found == _elements()
    data_of(text)
    text.encode("utf-8")


def _words(random: Random) -> bytes:
    known = [*TEXTS, *HOSTILE, "k.toml: memory.latency = 3: must be 4\n"]
    return at_random.changed_bytes(random, [text.encode("utf-8", "surrogatepass") for text in known])


def _said(folder: Path, content: bytes) -> None:
    text = content.decode("utf-8", "surrogateescape")
    assert not any(ord(each) < 32 and each not in "\t\n" for each in escaped(text))
    raise RefusedError(f"x{text}")


# Rules: a function that gives anything


class _Erratic:
    """As a rule it gives a warp, or anything else; what it gives follows from the bytes."""

    def __init__(self, content: bytes) -> None:
        self.content, self.turn = content, 0

    def __call__(self, ready, group):
        self.turn += 1
        given = self.content[self.turn % len(self.content)] if self.content else 0
        if given < 8:
            return ready[given] if given < len(ready) else group
        if given < 246:
            return ready[given % len(ready)]
        return [*ANY, ready, group.granted_last, group.number][given * 7 % (len(ANY) + 3)]


def _scheduled(folder: Path, content: bytes) -> object:
    _, machine = _small()
    return simulate(machine, Workload.from_dict(WORKLOADS[1]), "reference", scheduler=_Erratic(content)).ticks


KINDS = [
    Kind("command", "command lines, in this process", _command, _ended),
    Kind("tune", "words of `tune`, with the trials drawn", _tune, _ended),
    Kind("state", "states of the live page, read", _state, _read),
    Kind("answer", "the same, answered", _state, _answered),
    Kind("message", "messages to its server, by sockets", _message, _sent),
    Kind("page", "pages of hostile names", _names, _shown),
    Kind("words", "words of messages", _words, _said),
    Kind("scheduler", "what a scheduling rule gives",
         lambda random: random.randbytes(random.randint(0, 40)), _scheduled),
]  # fmt: skip
