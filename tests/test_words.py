"""English that was mended stays mended: phrases that a reader stumbled over do not come back."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SHOWN = [path for kind in ("*.py", "*.js", "*.html") for path in sorted((ROOT / "simtmm").rglob(kind))]
# Each with what to write instead
PHRASES = {
    "Another release of the compiler makes other code": "Other compiler versions generate different code",
    "is not taken for another's": "Caches are per compiler version",
    "to answer nobody knows": "has no known latency",
    "Sliders go in ratios": "Sliders are logarithmic",
    "made of other GPUs as this one is": "built from other GPUs as this machine is",
    "that is always taken does not show": "one saturated unit does not show",
    "make a run shorter is no law": "do not always make a run shorter",
    "that the instruction is or that its work": "the access that it performs or feeds",
    "was compared with nothing": "was never compared with hardware",
    "accounts for {": "takes",
}
# Of pages alone, on those that are done, as docs/writing.md lists them: as shown there, as a pattern, what to write
ON_PAGES = [
    ("as it is", r"\bas (it is|they are)[,.;:)]", "unmodified, unchanged"),
    ("is told", r"\b(is|are) told\b", "says, reports; knows"),
    ("is kept", r"\b(is|are) kept\b", "is stored, is cached"),
    ("what ... may be", r"\bwhat [\w ]{1,30} may be\b", "which, how much"),
    ("taken for", r"\btaken for\b", "assumed to be, treated as"),
    ("of which ... there", r"\bof which [\w ]{1,20} there\b", "say how many there are"),
    ("that which", r"\b[Tt]hat which\b", "the one that, what"),
    ("so it is where", r"\b[Ss]o (it is|are those) where\b", "the same holds if"),
    ("beside what", r"\bbeside what\b", "compared with, besides"),
    ("in the place of", r"\bin the place of\b", "instead of"),
    ("in the mean", r"\bin the mean\b", "on average"),
    ("seconds of processors", r"\b(s|seconds|minutes) of processors?\b", "CPU time"),
    ("a row a case", r"\ba (row|column|line|thread) an? ", "a row for each case"),
    ("no matter of", r"\bno matter of\b", "does not take"),
    ("is mended", r"\bmended\b", "is fixed"),
    ("the memory that there is", r"\bthat there (is|are)\b", "the available memory"),
    ("as ever", r"\bas ever\b", "as usual"),
    ("what is left of", r"\bwhat is left of\b", "the rest of"),
    ("had by", r"\bhad (by|from)\b", "available from"),
    ("is looked for", r"\b(is|are) looked for\b", "simtmm looks for"),
    ("is gone through", r"\b(is|are) gone (through|to)\b", "is executed, is read"),
    ("of a like", r"\bof a like\b", "similar"),
    ("too quick", r"\btoo quick\b", "too fast"),
    ("whoever", r"\b[Ww]hoever\b", "if you, anyone who"),
]
EXAMPLES = {
    "as it is": "compiled as it is,", "what ... may be": "what it may be",
    "of which ... there": "of which two there",
    "seconds of processors": "10 s of processors",
}  # fmt: skip
DONE = [
    "anomalies", "calibration", "checks", "ci", "compare", "contention", "counters", "course", "cuda-programs", "diff",
    "explore", "families", "from-other-tools", "glossary", "gpu", "graphs", "hopper", "import", "kernels",
    "micro-kernels", "own-kernel", "pictures", "ptx", "report", "rules", "sampling", "sass", "scaling", "schedulers",
    "scripts", "stable", "studies", "threats", "tune", "verbs", "virtual-time", "what-fails", "why", "written-kernel",
]  # fmt: skip
STYLE = ROOT / "docs" / "writing.md"  # which quotes what is not to be written
# Of texts in simtmm: messages and words of reports, and, but for the rooms that are not done, docstrings
NOT_DONE = ("engine", "cuda/execution", "validation/cases", "validation/figures")
FALSE_FRIENDS = {
    "is mended": r"\b(is|are|was|were|be|been) mended\b",  # "mended" is a variant of an equation
    "the memory that there is": r"(?<!so )\bthat there (is|are)\b",
    "a row a case": r"\ba (row|column|line|thread) an? (?!time)",
}
IN_TEXTS = [(shown, FALSE_FRIENDS.get(shown, pattern), instead) for shown, pattern, instead in ON_PAGES]
# Of messages alone, as a pattern, and what to write
IN_MESSAGES = [
    (r"\bis there twice\b", "appears more than once"),
    (r"\bdoes not suffice\b", "out of memory, is not enough"),
    (r"\bthere is no such (file|folder|script|command|store|label)\b", "no such file"),
    (r"\bis of [\w ,]+, so --?\w+ must be given\b", "needs --option"),
    (r"\bwhich is not given\b", "needs --option"),
    (r"\bgo(es)? on where\b", "continues"),
    (r"\bnothing lies\b|\bwhat lies there\b", "is outside all arrays"),
    (
        r"(?<!there )\bis no (file|folder|kernel|operand|function|register|predicate|expression|store|run)\b",
        "is not a",
    ),
    (r"\bround for ever\b", "loops for ever"),
    (r"\bmade anew\b", "starting over"),
    (r"\bnot (known|run|taken|done) here\b", "is not supported"),
    (r"\bfor want of\b", "for lack of"),
    (r"\ball the same\b", "anyway"),
    (r"\bmay run out|memory ran out\b", "out of memory"),
    (r"\bset beside\b|\bbeside the (simulated|measured|models)\b", "compared with"),
    (r"\bheld against\b", "compared with"),
    (r"\bis taken, and not\b", "using ..., not ..."),
    (r"\bis told only\b", "is known only"),
    (r"\bElse (take|set|raise)\b", "If not, use"),
    (r"\btruth value\b", "true or false"),
]


def text_of(path):
    return " ".join(path.read_text(encoding="utf-8").split())


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_phrase_that_was_mended_does_not_come_back(phrase):
    found = [str(path.relative_to(ROOT)) for path in (*PAGES, *SHOWN) if path != STYLE and phrase in text_of(path)]
    assert found == [], f"write instead: {PHRASES[phrase]}"


def prose_of(path):
    """A page without its blocks of code and what they print."""
    return " ".join(re.sub(r"```.*?```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL).split())


@pytest.mark.parametrize(("shown", "pattern", "instead"), ON_PAGES, ids=[row[0] for row in ON_PAGES])
def test_pages_that_are_done_stay_in_plain_english(shown, pattern, instead):
    found = {
        page: words.group()
        for page in DONE
        if (words := re.search(pattern, prose_of(ROOT / "docs" / f"{page}.md"))) is not None
    }
    assert found == {}, f"write instead: {instead}"
    assert f"| {shown} | {instead} |" in STYLE.read_text(encoding="utf-8")


def texts_of(path):
    """The texts in a file of Python, (line, whether it is a docstring, text), what an f-string computes being "{}"."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    docstrings = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in ast.walk(node)
        if part is not node
    }
    for node in ast.walk(tree):
        if id(node) in parts:
            continue
        if isinstance(node, ast.JoinedStr):
            words = "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            words = node.value
        else:
            continue
        yield node.lineno, id(node) in docstrings, " ".join(words.split())


@pytest.fixture(scope="module")
def texts():
    return [
        (f"{room}:{line}", is_docstring, words)
        for path in sorted((ROOT / "simtmm").rglob("*.py"))
        if not (room := path.relative_to(ROOT / "simtmm").as_posix()).startswith(NOT_DONE)
        for line, is_docstring, words in texts_of(path)
    ]


@pytest.mark.parametrize(("shown", "pattern", "instead"), IN_TEXTS, ids=[row[0] for row in IN_TEXTS])
def test_messages_and_docstrings_stay_in_plain_english(texts, shown, pattern, instead):
    found = {place: words.group() for place, _, text in texts if (words := re.search(pattern, text)) is not None}
    assert found == {}, f"write instead: {instead}"
    assert re.search(pattern, EXAMPLES.get(shown, shown)), "the pattern finds nothing"


@pytest.mark.parametrize(("pattern", "instead"), IN_MESSAGES, ids=[row[1] for row in IN_MESSAGES])
def test_messages_stay_in_plain_english(texts, pattern, instead):
    found = {
        place: words.group()
        for place, is_docstring, text in texts
        if not is_docstring and (words := re.search(pattern, text)) is not None
    }
    assert found == {}, f"write instead: {instead}"


def test_a_planted_phrase_is_found_in_each_kind_of_text(tmp_path):
    path = tmp_path / "planted.py"
    docstrings = '"""A row a case."""\nNAME = 1\n"""Which is told."""\n'
    path.write_text(f'{docstrings}raise ValueError(f"{{NAME}}: is there "\n    f"twice {{NAME}}")\n')
    assert [(is_docstring, words) for _, is_docstring, words in texts_of(path)] == [
        (True, "A row a case."),
        (True, "Which is told."),
        (False, "{}: is there twice {}"),
    ]


def test_patterns_find_what_they_are_named_after():
    """So that none is a pattern which nothing meets."""
    for shown, pattern, _ in ON_PAGES:
        assert re.search(pattern, EXAMPLES.get(shown, shown)), shown


def test_no_page_has_a_word_twice_in_a_row():
    """As "the the", which a line's end hides."""
    twice = re.compile(r"\b(the|a|an|of|to|is|are|and|by|for|with) \1\b", re.IGNORECASE)
    found = {}
    for path in PAGES:
        prose = re.sub(r"```.*?```|`[^`]*`|\|[^\n]*\|", "code", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        found[path.name] = twice.findall(" ".join(prose.split()))
    assert {name: words for name, words in found.items() if words} == {}
