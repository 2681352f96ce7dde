"""Replacement in a set of a cache, as small functions: which line a full set drops for a chunk that comes.

    def policy(lines, chunk):          # lines: simtmm.replacement.Line, in the order in which they came
        return lines[0]                # one of them

simtmm.testing.check_policy looks for accesses that break what a policy's author promises (docs/rules.md). Machines have
policies of their own, least recently used and random; simtmm.simulate(..., replacement=policy) has another in their
place, on the reference engine.
"""

from simtmm.replacement.cache_set import Access, CacheSet, Chooser, Line, Policy, Replacement
from simtmm.replacement.policies import POLICIES, first_in_first_out, least_recently_used, random_line, two_queues

__all__ = [
    "POLICIES", "Access", "CacheSet", "Chooser", "Line", "Policy", "Replacement", "first_in_first_out",
    "least_recently_used", "random_line", "two_queues",
]  # fmt: skip
