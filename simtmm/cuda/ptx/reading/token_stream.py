"""Tokens one after another, with a look ahead."""

from collections.abc import Iterator

from simtmm.cuda.ptx.reading.tokens import Token
from simtmm.errors import PtxError, shown

LARGEST = 2**31 - 1


class TokenStream:
    """Tokens to be taken in order."""

    def __init__(self, source: Iterator[Token]) -> None:
        self._tokens = list(source)
        self._at = 0

    @property
    def line(self) -> int:
        """Of the token taken last."""
        return self._tokens[max(0, self._at - 1)].line if self._tokens else 0

    def peek(self, ahead: int = 0) -> Token | None:
        """The next token, or one behind it, which stays; None at the end."""
        return self._tokens[self._at + ahead] if self._at + ahead < len(self._tokens) else None

    def peek_text(self) -> str:
        """Its text, "" at the end."""
        return self._tokens[self._at].text if self._at < len(self._tokens) else ""

    def next(self) -> Token:
        """Take the next token. Raises PtxError at the end."""
        if self._at == len(self._tokens):
            raise PtxError(f"PTX line {self.line}: ends in the middle of a statement")
        self._at += 1
        return self._tokens[self._at - 1]

    def whole(self, most: int = LARGEST) -> int:
        """Take a whole number. Raises PtxError for anything else, and for more than `most`."""
        token = self.next()
        if not (token.text.isascii() and token.text.isdecimal() and len(token.text) < 20 and int(token.text) <= most):
            expected = f"a whole number of at most {most:,}"
            raise PtxError(f"PTX line {token.line}: {expected} is expected, not {shown(token.text)}")
        return int(token.text)

    def at(self, text: str) -> bool:
        """Whether the next token is this."""
        return self.peek_text() == text

    def accept(self, text: str) -> bool:
        """Take the next token if it is this."""
        if self.peek_text() != text:
            return False
        self._at += 1
        return True

    def expect(self, text: str) -> None:
        """Take this token. Raises PtxError where another stands."""
        token = self.next()
        if token.text != text:
            raise PtxError(f"PTX line {token.line}: {text!r} is expected, not {token.text!r}")

    def skip_group(self) -> None:
        """Take everything from an opening parenthesis to the closing one."""
        depth = 0
        while True:
            text = self.next().text
            depth += {"(": 1, ")": -1}.get(text, 0)
            if depth == 0:
                return
