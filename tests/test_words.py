"""English that was mended stays mended: phrases that a reader stumbled over do not come back."""

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
DONE = [
    "anomalies", "calibration", "checks", "ci", "compare", "contention", "counters", "course", "cuda-programs", "diff",
    "explore", "families", "from-other-tools", "glossary", "gpu", "graphs", "hopper", "import", "kernels",
    "micro-kernels", "own-kernel", "pictures", "ptx", "report", "rules", "sampling", "sass", "scaling", "schedulers",
    "scripts", "stable", "studies", "threats", "tune", "verbs", "virtual-time", "what-fails", "why", "written-kernel",
]  # fmt: skip
STYLE = ROOT / "docs" / "writing.md"  # which quotes what is not to be written


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


def test_patterns_find_what_they_are_named_after():
    """So that none is a pattern which nothing meets."""
    examples = {
        "as it is": "compiled as it is,", "what ... may be": "what it may be",
        "of which ... there": "of which two there",
        "seconds of processors": "10 s of processors",
    }  # fmt: skip
    for shown, pattern, _ in ON_PAGES:
        assert re.search(pattern, examples.get(shown, shown)), shown


def test_no_page_has_a_word_twice_in_a_row():
    """As "the the", which a line's end hides."""
    twice = re.compile(r"\b(the|a|an|of|to|is|are|and|by|for|with) \1\b", re.IGNORECASE)
    found = {}
    for path in PAGES:
        prose = re.sub(r"```.*?```|`[^`]*`|\|[^\n]*\|", "code", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        found[path.name] = twice.findall(" ".join(prose.split()))
    assert {name: words for name, words in found.items() if words} == {}
