// List ranking by pointer jumping, in four ways, a thread a node. A node is one word: in its upper half the rank, the
// number of nodes from here to the successor; in its lower half the successor. Only the last node has the rank 0.
// Rank and successor change together, in one store, so whatever others have done a node that is read is a true one.
// A jump adds the successor's word to the own rank: ranks add up, and the successor's successor takes its place.
// In the loops barriers keep the reads and the writes of a block apart; threads that are done leave, and the barriers
// are those of the others.

#include "device.cuh"

typedef unsigned long long Node;

// Loops in the kernel until the successor is the last node, reading its own node anew in each step. Volatile, as
// other threads write.
template <class Word>
__device__ void jump_until_done(volatile Word* nodes, unsigned n)
{
    const int half = 4 * sizeof(Word);
    const Word low = ((Word)1 << half) - 1;
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    for (;;) {
        Word node = LD(nodes, i);
        OP(1);  // compare with the last
        if (node >> half == 0) return;
        Word next = LD(nodes, (unsigned)(node & low));
        OP(2);  // unpack the successor, compare with the last
        if (next >> half == 0) return;
        OP(2);  // mask, add
        SYNC();
        ST(nodes, i, (node & ~low) + next);
        SYNC();
    }
}

extern "C" __global__ void packed_64(volatile Node* nodes, unsigned n)
{
    jump_until_done<Node>(nodes, n);
}

extern "C" __global__ void packed_32(volatile unsigned* nodes, unsigned n)
{
    jump_until_done<unsigned>(nodes, n);
}

// One step; the host launches it until no thread has raised the flag of its step. Bit 63 says that the node has
// reached the end; the sum takes it over from the successor.

#define FINISHED 0x8000000000000000ull
#define RANK 0x7fffffff00000000ull

extern "C" __global__ void stepwise(const Node* before, Node* after, int* unfinished, int step, unsigned n)
{
    unsigned stepping = blockIdx.x * blockDim.x + threadIdx.x;
    if (stepping >= n) return;
    Node node = LD(before, stepping);
    OP(1);  // test the bit
    if (!(node & FINISHED)) {
        Node next = LD(before, (unsigned)node);
        OP(4);  // unpack the successor, test its bit, mask, add
        node = (node & RANK) + next;
        if (!(next & FINISHED)) ST(unfinished, step, 1);
    }
    ST(after, stepping, node);
}

// Loops in the kernel with as few accesses as can be: the own node stays in a register, since nobody else writes it.

#define RANK_OF_NODE 0xffffffff00000000ull

extern "C" __global__ void restricted(volatile Node* nodes, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Node node = LD(nodes, i);
    OP(1);  // compare with the last
    if (node >> 32 == 0) return;
    for (;;) {
        SYNC();
        Node next = LD(nodes, (unsigned)node);
        OP(2);  // unpack the successor, compare with the last
        if (next >> 32 == 0) return;
        OP(2);  // mask, add
        node = (node & RANK_OF_NODE) + next;
        SYNC();
        ST(nodes, i, node);
    }
}
