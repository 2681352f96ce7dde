// The processor's cycles, as shared libraries and other finished machine code read them: likewise the program's clock.
//
// Where bytes of a library's code may be rdtsc or rdtscp, Python has the function that holds them disassembled
// (simtmm/programs/building/disassembled.py). Each that is one becomes ud2, of the same two bytes, whose signal has it answered.
#include "clock.h"

#include <link.h>

#if defined(__x86_64__)

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <vector>

extern "C" int64_t simtmm_cycles_now();

namespace simtmm {

static const int MOST = 4096;  // reads of one function
static const uint8_t UD2[] = {0x0f, 0x0b}, NOP = 0x90;

static std::map<uint64_t, bool> &reads() {  // by their addresses: whether it is rdtscp
    static auto &found = *new std::map<uint64_t, bool>;  // there to the last
    return found;
}

static void on_illegal(int number, siginfo_t *, void *given) {
    greg_t *registers = ((ucontext_t *)given)->uc_mcontext.gregs;
    auto found = reads().find((uint64_t)registers[REG_RIP]);
    if (found == reads().end()) {
        signal(number, SIG_DFL);
        return;  // to the same instruction, which now ends the program
    }
    uint64_t cycles = (uint64_t)simtmm_cycles_now();
    registers[REG_RAX] = (uint32_t)cycles;
    registers[REG_RDX] = cycles >> 32;
    if (found->second) registers[REG_RCX] = 0;
    registers[REG_RIP] += found->second ? 3 : 2;
}

static void listen() {
    static bool has_begun = false;
    if (has_begun) return;
    has_begun = true;
    struct sigaction action = {};
    action.sa_sigaction = on_illegal;
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGILL, &action, nullptr);
}

static bool is_rdtsc(const uint8_t *code) { return code[0] == 0x0f && code[1] == 0x31; }
static bool is_rdtscp(const uint8_t *code) { return code[0] == 0x0f && code[1] == 0x01 && code[2] == 0xf9; }

// A library's code, and where its functions begin, by the table that exceptions are unwound by; all by its own addresses.
struct Code {
    uint64_t base;
    std::vector<std::pair<uint64_t, uint64_t>> parts;
    std::map<uint64_t, uint64_t> functions;  // and where they end
};

static void read_functions(Code *code, const uint8_t *header) {
    const uint8_t UNSIGNED_4 = 0x03, RELATIVE_4 = 0x1b, TABLE_4 = 0x3b;  // DWARF's encodings that linkers write
    if (header[0] != 1 || header[1] != RELATIVE_4 || header[2] != UNSIGNED_4 || header[3] != TABLE_4) return;
    uint32_t count;
    memcpy(&count, header + 8, sizeof count);
    for (uint32_t n = 0; n < count; n++) {
        int32_t offsets[2];  // of the function and of its entry: the entry's length, common part, function and its bytes
        uint32_t entry[4];
        memcpy(offsets, header + 12 + 8 * (uint64_t)n, sizeof offsets);
        memcpy(entry, header + offsets[1], sizeof entry);
        uint64_t begin = (uint64_t)header + offsets[0] - code->base;
        code->functions[begin] = begin + entry[3];
    }
}

static int see(dl_phdr_info *info, size_t, void *given) {
    Code *code = (Code *)given;
    if (info->dlpi_addr != code->base) return 0;
    for (int n = 0; n < info->dlpi_phnum; n++) {
        const ElfW(Phdr) &part = info->dlpi_phdr[n];
        if (part.p_type == PT_LOAD && part.p_flags & PF_X && part.p_flags & PF_R)
            code->parts.push_back({part.p_vaddr, part.p_vaddr + part.p_memsz});
        if (part.p_type == PT_GNU_EH_FRAME) read_functions(code, (const uint8_t *)code->base + part.p_vaddr);
    }
    return 1;
}

static bool replace_read(uint8_t *code) {
    bool has_more = is_rdtscp(code);
    uint64_t page = sysconf(_SC_PAGESIZE), first = (uint64_t)code / page * page;
    uint64_t bytes = ((uint64_t)code + 2 + has_more + page - 1) / page * page - first;
    if (mprotect((void *)first, bytes, PROT_READ | PROT_WRITE | PROT_EXEC)) return false;
    reads()[(uint64_t)code] = has_more;
    memcpy(code, UD2, sizeof UD2);
    if (has_more) code[2] = NOP;
    mprotect((void *)first, bytes, PROT_READ | PROT_EXEC);
    return true;
}

void adopt_cycles(const char *path, uint64_t base) {
    if (!property("virtual_clock", 0) || !calls.disassembled) return;
    Code code = {base, {}, {}};
    dl_iterate_phdr(see, &code);
    std::map<uint64_t, uint64_t> functions;  // that may read cycles
    bool is_left = false;
    for (auto &part : code.parts) {
        const uint8_t *bytes = (const uint8_t *)base;
        for (uint64_t at = part.first; at + 3 <= part.second; at++) {
            const void *next = memchr(bytes + at, 0x0f, part.second - 2 - at);
            if (!next) break;
            at = (const uint8_t *)next - bytes;
            if (!is_rdtsc(bytes + at) && !is_rdtscp(bytes + at)) continue;
            auto above = code.functions.upper_bound(at);
            if (above == code.functions.begin() || std::prev(above)->second < at + 2) is_left = true;
            else functions[std::prev(above)->first] = std::prev(above)->second;
        }
    }
    uint64_t found[MOST];
    for (auto &each : functions) {
        int count = calls.disassembled(path, each.first, each.second, found, MOST);
        if (count < 0) is_left = true;
        if (count > 0) listen();
        for (int n = 0; n < count; n++) {
            uint8_t *place = (uint8_t *)(base + found[n]);
            if (!is_rdtsc(place) && !is_rdtscp(place)) is_left = true;  // the file is another by now
            else if (!replace_read(place)) is_left = true;
        }
    }
    if (is_left)
        say("note: ", std::string(path) + " may read the processor's cycles: they are this computer's, not the machine's");
}

}  // namespace simtmm

#else

namespace simtmm {
void adopt_cycles(const char *, uint64_t) {}
}  // namespace simtmm

#endif
