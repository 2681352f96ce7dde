"""Functions of the system's that programs have others for: they tell time, wait, load libraries, or end the program."""

_FUTEX = "EPjjbNSt6chrono8durationIlSt5ratioILl1ELl1EEEENS2_IlS3_ILl1ELl1000000000EEEE"  # a time, in libstdc++'s names
CLOCKS = (
    "clock_gettime", "gettimeofday", "time", "timespec_get", "clock", "times", "getrusage", "omp_get_wtime",
    "_ZNSt6chrono3_V212steady_clock3nowEv", "_ZNSt6chrono3_V212system_clock3nowEv",
    "nanosleep", "clock_nanosleep", "usleep", "sleep",
    "pthread_cond_timedwait", "pthread_cond_clockwait", "pthread_mutex_timedlock", "pthread_mutex_clocklock",
    "pthread_timedjoin_np", "sem_timedwait", "sem_clockwait", "poll", "select",
    "pthread_create", "_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE",
    f"_ZNSt28__atomic_futex_unsigned_base19_M_futex_wait_until{_FUTEX}",
    f"_ZNSt28__atomic_futex_unsigned_base26_M_futex_wait_until_steady{_FUTEX}",
)  # fmt: skip
"""Those that runtime/clock.cpp has others for."""

ENDS = ("exit", "_exit", "quick_exit")
"""Those that runtime/program.cpp has others for."""

LOADS = ("dlopen",)
"""Those that runtime/shared.cpp has others for."""

WRAPPED = (*ENDS, *CLOCKS, *LOADS)
