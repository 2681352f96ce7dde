"""The server: for this computer, for who has the address, and for no other page."""

import asyncio
import json

import pytest

from simtmm.explorer.start import start
from simtmm.explorer.state import MOST_TEXT

pytest.importorskip("tornado")

from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest
from tornado.websocket import websocket_connect

from simtmm.explorer import server as servers
from simtmm.explorer.server import Server

PATIENCE = 600  # seconds, on a busy machine


@pytest.fixture(scope="module")
def begun():
    return start("copy", "classroom", {"n": 2048})


def served(begun, ask):
    """What `ask(server)` gives, while a server is there."""

    async def run():
        server = Server(begun)
        try:
            return await ask(server)
        finally:
            await server.close()

    return asyncio.run(run())


async def left(server, *sockets):
    """Close these sockets, and wait until the server knows."""
    for socket in sockets:
        socket.close()
        while await asyncio.wait_for(socket.read_message(), PATIENCE) is not None:
            pass
    while server.sessions:
        await asyncio.sleep(0.001)


async def fetched(server, path="", address=None, **headers):
    """Status, headers and text of an answer."""
    request = HTTPRequest(address or f"{server.address}{path}", headers=headers, request_timeout=PATIENCE)
    answer = await AsyncHTTPClient().fetch(request, raise_error=False)
    return answer.code, answer.headers, answer.body.decode()


def test_the_page_needs_nothing_from_elsewhere(begun):
    async def ask(server):
        return [await fetched(server, path) for path in ("", "explore.js", "opening.js", "explore.css")]

    pages = served(begun, ask)
    for code, headers, text in pages:
        assert code == 200
        assert "default-src 'none'" in headers["Content-Security-Policy"]
        assert headers["Referrer-Policy"] == "no-referrer"
        assert not [word for word in text.split() if "://" in word and "www.w3.org/2000/svg" not in word]
    assert "Latency of memory" not in pages[0][2]
    told = pages[0][2].split('id="start">')[1].split("</script>")[0]
    assert json.loads(told)["program"] == "copy"


def test_without_the_token_by_another_name_or_from_another_origin_nothing_is_given(begun):
    async def ask(server):
        root = f"http://127.0.0.1:{server.port}"
        return [
            await fetched(server, address=f"{root}/"),
            await fetched(server, address=f"{root}/wrong/"),
            await fetched(server, address=f"{root}/wrong/explore.js"),
            await fetched(server, Host=f"evil.example:{server.port}"),
            await fetched(server, Host="127.0.0.1:1"),
            await fetched(server, Origin="http://evil.example"),
            await fetched(server, Origin=f"https://127.0.0.1:{server.port}"),
            await fetched(server, "explore.js", **{"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "no-cors"}),
            await fetched(server, "nothing"),
        ], await fetched(server, Origin=f"http://127.0.0.1:{server.port}")

    refused, own = served(begun, ask)
    assert [code for code, _, _ in refused] == [404, 404, 404, 421, 421, 403, 403, 403, 404]
    assert all("simtmm-explore" not in text and "<script" not in text for _, _, text in refused)
    assert own[0] == 200


def test_it_listens_on_the_loopback_address_alone(begun):
    async def ask(server):
        return [socket.getsockname()[0] for socket in server._http._sockets.values()], server.address

    names, address = served(begun, ask)
    assert names == ["127.0.0.1"]
    assert address.startswith("http://127.0.0.1:")
    assert len(address.rstrip("/").rsplit("/", 1)[1]) >= 32


def test_each_server_has_a_token_of_its_own(begun):
    async def ask(server):
        return server.token

    assert served(begun, ask) != served(begun, ask)


def test_a_socket_answers_and_one_of_another_origin_is_refused(begun):
    async def ask(server):
        address = f"{server.address.replace('http', 'ws', 1)}socket"
        with pytest.raises(HTTPClientError, match="403"):
            await websocket_connect(HTTPRequest(address, headers={"Origin": "http://evil.example"}))
        with pytest.raises(HTTPClientError, match="404"):
            await websocket_connect(address.replace(server.token, "wrong"))
        own = await websocket_connect(HTTPRequest(address, headers={"Origin": f"http://127.0.0.1:{server.port}"}))
        await own.write_message(json.dumps({"number": 1, "state": "latency=321&p.n=2048"}))
        parts = []
        while not parts or parts[-1]["part"] != "saved":
            parts.append(json.loads(await asyncio.wait_for(own.read_message(), PATIENCE)))
        await left(server, own)
        return parts

    parts = served(begun, ask)
    assert "memory.latency=321" in parts[-1]["command"]
    assert {part["number"] for part in parts} == {1}


@pytest.mark.parametrize("message", ["no json", "[]", '{"number": "1", "state": ""}', "[" * 5000, "x" * 20_000])
def test_a_socket_that_asks_nonsense_is_closed_and_the_server_lives_on(begun, message):
    async def ask(server):
        socket = await websocket_connect(f"{server.address.replace('http', 'ws', 1)}socket")
        await socket.write_message(message)
        answer = await asyncio.wait_for(socket.read_message(), PATIENCE)
        await left(server)
        socket.close()
        return answer, await fetched(server)

    answer, (code, _, _) = served(begun, ask)
    assert answer is None
    assert code == 200


def test_a_huge_state_is_refused(begun):
    async def ask(server):
        huge = await fetched(server, "?k=" + "x" * MOST_TEXT)
        explained = await fetched(server, "explained?k=copy&m=none")
        return huge, explained

    (code, _, text), (wrong, _, words) = served(begun, ask)
    assert (code, wrong) == (414, 400)
    assert str(MOST_TEXT) in text
    assert words.startswith("machine 'none'")


def test_so_many_pages_and_no_more(begun, monkeypatch, caplog):
    monkeypatch.setattr(servers, "MOST_PAGES", 1)

    async def ask(server):
        address = f"{server.address.replace('http', 'ws', 1)}socket"
        first = await websocket_connect(address)
        second = await websocket_connect(address)
        await second.write_message(json.dumps({"number": 1, "state": ""}))  # as a page does at once
        answer, why = await asyncio.wait_for(second.read_message(), PATIENCE), second.close_reason
        second.close()
        await left(server, first)
        return answer, why

    assert served(begun, ask) == (None, "at most 1 pages at a time")
    assert not caplog.records


async def kept_alive(server):
    """A connection on which a page was sent, and on which the browser might ask again."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
    address = server.address.partition(str(server.port))[2]
    writer.write(f"GET {address}explore.css HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n".encode())
    status = await asyncio.wait_for(reader.readline(), PATIENCE)
    return reader, writer, status


async def rest(reader, writer):
    """What still comes of a connection, to its end."""
    content = await asyncio.wait_for(reader.read(), PATIENCE)
    writer.close()
    await writer.wait_closed()
    return content


def test_a_server_that_ends_closes_what_is_open(begun):
    async def ask(server):
        reader, writer, status = await kept_alive(server)
        page = await websocket_connect(f"{server.address.replace('http', 'ws', 1)}socket")
        while not server.sessions:
            await asyncio.sleep(0.001)
        await server.close()
        await rest(reader, writer)
        message = await asyncio.wait_for(page.read_message(), PATIENCE)
        page.close()
        return status, message, server.sessions

    status, message, sessions = served(begun, ask)
    assert status == b"HTTP/1.1 200 OK\r\n"
    assert message is None
    assert not sessions


def test_so_many_connections_and_no_more(begun, monkeypatch):
    monkeypatch.setattr(servers, "MOST_CONNECTIONS", 3)

    async def ask(server):
        first = [await kept_alive(server) for _ in range(3)]
        refused = [await kept_alive(server) for _ in range(20)]
        for reader, writer, _ in refused:
            await rest(reader, writer)
        first[0][1].close()
        while (another := await kept_alive(server))[2] == b"":  # until the server knows that one has gone
            await rest(*another[:2])
        await server.close()
        for reader, writer, _ in (*first[1:], another):
            await rest(reader, writer)
        return [status for *_, status in (*first, another)], [status for *_, status in refused]

    answered, refused = served(begun, ask)
    assert answered == [b"HTTP/1.1 200 OK\r\n"] * 4
    assert refused == [b""] * 20


def test_a_run_is_explained(begun):
    async def ask(server):
        return await fetched(server, "explained?latency=150&p.n=2048")

    code, _, text = served(begun, ask)
    assert code == 200
    assert "memory.latency" in text
