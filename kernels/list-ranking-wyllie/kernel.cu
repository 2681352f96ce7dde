// One step of pointer jumping: every node adds the rank of its successor to its own and takes over the
// successor's successor. A node is packed into 64 bits, rank above successor, so that both change together.

#include "device.cuh"

typedef unsigned long long Node;

#define END_OF_LIST 0xffffffffu

extern "C" __global__ void jump(const Node* before, Node* after, unsigned n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    Node node = LD(before, i);
    unsigned successor = (unsigned)node;
    OP(2);  // unpack the successor, compare it with the end
    if (successor != END_OF_LIST) {
        Node next = LD(before, successor);
        node = (Node)((unsigned)(node >> 32) + (unsigned)(next >> 32)) << 32 | (unsigned)next;
        OP(3);  // unpack both ranks and add them, pack
    }
    ST(after, i, node);
}
