#include "needle.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <getopt.h>
#include <sys/time.h>
double gettime() { struct timeval t; gettimeofday(&t, NULL); return t.tv_sec + t.tv_usec * 1e-6; }
static void usage(const char *name) { fprintf(stderr, "Usage: %s [-n rows] [-p penalty] [-v] [-r repeat] [--file F]\n", name); exit(1); }
Options parse(int argc, char **argv) {
    Options o;
    static struct option longer[] = {{"rows", required_argument, 0, 'n'}, {"penalty", required_argument, 0, 'p'},
        {"verbose", no_argument, 0, 'v'}, {"repeat", required_argument, 0, 'r'}, {"file", required_argument, 0, 'f'}, {0, 0, 0, 0}};
    int c;
    while ((c = getopt_long(argc, argv, "n:p:vr:f:", longer, NULL)) != -1) switch (c) {
        case 'n': o.max_rows = o.max_cols = atoi(optarg); break;
        case 'p': o.penalty = atoi(optarg); break;
        case 'v': o.verbose = 1; break;
        case 'r': o.repeat = atoi(optarg); break;
        case 'f': o.file = optarg; break;
        default: usage(argv[0]);
    }
    if (o.max_rows % 16) { fprintf(stderr, "The dimension values must be a multiple of 16\n"); exit(1); }
    return o;
}
void reference(const std::vector<int> &ref, std::vector<int> &items, int rows, int cols, int penalty) {
    for (int i = 1; i < rows; i++) for (int j = 1; j < cols; j++)
        items[i * cols + j] = std::max({items[(i - 1) * cols + j - 1] + ref[i * cols + j], items[i * cols + j - 1] - penalty, items[(i - 1) * cols + j] - penalty});
}
bool compare(const std::vector<int> &a, const int *b) { return !memcmp(a.data(), b, a.size() * sizeof(int)); }
