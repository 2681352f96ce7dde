"""How many launches a source has by its text: loops of known rounds, functions that are called, branches; else None."""

import pytest

from simtmm.requests.launch_count import launches_of


def program(tmp_path, body, before=""):
    path = tmp_path / "p.cu"
    path.write_text(f"{before}\nint main(int argc, char** argv)\n{{\n{body}\n}}\n")
    return launches_of(path)


def script(tmp_path, body):
    path = tmp_path / "s.py"
    path.write_text(
        f"from numba import cuda\n@cuda.jit\ndef k(a):\n    a[0] = 1\n@cuda.jit(fastmath=True)\ndef m(a): ...\n{body}"
    )
    return launches_of(path)


@pytest.mark.parametrize(
    ("body", "launches"),
    [
        ("k<<<1, 2>>>(a);", 1),
        ("for (int i = 0; i < 150; ++i) k<<<1, 2>>>(a, i);", 150),
        ("for (int i = 0; i < 10; i++) { k<<<1>>>(); for (auto j = 0; j <= 8; j += 2) m<<<1>>>(); } m<<<1>>>();", 61),
        ("for (size_t i = 1; i < 10ull; ++i) k<<<1, 2>>>(a); if (argc) puts(\"k<<<1, 2>>>\"); // k<<<1, 2>>>(a);", 9),
        ("for (int i = 0; i < STEPS / 2; ++i) k<<<1, 2>>>(a);", 20),
        ("for (int i = 0; i < rounds; ++i) twice(a);", 2 * 8),
        ("if (argc) k<<<1, 2>>>(a); else { m<<<1, 2>>>(a); m<<<1, 2>>>(a); }", 2),
        ("do { argc--; } while (argc > 0); while (argc) argc--; k<<<1, 2>>>(a);", 1),
        ("auto f = [&](int i) { return i; }; int c[] = {1, 2}; k<<<dim3(1, 2), 3>>>(a);", 1),
    ],
)  # fmt: skip
def test_launches_of_a_program(tmp_path, body, launches):
    before = "#define STEPS 40\nconst int rounds = 1 << 3;\nvoid twice(float* a) { k<<<1, 2>>>(a); k<<<1, 2>>>(a); }"
    assert program(tmp_path, body, before) == launches


@pytest.mark.parametrize(
    "body",
    [
        "puts(\"none\");",
        "for (int i = 0; i < argc; ++i) k<<<1, 2>>>(a);",  # by its arguments
        "for (int i = 64; i; i /= 2) k<<<1, 2>>>(a);",
        "while (argc--) k<<<1, 2>>>(a);",
        "do k<<<1, 2>>>(a); while (--argc);",
        "again(3);",
        "for (int i = 0; i < 10; ++i) k<<<1, 2>>>(a",  # does not compile
        "for (int i = 0; i < 100000000; ++i) k<<<1, 2>>>(a);",
    ],
)  # fmt: skip
def test_of_a_program_whose_text_does_not_say_nobody_knows(tmp_path, body):
    assert program(tmp_path, body, "void again(int n) { k<<<1, 2>>>(n); if (n) again(n - 1); }") is None


@pytest.mark.parametrize(
    ("body", "launches"),
    [
        ("k[1, 2](a)", 1),
        ("n = 6 * 10\nfor step in range(n):\n    k[1, 2](a); m[1, 2](b)", 120),
        ("for x in (1, 2, 3):\n    for y in range(2, 10, 4):\n        k[1, 2](a)", 6),
        ("def once():\n    k[1, 2](a)\nfor x in range(5): once()\nwith x: once()", 6),
        ("if a: k[1, 2](a)\nelse:\n    for x in range(3): k[1, 2](a)", 3),
        ("while a: a -= 1\ntry:\n    k[1, 2](a)\nexcept E: pass\nb = k[1, 2](a)", 2),
        ("def main():\n    k[1, 2](a)\nif __name__ == '__main__':\n    main()", 1),
    ],
)
def test_launches_of_a_script(tmp_path, body, launches):
    assert script(tmp_path, body) == launches


@pytest.mark.parametrize(
    "body",
    [
        "a[1](2)",
        "n = int(x)\nfor step in range(n): k[1, 2](a)",
        "n = 5\nn = int(x)\nfor step in range(n): k[1, 2](a)",  # no longer 5
        "while a: k[1, 2](a)",
        "for x in xs: k[1, 2](a)",
        "def again():\n    k[1, 2](a)\n    again()\nagain()",
        "k[1, 2](a",
    ],
)
def test_of_a_script_whose_text_does_not_say_nobody_knows(tmp_path, body):
    assert script(tmp_path, body) is None


def test_a_file_that_is_not_there_says_nothing(tmp_path):
    assert launches_of(tmp_path / "none.cu") is None
