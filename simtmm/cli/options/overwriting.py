"""No command overwrites its input: a mistake with -o would cost a source, a trace, or days of a study."""

from collections.abc import Iterator

from simtmm.errors import OutputError
from simtmm.files import is_same_file

WRITTEN = ("-o", "--output", "--picture", "--timeline", "--export", "--t4")  # options that name a file to be written


def refuse_overwriting(words: list[str]) -> None:
    """Raise OutputError where a file that is to be written is one that another word of the command line names.

    words: of a command, up to the arguments of its program.
    """
    own = words[: words.index("--")] if "--" in words else words
    written, others = _parted(own)
    for option, path in written:
        for word in others:
            if any(part and is_same_file(path, part) for part in (word, word.partition("=")[2], *word.split(","))):
                raise OutputError(f"{option} {path}: is also the input and would be overwritten: name another file")


def _parted(words: list[str]) -> tuple[list[tuple[str, str]], list[str]]:
    """Files that are to be written, with their options, and all other words."""
    written: list[tuple[str, str]] = []
    others: list[str] = []
    rest: Iterator[str] = iter(words)
    for word in rest:
        option, equals, value = word.partition("=")
        if word in WRITTEN:
            written.append((word, next(rest, "")))
        elif equals and option in WRITTEN:
            written.append((option, value))
        elif word.startswith("-o") and len(word) > 2:
            written.append(("-o", word[2:]))
        else:
            others.append(word)
    return written, others
