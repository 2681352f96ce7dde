// The program as a whole: how it begins, and all the ways in which it may end.
#include "runtime.h"

#include <dlfcn.h>
#include <poll.h>
#include <pthread.h>
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
    if (cudaError_t error = sticky_error ? sticky_error : error_of_work ? error_of_work : last_error)
        say("note: ", std::string("the program never asked for its last error: ") + cudaGetErrorString(error));
    leaks();
    tell_without_effect();
    _exit(status_of_program);
}

// An address of the device that the host reads or writes: what a GPU's driver gives no name either.
static void on_fault(int number, siginfo_t *info, void *) {
    if (is_device_region(info->si_addr)) {
        Piece *piece = find(info->si_addr);
        if (piece)
            say("error: ", "host code accesses device memory: byte " +
                               counted((uint64_t)info->si_addr - piece->address) + " of " + piece->name +
                               (piece->place.empty() ? "" : " (" + piece->place + ")") + ": cudaMemcpy copies it");
        else
            say("error: ", "host code accesses freed device memory");
    } else {
        fflush(stdout);
    }
    signal(number, SIG_DFL);
    raise(number);
}

// Ending before the program does: by Ctrl-C, or after some seconds. A launch under way ends first, with what it has.
static int interrupts[2] = {-1, -1};
static volatile int is_stopping = 0;

static void on_interrupt(int) {
    char sign = 'i';
    if (write(interrupts[1], &sign, 1) < 0) _exit(128 + SIGINT);
}

static void *stop(void *) {
    int64_t milliseconds = property("stop_milliseconds", -1);
    pollfd waiting = {interrupts[0], POLLIN, 0};
    int found = poll(&waiting, 1, (int)milliseconds);
    is_stopping = 1;
    std::lock_guard<std::recursive_mutex> lock{mutex};
    say("note: ", found > 0 ? "interrupted: the report covers the launches so far; press Ctrl-C again to end at once"
                            : "stopped after the time of --stop-after: the report covers the launches so far");
    int status = found > 0 ? 128 + SIGINT : 0;
    finish(status);
    _exit(status);
}

static void watch() {
    if (pipe(interrupts)) return;
    struct sigaction action = {};
    action.sa_handler = on_interrupt;
    action.sa_flags = SA_RESTART | SA_RESETHAND;
    sigaction(SIGINT, &action, nullptr);
    pthread_t thread;
    if (!pthread_create(&thread, nullptr, stop, nullptr)) pthread_detach(thread);
    else signal(SIGINT, SIG_DFL);
}

extern "C" {
// Whether the program is to end, which a launch under way looks at.
__attribute__((visibility("default"))) int simtmm_is_stopping() { return is_stopping; }

__attribute__((visibility("default"), noreturn)) void simtmm_stop(int status) {
    finish(status);
    _exit(status);
}

// A program calls what a library would compute.
__attribute__((visibility("default"), noreturn)) void simtmm_refuse(const char *what) {
    say("error: ", std::string("calls ") + what + ": library calls are not supported");
    finish(2);
    _exit(2);
}

__attribute__((visibility("default"))) void simtmm_begin(const Calls *given) {
    calls = *given;
    atexit(at_end);
    watch();
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
