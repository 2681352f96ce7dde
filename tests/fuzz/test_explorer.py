"""States and messages that no page sends: answered, or refused in one line, and the next question is answered."""

import asyncio
import json
import queue
from urllib.parse import urlencode

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from simtmm.explorer.controls import BY_NAME
from simtmm.explorer.programs import Programs
from simtmm.explorer.sending import text_of
from simtmm.explorer.session import Session
from simtmm.explorer.state import MOST_TEXT, State
from tests.examples import examples
from tests.fuzz.bounds import PATIENCE, check_line, read_or_refused
from tests.fuzz.mutations import Many, changed_bytes
from tests.fuzz.targets.states import MESSAGE, NAMES, SIZES, STATE, VALUES

NAMES += [*BY_NAME, *(f"b.{name}" for name in BY_NAME)]


@st.composite
def states(draw):
    """The text of an address: some entries, of which some may be there."""
    entries = draw(st.dictionaries(st.sampled_from(NAMES), st.sampled_from(VALUES), max_size=4))
    entries = {"k": "copy", "m": "classroom", **entries, "p.n": draw(st.sampled_from(SIZES))}
    entries["drag"] = draw(st.sampled_from([*BY_NAME, "p.n", "p.pattern", "p.stride", "zz"]))
    return urlencode(entries, errors="surrogatepass" if draw(st.booleans()) else "replace")


CHANGED = changed_bytes(Many([STATE])).map(lambda content: content.decode("utf-8", "surrogateescape"))


@examples(300)
@example(text="k=\udc80")
@given(CHANGED | st.text(max_size=50) | states())
def test_a_state_is_read_or_refused(text):
    state = read_or_refused(lambda: State.of(text, "copy", "classroom"))
    if state is not None and len(state.text()) <= MOST_TEXT:  # the second's program and machine are spelled out
        assert State.of(state.text(), "copy", "classroom") == state


@pytest.fixture(scope="module")
def page():
    """A session, with what it sent."""
    parts = queue.Queue()
    opened = Session(Programs(), parts.put, "copy", "classroom")
    opened.parts, opened.asked = parts, 0
    yield opened
    opened.close()
    opened.join(PATIENCE)


def answered(page, text):
    """The last part of the answer to a state."""
    page.asked += 1
    page.ask(page.asked, text)
    while True:
        part = page.parts.get(timeout=PATIENCE)
        text_of(part)
        assert part["number"] == page.asked
        if part["part"] in ("saved", "error"):
            return part


@examples(30)
@given(states())
def test_a_state_is_answered_or_refused_and_the_page_lives_on(page, text):
    last = answered(page, text)
    if last["part"] == "error":
        assert "mistake in simtmm" not in last["words"]
        check_line(last["words"])
    assert answered(page, "p.n=64")["part"] == "saved"


@pytest.fixture(scope="module")
def served():
    """Send texts to a server, each on a connection of its own, and give what it answers then."""
    pytest.importorskip("tornado")
    from tornado.websocket import websocket_connect

    from simtmm.explorer.server import Server
    from simtmm.explorer.start import start

    begun = start("copy", "classroom", {"n": 64})

    async def left(socket):
        socket.close()
        while await asyncio.wait_for(socket.read_message(), PATIENCE) is not None:
            pass

    async def sent(messages):
        server = Server(begun)
        address = f"{server.address.replace('http', 'ws', 1)}socket"
        for message in messages:
            socket = await websocket_connect(address)
            await socket.write_message(message)
            await left(socket)
        socket = await websocket_connect(address)
        await socket.write_message(MESSAGE.decode())
        answer = json.loads(await asyncio.wait_for(socket.read_message(), PATIENCE))
        await left(socket)
        await server.close()
        return answer

    return lambda messages: asyncio.run(sent(messages))


@examples(10)
@example(messages=["[" * 5000, '{"number": ' + "9" * 5000 + ', "state": ""}', '{"number": true, "state": "\\ud800"}'])
@given(messages=st.lists(changed_bytes(Many([MESSAGE])).map(lambda raw: raw.decode("latin-1")), max_size=8))
def test_messages_that_no_page_sends_leave_the_server_as_it_was(served, caplog_module, messages):
    assert served(messages)["part"] in ("form", "progress")
    assert [record.getMessage() for record in caplog_module] == []


@pytest.fixture(scope="module")
def caplog_module():
    """What the server logs as its own mistake."""
    import logging

    found = []
    handler = logging.Handler(logging.ERROR)
    handler.emit = found.append
    logging.getLogger().addHandler(handler)
    yield found
    logging.getLogger().removeHandler(handler)
