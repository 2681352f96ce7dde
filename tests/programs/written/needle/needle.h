#ifndef NEEDLE_H
#define NEEDLE_H
#define LIMIT -999
#ifdef RD_WG_SIZE
#define BLOCK_SIZE RD_WG_SIZE
#else
#define BLOCK_SIZE 16
#endif
#define DEVICE 0
#include <cstdint>
#include <vector>
#include <string>
struct Options { int max_rows = 2048, max_cols = 2048, penalty = 10, verbose = 0, repeat = 1; std::string file; };
Options parse(int argc, char **argv);
double gettime();
void reference(const std::vector<int> &ref, std::vector<int> &items, int rows, int cols, int penalty);
bool compare(const std::vector<int> &a, const int *b);
#endif
