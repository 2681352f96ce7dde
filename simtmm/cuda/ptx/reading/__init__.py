"""PTX text to data: tokens, declarations and bodies of functions, as simtmm/cuda/ptx/syntax.py has them.

tokens, token_stream     words with their lines, and a look ahead
parser                   a module; bodies of its functions are read when they are needed
declarations             variables and parameters
body                     a function's registers, variables, labels and instructions
operands, expressions    what an instruction names; constants that are computed
scopes, locations        what names mean; the lines of the user's source
elements                 elements of arrays by a register's number
"""
