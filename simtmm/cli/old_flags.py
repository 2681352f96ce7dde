"""Command lines of earlier versions, which keep their meaning: what was an option of one command is another command."""

from simtmm.renamed import tell

CROSSOVER = {"--variant": "--variant-a", "--versus-variant": "--variant-b"}


def current_words(words: list[str]) -> list[str]:
    """A command and its words as they are written now; of old ones a notice tells the new form.

    `predict A --versus B` is `crossover A B`, and `predict SOURCE --sweep blocks=LOW:HIGH` is `zigzag SOURCE --blocks
    LOW:HIGH`.
    """
    if words[:1] != ["predict"]:
        return words
    given = _split(words[1:])
    versus, sweep = given.count("--versus"), given.count("--sweep")
    if versus and not sweep:
        tell("predict --versus", "predict A --versus B", "crossover A B")
        at = given.index("--versus")
        second, rest = given[at + 1 : at + 2], [*given[:at], *given[at + 2 :]]
        return ["crossover", *(CROSSOVER.get(word, word) for word in rest), *second]
    if sweep and not versus:
        tell("predict --sweep", "predict SOURCE --sweep blocks=LOW:HIGH", "zigzag SOURCE --blocks LOW:HIGH")
        at = given.index("--sweep")
        blocks = [word.removeprefix("blocks=") for word in given[at + 1 : at + 2]]
        return ["zigzag", *given[:at], "--blocks", *blocks, *given[at + 2 :]]
    return words


def _split(words: list[str]) -> list[str]:
    """The words with --option=value of options that are called otherwise now as two words."""
    split: list[str] = []
    for word in words:
        option, equals, value = word.partition("=")
        split += [option, value] if equals and option in {*CROSSOVER, "--versus", "--sweep"} else [word]
    return split
