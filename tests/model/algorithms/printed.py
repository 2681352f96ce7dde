"""Reads what the papers print: entries such as `n lg^2 n / P`, and the tables in tests/golden."""

import csv
import re
from pathlib import Path

import sympy

GOLDEN = Path(__file__).parents[2] / "golden"


def table(name):
    """The rows of a table, as dicts; lines that begin with # say where it comes from."""
    lines = (GOLDEN / name).read_text(encoding="utf-8").splitlines()
    return list(csv.DictReader(line for line in lines if not line.startswith("#")))


def parse(text, letters=()):
    """An entry as a SymPy expression; symbols named as those in `letters` are those."""
    text = re.sub(r"lg\^2 *(\w|\([^()]*\))", r"lg(\1)^2", text)
    text = re.sub(r"lg +(\w)", r"lg(\1)", text)
    text = re.sub(r"(?<=[\w)]) +(?=[\w(])", "*", text).replace("^", "**")
    names = {name: sympy.Symbol(name, positive=True) for name in re.findall(r"\b[A-Za-z]\w*\b", text)}
    names |= {str(letter): letter for letter in letters}
    names |= {"lg": lambda x: sympy.log(x, 2), "sqrt": sympy.sqrt, "max": sympy.Max, "min": sympy.Min}
    return sympy.sympify(text, locals=names)


def same(ours, text):
    """Whether an entry is our expression: their ratio simplifies to 1."""
    return sympy.simplify(ours / parse(text, ours.free_symbols)) == 1


def same_pieces(ours, text):
    """The same for a product with a Max: its pieces are those of an entry `max(..., ...)`."""
    (largest,) = ours.atoms(sympy.Max)
    mine = [sympy.simplify(ours * piece / largest) for piece in largest.args]
    theirs = [sympy.simplify(piece) for piece in parse(text, ours.free_symbols).args]
    return len(mine) == len(theirs) and all(any(sympy.simplify(a / b) == 1 for b in theirs) for a in mine)
