"""Many variants of a kernel in one program: the compiler takes longer for the headers of a program than for a kernel.

A variant is the kernel's source, as it is or with a mistake, behind the macros of some parameters. Each lies in a
namespace of its own. Its number ends the names of its __global__ functions, and is a parameter of host.py.
"""

import re
import shutil

import pytest

from simtmm import record
from simtmm.kernel import load_kernel
from simtmm.recorder import compiler, unmarked
from simtmm.recorder.cpu import record as cpu_record
from simtmm.recorder.sites import global_functions
from tests.recorder.quick import quick_flags

HOST = """

import dataclasses

PARAMETERS["variant"] = Parameter(0, "its number")
launches_of_the_kernel = launches
defines = None  # each variant has its own in kernel.cu


def launches(p, memory):
    for launch in launches_of_the_kernel(p, memory):
        yield dataclasses.replace(launch, kernel=f"{launch.kernel}_{p.variant}")
"""


class Variants:
    """Variants of one kernel, in the folder `scratch`/NAME.

    wanted: (parameters, mistake) of each; a mistake is what stands in kernel.cu once, and what instead, or None.
    """

    def __init__(self, name, wanted, scratch):
        self._kernel = load_kernel(name)
        self._numbers = {variant: number for number, variant in enumerate({self._variant(*each): 0 for each in wanted})}
        self._folder = scratch / name
        shutil.copytree(self._kernel.folder, self._folder)
        (self._folder / "kernel.cu").write_text("".join(_numbered(*variant) for variant in self._numbers.items()))
        with (self._folder / "host.py").open("a") as host:
            host.write(HOST)

    def record(self, parameters, mistake=None):
        """Record one of the variants; they are built without optimisation, which takes half as long.

        Lines that no macro marks are not looked for, which would compile all variants for a GPU as well:
        tests/recorder/test_unmarked.py does so for the shipped kernels.
        """
        number = self._numbers[self._variant(parameters, mistake)]
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(compiler, "FLAGS", quick_flags())
            patch.setattr(cpu_record, "_in_other_orders", lambda *given: "")  # nor are mistakes, in other orders
            patch.setattr(unmarked, "unmarked_warnings", lambda kernel, parameters: [])
            return record(self._folder, {**parameters, "variant": number})

    def _variant(self, parameters, mistake):
        """Macros and source."""
        source = self._kernel.source()
        if mistake:
            right, wrong = mistake
            assert source.count(right) == 1
            source = source.replace(right, wrong)
        return tuple(self._kernel.defines(self._kernel.resolve(parameters)).items()), source


def _numbered(variant, number):
    macros, source = variant
    functions = "|".join(global_functions(source))
    own = re.findall(r"^#define (\w+)", source, re.MULTILINE)
    lines = [
        f"namespace variant_{number} {{",
        *(f"#define {name} {value}" for name, value in macros),
        re.sub(rf"\b({functions})\b", rf"\1_{number}", source),
        *(f"#undef {name}" for name in [*dict(macros), *own]),
        "}",
        f"using namespace variant_{number};  // where the table of kernels finds its functions\n",
    ]
    return "\n".join(lines)
