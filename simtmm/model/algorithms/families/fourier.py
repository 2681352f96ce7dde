"""Fast Fourier transform.

The third term of Eq (4.32), lg N L / C, is below the critical path: lg N steps follow one another, and each waits for
memory at least once. The variant "mended" has lg N L.
"""

from simtmm.model.algorithms.algorithm import Algorithm, Form
from simtmm.model.equations.formula import Symbol
from simtmm.model.equations.functions import lg

FFT = Algorithm(
    name="fft",
    title="Fast Fourier transform",
    symbols=(Symbol("N", "points", "points", minimum=1),),
    forms={
        "printed": Form(
            work=lambda N: N * lg(N),
            span=lambda N: lg(N),
            memory=lambda N, C: N * lg(N) / C,
            threads=lambda N: N,
            source="000 (Ma), section 4.3, Eq (4.32)",
        ),
        "mended": Form(
            work=lambda N: N * lg(N),
            span=lambda N: lg(N),
            memory=lambda N, C: N * lg(N) / C,
            threads=lambda N: N,
            chain=lambda N: lg(N),
            source="000 (Ma), section 4.3, Eq (4.32), with lg N L for its third term",
        ),
    },
)
