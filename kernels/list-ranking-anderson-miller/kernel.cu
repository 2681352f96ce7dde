// Anderson and Miller's deterministic algorithm, a thread a queue of `queue` nodes; tops[t] is the first of thread t's
// queue that has not left the list yet. distance[v] is the number of nodes from v's predecessor to v.

#include "device.cuh"

#define END_OF_LIST 0x7fffffff

extern "C" __global__ void link_back(const int* successor, int* predecessor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int next = LD(successor, i);
    OP(1);  // compare with the end
    if (next != END_OF_LIST) ST(predecessor, next, i);
}

// Which neighbours of a top are tops, too: such chains of tops are coloured, and all other tops leave at once. The head
// is no top.
extern "C" __global__ void meet(const int* successor, const int* predecessor, const int* tops, int* before, int* behind,
                                int* unfinished, int round, int queue, int n, int count)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    int node = LD(tops, t);
    OP(1);  // compare with the end of the queue
    if (node >= min((t + 1) * queue, n)) return;
    ST(unfinished, round, 1);
    int next = LD_ASYNC(successor, node), previous = LD_ASYNC(predecessor, node);
    JOIN();
    OP(3);  // whose they are, and the end of the list
    int one = LD(tops, previous / queue);
    ST(before, t, previous == one ? previous / queue : -1);
    int follower = -1;
    if (next != END_OF_LIST) {
        int other = LD(tops, next / queue);
        if (next == other) follower = next / queue;
    }
    ST(behind, t, follower);
    OP(2);
}

// Deterministic coin tossing along a chain: twice the lowest bit in which a colour differs from the one behind, and
// that bit. The first colour of a thread is its number.
extern "C" __global__ void toss(const int* tops, const int* behind, const int* colour, int* tossed, int first,
                                int queue, int n, int count)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    int node = LD(tops, t);
    OP(1);
    if (node >= min((t + 1) * queue, n)) return;
    int follower = LD(behind, t);
    int mine = first ? t : LD(colour, t);
    int theirs = follower < 0 ? mine ^ 1 : first ? follower : LD(colour, follower);
    int bit = 0;
    while (((mine ^ theirs) >> bit & 1) == 0) ++bit;
    OP(4);  // exclusive or, its lowest bit, a shift and an addition
    ST(tossed, t, 2 * bit + (mine >> bit & 1));
}

// A top leaves if its colour is less than those of both neighbours that are tops.
extern "C" __global__ void choose(const int* tops, const int* before, const int* behind, const int* colour, int* chosen,
                                  int queue, int n, int count)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    int node = LD(tops, t);
    OP(1);
    if (node >= min((t + 1) * queue, n)) return;
    int one = LD_ASYNC(before, t), other = LD_ASYNC(behind, t), mine = LD_ASYNC(colour, t);
    JOIN();
    bool least = true;
    OP(2);
    if (one >= 0) least = mine < LD(colour, one);
    if (other >= 0) {
        int theirs = LD(colour, other);
        least = least && mine < theirs;
    }
    ST(chosen, t, least);
}

// The chosen nodes leave: their neighbours become neighbours. No neighbour of a chosen node is chosen.
extern "C" __global__ void splice(int* successor, int* predecessor, int* distance, int* left_in, int* tops,
                                  const int* chosen, int round, int queue, int n, int count)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    int node = LD(tops, t);
    OP(1);
    if (node >= min((t + 1) * queue, n)) return;
    int leaves = LD(chosen, t);
    if (!leaves) return;
    int next = LD_ASYNC(successor, node), previous = LD_ASYNC(predecessor, node);
    JOIN();
    ST(successor, previous, next);
    OP(2);  // compare with the end, the next top
    if (next != END_OF_LIST) {
        int own = LD_ASYNC(distance, node), other = LD_ASYNC(distance, next);
        JOIN();
        OP(1);  // add
        ST(predecessor, next, previous);
        ST(distance, next, own + other);
    }
    ST(left_in, node, round);
    ST(tops, t, node + 1);
}

// The nodes that left in this round come back; their predecessors have been ranked.
extern "C" __global__ void restore(const int* predecessor, const int* distance, const int* left_in, int* tops,
                                   int* rank, int round, int queue, int count)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    int node = LD(tops, t) - 1;
    OP(2);  // subtract, compare with the begin of the queue
    if (node < max(t * queue, 1)) return;
    int left = LD(left_in, node);
    OP(1);  // compare with the round
    if (left != round) return;
    int previous = LD_ASYNC(predecessor, node), nodes = LD_ASYNC(distance, node);
    JOIN();
    int before = LD(rank, previous);
    OP(1);  // add
    ST(rank, node, before + nodes);
    ST(tops, t, node);
}
