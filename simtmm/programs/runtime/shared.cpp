// Shared libraries that a program loads: their references to clocks, waits and ends become those of this runtime, too.
//
// The program itself is linked so (simtmm/programs/building/build.py). A library comes as it is; what the loader has filled in for
// it is replaced once it is loaded. Libraries that were here before the program are Python's, and stay as they are.
#include "clock.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <map>
#include <set>
#include <string>

#define WRAPPED(name) extern "C" void replacing_##name() __asm__("__wrap_" #name);
#include "wrapped.inc"
#undef WRAPPED

namespace simtmm {

static const std::map<std::string, void *> &replacements() {
    static auto &found = *new std::map<std::string, void *>{
#define WRAPPED(name) {#name, (void *)replacing_##name},
#include "wrapped.inc"
#undef WRAPPED
    };
    return found;
}

static std::set<std::string> &known() {
    static auto &found = *new std::set<std::string>;  // by path
    return found;
}

// The compiler's own, which wait by what they are told.
static bool is_of_compiler(const char *path) {
    const char *name = strrchr(path, '/');
    name = name ? name + 1 : path;
    for (const char *each : {"libc.so", "libm.so", "libpthread", "libdl.so", "librt.so", "libstdc++", "libgcc_s", "libgomp",
                             "ld-linux", "linux-vdso", "simtmm"})
        if (!strncmp(name, each, strlen(each))) return true;
    return false;
}

static void replace(ElfW(Addr) base, const ElfW(Rela) *rows, size_t count, const ElfW(Sym) *symbols, const char *names) {
    long page = sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < count; i++) {
        uint64_t symbol = ELF64_R_SYM(rows[i].r_info);
        if (!symbol || rows[i].r_addend) continue;
        auto found = replacements().find(names + symbols[symbol].st_name);
        if (found == replacements().end() || symbols[symbol].st_shndx != SHN_UNDEF) continue;
        void **place = (void **)(base + rows[i].r_offset);
        void *start = (void *)((uintptr_t)place & -page);
        // Its page may be read-only since the loader is done with it. It stays writable: another slot may be beside it.
        if (!mprotect(start, page, PROT_READ | PROT_WRITE)) *place = found->second;
    }
}

static void adopt(const link_map *library) {
    const ElfW(Sym) *symbols = nullptr;
    const char *names = nullptr;
    const ElfW(Rela) *calls = nullptr, *others = nullptr;
    size_t of_calls = 0, of_others = 0;
    for (const ElfW(Dyn) *each = library->l_ld; each->d_tag != DT_NULL; each++) {
        if (each->d_tag == DT_SYMTAB) symbols = (const ElfW(Sym) *)each->d_un.d_ptr;
        if (each->d_tag == DT_STRTAB) names = (const char *)each->d_un.d_ptr;
        if (each->d_tag == DT_JMPREL) calls = (const ElfW(Rela) *)each->d_un.d_ptr;
        if (each->d_tag == DT_PLTRELSZ) of_calls = each->d_un.d_val;
        if (each->d_tag == DT_RELA) others = (const ElfW(Rela) *)each->d_un.d_ptr;
        if (each->d_tag == DT_RELASZ) of_others = each->d_un.d_val;
    }
    if (!symbols || !names) return;
    if (calls) replace(library->l_addr, calls, of_calls / sizeof *calls, symbols, names);
    if (others) replace(library->l_addr, others, of_others / sizeof *others, symbols, names);
}

// Each library that is here: known from now on, and the program's where `is_its`.
static void look(bool is_its) {
    auto *first = (link_map *)dlopen(nullptr, RTLD_LAZY | RTLD_NOLOAD);
    for (link_map *each = first; each; each = each->l_next)
        if (each->l_name && each->l_name[0] && known().insert(each->l_name).second && is_its && !is_of_compiler(each->l_name))
            adopt(each), adopt_cycles(each->l_name, each->l_addr);
}

}  // namespace simtmm

using namespace simtmm;

// A library that is loaded while the program runs, and those that it brings along.
extern "C" __attribute__((visibility("default"))) void *__wrap_dlopen(const char *path, int how) {
    look(false);  // what Python has loaded meanwhile
    void *found = dlopen(path, how);
    if (found) look(true);
    return found;
}

extern "C" __attribute__((visibility("default"))) void simtmm_before_program() { look(false); }
extern "C" __attribute__((visibility("default"))) void simtmm_program_loaded() { look(true); }
