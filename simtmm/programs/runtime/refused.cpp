// Functions of the runtime that a program of one GPU has no use for, or that simtmm does not have: each says so in one
// line, and gives an error. Without the header, whose parameters they would have to repeat.
#include <string>

namespace simtmm {
int refused(const char *function);
}

#define REFUSED(name) \
    extern "C" __attribute__((visibility("default"))) int name() { return simtmm::refused(#name); }

#include "refused.inc"
