"""What a programmer could change: operations that changed source would produce, simulated on the machine.

excerpt      a part of a run that is simulated in a moment
operations   a workload by operation, and put together again
changes      what becomes of operations where the source changes
regrouped    likewise, where operations come in another order or are fewer
reordered    such operations put together again
blocks       likewise, where blocks have another size
lines        what is known of a line, and of a change
cooperation  changes of how a block's threads share work
serial       likewise, where one of them does all of it
arithmetic   changes of what is computed
launch_shape changes of how many blocks there are, and of what size
launches     changes of how often a program launches
candidates   which changes are worth trying
advice       what they gain
"""

from simtmm.analysis.source_changes.advice import advise, best_of, counted_lines, try_changes, worth_telling
from simtmm.analysis.source_changes.lines import BOUND, ESTIMATE, Advice, Line, ideal_chunks
from simtmm.analysis.source_changes.uneven import Uneven, uneven

__all__ = [
    "BOUND",
    "ESTIMATE",
    "Advice",
    "Line",
    "Uneven",
    "advise",
    "best_of",
    "counted_lines",
    "ideal_chunks",
    "try_changes",
    "uneven",
    "worth_telling",
]
