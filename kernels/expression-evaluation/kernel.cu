// Expression evaluation: number the leaves by the Euler tour of the tree, then rake them, every second one in a round.
// A vertex v has two visits of the tour, 2 v on the way down and 2 v + 1 on the way up. function[v] is a value a in its
// upper and b in its lower half: what v passes to its parent is a x + b, x being the value of its subtree.

#include "device.cuh"

typedef unsigned long long Word;

#define NOBODY (-1)

__device__ int thread_number() { return blockIdx.x * blockDim.x + threadIdx.x; }

// The visit behind each one, and a 1 where a leaf is entered. The tour ends on the way up from the root.
extern "C" __global__ void tour(const int* parent, const int* side, const int* child, int* next, int* weight, int n)
{
    int v = thread_number();
    if (v >= n) return;
    int above = LD_ASYNC(parent, v), first = LD_ASYNC(child, 2 * v), which = LD_ASYNC(side, v);
    JOIN();
    int leaf = first == NOBODY;
    OP(3);
    ST(next, 2 * v, leaf ? 2 * v + 1 : 2 * first);
    ST(weight, 2 * v, leaf);
    int behind = NOBODY;
    if (above != NOBODY) {
        behind = 2 * above + 1;
        if (which == 0) {
            int other = LD(child, 2 * above + 1);
            behind = 2 * other;
        }
        OP(2);
    }
    ST(next, 2 * v + 1, behind);
    ST(weight, 2 * v + 1, 0);
}

// A step of pointer jumping: leaves that are entered from a visit on, of twice as many visits.
extern "C" __global__ void jump(const int* next, const int* weight, int* farther, int* sum, int visits)
{
    int i = thread_number();
    if (i >= visits) return;
    int to = LD_ASYNC(next, i), mine = LD_ASYNC(weight, i);
    JOIN();
    OP(1);
    if (to != NOBODY) {
        int beyond = LD_ASYNC(next, to), theirs = LD_ASYNC(weight, to);
        JOIN();
        mine += theirs;
        to = beyond;
        OP(1);
    }
    ST(farther, i, to);
    ST(sum, i, mine);
}

// Leaves in their order from left to right; the k-th is one that has all but k behind it.
extern "C" __global__ void place(const int* child, const int* sum, int* leaves, int count, int n)
{
    int v = thread_number();
    if (v >= n) return;
    int first = LD(child, 2 * v);
    OP(1);
    if (first != NOBODY) return;
    int behind = LD(sum, 2 * v);
    OP(1);
    ST(leaves, count - behind, v);
}

// Every second leaf that is a child of this side leaves, with its parent: its sibling takes the parent's place, and
// does what both have done. No two of these parents are neighbours, so nothing meets.
extern "C" __global__ void rake(const int* leaves, int* parent, int* side, int* child, Word* function,
                                const unsigned* value, const int* times, int* root, int which, int count)
{
    int i = 2 * thread_number() + 1;
    if (i >= count) return;
    int leaf = LD(leaves, i);
    int own = LD(side, leaf);
    OP(2);
    if (own != which) return;
    int above = LD_ASYNC(parent, leaf);
    unsigned constant = LD_ASYNC(value, leaf);
    Word of_leaf = LD_ASYNC(function, leaf);
    JOIN();
    int sibling = LD_ASYNC(child, 2 * above + 1 - own), grand = LD_ASYNC(parent, above), place = LD_ASYNC(side, above);
    int multiplies = LD_ASYNC(times, above);
    Word of_parent = LD_ASYNC(function, above);
    JOIN();
    Word of_sibling = LD(function, sibling);
    unsigned mine = (unsigned)(of_leaf >> 32) * constant + (unsigned)of_leaf;
    unsigned a = (unsigned)(of_sibling >> 32), b = (unsigned)of_sibling;
    unsigned outer = (unsigned)(of_parent >> 32);
    a = multiplies ? a * mine : a;
    b = multiplies ? b * mine : b + mine;
    a = outer * a;
    b = outer * b + (unsigned)of_parent;
    OP(8);
    ST(function, sibling, (Word)a << 32 | b);
    ST(parent, sibling, grand);
    ST(side, sibling, place);
    OP(1);
    if (grand == NOBODY) {
        ST(root, 0, sibling);
    } else {
        ST(child, 2 * grand + place, sibling);
    }
}

// The leaves that stay.
extern "C" __global__ void pack(const int* leaves, int* packed, int count)
{
    int i = thread_number();
    if (2 * i >= count) return;
    int leaf = LD(leaves, 2 * i);
    ST(packed, i, leaf);
}

// One leaf is left, which is the root.
extern "C" __global__ void evaluate(const int* root, const Word* function, const unsigned* value, unsigned* result)
{
    if (thread_number() > 0) return;
    int last = LD(root, 0);
    Word of_last = LD_ASYNC(function, last);
    unsigned constant = LD_ASYNC(value, last);
    JOIN();
    OP(2);
    ST(result, 0, (unsigned)(of_last >> 32) * constant + (unsigned)of_last);
}
