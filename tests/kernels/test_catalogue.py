"""Kernels meet the closed forms of the algorithms that they follow: work and memory operations grow as those say.

A form gives an order, so its ratio to what is counted is a constant, which a kernel's code decides. What can be tested
is that the ratio stays, from a small size to a larger one, within what lower orders explain.
"""

from dataclasses import dataclass

import pytest

from simtmm import count, load_machine, record
from simtmm.errors import ModelError
from simtmm.kernel import kernel_folders, load_kernel
from simtmm.model.algorithms import ALGORITHMS, find
from simtmm.model.algorithms.machine_letters import letters_of
from simtmm.model.algorithms.times import predict_algorithm
from tests.recorder.conftest import needs_compiler
from tests.recorder.conftest import probe_flags as probe_flags

GTX_480 = load_machine("gtx480")


def followed(name, parameters=()):
    """The algorithm that a kernel follows, and its symbols; None if it names none."""
    kernel = load_kernel(name)
    return kernel.algorithm(kernel.resolve(dict(parameters)))


FOLLOWING = [name for name in kernel_folders() if followed(name) is not None]
# Of n = 8192 elements by default; the GTX 480 holds 12288 in shared memory, the kernel sorts blocks of fewer.
BELOW_SHARED_MEMORY = {"merge-sort", "odd-even-merge-sort"}


@pytest.mark.parametrize("name", FOLLOWING)
def test_the_algorithm_that_a_kernel_follows_is_in_the_catalogue(name):
    algorithm, symbols = followed(name)
    assert algorithm in ALGORITHMS
    assert set(symbols) <= {symbol.name for symbol in find(algorithm).symbols}


@pytest.mark.parametrize("name", [name for name in FOLLOWING if name not in BELOW_SHARED_MEMORY])
def test_the_models_take_a_kernels_defaults(name):
    algorithm, symbols = followed(name)
    predictions = predict_algorithm(find(algorithm), GTX_480, symbols)
    assert predictions["pram"].cycles > 0
    assert predictions["tmm"].cycles > 0


@pytest.mark.parametrize("name", sorted(BELOW_SHARED_MEMORY))
def test_a_sort_within_shared_memory_is_refused_and_one_in_the_kernels_blocks_is_taken(name):
    algorithm, symbols = followed(name)
    with pytest.raises(ModelError, match=rf"^{algorithm}: n = 8192: must be above Z = 12288$"):
        predict_algorithm(find(algorithm), GTX_480, symbols)
    blocks = load_kernel(name).parameters["shared_elements"].default
    smaller = GTX_480.replace({"resources.shared_memory": blocks * GTX_480.memory.word_bytes})
    assert predict_algorithm(find(algorithm), smaller, symbols)["tmm"].cycles > 0


@dataclass(frozen=True)
class Growth:
    """Two sizes of a kernel, and between what the ratio of counted to closed form at the second over that at the first
    must lie: for T1 (work) and M (memory), None where the form's M is not what the kernel does.
    """

    small: dict
    large: dict
    work: tuple[float, float]
    memory: tuple[float, float] | None
    variant: str | None = None


NEARLY_EQUAL = (0.95, 1.05)  # what is done once a thread, block or launch is that much of the smaller size at most
# Nodes or vertices lie anywhere, but while few chunks hold them all, threads of a warp meet in one by chance. Of a list
# of 512 nodes that saves 30 % of the transfers; the most is one for a jump, and two sixteenths for the node itself.
FEWER_MEETINGS = (1.0, 1.125 / 0.7)

GROWTH = {
    "list-ranking-wyllie": Growth({"n": 512}, {"n": 8192}, NEARLY_EQUAL, FEWER_MEETINGS),
    # its version with a launch a step; in the others few threads go on until the last node has arrived
    "list-ranking-wyllie-variants": Growth(
        {"n": 1024, "version": "stepwise"}, {"n": 16384, "version": "stepwise"}, NEARLY_EQUAL, FEWER_MEETINGS
    ),
    # the second list has n / lg n nodes, a tenth of the first at n = 1024 and a fourteenth at 16384
    "list-ranking-helman-jaja": Growth({"n": 1024}, {"n": 16384}, (0.9, 1.05), FEWER_MEETINGS),
    # ranking the arcs, and a few passes over them, which read and write anywhere, too
    "euler-tour": Growth({"n": 513}, {"n": 8193}, (0.9, 1.05), FEWER_MEETINGS),
    "copy": Growth({"n": 4096}, {"n": 65536}, NEARLY_EQUAL, NEARLY_EQUAL),
    "reduce": Growth({"n": 4096}, {"n": 65536}, NEARLY_EQUAL, NEARLY_EQUAL),
    "scan": Growth({"n": 4096}, {"n": 65536}, NEARLY_EQUAL, NEARLY_EQUAL),
    # work is the butterflies'. The first five stages write at strides within a warp; they are 5 of 9, then of 13.
    "fft": Growth({"n": 512}, {"n": 8192}, (0.999, 1.001), (0.85, 1.0)),
    # the product is written once, n^2 beside n^3 / S_D reads: two sub-blocks in a row, then six
    "matrix-multiplication": Growth({"n": 32, "sub_block": 16}, {"n": 96, "sub_block": 16}, NEARLY_EQUAL, (0.8, 1.0)),
    "apsp-minplus": Growth({"n": 32}, {"n": 64}, NEARLY_EQUAL, (0.8, 1.0)),  # likewise, two and then four
    # M takes an edge's ends to lie in chunks, but where an edge starts is looked up
    "apsp-bellman-ford": Growth({"n": 16}, {"n": 48}, NEARLY_EQUAL, None),
    # the block's reduction at each vertex is n^2 beside n^3: were it all, the ratio would fall to 64 / 160
    "apsp-johnson-array": Growth({"n": 64}, {"n": 160}, (0.4, 1.0), (0.9, 1.1)),
    # lg n is the depth of a full heap; heaps are seldom full, the larger the less
    "apsp-johnson-heap": Growth({"n": 16}, {"n": 64}, (0.85, 1.0), (0.95, 1.1)),
    "merge": Growth({"n": 4096}, {"n": 32768}, NEARLY_EQUAL, NEARLY_EQUAL),
    # Sorting within blocks is beside lg(n / Z) levels, 3 and then 7: were it all, the ratio would fall to 3 / 7. Its
    # pass through memory is one beside as many, so that M could fall to (8 / 7) / (4 / 3); levels search longer, too.
    "merge-sort": Growth({"n": 2048}, {"n": 32768}, (3 / 7, 1.0), (6 / 7, 1.0)),
    # Passes through memory: one for the blocks, and in stage i of x = lg(n / Z) there are i + 2 at long strides, worth
    # i + 1 as some elements rest, and one in windows that overlap, worth 1.5: in all 1 + x^2 / 2 + 3 x, over x^2.
    "odd-even-merge-sort": Growth(
        {"n": 4096, "shared_elements": 256},
        {"n": 32768, "shared_elements": 256},
        NEARLY_EQUAL,
        tuple(limit * (46.5 / 7**2) / (21 / 4**2) for limit in NEARLY_EQUAL),
        "mended",
    ),
    # A comparison ends at the first letter that differs: of four letters, a text of m has all words of lg m / 2, 7 and
    # then 8.5. The first five levels of the search are the same for a warp, 5 of 14 and then of 17.
    "suffix-array": Growth(
        {"n": 256, "m": 2**14}, {"n": 1024, "m": 2**17}, (1.0, 8.5 / 7), (1.0, 8.5 / 7 * (12 / 17) / (9 / 14)), "mended"
    ),
    # likewise, a query goes down 6 and then 7 letters
    "suffix-tree": Growth({"n": 512, "m": 2**12}, {"n": 2048, "m": 2**14}, (1.0, 7 / 6), (1.0, 7 / 6)),
    # rounds are lg n at most, as the graph has it; M takes neighbours to lie in chunks, which random ones don't
    "connected-components": Growth({"n": 2048}, {"n": 16384}, (0.85, 1.1), None),
    "boruvka": Growth({"n": 2048}, {"n": 16384}, (0.85, 1.1), FEWER_MEETINGS),
    # an anti-diagonal begins and ends within a chunk, of up to 64 and then 256 letters
    "sequence-alignment": Growth({"n": 64, "m": 64}, {"n": 256, "m": 256}, NEARLY_EQUAL, (0.7, 1.0)),
    # each thread reads its own stretch, so no two of a warp share a chunk
    "looped-memory-access": Growth({"n": 32768}, {"n": 131072}, NEARLY_EQUAL, NEARLY_EQUAL, "irregular"),
    "hashing": Growth(
        {"n": 4096, "memory": "global", "working_set": 2**22, "operation": "update"},
        {"n": 65536, "memory": "global", "working_set": 2**22, "operation": "update"},
        NEARLY_EQUAL,
        NEARLY_EQUAL,
    ),
    # M takes w-mers to be read in chunks; the kernel also writes its finds, of which the database decides
    "bloom-filter": Growth({"n": 1024}, {"n": 4096}, NEARLY_EQUAL, None),
    "facs": Growth({"n": 32, "stop": "never"}, {"n": 256, "stop": "never"}, NEARLY_EQUAL, NEARLY_EQUAL),
}


def test_every_kernel_that_follows_an_algorithm_is_here():
    assert set(GROWTH) == set(FOLLOWING)


def counted_over_form(name, parameters, variant):
    """T1 and M as counted over those of the closed form; Z is what the kernel sorts in shared memory, where it says."""
    algorithm, symbols = followed(name, parameters)
    formula = find(algorithm).counts(variant, symbols)
    blocks = load_kernel(name).resolve(parameters).get("shared_elements")
    known = letters_of(GTX_480) | symbols | ({} if blocks is None else {"Z": blocks})
    form = formula.evaluate(**{symbol.name: known[symbol.name] for symbol in formula.symbols}).terms
    counts = count(record(name, parameters), GTX_480)
    return counts.work / float(form["T1"]), counts.memory_operations / float(form["M"])


@needs_compiler
@pytest.mark.usefixtures("probe_flags")
@pytest.mark.parametrize("name", GROWTH)
def test_counts_grow_as_the_closed_form(name):
    case = GROWTH[name]
    small, large = (counted_over_form(name, parameters, case.variant) for parameters in (case.small, case.large))
    for term, before, after, band in zip(("T1", "M"), small, large, (case.work, case.memory), strict=True):
        if band is not None:
            low, high = band
            assert low <= after / before <= high, (term, before, after)


@needs_compiler
@pytest.mark.usefixtures("probe_flags")
def test_a_wrong_order_would_be_found():
    """Wyllie's work without lg n: the ratio grows from 9 to 13 steps."""
    (before, _), (after, _) = (counted_over_form("list-ranking-wyllie", {"n": n}, None) for n in (512, 8192))
    low, high = GROWTH["list-ranking-wyllie"].work
    assert not low <= after * 13 / (before * 9) <= high
