// The program as a whole: how it begins, and all the ways in which it may end.
#include "runtime.h"

#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

using namespace simtmm;

static int status_of_program = 0;
static bool has_finished = false;

static void finish(int status) {
    status_of_program = status;
    if (has_finished) return;
    has_finished = true;
    fflush(nullptr);
    if (calls.finish) calls.finish(status);
}

// Behind the program's own functions of atexit and destructors: nothing else is run, of Python's least of all.
static void at_end() {
    fflush(nullptr);
    if (last_error || sticky_error)
        say("note: ", std::string("the program never asked for its last error: ") +
                          cudaGetErrorString(sticky_error ? sticky_error : last_error));
    leaks();
    _exit(status_of_program);
}

// An address of the device that the host reads or writes: what a GPU's driver gives no name either.
static void on_fault(int number, siginfo_t *info, void *) {
    if (is_device_region(info->si_addr)) {
        Piece *piece = find(info->si_addr);
        if (piece)
            say("error: ", "host code reads or writes memory of the device: byte " +
                               counted((uint64_t)info->si_addr - piece->address) + " of " + piece->name +
                               (piece->place.empty() ? "" : " (" + piece->place + ")") + ": cudaMemcpy copies it");
        else
            say("error: ", "host code reads or writes memory of the device that was freed");
    } else {
        fflush(stdout);
    }
    signal(number, SIG_DFL);
    raise(number);
}

extern "C" {
__attribute__((visibility("default"))) void simtmm_begin(const Calls *given) {
    calls = *given;
    atexit(at_end);
    static char stack[1 << 16];
    stack_t other = {};
    other.ss_sp = stack;
    other.ss_size = sizeof stack;
    sigaltstack(&other, nullptr);
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
    sigaction(SIGSEGV, &action, nullptr);
    sigaction(SIGBUS, &action, nullptr);
}

__attribute__((visibility("default"))) void simtmm_print(const char *text, uint64_t bytes) {
    fwrite(text, 1, bytes, stdout);
}

__attribute__((visibility("default"))) void simtmm_flush() { fflush(stdout); }

__attribute__((visibility("default"), noreturn)) void simtmm_run(int (*program)(int, char **, char **), int count,
                                                                 char **words) {
    extern char **environ;
    int status = program(count, words, environ);
    finish(status & 0xff);
    exit(status);
}

// The linker gives these in the place of what they end with: what was recorded is to be written first.
__attribute__((visibility("default"), noreturn)) void __wrap_exit(int status) {
    finish(status & 0xff);
    exit(status);
}
__attribute__((visibility("default"), noreturn)) void __wrap__exit(int status) {
    finish(status & 0xff);
    _exit(status);
}
__attribute__((visibility("default"), noreturn)) void __wrap_quick_exit(int status) {
    finish(status & 0xff);
    quick_exit(status);
}
}
