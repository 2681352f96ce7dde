"""What a page shows, as data."""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
GENERATED = {"api.md"}  # from docstrings: signatures, and no examples
PAGES = [ROOT / "README.md", *sorted(path for path in (ROOT / "docs").glob("*.md") if path.name not in GENERATED)]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(
    r"(?:^Write this to |`)(?P<name>[\w./-]+\.\w+)`?[^\n`]*:\n\n```\w+\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Command:
    """A command of a page. shown: what the page says that it prints, None where it says nothing."""

    page: str
    text: str
    shown: str | None = None

    @property
    def words(self) -> list[str]:
        """As a shell takes them apart, without `simtmm` and comments."""
        return shlex.split(self.text.removeprefix("python -m "), comments=True)[1:]


def commands(page: Path) -> list[Command]:
    """Those of simtmm, in their order; a line that ends with a backslash goes on."""
    text = re.sub(r"\\\n\s*", " ", page.read_text(encoding="utf-8"))
    found: list[tuple[int, Command]] = []
    for block in BLOCK.finditer(text):
        if block[2].startswith("$ "):
            sessions = re.finditer(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block[2], re.MULTILINE)
            found += [(block.start() + each.start(), Command(page.name, each[1], each[2])) for each in sessions]
        else:
            found += _plain(page.name, block[2], block.start())
    found += _plain(page.name, BLOCK.sub(lambda block: " " * len(block[0]), text), 0, indent="    ")
    return [command for _, command in sorted(found, key=lambda each: each[0]) if _is_ours(command.text)]


def _plain(page: str, text: str, start: int, indent: str = "") -> list[tuple[int, Command]]:
    lines = re.finditer(rf"^{indent}(simtmm .*)$", text, re.MULTILINE)
    return [(start + line.start(), Command(page, line[1])) for line in lines if "error:" not in line[1]]


def _is_ours(text: str) -> bool:
    return text.startswith(("simtmm ", "python -m simtmm "))


def files(page: Path) -> dict[str, str]:
    """The texts of files that a page has its reader write, by name."""
    return {found["name"]: found["text"] for found in FILE.finditer(page.read_text(encoding="utf-8"))}


def python(page: Path) -> list[str]:
    """The page's lines of Python that are no file's."""
    text = FILE.sub("", page.read_text(encoding="utf-8"))
    return [block[2] for block in BLOCK.finditer(text) if block[1] == "python"]
