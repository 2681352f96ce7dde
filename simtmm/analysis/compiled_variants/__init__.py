"""What a kernel gains where its source is compiled otherwise: each variant is compiled, run, compared and simulated.

source_edits  texts of CUDA C++ with a word more, line by line as before
variants      which variants a kernel has
trial         what each takes, where it computes the same
"""

from simtmm.analysis.compiled_variants.trial import try_variants

__all__ = ["try_variants"]
