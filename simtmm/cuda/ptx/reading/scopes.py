"""What names in a function mean: those of a block in braces hide those outside of it."""


class Scope:
    """The names of a block in braces; one declared in a block that has it already outside is another."""

    def __init__(self, outer: "Scope | None", used: set[str], labels: set[str]) -> None:
        """used, labels: the names of the function so far, and those of its labels."""
        self.outer, self._used, self._used_labels = outer, used, labels
        self._names: dict[str, str] = {}
        self._labels: dict[str, str] = {}

    def declare(self, name: str, unique: str = "") -> str:
        """The name that a declared one has in the function: another like it, unless it is given."""
        self._names[name] = unique or unique_name(name, self._used)
        return self._names[name]

    def declare_label(self, name: str) -> str:
        """Likewise for a label, or a list of labels."""
        self._labels[name] = unique_name(name, self._used_labels)
        return self._labels[name]

    def has_label(self, name: str) -> bool:
        """Whether a label is declared in this block already."""
        return name in self._labels

    def find(self, name: str) -> str:
        """The name in the function; one that was not declared is the module's."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope._names:
                return scope._names[name]
            scope = scope.outer
        return name

    def find_label(self, name: str) -> str:
        """The label's name in the function. Labels may stand behind what jumps to them: ask at the end."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope._labels:
                return scope._labels[name]
            scope = scope.outer
        return name


def unique_name(name: str, used: set[str]) -> str:
    """The name, or another like it, which is not used yet, and then is."""
    unique, count = name, 1
    while unique in used:
        unique, count = f"{name}@{count}", count + 1
    used.add(unique)
    return unique
