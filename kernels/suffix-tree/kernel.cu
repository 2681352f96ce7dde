// Queries matched in a suffix tree, a thread a query. A node has a cell for each letter of the alphabet; a cell has
// the number of an edge, or NONE. Letters are small numbers, 0 ends the text and is in no query.

#include "device.cuh"

#define NONE (-1)

struct alignas(16) EdgeInfo {
    int start, length;  // the letters of the edge, a piece of the text
    int node;           // where the cells of the node below begin
    int unused;
};

// found: where in the text an occurrence of query i begins, or NONE.
extern "C" __global__ void match(
    const int* cells, const EdgeInfo* edges, const unsigned char* text, const unsigned char* queries, int n, int k,
    int* found)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int node = 0, matched = 0, at = NONE;
    while (at == NONE) {
        int letter = LD(queries, (long long)matched * n + i);
        int cell = LD(cells, node + letter);
        OP(1);  // is there an edge?
        if (cell == NONE) break;
        EdgeInfo edge = LD(edges, cell);
        int end = min(edge.length, k - matched), step = 1;  // the edge's first letter is the cell's
        for (; step < end; ++step) {
            int mine = LD_ASYNC(queries, (long long)(matched + step) * n + i), its = LD_ASYNC(text, edge.start + step);
            JOIN();
            OP(1);
            if (mine != its) break;
        }
        OP(2);  // is the edge at an end, or the query?
        if (step < end) break;
        matched += step;
        if (matched == k) at = edge.start + step - k;
        node = edge.node;
    }
    ST(found, i, at);
}
