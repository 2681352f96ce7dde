"""The server: one page, its script and style, and a socket for each that is open. All else is `session`.

It listens on the loopback address alone. Every address has a token drawn at the start; the host that a request names
must be the loopback address, so that no other name can stand for it; and a page of another origin is refused,
whether it asks by a socket or a request. What it sends lets the browser load nothing from elsewhere.
"""

import asyncio
import hmac
import json
import secrets
from pathlib import Path
from typing import Any

import tornado.httpserver
import tornado.iostream
import tornado.netutil
import tornado.web
import tornado.websocket

from simtmm.errors import SimtmmError, shown_error
from simtmm.explorer.page_files import page_text, script, style
from simtmm.explorer.sending import sender
from simtmm.explorer.session import Session
from simtmm.explorer.start import Start
from simtmm.explorer.state import MOST_TEXT, State

LOOPBACK = "127.0.0.1"
HOSTS = (LOOPBACK, "localhost")
MOST_MESSAGE = 4 * MOST_TEXT  # bytes
MOST_PAGES = 16  # that are open at once
MOST_CONNECTIONS = 256  # likewise; a browser has some six to a page
IDLE = 60.0  # seconds, after which a connection without a request ends
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src data: blob:; connect-src 'self' ws://{host}; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
OF_REPORT = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"


class Server:
    """A server that answers from its making on, within an event loop. address: of its page, token included."""

    def __init__(self, start: Start, port: int = 0) -> None:
        """start: what the page begins with.
        port: of this computer; any that is free if 0.
        """
        self.token = secrets.token_urlsafe(24)
        self.sessions: set[_Socket] = set()
        sockets = tornado.netutil.bind_sockets(port, LOOPBACK)
        self.port = sockets[0].getsockname()[1]
        known = {"server": self, "start": start}
        routes = [(rf"/([^/]+)/{path}", handler, known) for path, handler in _ROUTES.items()]
        application = tornado.web.Application(
            routes, default_handler_class=_Nothing, default_handler_args=known, websocket_max_message_size=MOST_MESSAGE,
            log_function=lambda _: None, websocket_ping_interval=20,
        )  # fmt: skip
        # Headers and bodies of a page are short
        self._http = _Connections(
            application, max_header_size=16384, max_body_size=MOST_MESSAGE, idle_connection_timeout=IDLE
        )
        self._http.add_sockets(sockets)
        self.address = f"http://{LOOPBACK}:{self.port}/{self.token}/"

    def is_ours(self, host: str) -> bool:
        """Whether a request means this server by its loopback name.

        host: as the request's header has it.
        """
        return host in {f"{name}:{self.port}" for name in HOSTS}

    async def close(self) -> None:
        """Listen no longer, and end all sessions and connections, also those on which a browser says nothing now."""
        self._http.stop()
        for socket in list(self.sessions):
            socket.close()
            socket.on_close()
        for stream in self._http.streams:
            stream.close()
        await self._http.close_all_connections()


class _Connections(tornado.httpserver.HTTPServer):
    """Answers so many connections at once and no more: each takes one of the files that a process may open.

    streams: those that were taken; some may have been closed.
    """

    streams: set[tornado.iostream.IOStream]

    def initialize(self, *given: Any, **options: Any) -> None:
        self.streams = set()
        super().initialize(*given, **options)

    def handle_stream(self, stream: tornado.iostream.IOStream, address: tuple[str, int]) -> None:
        self.streams = {each for each in self.streams if not each.closed()}
        if len(self.streams) >= MOST_CONNECTIONS:
            stream.close()
            return
        self.streams.add(stream)
        super().handle_stream(stream, address)


class _Guarded(tornado.web.RequestHandler):
    """Refuses a client that doesn't know the token, names another host, or comes from another origin."""

    def initialize(self, server: Server, start: Start) -> None:
        self.server, self.start = server, start

    def set_default_headers(self) -> None:
        self.set_header("Content-Security-Policy", POLICY.format(host=self.request.host))
        self.set_header("Referrer-Policy", "no-referrer")
        self.set_header("X-Content-Type-Options", "nosniff")
        self.set_header("Cross-Origin-Resource-Policy", "same-origin")
        self.set_header("Cache-Control", "no-store")
        self.clear_header("Server")

    def prepare(self) -> None:
        if not self.server.is_ours(self.request.host):
            self.refuse(421, "this server answers on the loopback address only")
            return
        origin = self.request.headers.get("Origin")
        if origin is not None and not self.is_own(origin):
            self.refuse(403, "another origin")
            return
        # A page elsewhere may link here; what it would load or send is refused
        site = self.request.headers.get("Sec-Fetch-Site", "none")
        if site not in ("same-origin", "none") and self.request.headers.get("Sec-Fetch-Mode") != "navigate":
            self.refuse(403, "another origin")
            return
        token = self.path_args[0] if self.path_args else ""
        if not hmac.compare_digest(token.encode(), self.server.token.encode()):
            self.refuse(404, "no such page: use the address with its token, which simtmm explore prints")

    def is_own(self, origin: str) -> bool:
        """Whether an origin is this server's."""
        return origin.startswith("http://") and self.server.is_ours(origin.removeprefix("http://"))

    def refuse(self, status: int, words: str) -> None:
        """Answer so, and no more."""
        self.set_status(status)
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(f"{words}\n")

    def write_error(self, status_code: int, **_: Any) -> None:
        self.set_header("Content-Type", "text/plain; charset=utf-8")
        self.finish(f"{status_code}\n")


class _Nothing(_Guarded):
    def prepare(self) -> None:
        super().prepare()
        if not self._finished:
            self.refuse(404, "no such page")


class _Page(_Guarded):
    def get(self, _: str) -> None:
        if len(self.request.query) > MOST_TEXT:
            self.refuse(414, f"a state of {len(self.request.query)} characters: must be at most {MOST_TEXT}")
            return
        self.finish(page_text(self.start))


class _Script(_Guarded):
    def get(self, _: str) -> None:
        self.set_header("Content-Type", "text/javascript; charset=utf-8")
        self.finish(script())


class _Style(_Guarded):
    def get(self, _: str) -> None:
        self.set_header("Content-Type", "text/css; charset=utf-8")
        self.finish(style())


class _Opening(_Guarded):
    """The page's own few lines: they connect it."""

    def get(self, _: str) -> None:
        self.set_header("Content-Type", "text/javascript; charset=utf-8")
        self.finish((Path(__file__).parent / "page" / "opening.js").read_text(encoding="utf-8"))


class _Explained(_Guarded):
    """The page of `simtmm run --html` of a state."""

    async def get(self, _: str) -> None:
        from simtmm.explorer.explained import explained

        try:
            state = State.of(self.request.query, self.start.program, self.start.machine)
            text = await asyncio.get_running_loop().run_in_executor(None, explained, self.start.programs, state.first)
        except (SimtmmError, OSError) as error:
            self.refuse(400, shown_error(error))
            return
        self.set_header("Content-Security-Policy", OF_REPORT)
        self.finish(text)


class _Socket(_Guarded, tornado.websocket.WebSocketHandler):
    """One open page."""

    session: Session | None = None

    def check_origin(self, origin: str) -> bool:
        return self.is_own(origin)

    def open(self, *_: str) -> None:
        if len(self.server.sessions) >= MOST_PAGES:
            self.close(1013, f"at most {MOST_PAGES} pages at a time")
            return
        self.server.sessions.add(self)
        self.session = Session(self.start.programs, sender(self._write), self.start.program, self.start.machine)

    def _write(self, text: str) -> None:
        if self.ws_connection is not None:
            try:
                self.write_message(text)
            except tornado.websocket.WebSocketClosedError:
                self.on_close()

    def on_message(self, message: str | bytes) -> None:
        if self.session is None:  # one page too many, which asked before it heard so
            return
        try:
            question = json.loads(message)
            number, state = question["number"], question["state"]
            if not isinstance(number, int) or not isinstance(state, str):
                raise TypeError
        except (ValueError, TypeError, KeyError, RecursionError):
            self.close(1003, "a question must have a number and a state")
            return
        self.session.ask(number, state)

    def on_close(self) -> None:
        self.server.sessions.discard(self)
        if self.session is not None:
            self.session.close()


_ROUTES: dict[str, type[_Guarded]] = {
    "": _Page,
    "explore.js": _Script,
    "opening.js": _Opening,
    "explore.css": _Style,
    "explained": _Explained,
    "socket": _Socket,
}
