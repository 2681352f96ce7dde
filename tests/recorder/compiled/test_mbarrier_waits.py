"""What waits at mbarriers leave in a trace: no polls of the recorder's own, and no fences that the machine lacks."""

import pytest

from tests.cuda.livelock.phases import looked_at_each_turn

ARRIVE = "mbarrier.arrive.shared::cluster.b64 _, [ra];"
RELEASE = "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [ra];"
ROUNDS = 20
# Each block of a cluster gives the other a value, round by round, and waits for the other's: one warp gives, one waits.
EXCHANGE = """
#include <cooperative_groups.h>
__device__ unsigned place(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }
__device__ void wait(unsigned bar, unsigned parity)
{
    unsigned done;
    do asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p;}"
                    : "=r"(done) : "r"(bar), "r"(parity) : "memory");
    while (!done);
}
__device__ void arrive(unsigned bar, unsigned rank)
{
    asm volatile("{.reg .b32 ra; mapa.shared::cluster.u32 ra, %0, %1; HOW}" :: "r"(bar), "r"(rank) : "memory");
}
__global__ void __cluster_dims__(2) exchange(int *out, int rounds)
{
    __shared__ unsigned long long full, empty;
    unsigned rank = cooperative_groups::this_cluster().block_rank();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(place(&full)));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(place(&empty)));
    }
    cooperative_groups::this_cluster().sync();
    if (threadIdx.x == 0)
        for (int i = 0; i < rounds; i++) {
            wait(place(&empty), (i & 1) ^ 1);
            arrive(place(&full), rank ^ 1);
        }
    if (threadIdx.x == 32) {
        int sum = 0;
        for (int i = 0; i < rounds; i++) {
            wait(place(&full), i & 1);
            for (int j = 0; j < 50; j++) sum = sum * 3 + clamp;
            arrive(place(&empty), rank ^ 1);
        }
        out[blockIdx.x] = sum;
    }
    cooperative_groups::this_cluster().sync();
}
""".replace("clamp", "j")
WORDS = ("out=zeros:int32:2", f"rounds={ROUNDS}")


@pytest.mark.parametrize("form", ["ptx", "compiled"])
def test_a_trace_does_not_show_whether_somebody_looked_for_livelocks(ran, form):
    source = EXCHANGE.replace("HOW", ARRIVE)
    plain = ran(source, 2, 64, WORDS, form=form, architecture=90)
    with looked_at_each_turn(always=True) as seen:
        watched = ran(source, 2, 64, WORDS, form=form, architecture=90)
    assert seen["back"] > 0
    assert watched.info.digest == plain.info.digest


@pytest.mark.parametrize("form", ["ptx", "compiled"])
def test_an_arrival_in_another_block_takes_a_fence_only_where_it_releases_to_the_cluster(ran, form):
    def fences(how):
        trace = ran(EXCHANGE.replace("HOW", how), 2, 64, WORDS, form=form, architecture=90)
        return sum(dict(site.fences).get("device", 0) for site in trace.info.sites)

    assert fences(RELEASE) - fences(ARRIVE) == 2  # the kernel arrives in two places
