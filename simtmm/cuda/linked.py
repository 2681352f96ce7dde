"""Translation units as one program: functions and variables of all of them, and where their lines are read."""

from collections.abc import Mapping, Sequence
from functools import cache, cached_property
from pathlib import Path

from simtmm.cuda.compilers import CompiledModule, Resources, entry_named, is_expression, linked_resources
from simtmm.cuda.compilers.names import template_kernels
from simtmm.cuda.compilers.wheels import find_nvrtc, find_tool, include_folders
from simtmm.cuda.ptx import Function, Module, parse_module
from simtmm.cuda.ptx.syntax import Location, Variable
from simtmm.errors import CompilerError, KernelError, nearest


class LinkedModule:
    """What is compiled of one program, linked."""

    def __init__(self, units: Sequence[CompiledModule], folder: Path | None = None) -> None:
        """folder: that files of source are named from, where they lie in it.

        units: what each source was compiled to.

        Raises PtxError, and KernelError for something that is defined twice.
        """
        self._folder = folder.absolute() if folder is not None else None
        self._shown: dict[str, str] = {}
        self.units = tuple(units)
        self._parsed = [parse_module(unit.ptx, unit.name) for unit in units]
        functions: dict[str, tuple[Module, CompiledModule]] = {}
        variables: dict[str, Variable] = {}
        for unit, module in zip(units, self._parsed, strict=True):
            for name in module.functions:
                if name not in functions or module.is_defined(name):
                    functions[name] = (module, unit)
            for name, variable in module.variables.items():
                known = variables.get(name)
                if known is None or known.extern:
                    variables[name] = variable
        self._homes = functions
        first = self._parsed[0]
        self.module = first  # which reads no function before it is needed
        if len(units) > 1:
            self.module = Module(first.version, first.target, first.files, variables, _Merged(functions))

    @property
    def architecture(self) -> int:
        """Compute capability that it was compiled for, times ten."""
        return self.units[0].architecture

    @cached_property
    def entries(self) -> tuple[str, ...]:
        """Its kernels."""
        return tuple(name for module in self._parsed for name in module.entries)

    @cached_property
    def resources(self) -> Mapping[str, Resources]:
        """What each kernel takes of a core group. Raises CompilerError."""
        if len(self.units) == 1:
            return self.units[0].resources
        return linked_resources([unit.ptx for unit in self.units], self.units[0].target)

    @cached_property
    def complaint(self) -> CompilerError | None:
        """What the assembler refuses it for; None where it does not, and where there is no assembler to ask."""
        try:
            find_tool("ptxas")
        except CompilerError:
            return None
        try:
            assert self.resources is not None
        except CompilerError as refused:
            return refused
        return None

    def resources_of(self, entry: str) -> Resources | None:
        """What a kernel takes; None where there is no assembler to ask.

        entry: as PTX has it.
        """
        try:
            return self.resources.get(entry)
        except CompilerError:
            return None

    def entry(self, name: str | None) -> str:
        """The kernel of a name, as PTX has it or as it is written; of none, the only one.

        name: as PTX has it or as it is written; None for the only one.

        Raises KernelError.
        """
        from simtmm.cuda.compilers import bare_name

        if name is None:
            if len(self.entries) == 1:
                return self.entries[0]
            known = ", ".join(sorted(bare_name(entry) for entry in self.entries))
            templates = self._templates()
            if not known and not templates:
                raise KernelError(f"{self.units[0].name}: has no __global__ function to launch")
            raise KernelError(f"{self.units[0].name}: which kernel? It has {known or 'none'}{templates}")
        for unit in self.units:
            if name in unit.names:
                return unit.names[name]
        if name in self.entries:
            return name
        if is_expression(name) and (found := entry_named(self.entries, name)):
            return found
        fits = [entry for entry in self.entries if bare_name(entry) == name]
        if len(fits) == 1:
            return fits[0]
        names = [bare_name(entry) for entry in self.entries]
        if fits:
            from simtmm.cuda.compilers import demangled

            raise KernelError(
                f"{self.units[0].name}: kernel {name!r}: which? {'; '.join(demangled(entry) for entry in fits)}"
            )
        known = nearest(name, names, names)
        raise KernelError(f"{self.units[0].name}: kernel {name!r}: unknown{known}{self._templates(name)}")

    def _templates(self, name: str = "") -> str:
        """What to say of kernels that are templates, of which nothing is compiled until an instance is requested."""
        texts = [unit.source_text(file) or "" for unit in self.units for file in unit.files]
        texts += [text for unit in self.units for text in unit.texts.values() or [_text(unit.name)]]
        found = dict.fromkeys(each for text in texts for each in template_kernels(text))
        if name and name.partition("<")[0] not in found:
            return ""
        names = [name.partition("<")[0]] if name else list(found)
        if not names:
            return ""
        what = "are templates" if names[1:] else "is a template"
        return f"; {', '.join(names)} {what}: name an instance, such as {names[0]}<float>"

    def place(self, function: str, location: Location | None) -> tuple[str, int, str]:
        """File, line and text of a place in the source; line 0 where it is not known.

        function: its name.
        location: in the source; None where nobody knows.
        """
        unit = self._unit(function)
        if location is None:
            return self._shown.get(unit.name) or self._name(unit.name), 0, ""
        file = unit.files.get(location.file, unit.name)
        if file not in self._shown:
            self._shown[file] = self._name(file)
        return self._shown[file], location.line, (unit.source_line(location.file, location.line) or "").strip()

    def readable_location(self, function: str, location: Location | None) -> Location | None:
        """The innermost line that can be read, where an instruction was inlined: not one of a compiler's own header.

        function: its name.
        location: where the instruction is; None where nobody knows.
        """
        unit, outer = self._unit(function), location
        while outer is not None and (
            unit.source_line(outer.file, outer.line) is None or _header_of(unit.files.get(outer.file, unit.name))
        ):
            outer = outer.inlined_at
        return location if outer is None else outer

    def name_apart(self, taken: dict[str, str]) -> None:
        """Call texts that are called as others are by names of their own: scale-2.cu.

        taken: texts by name that are shown beside these; those of this module are added.
        """
        for unit in self.units:
            for file, text in unit.texts.items():
                name = self._shown.get(file) or self._name(file)
                stem, _, suffix = name.rpartition(".")
                number = 2
                while taken.get(name, text) != text:
                    name, number = f"{stem}-{number}.{suffix}" if stem else f"{suffix}-{number}", number + 1
                taken[name] = text
                self._shown[file] = name

    @property
    def sources(self) -> dict[str, tuple[str, ...]]:
        """The lines of the files that places name, a compiler's own headers apart, as far as they can be read."""
        found = {}
        for unit in self.units:
            for number, file in unit.files.items():
                name = self._shown.get(file)
                text = unit.source_text(number) if name is not None and not name.startswith("<") else None
                if name is not None and text is not None:
                    found[name] = tuple(text.split("\n"))
        return found

    def _unit(self, function: str) -> CompiledModule:
        return self._homes[function][1] if function in self._homes else self.units[0]

    def _name(self, file: str) -> str:
        """What a file is called: from the folder of the program; <name> for a header of the compiler's."""
        if header := _header_of(file):
            return header
        path = Path(file).absolute()
        if self._folder is not None and path.is_relative_to(self._folder):
            return str(path.relative_to(self._folder))
        if self._folder is None and Path(file).is_absolute() and path.is_relative_to(Path.cwd()):
            return str(path.relative_to(Path.cwd()))  # a script's own, as the user names it
        return file


def _text(name: str) -> str:
    try:
        return Path(name).read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return ""


@cache
def _compiler_headers() -> tuple[Path, ...]:
    try:
        return tuple(include_folders(find_nvrtc()))
    except CompilerError:
        return ()


@cache
def _header_of(file: str) -> str:
    """What a header of the compiler's is called; empty for other files."""
    path = Path(file).absolute()
    return next((f"<{path.relative_to(each)}>" for each in _compiler_headers() if path.is_relative_to(each)), "")


class _Merged(Mapping[str, Function]):
    """Functions by name, each parsed by its own module when it is needed."""

    def __init__(self, homes: Mapping[str, tuple[Module, CompiledModule]]) -> None:
        self._homes = homes

    def __getitem__(self, name: str) -> Function:
        return self._homes[name][0].functions[name]

    def __iter__(self):  # type: ignore[no-untyped-def]
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)
