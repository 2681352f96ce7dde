// Anderson and Miller's algorithm, a thread a queue of `queue` nodes; tops[t] is the first of thread t's queue that has
// not left the list yet. distance[v] is the number of nodes from v's predecessor to v.

#include "device.cuh"

#define END_OF_LIST 0x7fffffff

// A coin for a node in a round: a bit of a hash of both.
__device__ bool heads(int seed, int node, int round)
{
    unsigned x = (unsigned)node * 0x9e3779b1u + (unsigned)round * 0x85ebca6bu + (unsigned)seed * 0xc2b2ae35u;
    x ^= x >> 15;
    x *= 0x2c1b3c6du;
    x ^= x >> 12;
    x *= 0x297a2d39u;
    return x >> 31;
}

#define OPERATIONS_OF_A_COIN 12

extern "C" __global__ void link_back(const int* successor, int* predecessor, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int next = LD(successor, i);
    OP(1);  // compare with the end
    if (next != END_OF_LIST) ST(predecessor, next, i);
}

// Whether the node at the top of the queue leaves in this round.
extern "C" __global__ void choose(const int* predecessor, const int* tops, int* chosen, int* unfinished, int seed,
                                  int round, int queue, int n, int count)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    int node = LD(tops, t);
    OP(1);  // compare with the end of the queue
    if (node >= min((t + 1) * queue, n)) return;
    ST(unfinished, round, 1);
    bool leaves = heads(seed, node, round);
    OP(OPERATIONS_OF_A_COIN);
    if (leaves) {
        int previous = LD(predecessor, node);
        OP(2);  // whose it is, and where its top is
        int top = LD(tops, previous / queue);
        OP(1 + OPERATIONS_OF_A_COIN);
        leaves = top != previous || !heads(seed, previous, round);
    }
    ST(chosen, t, leaves);
}

// The chosen nodes leave: their neighbours become neighbours. No neighbour of a chosen node is chosen.
extern "C" __global__ void splice(int* successor, int* predecessor, int* distance, int* left_in, int* tops,
                                  const int* chosen, int round, int queue, int n, int count)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    if (t >= count) return;
    int node = LD(tops, t);
    OP(1);  // compare with the end of the queue
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
