"""Faults: small changes of a source, each of which some test should notice."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.mutation.scopes import Place, places

OPERATORS: dict[type[ast.AST], tuple[str, str]] = {
    ast.Add: ("+", "-"), ast.Sub: ("-", "+"), ast.Mult: ("*", "+"), ast.Div: ("/", "*"), ast.Mod: ("%", "//"),
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.And: ("and", "or"), ast.Or: ("or", "and"),
    ast.In: ("in", "not in"), ast.Is: ("is", "is not"), ast.BitAnd: ("&", "|"), ast.BitOr: ("|", "&"),
    ast.LShift: ("<<", ">>"), ast.RShift: (">>", "<<"),
}  # fmt: skip
KINDS = (
    "operator", "rounding", "constant", "argument", "field", "range", "swap", "name", "condition", "not", "return",
    "statement",
)  # fmt: skip
# Of what is made by these, every argument and part decides whether something kept is found again.
MAKES_KEYS = re.compile(r"key|digest|identity|content|sha256|blake2|hash|circumstances|about|stamp|^of$|^parts$|kept")

DRAWS = {"default_rng", "Random"}  # what begins a draw
COMMUTE = {"max", "min", "maximum", "minimum", "gcd", "lcm", "hypot"}  # whose arguments have no order


@dataclass(frozen=True)
class Fault:
    """A change of one file.

    file: relative to the tree. begin, end: the bytes that are replaced. line, last: the lines of the statement that
    they are in. function: dotted, empty at the top. kind: of KINDS. of_key: whether it is of a key or a digest.
    """

    file: str
    begin: int
    end: int
    text: str
    line: int
    last: int
    function: str
    kind: str
    of_key: bool = False

    def planted(self, source: bytes) -> bytes:
        """The source with it."""
        return source[: self.begin] + self.text.encode() + source[self.end :]

    def lines(self, source: bytes) -> tuple[str, str]:
        """The lines that it changes, before and after, without blanks around them."""
        first = source.rfind(b"\n", 0, self.begin) + 1
        last = source.find(b"\n", self.end)
        last = len(source) if last < 0 else last
        after = source[first : self.begin] + self.text.encode() + source[self.end : last]
        return tuple(" ".join(text.decode().split()) for text in (source[first:last], after))  # type: ignore[return-value]


def faults_of(file: str, source: bytes) -> list[Fault]:
    """All faults that can be planted in a source, each of which is Python that differs from it."""
    return [fault for fault in candidates_of(file, source) if is_python(fault.planted(source))]


def candidates_of(file: str, source: bytes) -> list[Fault]:
    """The same and more: some are no Python, which takes long to find out of all."""
    found: dict[tuple[int, int, str], Fault] = {}
    for place in places(source):
        for kind, node, begin, end, text in _changes(place):
            if source[begin:end] == text.encode():
                continue
            fault = Fault(
                file, begin, end, text, place.statement.lineno, place.last, place.function, kind,
                of_key=_is_of_key(place, node),
            )  # fmt: skip
            found.setdefault((begin, end, text), fault)
    return list(found.values())


def is_python(source: bytes) -> bool:
    """Whether a source can be compiled."""
    try:
        compile(source, "fault", "exec", dont_inherit=True)
    except (SyntaxError, ValueError):
        return False
    return True


def _is_of_key(place: Place, node: ast.AST) -> bool:
    names = [
        place.function.rpartition(".")[2],
        *place.targets,
        *(place.called(each) for each in place.calls_around(node)),
    ]
    return any(name and MAKES_KEYS.search(name) for name in names)


Change = tuple[str, ast.AST, int, int, str]


def _changes(place: Place) -> Iterator[Change]:
    """What can be changed of a node."""
    node = place.node
    match node:
        case ast.BinOp() | ast.Compare() | ast.BoolOp():
            yield from _operators(place, node)
        case ast.Constant(value=int() | float()) if not (isinstance(node.value, bool) or _is_as_good(place)):
            yield from _numbers(place, node)
        case ast.Call():
            yield from _arguments(place, node)
        case ast.Tuple() | ast.List():
            yield from _fields(place, node)
        case ast.Dict() if len(node.keys) > 1:
            for at in range(len(node.keys)):
                begin = node.keys[at] or node.values[at]
                yield place.without("field", node.values, at, first=begin)
        case ast.Subscript(slice=ast.Slice() as cut) if not _is_of_hash(node.value):
            for end, more in ((cut.lower, "+ 1"), (cut.upper, "- 1")):
                if end is not None:
                    yield ("range", end, *place.span(end), f"({place.text(end)}) {more}")
        case ast.UnaryOp(op=ast.Not()):
            yield ("not", node, *place.span(node), f"({place.text(node.operand)})")
        case ast.If() | ast.IfExp():
            yield ("condition", node.test, *place.span(node.test), f"(not ({place.text(node.test)}))")
        case ast.Name(ctx=ast.Load()):
            for other in place.others_like(node):
                yield ("name", node, *place.span(node), other)
        case ast.stmt():
            yield from _statements(place, node)


def _operators(place: Place, node: ast.BinOp | ast.Compare | ast.BoolOp) -> Iterator[Change]:
    if isinstance(node, ast.BinOp):
        operands, operators = [node.left, node.right], [node.op]
    elif isinstance(node, ast.Compare):
        operands, operators = [node.left, *node.comparators], list(node.ops)
    else:
        operands, operators = node.values, [node.op] * (len(node.values) - 1)
    for left, right, operator in zip(operands, operands[1:], operators, strict=False):
        if isinstance(operator, ast.FloorDiv) and not _divides(place, right, left):
            begin, end = place.span(node)
            yield ("rounding", node, begin, end, f"(-(-({place.text(left)}) // ({place.text(right)})))")
        if type(operator) not in OPERATORS:
            continue
        if isinstance(operator, ast.Mod) and isinstance(left, ast.Constant):
            continue  # a text that is formatted
        old, new = OPERATORS[type(operator)]
        gap_begin, gap_end = place.span(left)[1], place.span(right)[0]
        gap = place.source[gap_begin:gap_end].decode()
        at = re.search(rf"(?<!\w){re.escape(old)}(?!\w)" if old.isalpha() else re.escape(old), gap)
        if at and "#" not in gap:
            begin = gap_begin + len(gap[: at.start()].encode())
            yield ("operator", node, begin, begin + len(old.encode()), new)


def _divides(place: Place, divisor: ast.expr, number: ast.expr) -> bool:
    """Whether both are known numbers, of which one divides the other: it makes no difference how it is rounded."""
    known = place.number(divisor), place.number(number)
    return None not in known and known[0] != 0 and known[1] % known[0] == 0  # type: ignore[operator]


def _numbers(place: Place, node: ast.Constant) -> Iterator[Change]:
    value, span = node.value, place.span(node)
    others = [value + 1, value - 1, 0] if isinstance(value, int) else [2 * value, value + 1, 0.0]
    for other in others:
        yield ("constant", node, *span, repr(other) if other >= 0 else f"({other!r})")


def _arguments(place: Place, call: ast.Call) -> Iterator[Change]:
    """Arguments dropped and exchanged; ranges one step shorter and longer."""
    name = place.called(call)
    if name == "range" and call.args:
        step = f"({place.text(call.args[2])})" if len(call.args) > 2 else "1"
        for sign in "-+":
            last = call.args[min(1, len(call.args) - 1)]
            yield ("range", last, *place.span(last), f"({place.text(last)}) {sign} {step}")
        if len(call.args) > 1:
            yield ("range", call.args[0], *place.span(call.args[0]), f"({place.text(call.args[0])}) + {step}")
    for at in range(len(call.keywords)):
        yield place.without("argument", [*call.args, *call.keywords], len(call.args) + at)
    if len(call.args) > 1 or MAKES_KEYS.search(name):
        for at in range(len(call.args)):
            yield place.without("argument", [*call.args, *call.keywords], at)
    for one, other in zip(call.args, call.args[1:], strict=False):
        if name not in COMMUTE and all(
            isinstance(each, (ast.Name, ast.Attribute, ast.Subscript)) for each in (one, other)
        ):
            (begin, _), (_, end) = place.span(one), place.span(other)
            between = place.source[place.span(one)[1] : place.span(other)[0]].decode()
            yield ("swap", call, begin, end, f"{place.text(other)}{between}{place.text(one)}")


def _is_as_good(place: Place) -> bool:
    """Whether a number is that of a draw, or asks NumPy for the size that is left: any other would be as good."""
    match place.around[-2:]:
        case (*_, ast.Call() as call) if place.called(call) in DRAWS:
            return True
        case (ast.Call() as call, ast.UnaryOp(op=ast.USub())):
            return place.called(call) == "reshape"
    return False


def _is_of_hash(node: ast.AST) -> bool:
    """Whether it is a hash, which is as good a digit shorter."""
    return isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "hexdigest"


def _fields(place: Place, node: ast.Tuple | ast.List) -> Iterator[Change]:
    if len(node.elts) > 1 and isinstance(node.ctx, ast.Load) and not place.is_unpacked(node):
        for at, each in enumerate(node.elts):
            if not _is_prose(each):
                yield place.without("field", node.elts, at)


def _is_prose(node: ast.expr) -> bool:
    """Whether it is a sentence, which says something to people alone."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    last = parts[-1] if parts else None
    return (
        isinstance(last, ast.Constant)
        and isinstance(last.value, str)
        and last.value.rstrip().endswith(".")
        and any(isinstance(each, ast.Constant) and " " in str(each.value) for each in parts)
    )


def _statements(place: Place, node: ast.stmt) -> Iterator[Change]:
    span = place.span(node)
    match node:
        case ast.Expr(value=ast.Call()) | ast.AugAssign() | ast.Raise() | ast.Continue() | ast.Break() | ast.Delete():
            yield ("statement", node, *span, "pass")
        case ast.Assign() | ast.AnnAssign() if place.is_again(node):
            yield ("statement", node, *span, "pass")
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield ("return", node, *span, "return None")
    if place.returns_nothing and not place.is_last(node) and not place.is_first(node):
        yield ("return", node, span[0], span[0], f"return\n{' ' * node.col_offset}")
