"""What can be asked for: a class for each verb, whose fields are its options and its function's arguments.

The command line fills them from words (`simtmm.cli`), Python from arguments (`simtmm.api`); both have the same checks.
"""
