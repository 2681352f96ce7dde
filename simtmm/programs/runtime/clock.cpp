// Virtual time: what a program reads from its clocks is the time of the simulated machine, not of this computer.
//
// Between calls of the runtime the host goes on by the processor time of its own code; within them by what Python's
// timeline says (simtmm/device/timeline.py). What the emulator takes is left out. The linker has a program's references
// to these functions end here (simtmm/programs/building/build.py); Python, and this library, have the real ones.
#include "clock.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

namespace simtmm {

static const int64_t SECOND = 1000000000;
static const int64_t STIRRED = 20000;  // ns behind a call in which the program finds caches and pages that were taken from it
static const int64_t SLICE = 10000000;  // ns between two looks of a thread that waits

static bool timing = false;   // Python's timeline listens
static bool changed = false;  // it has taken in work since `base` was read from it
static int64_t base = 0, own = 0, slept = 0;  // ns: of the timeline when it was read last, of the host since, asleep
static int64_t wall_mark, all_mark, allowance = 0, in_calls = 0;
static thread_local int64_t thread_mark = 0;
static bool has_threads = false;  // of the program's own: then all of the process counts, and what Python does beside it
static int depth = 0;
static int64_t epoch_real, epoch_steady;

static int64_t clock_reading(clockid_t which) {
    timespec found;
    clock_gettime(which, &found);
    return found.tv_sec * SECOND + found.tv_nsec;
}

static bool is_real() { return !property("virtual_clock", 0); }
static bool counts_host_time() { return timing && property("host_time", 0); }

// The host's own time since it was last looked at, as far as it counts.
static void settle() {
    if (!counts_host_time()) return;
    int64_t wall = clock_reading(CLOCK_MONOTONIC), thread = clock_reading(CLOCK_THREAD_CPUTIME_ID);
    int64_t all = clock_reading(CLOCK_PROCESS_CPUTIME_ID);
    int64_t worked = has_threads ? all - all_mark : thread - thread_mark;
    int64_t passed = std::max<int64_t>(0, std::min(wall - wall_mark, worked));
    int64_t spared = std::min(passed, allowance);
    allowance -= spared;
    own += passed - spared;
    wall_mark = wall;
    thread_mark = thread;
    all_mark = all;
}

static void put_marks() {
    wall_mark = clock_reading(CLOCK_MONOTONIC);
    thread_mark = clock_reading(CLOCK_THREAD_CPUTIME_ID);
    all_mark = clock_reading(CLOCK_PROCESS_CPUTIME_ID);
}

static void rest() {
    if (!counts_host_time()) return;
    put_marks();
    allowance = STIRRED;
}

void entered() {
    if (depth++ == 0) settle();
}

void left() {
    if (depth == 1) arm();
    if (--depth == 0) rest();
    in_calls++;
}

void spend(const char *what, int64_t times) {
    if (timing) own += times * property(what, 0) / 1000;
}

// Before work is told to the timeline: the host has come so far.
void work_follows() {
    take_back(false);
    if (!timing) return;
    if (own && calls.advance) calls.advance(own);
    base += own;
    own = 0;
    changed = true;
}

// When the program's time began, on both clocks: where it was looked at first.
static void begin_epochs() {
    if (epoch_real) return;
    epoch_real = clock_reading(CLOCK_REALTIME);
    epoch_steady = clock_reading(CLOCK_MONOTONIC);
}

void clock_begins() {
    if (timing || is_real()) return;
    begin_epochs();
    timing = true;
    rest();
    changed = true;
}

// ns of the host since it first looked. Under the lock.
static int64_t now() {
    clock_begins();
    if (depth == 0) settle();
    take_back(false);
    if (depth == 0 && counts_host_time()) put_marks();
    if (changed) {
        work_follows();
        int64_t found = base;
        if (calls.now && !calls.now(&found)) base = found;
        changed = false;
        if (depth == 0) rest();
    }
    if (!property("host_time", 0)) own += property("ps clock", 25000) / 1000;
    return base + own;
}

struct Locked {
    std::lock_guard<std::recursive_mutex> lock{mutex};
};

static int64_t current_time() {
    Locked lock;
    return now();
}

static void sleep_until(int64_t target) {
    Locked lock;
    int64_t missing = target - now();
    if (missing > 0) own += missing, slept += missing;
}

// Whether nothing else of the program goes on while a thread waits. Threads of OpenMP wait for one another themselves.
static bool is_alone() { return !has_threads; }

static void really_sleep(int64_t ns) {
    timespec left = {ns / SECOND, ns % SECOND};
    while (nanosleep(&left, &left) && errno == EINTR) {
    }
}

// Sleep: where other threads of the program go on meanwhile, they need the real time for it.
static void pass(int64_t ns) {
    if (ns <= 0) return;
    int64_t target = current_time() + ns;
    if (!is_alone()) really_sleep(ns);
    sleep_until(target);
}

static int64_t of(const timespec &time) { return time.tv_sec * SECOND + time.tv_nsec; }
static timespec as_timespec(int64_t ns) {
    timespec found;
    found.tv_sec = ns / SECOND;
    found.tv_nsec = ns % SECOND;
    return found;
}

static bool is_wall(clockid_t which) {
    return which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE || which == CLOCK_TAI;
}
static bool is_cpu(clockid_t which) {
    return which == CLOCK_PROCESS_CPUTIME_ID || which == CLOCK_THREAD_CPUTIME_ID || which < 0;
}
static int64_t on(clockid_t which) {
    int64_t found = current_time();
    return is_cpu(which) ? found - slept : is_wall(which) ? epoch_real + found : epoch_steady + found;
}

int64_t steady() { return is_real() ? -1 : on(CLOCK_MONOTONIC); }

// A wait that ends at a time of the program's clock: `wait` waits until a real time and gives an errno.
template <class Wait>
static int waited(clockid_t which, const timespec *until, Wait wait) {
    int64_t target = of(*until) - (is_wall(which) ? epoch_real : epoch_steady);
    while (true) {
        int64_t missing = target - current_time(), before = in_calls;
        int64_t span = missing <= 0 || is_alone() ? 0 : std::min(missing, SLICE);
        timespec deadline = as_timespec(clock_reading(which) + span);
        int error = wait(&deadline);
        if (error != ETIMEDOUT) return error;
        bool is_free = mutex.try_lock();  // else another thread is in a call, which takes what it takes
        if (is_free) mutex.unlock();
        if (span == 0 || (is_free && in_calls == before && missing <= span)) {
            sleep_until(target);
            return ETIMEDOUT;
        }
        if (is_free && in_calls == before) sleep_until(target - missing + span);
    }
}

// The clock that an absolute time is of: the one that it is nearer to.
static clockid_t clock_of(const timespec *until) {
    current_time();
    int64_t time = of(*until);
    return std::llabs(time - epoch_real) <= std::llabs(time - epoch_steady) ? CLOCK_REALTIME : CLOCK_MONOTONIC;
}

}  // namespace simtmm

using namespace simtmm;

#define WRAP extern "C" __attribute__((visibility("default")))

WRAP int __wrap_clock_gettime(clockid_t which, timespec *found) {
    if (is_real() || !found) return clock_gettime(which, found);
    *found = as_timespec(on(which));
    return 0;
}
WRAP int __wrap_gettimeofday(timeval *found, void *zone) {
    if (is_real() || !found) return gettimeofday(found, (struct timezone *)zone);
    int64_t time = on(CLOCK_REALTIME);
    found->tv_sec = time / SECOND;
    found->tv_usec = time % SECOND / 1000;
    return 0;
}
// The first look is mostly for a seed: only with a second one is there a time between two, which launches are followed for.
WRAP time_t __wrap_time(time_t *found) {
    if (is_real()) return time(found);
    static bool has_looked = false;
    time_t seconds;
    if (!timing && !has_looked) {
        Locked lock;
        begin_epochs();
        seconds = epoch_real / SECOND;
    } else {
        seconds = on(CLOCK_REALTIME) / SECOND;
    }
    has_looked = true;
    if (found) *found = seconds;
    return seconds;
}
WRAP int __wrap_timespec_get(timespec *found, int which) {
    if (is_real() || which != TIME_UTC) return timespec_get(found, which);
    *found = as_timespec(on(CLOCK_REALTIME));
    return which;
}
WRAP clock_t __wrap_clock() { return is_real() ? clock() : on(CLOCK_PROCESS_CPUTIME_ID) / (SECOND / CLOCKS_PER_SEC); }
WRAP clock_t __wrap_times(tms *found) {
    if (is_real()) return times(found);
    int64_t tick = SECOND / sysconf(_SC_CLK_TCK);
    if (found) *found = {(clock_t)(on(CLOCK_PROCESS_CPUTIME_ID) / tick), 0, 0, 0};
    return on(CLOCK_MONOTONIC) / tick;
}
WRAP int __wrap_getrusage(int who, rusage *found) {
    int status = getrusage((__rusage_who_t)who, found);
    if (is_real() || status || who == RUSAGE_CHILDREN) return status;
    int64_t time = on(CLOCK_PROCESS_CPUTIME_ID);
    found->ru_utime = {time / SECOND, time % SECOND / 1000};
    found->ru_stime = {0, 0};
    return 0;
}
WRAP double __wrap_omp_get_wtime() {
    int64_t time = is_real() ? clock_reading(CLOCK_MONOTONIC) : on(CLOCK_MONOTONIC);
    return (double)time / SECOND;
}
WRAP int64_t __wrap__ZNSt6chrono3_V212steady_clock3nowEv() {
    return is_real() ? clock_reading(CLOCK_MONOTONIC) : on(CLOCK_MONOTONIC);
}
WRAP int64_t __wrap__ZNSt6chrono3_V212system_clock3nowEv() {
    return is_real() ? clock_reading(CLOCK_REALTIME) : on(CLOCK_REALTIME);
}

WRAP int __wrap_nanosleep(const timespec *span, timespec *left) {
    if (is_real() || !span || span->tv_nsec < 0 || span->tv_nsec >= SECOND || span->tv_sec < 0) return nanosleep(span, left);
    pass(of(*span));
    if (left) *left = {0, 0};
    return 0;
}
WRAP int __wrap_clock_nanosleep(clockid_t which, int flags, const timespec *span, timespec *left) {
    if (is_real() || !span || is_cpu(which)) return clock_nanosleep(which, flags, span, left);
    pass(flags & TIMER_ABSTIME ? of(*span) - on(which) : of(*span));
    return 0;
}
WRAP int __wrap_usleep(useconds_t span) { return is_real() ? usleep(span) : (pass((int64_t)span * 1000), 0); }
WRAP unsigned __wrap_sleep(unsigned span) { return is_real() ? sleep(span) : (pass((int64_t)span * SECOND), 0); }

WRAP int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *held, const timespec *until) {
    if (is_real()) return pthread_cond_timedwait(condition, held, until);
    return waited(clock_of(until), until, [=](timespec *real) { return pthread_cond_timedwait(condition, held, real); });
}
WRAP int __wrap_pthread_cond_clockwait(pthread_cond_t *condition, pthread_mutex_t *held, clockid_t which,
                                       const timespec *until) {
    if (is_real()) return pthread_cond_clockwait(condition, held, which, until);
    return waited(which, until, [=](timespec *real) { return pthread_cond_clockwait(condition, held, which, real); });
}
WRAP int __wrap_pthread_mutex_timedlock(pthread_mutex_t *wanted, const timespec *until) {
    if (is_real()) return pthread_mutex_timedlock(wanted, until);
    return waited(CLOCK_REALTIME, until, [=](timespec *real) { return pthread_mutex_timedlock(wanted, real); });
}
WRAP int __wrap_pthread_mutex_clocklock(pthread_mutex_t *wanted, clockid_t which, const timespec *until) {
    if (is_real()) return pthread_mutex_clocklock(wanted, which, until);
    return waited(which, until, [=](timespec *real) { return pthread_mutex_clocklock(wanted, which, real); });
}
WRAP int __wrap_pthread_timedjoin_np(pthread_t thread, void **result, const timespec *until) {
    if (is_real()) return pthread_timedjoin_np(thread, result, until);
    return waited(CLOCK_REALTIME, until, [=](timespec *real) { return pthread_timedjoin_np(thread, result, real); });
}
static int as_status(int error) { return error ? (errno = error, -1) : 0; }
WRAP int __wrap_sem_timedwait(sem_t *semaphore, const timespec *until) {
    if (is_real()) return sem_timedwait(semaphore, until);
    return as_status(waited(CLOCK_REALTIME, until, [=](timespec *real) { return sem_timedwait(semaphore, real) ? errno : 0; }));
}
WRAP int __wrap_sem_clockwait(sem_t *semaphore, clockid_t which, const timespec *until) {
    if (is_real()) return sem_clockwait(semaphore, which, until);
    return as_status(waited(which, until, [=](timespec *real) { return sem_clockwait(semaphore, which, real) ? errno : 0; }));
}

WRAP int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*begin)(void *), void *given) {
    has_threads = true;
    return pthread_create(thread, how, begin, given);
}
struct Thread;
extern "C" void _ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(Thread *, void *, void (*)());
WRAP void __wrap__ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(
    Thread *thread, void *state, void (*depend)()) {
    has_threads = true;
    _ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(thread, state, depend);
}

// Those that may end by something of outside wait for it really; where they wait in vain the clock has moved on.
WRAP int __wrap_poll(pollfd *files, nfds_t count, int milliseconds) {
    if (is_real() || milliseconds <= 0) return poll(files, count, milliseconds);
    int64_t target = current_time() + milliseconds * (SECOND / 1000);
    int found = poll(files, count, count || !is_alone() ? milliseconds : 0);
    if (!found) sleep_until(target);
    return found;
}
WRAP int __wrap_select(int count, fd_set *in, fd_set *out, fd_set *other, timeval *span) {
    if (is_real() || !span) return select(count, in, out, other, span);
    int64_t target = current_time() + span->tv_sec * SECOND + span->tv_usec * 1000;
    timeval real = count || !is_alone() ? *span : timeval{0, 0};
    int found = select(count, in, out, other, &real);
    if (!found) sleep_until(target);
    return found;
}

// std::future and std::latch: seconds and nanoseconds of a time, on the system's clock or the steady one.
struct Futex;
extern "C" bool _ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE(
    Futex *, unsigned *, unsigned, bool, int64_t, int64_t);
extern "C" bool _ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE(
    Futex *, unsigned *, unsigned, bool, int64_t, int64_t);

template <class Real>
static bool futex(clockid_t which, bool has_timeout, int64_t seconds, int64_t rest, Real real) {
    if (is_real() || !has_timeout) return real(seconds, rest);
    timespec until = {seconds, rest};
    return !waited(which, &until, [&](timespec *each) { return real(each->tv_sec, each->tv_nsec) ? 0 : ETIMEDOUT; });
}
WRAP bool
__wrap__ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE(
    Futex *self, unsigned *address, unsigned value, bool has_timeout, int64_t seconds, int64_t rest) {
    return futex(CLOCK_REALTIME, has_timeout, seconds, rest, [=](int64_t s, int64_t n) {
        return _ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_untilEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE(
            self, address, value, has_timeout, s, n);
    });
}
WRAP bool
__wrap__ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE(
    Futex *self, unsigned *address, unsigned value, bool has_timeout, int64_t seconds, int64_t rest) {
    return futex(CLOCK_MONOTONIC, has_timeout, seconds, rest, [=](int64_t s, int64_t n) {
        return _ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steadyEPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE(
            self, address, value, has_timeout, s, n);
    });
}
