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


def text_of(path):
    return " ".join(path.read_text(encoding="utf-8").split())


@pytest.mark.parametrize("phrase", PHRASES)
def test_a_phrase_that_was_mended_does_not_come_back(phrase):
    found = [str(path.relative_to(ROOT)) for path in (*PAGES, *SHOWN) if phrase in text_of(path)]
    assert found == [], f"write instead: {PHRASES[phrase]}"


def test_no_page_has_a_word_twice_in_a_row():
    """As "the the", which a line's end hides."""
    twice = re.compile(r"\b(the|a|an|of|to|is|are|and|by|for|with) \1\b", re.IGNORECASE)
    found = {}
    for path in PAGES:
        prose = re.sub(r"```.*?```|`[^`]*`|\|[^\n]*\|", "code", path.read_text(encoding="utf-8"), flags=re.DOTALL)
        found[path.name] = twice.findall(" ".join(prose.split()))
    assert {name: words for name, words in found.items() if words} == {}
