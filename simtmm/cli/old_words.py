"""Command lines of earlier versions, which still work: a notice gives their new form."""

from simtmm.renamed import tell

RUN, MODELS = ("run", "--lines"), ("run", "--models-only")
VERBS = {  # as they were called: what they are now
    "explain": RUN,
    "export": ("record", "export"),
    "import": ("record", "import"),
    "measure": ("record", "measure"),
    "micro": ("machines", "micro"),
    "calibrate": ("machines", "calibrate"),
    "compare": ("sweep", "compare"),
    "threads": ("sweep", "threads"),
    "zigzag": ("sweep", "zigzag"),
    "crossover": ("sweep", "crossover"),
    "report": ("sweep", "report"),
    "advise": ("tune", "advise"),
    "equation": ("paper", "equation"),
    "fit": ("paper", "fit"),
    "reproduce": ("paper", "reproduce"),
}
RULES = {"test": ("kernels", "test"), "compare": ("kernels", "compare")}
CROSSOVER = {"--variant": "--variant-a", "--versus-variant": "--variant-b"}
BARE = ("--latex", "--json", "--kernel", "--help", "-h")  # options of `predict` that no value follows


def current_words(words: list[str]) -> list[str]:
    """A command and its words as they are written now; of old ones a notice tells the new form."""
    if words[:1] == ["rules"]:
        return _rules(words[1:])
    if words[:1] == ["predict"]:
        return _predict(words[1:])
    if not words or words[0] not in VERBS:
        return words
    now = VERBS[words[0]]
    tell("simtmm", words[0], "tune KERNEL" if words[0] == "advise" else " ".join(now))
    return [*now, *words[1:]]


def _rules(words: list[str]) -> list[str]:
    now = RULES.get(words[0]) if words else None
    old = f"rules {words[0]}" if now else "rules"
    found = [*(now or ("kernels", "rules")), *(words[1:] if now else words)]
    tell("simtmm", old, " ".join(found[:2]))
    return found


def _predict(words: list[str]) -> list[str]:
    """`predict` was of algorithms and of programs, and had other commands in it.

    `predict A --versus B` is `sweep crossover A B`, and `predict SOURCE --sweep blocks=LOW:HIGH` is `sweep zigzag
    SOURCE --blocks LOW:HIGH`.
    """
    given = _split(words)
    versus, sweep = given.count("--versus"), given.count("--sweep")
    if versus and not sweep:
        tell("predict --versus", "predict A --versus B", "sweep crossover A B")
        at = given.index("--versus")
        second, rest = given[at + 1 : at + 2], [*given[:at], *given[at + 2 :]]
        return ["sweep", "crossover", *(CROSSOVER.get(word, word) for word in rest), *second]
    if sweep and not versus:
        tell("predict --sweep", "predict SOURCE --sweep blocks=LOW:HIGH", "sweep zigzag SOURCE --blocks LOW:HIGH")
        at = given.index("--sweep")
        blocks = [word.removeprefix("blocks=") for word in given[at + 1 : at + 2]]
        return ["sweep", "zigzag", *given[:at], "--blocks", *blocks, *given[at + 2 :]]
    from simtmm.model.algorithms import ALGORITHMS

    is_kernel = "--kernel" in words  # which chose the kernel of an algorithm's name
    if _source(words) in ALGORITHMS and not is_kernel:
        tell("simtmm", "predict", "paper predict, of an algorithm")
        return ["paper", "predict", *words]
    tell("simtmm", "predict", "run --models-only, of a program")
    return [*MODELS, *(word for word in words if word != "--kernel")]


def _source(words: list[str]) -> str | None:
    """The first word that is no option and no option's value."""
    rest = iter(words)
    for word in rest:
        if not word.startswith("-"):
            return word
        if word not in BARE and "=" not in word and not (word[1] != "-" and len(word) > 2):
            next(rest, None)
    return None


def _split(words: list[str]) -> list[str]:
    """The words with --option=value of options that are called otherwise now as two words."""
    split: list[str] = []
    for word in words:
        option, equals, value = word.partition("=")
        split += [option, value] if equals and option in {*CROSSOVER, "--versus", "--sweep"} else [word]
    return split
