"""Calls that give a parameter what another parameter of theirs is called: arguments that were exchanged, or mistyped.

Only calls are looked at whose function is known from the source: of the same module, imported, a class of fields, or a
method that all classes with one of that name declare alike.
"""

import ast
import gc
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

Parameters = tuple[tuple[str, ...], frozenset[str]]  # by position, and all
SHORT = 1  # letters of a name that says nothing

# By reason: a module, and the parameter with what it is given.
RIGHT = {
    "a folder of what is built serves as the one that compilers write to": [
        "simtmm.cuda.compilers.binaries.disassembly: run(scratch=folder)",
        "simtmm.cuda.compilers.nvcc: run(scratch=folder)",
        "simtmm.cuda.compilers.ptxas: run(scratch=folder)",
        "simtmm.programs.building.build: run(scratch=folder)",
        "simtmm.programs.building.runtime_library: run(scratch=folder)",
    ],
    "a line of a file is what was found there": [
        "simtmm.trace.importers.accelsim.header: DamagedError(found=line)",
        "simtmm.trace.importers.accelsim.kernel_list: DamagedError(found=line)",
        "simtmm.trace.importers.memtrace_records: DamagedError(found=line)",
    ],
    "a thread meets itself: both parties of a finding are the same": [
        "simtmm.cuda.checks.accesses: note(other_thread=thread)",
        "simtmm.cuda.checks.barriers: note(other_thread=thread)",
        "simtmm.cuda.checks.cells: note(other_thread=thread)",
        "simtmm.engine.fast.memory.path: on_way(called=start)",
        "simtmm.engine.fast.memory.path: on_way(known=start)",
        "simtmm.report.trace_events.file: _named(place=process)",
        "simtmm.report.trace_events.file: _named(place=thread)",
        "simtmm.scripts.numba_cuda.driver: self._copy(of_device=to)",
        "simtmm.scripts.numba_cuda.driver: self._copy(of_device=source)",
        "simtmm.trace.contention.finding: grown(more_words=words)",
        "simtmm.trace.contention.finding: grown(more_steps=steps)",
    ],
    "matrices are handed on transposed": [
        "simtmm.cuda.execution.instructions.matrices.products: Fragment(rows=columns)",
        "simtmm.cuda.execution.instructions.matrices.wgmma: Fragment(rows=columns)",
        "simtmm.cuda.execution.instructions.matrices.wgmma: _turn(rows=columns)",
        "simtmm.cuda.execution.instructions.matrices.wmma: Fragment(rows=columns)",
    ],
    "drawn machines and workloads: the caller names them by what it does with them": [
        "simtmm.testing.cases: _machines(draw=kind)",
        "simtmm.testing.cases: _machines(kind=on_stall)",
        "simtmm.testing.cases: _case(draw=kind)",
        "simtmm.testing.cases: _case(kind=pair)",
        "simtmm.testing.cases: _other_future(draw=blocks)",
        "simtmm.testing.cases: _other_blocks(draw=blocks)",
        "simtmm.testing.cases: _barriers(draw=on_stall)",
        "simtmm.testing.cases: _memory(draw=on_stall)",
        "simtmm.testing.cases: _always(draw=on_stall)",
        "simtmm.testing.observed: Seen(age=self.number)",
    ],
    "a row of DRAM lies in the table of open rows as a chunk lies in a cache": [
        "simtmm.engine.fast.memory.partitions: find_line(chunk=row)",
        "simtmm.engine.fast.memory.partitions: insert_line(chunk=row)",
    ],
    "a method of NumPy's, of which ours has only the name": [
        "simtmm.programs.memory: each.data.view(address=dtype)",
    ],
    "both names are right: the value has two meanings there, or the callee's name is of another thing": [
        "simtmm.analysis.comparison.programs: Wanted(source=kernel)",
        "simtmm.analysis.nsight.lines: _instance(text=name)",
        "simtmm.analysis.source_changes.advice: _is_of_same(one=other)",
        "simtmm.analysis.tuning.kept: Trial(least=cycles)",
        "simtmm.analysis.what_if.trials: _parameter(of=most)",
        "simtmm.calibration.device: with_sources(base=machine)",
        "simtmm.calibration.streams.counts: LaunchCounts(span=work)",
        "simtmm.calibration.streams.counts: LaunchCounts(thread_accesses=accesses)",
        "simtmm.cuda.checks.proxies: has_fenced(by=other)",
        "simtmm.cuda.execution.control_flow.warp_sync: _kept(other=lane)",
        "simtmm.cuda.execution.instructions.numbers.packed_video: _places(first=count)",
        "simtmm.cuda.ptx.renaming: _rename_block(renamed_instructions=instructions)",
        "simtmm.cuda.sass.families.call: Variable(align=size)",
        "simtmm.cuda.sass.kernel: Function(name=entry)",
        "simtmm.engine.fast.steps.dispatch: see(block=number)",
        "simtmm.engine.own_rule.sequences: Frame(assigned=names)",
        "simtmm.engine.reference.mbarriers: self.arrive(tick=now)",
        "simtmm.engine.reference.memory.path: self.l2.keep_chunk(start=now)",
        "simtmm.explorer.start: resolved(given=parameters)",
        "simtmm.machine.spec: with_new_keys(tables=renamed)",
        "simtmm.native.loop: Bound(_table=table)",
        "simtmm.programs.memory: Allocation(array=data)",
        "simtmm.programs.recording: sampled_blocks(sample_blocks=blocks)",
        "simtmm.recorder: is_same_file(other=path)",
        "simtmm.scripts.cupy.elementwise: decided(arguments=ins)",
        "simtmm.scripts.numba_cuda.launches: _units(entry=self.name)",
        "simtmm.study.design.subject: Subject(source=name)",
        "simtmm.study.design.subject: Subject(name=source)",
        "simtmm.trace.importers.blocks: table.insert_pages(rows=pages)",
        "simtmm.trace.importers.blocks: _array(end=base)",
        "simtmm.trace.races.scan: _touch(me=block)",
        "simtmm.trace.thread_counts: _with_work(before=work)",
        "simtmm.workload.json_form: is_whole(value=least)",
    ],
}


def module_of(file: str) -> str:
    """What a source is imported as."""
    return file.removesuffix(".py").replace("/", ".").removesuffix(".__init__")


def package(tree: Path) -> dict[str, ast.Module]:
    """All of simtmm, by module."""
    files = sorted((tree / "simtmm").rglob("*.py"))
    collects = gc.isenabled()
    gc.disable()  # which would look through all nodes again and again, and takes five times as long as the parser
    try:
        return {module_of(file.relative_to(tree).as_posix()): ast.parse(file.read_bytes()) for file in files}
    finally:
        if collects:
            gc.enable()


@dataclass(frozen=True)
class Exchanged:
    """A call's argument. parameter: what it is given as. argument: the source, which another parameter is called."""

    module: str
    line: int
    called: str
    parameter: str
    argument: str

    def __str__(self) -> str:
        return f"{self.module}: {self.called}({self.parameter}={self.argument})"


class Signatures:
    """The parameters of all functions, methods and classes of fields of a package, by what modules call them."""

    def __init__(self, modules: Mapping[str, ast.Module]) -> None:
        self._own = {name: dict(_declared(tree)) for name, tree in modules.items()}
        self._imports = {name: _imports(tree) for name, tree in modules.items()}
        methods: dict[str, set[Parameters]] = {}
        for declared in self._own.values():
            for name, parameters in declared.items():
                if "." in name:
                    methods.setdefault(name.partition(".")[2], set()).add(parameters)
        # Of __init__ and its like every class has one, those that are not ours as well.
        self._methods = {
            name: next(iter(all_of))
            for name, all_of in methods.items()
            if len(all_of) == 1 and not name.startswith("__")
        }

    def of(self, module: str, call: ast.Call) -> Parameters | None:
        """Of what a call in a module calls; None where that is not known."""
        match call.func:
            case ast.Name(id=name):
                return self._named(module, name)
            case ast.Attribute(value=ast.Name(id=owner), attr=name):
                of = ".".join(self._imports[module].get(owner, ("", "")))
                return self._own[of].get(name) if of in self._own else self._methods.get(name)
            case ast.Attribute(attr=name):
                return self._methods.get(name)
        return None

    def _named(self, module: str, name: str) -> Parameters | None:
        """Of a name of a module, which others may have imported from others."""
        seen = set[tuple[str, str]]()
        while module in self._own and (module, name) not in seen:
            if name in self._own[module]:
                return self._own[module][name]
            seen.add((module, name))
            module, name = self._imports[module].get(name, ("", ""))
        return None


def _imports(tree: ast.Module) -> dict[str, tuple[str, str]]:
    """Module and name of what a module imports, by its name there."""
    return {
        each.asname or each.name: (node.module, each.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for each in node.names
    }


def _declared(tree: ast.Module) -> Iterator[tuple[str, Parameters]]:
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            yield node.name, _parameters(node, 0)
        elif isinstance(node, ast.ClassDef):
            methods = [each for each in node.body if isinstance(each, ast.FunctionDef)]
            for each in methods:
                name = node.name if each.name == "__init__" else f"{node.name}.{each.name}"
                yield name, _parameters(each, "staticmethod" not in map(_word, each.decorator_list))
            if all(each.name != "__init__" for each in methods) and _has_fields(node):
                fields = [each.target for each in node.body if isinstance(each, ast.AnnAssign)]
                names = tuple(each.id for each in fields if isinstance(each, ast.Name))
                yield node.name, (names, frozenset(names))


def _has_fields(node: ast.ClassDef) -> bool:
    """Whether its own fields, and no base's, are what it is made of."""
    decorators = {_word(each.func if isinstance(each, ast.Call) else each) for each in node.decorator_list}
    bases = {_word(each) for each in node.bases}
    return bases == {"NamedTuple"} or (not bases and "dataclass" in decorators)


def _parameters(node: ast.FunctionDef, skipped: int) -> Parameters:
    by_position = tuple(each.arg for each in (*node.args.posonlyargs, *node.args.args))[skipped:]
    return by_position, frozenset((*by_position, *(each.arg for each in node.args.kwonlyargs)))


def _word(node: ast.expr) -> str:
    """The last name of a name, an attribute, or self's own."""
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id="self" | "cls" | "dataclasses"), attr=name):
            return name.lstrip("_")
    return ""


def exchanged(modules: Mapping[str, ast.Module]) -> Iterator[Exchanged]:
    """All arguments that bear the name of another parameter of what is called."""
    signatures = Signatures(modules)
    for module, tree in modules.items():
        yield from exchanged_in(module, tree, signatures)


def exchanged_in(module: str, tree: ast.Module, signatures: Signatures) -> Iterator[Exchanged]:
    """Those of one module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and (parameters := signatures.of(module, node)):
            yield from _of_call(module, node, *parameters)


def _of_call(module: str, call: ast.Call, by_position: tuple[str, ...], every: frozenset[str]) -> Iterator[Exchanged]:
    given: list[tuple[str, ast.expr]] = []
    for name, argument in zip(by_position, call.args, strict=False):
        if isinstance(argument, ast.Starred):
            break
        given.append((name, argument))
    given += [(each.arg, each.value) for each in call.keywords if each.arg]
    for name, argument in given:
        word = _word(argument)
        if len(word) > SHORT and word != name and word in every:
            yield Exchanged(module, call.lineno, ast.unparse(call.func), name, ast.unparse(argument))
