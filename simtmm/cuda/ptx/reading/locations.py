"""`.loc` directives: where in the user's source what follows comes from."""

from collections.abc import Mapping

from simtmm.cuda.ptx.reading.token_stream import TokenStream
from simtmm.cuda.ptx.syntax import Location


class Locations:
    """Reads `.loc` directives one after another."""

    def __init__(self, strings: Mapping[str, str]) -> None:
        """strings: names of inlined functions by label."""
        self._strings = strings
        self._chains: dict[tuple[int, int, int], Location] = {}
        self.current: Location | None = None

    def read(self, stream: TokenStream) -> None:
        """A directive, of which the word is taken. It ends with its line, without a semicolon."""
        where = self._three(stream)
        location = Location(*where)
        if stream.accept(","):
            function, inlined_at = "", None
            while True:
                word = stream.next().text
                if word == "function_name":
                    function = self._strings.get(stream.next().text, "")
                    if stream.accept("+"):
                        stream.next()
                elif word == "inlined_at":
                    called = self._three(stream)
                    inlined_at = self._chains.get(called, Location(*called))
                if not stream.accept(","):
                    break
            location = Location(*where, function, inlined_at)
        self._chains[where] = location
        self.current = location if where[1] else None

    def _three(self, stream: TokenStream) -> tuple[int, int, int]:
        return stream.whole(), stream.whole(), stream.whole()
