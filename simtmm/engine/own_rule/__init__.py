"""Scheduling rules of users as machine code for the fast engine, where they are written in a part of Python.

A rule is translated to the part of Python that simtmm/native compiles, as text that is never run as Python. What is
translated: functions of `ready` and `group`, and classes of such rules whose `__init__` sets whole numbers and truths,
with what simtmm.rules.ReadyWarp and CoreGroup have; assignments, branches, loops, arithmetic of whole numbers,
comparisons, comprehensions of one loop, parts of lists, `min`, `max`, `sorted` with keys, `sum`, `any`, `all`, `next`,
`len`, `range`, `abs`, and functions of the same kind, which are written where they are called. Anything else is refused
with its line. Where Python would raise, or a number needs more than 64 bits, the run ends with a fault, and the
reference engine takes it over.

    columns      what a compiled rule is called with
    source       the definition of a function, compared with what Python runs
    operands     what expressions stand for
    writing, names, expressions, sequences, calls, statements   from a definition to text: a rule
    compiled     from a rule to a loop
"""
