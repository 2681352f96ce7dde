"""Forms of PTX that people write and compilers seldom: declarations, a body, and what thread t stores at last.

A body has %i, the thread's number, and leaves its answer in %o; r0 to r15, s0 to s7, f0 to f7, h0 to h7 and p0 to p7
are registers.
"""

from collections.abc import Callable
from dataclasses import dataclass

THREADS = 64
MASK = 0xFFFFFFFF
REAL_1 = 0x3F800000


@dataclass(frozen=True)
class Form:
    """A kernel "k" of a pointer.

    expected: of a thread's number. entry: what stands behind its parameters. head: version and target.
    """

    name: str
    body: str
    expected: Callable[[int], int]
    declared: str = ""
    entry: str = ""
    head: str = ".version 8.7\n.target sm_90"

    @property
    def architecture(self) -> str:
        """Of its target."""
        return self.head.split()[-1]

    @property
    def text(self) -> str:
        """The module."""
        return f"""\
{self.head}
.address_size 64
{self.declared}
.visible .entry k(.param .u64 out) {self.entry}
{{
  .reg .b64 %p, %at, s<8>; .reg .b32 %i, %o, r<16>; .reg .f32 f<8>; .reg .b16 h<8>; .reg .pred %q, p<8>;
  ld.param.u64 %p, [out]; mov.u32 %i, %tid.x; mad.wide.u32 %at, %i, 4, %p; mov.u32 %o, 0;
  {self.body}
  st.global.u32 [%at], %o;
  ret;
}}
"""


def _always(number: int) -> Callable[[int], int]:
    return lambda thread: number


def _thread(thread: int) -> int:
    return thread


_OLD = ".version 6.3\n.target sm_75"  # later ones have votes and shuffles with .sync alone
_G = ".global .b32 g[16] = {1, 2, 3, 4};"
_ONE = ".func (.reg .b32 r) f (.reg .b32 x) { add.u32 r, x, 1; ret; }"
_BY_PARAM = """.func (.param .b32 r) f (.param .b32 x) { .reg .b32 a; ld.param.b32 a, [x]; st.param.b32 [r], a; ret; }
.func (.param .b64 r) other (.param .b64 x) { .reg .b64 a; ld.param.b64 a, [x]; st.param.b64 [r], a; ret; }"""
_INDIRECT = """.param .b32 a, b; mov.u64 s0, f; st.param.b32 [a], %i;
P: .callprototype (.param .b32 _) _ (.param .b32 _); call (b), s0, (a), P; ld.param.b32 %o, [b]; mov.u64 s0, other;"""

VECTORS = [
    Form(
        "parts by colours",
        ".reg .v4 .b32 v; mov.b32 v.r, 1; mov.b32 v.g, 2; mov.b32 v.b, 3; mov.b32 v.a, %i; add.u32 %o, v.x, v.w;",
        lambda t: t + 1,
    ),
    Form(
        "stored and loaded",
        """.reg .v4 .b32 v, u; .shared .align 16 .b32 s[256]; mov.b32 v.x, %i; mov.b32 v.y, 2; mov.b32 v.z, 3;
        mov.b32 v.w, 4; mov.u32 r0, s; mad.lo.u32 r0, %i, 16, r0; st.shared.v4.b32 [r0], v; ld.shared.v4.b32 u, [r0];
        add.u32 %o, u.x, u.w;""",
        lambda t: t + 4,
    ),
    Form(
        "moved whole, and its parts crosswise",
        """.reg .v2 .b32 v, u; mov.u32 v.x, 1; mov.u32 v.y, 1000; add.u32 v.y, v.y, %i; mov.v2.b32 u, v;
        mov.v2.b32 u, {u.y, u.x}; mad.lo.u32 %o, u.x, 3, u.y;""",
        lambda t: 3 * (1000 + t) + 1,
    ),
    Form(
        "as one number",
        ".reg .v2 .b32 v; mov.b64 s0, {%i, 5}; mov.b64 v, s0; mov.b64 s1, v; mov.b64 {_, %o}, s1; add.u32 %o, %o, v.x;",
        lambda t: t + 5,
    ),
    Form(
        "of an array of vectors, hiding another name",
        ".reg .b32 v1; mov.u32 v1, 3; "
        "{ .reg .v2 .b32 v<2>; mov.u32 v1.x, %i; mov.u32 v1.y, 8; mov.v2.b32 {_, %o}, v1; }"
        " add.u32 %o, %o, v1;",
        _always(11),
    ),
    Form("%tid whole", ".reg .v4 .b32 v; mov.v4.u32 v, %tid; add.u32 %o, v.x, v.y;", _thread),
    Form("%tid of 16 bits", "mov.u16 h0, %tid.x; cvt.u32.u16 %o, h0;", _thread),
    Form("halves", "mov.b32 {h0, h1}, %i; mov.b32 %o, {h1, h0};", lambda t: t << 16),
    Form("one half", "mov.b32 {h0, _}, %i; cvt.u32.u16 %o, h0;", _thread),
    Form("bytes", ".reg .b8 a, b, c, d; mov.b32 {a, b, c, d}, %i; mov.b32 %o, {d, c, b, a};", lambda t: t << 24),
    Form(
        "halves of a tile of ldmatrix",
        """.shared .align 16 .b8 s[1024]; mov.u32 r0, s; mad.lo.u32 r1, %i, 4, r0; st.shared.b32 [r1], %i; bar.sync 0;
        and.b32 r1, %i, 7; mad.lo.u32 r1, r1, 16, r0; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {r2}, [r1];
        mov.b32 {h0, h1}, r2; cvt.u32.u16 %o, h0;""",
        lambda t: t % 32,
    ),
]
CONSTANTS = [
    Form("operators", "mov.u32 %o, 3 + 4 * 2; add.u32 %o, %o, (1 << 4) | 2;", _always(29)),
    Form("a choice", "mov.u32 %o, 1 > 2 ? 5 : 7; add.u32 %o, %o, !0; add.u32 %o, %o, - -3;", _always(11)),
    Form("WARP_SZ", "mov.u32 %o, WARP_SZ * 2 - 1; add.u32 %o, %o, WARP_SZ;", _always(95)),
    Form("of other bases", "mov.u32 %o, 0777 + 0b101; add.u32 %o, %o, 0X1FU;", _always(0o777 + 5 + 31)),
    Form("real ones", "mov.f32 f0, 1.5 + 2.5 * 2.0; add.f32 f0, f0, .5; cvt.rzi.u32.f32 %o, f0;", _always(7)),
    Form("bits of a real", "mov.b32 %o, 0f3F800000;", _always(REAL_1)),
    Form("in an address", ".shared .b32 s[64]; st.shared.b32 [s + 4 * 2], 9; ld.shared.b32 %o, [s+8];", _always(9)),
    Form("behind a register", "st.global.u32 [%at + (4 - 2 * 2)], 7; ld.global.u32 %o, [%at + 8 - 8];", _always(7)),
    Form("behind a variable", "mov.u64 s0, g + 4 * 2; ld.global.u32 %o, [s0];", _always(3), _G),
    Form(
        "of how many elements", ".local .b32 l[WARP_SZ]; st.local.u32 [l + 124], 3; ld.local.u32 %o, l[31];", _always(3)
    ),
    Form("of how many registers", ".reg .b32 v<0x4>; mov.u32 v3, 1; mov.u32 %o, v3;", _always(1)),
    Form("that hold at first", "ld.global.u32 %o, [h + 4];", _always(11), ".global .b32 h[2] = {1 + 2, 3 * 4 - 1};"),
    Form(
        "elements",
        "ld.global.u32 %o, g[1]; mov.u64 s0, g[2]; ld.global.u32 r0, [s0]; add.u32 %o, %o, r0;",
        _always(5),
        _G,
    ),
    Form("an element is stored", ".local .b32 l[4]; st.local.u32 l[3], %i; ld.local.u32 %o, [l + 12];", _thread),
    Form("an element by a register", "and.b32 r0, %i, 1; ld.global.u32 %o, g[r0 + 1];", lambda t: t % 2 + 2, _G),
    Form(
        "an element by 64 bits",
        "cvt.u64.u32 s0, %i; and.b64 s0, s0, 3; ld.global.u32 %o, g[s0];",
        lambda t: t % 4 + 1,
        _G,
    ),
    Form(
        "bytes of an address",
        "ld.global.u64 s0, [h]; mov.u64 s1, g; add.u64 s1, s1, 4; xor.b64 s0, s0, s1; cvt.u32.u64 %o, s0;",
        _always(0),
        _G + "\n.global .align 8 .u8 h[8] = {0xff(g + 4), 0xff00(g + 4), 0xff0000(g + 4), 0xff000000(generic(g) + 4), "
        "0xff00000000(g + 4), 0xff0000000000(g + 4)};",
    ),
    Form(
        "addresses of elements",
        "ld.global.u64 s0, h[1]; ld.global.u32 %o, [s0]; ld.global.u64 s0, [h + 16]; ld.global.u32 r0, [s0]; "
        "mad.lo.u32 %o, r0, 10, %o;",
        _always(23),
        _G + "\n.global .u64 h[3] = {g, g + 4 * 2, generic(g) + 4};",
    ),
]
CALLS = [
    Form("a register is passed", "call (%o), f, (%i);", lambda t: t + 1, _ONE),
    Form("and a number", "call.uni (%o), f, (3 + 4);", _always(8), _ONE),
    Form(
        "with a guard",
        "setp.lt.u32 %q, %i, 9; mov.u32 %o, 77; @%q call (%o), f, (%i);",
        lambda t: t + 1 if t < 9 else 77,
        _ONE,
    ),
    Form(
        "several results",
        """.reg .f32 e; call (r0, s0, e), f, (%i, 5, 0f3F800000); cvt.u32.u64 r1, s0; add.u32 %o, r0, r1;
        cvt.rzi.u32.f32 r1, e; add.u32 %o, %o, r1;""",
        lambda t: (t + 1) + (t + 5) + 2,
        """.func (.reg .b32 r, .reg .b64 s, .reg .f32 u) f (.reg .b32 x, .reg .b64 y, .reg .f32 v) {
        cvt.u64.u32 s, x; add.u64 s, s, y; add.u32 r, x, 1; add.f32 u, v, v; ret; }""",
    ),
    Form("a register for a variable", "call (%o), f, (%i);", _thread, _BY_PARAM),
    Form("a result that nobody wants", "mov.u32 %o, 4; call (_), f, (%i);", _always(4), _BY_PARAM),
    Form(
        "itself",
        "call (%o), f, (%i);",
        lambda t: t % 8 * (t % 8 + 1) // 2,
        """.func (.reg .b32 r) f (.reg .b32 x) { .reg .pred p; .reg .b32 y; and.b32 x, x, 7; mov.u32 r, 0;
        setp.eq.u32 p, x, 0; @p ret; sub.u32 y, x, 1; call (r), f, (y); add.u32 r, r, x; ret; }""",
    ),
    Form(
        "an argument that is written over",
        "call (%o), f, (%i);",
        lambda t: max(5, t),
        """.func (.reg .b32 r) f (.reg .b32 x) { .reg .pred p; setp.ge.u32 p, x, 5; @p bra L; mov.u32 x, 5;
        L: mov.u32 r, x; ret; }""",
    ),
    Form(
        "a constant is returned",
        "call (%o), f, (%i);",
        _always(5),
        ".func (.reg .b32 r) f (.reg .b32 x) { mov.u32 r, 5; ret; }",
    ),
    Form("the end is passed", "call f; add.u32 %o, %i, 1;", lambda t: t + 1, ".func f () { }"),
    Form(
        "the end is passed by some",
        "call (%o), f, (%i);",
        lambda t: 1 if t < 5 else 2,
        """.func (.reg .b32 r) f (.reg .b32 x) { .reg .pred p; setp.lt.u32 p, x, 5; mov.u32 r, 1; @p ret;
        mov.u32 r, 2; }""",
    ),
    Form("through a register, beside others", _INDIRECT, _thread, _BY_PARAM),
    Form(
        "through a register, by a list",
        "mov.u64 s0, f; T: .calltargets f; call (%o), s0, (%i), T;",
        lambda t: t + 1,
        _ONE,
    ),
    Form(
        "shared variables of one name",
        """.shared .b32 s[64]; mov.u32 r0, s; mad.lo.u32 r0, %i, 4, r0; st.shared.u32 [r0], %i; call (r1), f, (%i);
        ld.shared.u32 %o, [r0]; add.u32 %o, %o, r1;""",
        lambda t: t + 100,
        """.func (.reg .b32 r) f (.reg .b32 x) { .shared .b32 s[64]; .reg .b32 a; mov.u32 a, s; mad.lo.u32 a, x, 4, a;
        st.shared.u32 [a], 100; ld.shared.u32 r, [a]; ret; }""",
    ),
]
WARPS = [
    Form(
        "votes of who is here",
        """setp.lt.u32 %q, %i, 40; mov.u32 r0, %laneid; setp.lt.u32 p0, r0, 20; @!p0 bra L; vote.ballot.b32 %o, %q;
        vote.all.pred p1, %q; @p1 add.u32 %o, %o, 1; bra L; L:""",
        lambda t: 0 if t % 32 >= 20 else (1 << 20) if t < 32 else 0xFF,
        head=_OLD,
    ),
    Form(
        "a vote of all",
        "vote.any.pred p1, %q; vote.uni.pred p2, !%q; selp.u32 %o, 1, 2, p1; @p2 add.u32 %o, %o, 8;",
        _always(10),
        head=_OLD,
    ),
    Form(
        "shuffles of who is here",
        "shfl.bfly.b32 %o|p0, %i, 1, 31; @p0 add.u32 %o, %o, 100;",
        lambda t: (t ^ 1) + 100,
        head=_OLD,
    ),
    Form("bar.red over a constant", "mov.u32 %o, 7; setp.lt.u32 %q, %i, 40; bar.red.popc.u32 %o, 0, %q;", _always(40)),
]
VARIABLES = [
    Form(
        "global",
        ".global .b32 v[64]; mov.u64 s0, v; mad.wide.u32 s0, %i, 4, s0; st.global.u32 [s0], %i; "
        "ld.global.u32 %o, [s0];",
        _thread,
    ),
    Form(
        "of one name in two scopes",
        """{ .global .b32 g = 5; ld.global.u32 r0, [g]; } { .global .b32 g = 7; ld.global.u32 r1, [g]; }
        ld.global.u32 r2, [g]; mad.lo.u32 %o, r0, 10, r1; mad.lo.u32 %o, %o, 10, r2;""",
        _always(571),
        ".global .b32 g = 1;",
    ),
    Form("constant", ".const .b32 c[2] = {5, 6}; ld.const.u32 %o, [c + 4];", _always(6)),
    Form(
        "several at once",
        ".local .b32 a[2], b; st.local.u32 [b], %i; ld.global.u32 %o, [d]; ld.local.u32 r0, [b]; add.u32 %o, %o, r0;",
        lambda t: t + 5,
        ".global .b32 c, d = 5;",
    ),
    Form(
        "which is constant memory",
        """mov.u64 s0, c; cvta.const.u64 s0, s0; isspacep.const p0, s0; isspacep.global p1, s0; isspacep.const p2, %p;
        isspacep.global p3, %p; selp.u32 %o, 1, 0, p0; @p1 add.u32 %o, %o, 2; @p2 add.u32 %o, %o, 4;
        @p3 add.u32 %o, %o, 8;""",
        _always(9),
        ".const .b32 c = 5;",
    ),
    Form("a pragma in front of the body", "add.u32 %o, %i, 1;", lambda t: t + 1, entry='.pragma "nounroll";'),
]
CLUSTERS = [
    Form(
        "a barrier of the cluster",
        """.shared .b32 s[64]; mov.u32 r0, s; mad.lo.u32 r1, %i, 4, r0; st.shared.u32 [r1], %i;
        barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned; xor.b32 r2, %i, 63;
        mad.lo.u32 r1, r2, 4, r0; ld.shared.u32 %o, [r1]; barrier.cluster.arrive.relaxed; barrier.cluster.wait;""",
        lambda t: 63 - t,
    ),
]
BESIDE_MACHINE_CODE = [
    # On a GPU a block without a cluster's size meets at the wait: who leaves before it must have a size given.
    Form(
        "who arrives may leave",
        """st.global.u32 [%at], 9; barrier.cluster.arrive; setp.ge.u32 %q, %i, 40; @%q exit; barrier.cluster.wait;
        mov.u32 %o, 1; barrier.cluster.arrive; barrier.cluster.wait;""",
        lambda t: 9 if t >= 40 else 1,
    ),
    Form(
        "who arrives goes on at once",
        """.shared .b32 flag; setp.eq.u32 %q, %i, 40; @!%q bra WAIT; st.shared.u32 [flag], 5; barrier.cluster.arrive;
        bra BOTH; WAIT: barrier.cluster.arrive; LOOP: ld.volatile.shared.u32 r0, [flag]; setp.eq.u32 p0, r0, 0;
        @p0 bra LOOP; BOTH: barrier.cluster.wait; ld.shared.u32 %o, [flag];""",
        _always(5),
    ),
]
FORMS = [*VECTORS, *CONSTANTS, *CALLS, *WARPS, *VARIABLES, *CLUSTERS]
EVERY = [*FORMS, *BESIDE_MACHINE_CODE]
