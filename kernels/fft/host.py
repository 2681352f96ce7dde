"""Fast Fourier transform, radix-2 Stockham, a launch a stage.

n random complex points, zeros behind them up to a power of two N; lg N stages of N/2 butterflies, a thread each. Two
arrays take turns; nothing races.
"""

import numpy as np

from simtmm.kernel import Launch, Parameter, WrongAnswer

PAPER = "000 (Ma) section 4.3, Eq (4.32)"

PARAMETERS = {
    "n": Parameter(4096, "points; zeros are added up to a power of two", minimum=2, maximum=2**24),
    "threads": Parameter(128, "threads of a block", minimum=1, maximum=1024),
}

REGISTERS = 18  # assumption: three complex numbers, the twiddle factor, addresses


def stages(n):
    """lg N."""
    return (n - 1).bit_length()


def algorithm(p):
    return "fft", {"N": 2 ** stages(p.n)}


def inputs(p):
    random = np.random.default_rng(p.seed)
    points = np.zeros((2 ** stages(p.n), 2), dtype=np.float32)  # real and imaginary part
    points[: p.n] = random.standard_normal((p.n, 2))
    return {"points": points, "transformed": np.zeros_like(points)}


def launches(p, memory):
    buffers = ("points", "transformed")
    half = len(memory["points"]) // 2
    for stage in range(stages(p.n)):
        before, after = buffers[stage % 2], buffers[(stage + 1) % 2]
        yield Launch(
            "stage",
            (before, after, half, 2**stage),
            grid=-(-half // p.threads),
            block=p.threads,
            registers_per_thread=REGISTERS,
        )


def check(p, before, after):
    found, points = after[("points", "transformed")[stages(p.n) % 2]], before["points"]
    expected = np.fft.fft(points[:, 0].astype(float) + 1j * points[:, 1])
    # A stage adds to the relative error in the 2-norm at most that of the twiddle factors and 4 sqrt(2) roundings of
    # u = 2^-24 for its sums and products. A twiddle factor errs by 4.6 u for the angle (pi, a product: 1.5 u of at most
    # pi) and 2 sqrt(2) u for cosine and sine (2 units in the last place each): 13.1 u in all.
    allowed = 14 * 2.0**-24 * stages(p.n)
    error = np.linalg.norm(found[:, 0] + 1j * found[:, 1] - expected) / np.linalg.norm(expected)
    if not error <= allowed:
        raise WrongAnswer(f"the transform has a relative error of {error:.3g}, roundings allow {allowed:.3g}")
