// Instrumented CUDA: what the macros of device.cuh do on a GPU.
//
// Each thread appends to its own stretch of one buffer. The host (simtmm/recorder/gpu/launches.py) runs a launch twice
// or more: while `events` is null threads only count; then the host lays the stretches out exactly and runs it again. A
// thread that has more to say the second time goes on counting, so that the host sees what it lacked. Blocks that are
// not recorded run all the same: others may need what they do. Of a block that does not fit the device each run writes
// a part.

#pragma once

#if !defined(SIMTMM_END_THREAD)  // tests, which have no GPU, have another way
#define SIMTMM_END_THREAD() asm volatile("exit;")
#endif

namespace simtmm {

// The codes of simtmm/recorder/device_cpu.cuh.
enum FaultCode { NONE, OUT_OF_BOUNDS, NO_ARRAY, SHARED_OUT_OF_BOUNDS, NEGATIVE, TOO_MUCH };

struct Array { unsigned long long begin, end; };  // addresses

// What a launch reads and writes. A slot is a recorded block, in ascending order; a thread's number among those that
// are recorded is slot * threads of a block + its number in the block.
struct Recorder {
    Event* events;                     // null while counting
    unsigned long long* used;          // of each recorded thread: how many events it has had
    const unsigned long long* starts;  // of each recorded thread: where its stretch begins; the last one's end
    const int* chosen;                 // the recorded blocks, ascending; null if they are `first` and those behind it
    long long first, slots;
    const Array* arrays;               // ascending
    long long array_count;
    unsigned long long origin;         // the device's address of virtual address 0
    unsigned long long most;           // events of a thread
    long long* fault;                  // the first one's code, site, block, thread, array, index, count
    unsigned long long skipped, room;  // of all stretches, how much lies before `events` and how much there
};

}  // namespace simtmm

extern "C" {
__device__ simtmm::Recorder simtmm_recorder;
}

namespace simtmm {

// An array in shared memory: s[i] of the plain build, with the site of its declaration.
template <class T> struct SharedArray {
    T* data;
    int count;
    int declared;
};

__device__ inline long long block_number() {
    return blockIdx.x + (long long)gridDim.x * (blockIdx.y + (long long)gridDim.y * blockIdx.z);
}

__device__ inline int thread_number() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }

// Say what is wrong, the first thread only, and end this thread: those behind it must not read what it would have.
// noinline: errors are rare, and the code of an access should stay small.
__device__ __noinline__ static void fail(int code, int site, long long array, long long index, long long count) {
    if (atomicCAS((unsigned long long*)simtmm_recorder.fault, 0ull, (unsigned long long)code) == 0) {
        long long words[] = {site, block_number(), thread_number(), array, index, count};
        for (int i = 0; i < 6; ++i) simtmm_recorder.fault[1 + i] = words[i];
        __threadfence();
    }
    SIMTMM_END_THREAD();
}

// Where this block stands among the recorded ones; -1 if it is not recorded.
__device__ inline long long slot_of(long long block) {
    if (!simtmm_recorder.chosen) {
        long long slot = block - simtmm_recorder.first;
        return slot >= 0 && slot < simtmm_recorder.slots ? slot : -1;
    }
    long long low = 0, high = simtmm_recorder.slots;
    while (low < high) {
        long long middle = (low + high) / 2;
        if (simtmm_recorder.chosen[middle] < block) low = middle + 1; else high = middle;
    }
    return low < simtmm_recorder.slots && simtmm_recorder.chosen[low] == block ? low : -1;
}

__device__ __noinline__ static void append(int site, int kind, unsigned bytes, unsigned long long value) {
    long long slot = slot_of(block_number());
    if (slot < 0) return;
    int thread = thread_number();
    long long mine = slot * (long long)(blockDim.x * blockDim.y * blockDim.z) + thread;
    unsigned long long at = simtmm_recorder.used[mine]++;
    if (at >= simtmm_recorder.most) fail(TOO_MUCH, site, -1, 0, (long long)simtmm_recorder.most);
    if (!simtmm_recorder.events) return;
    at += simtmm_recorder.starts[mine];
    if (at >= simtmm_recorder.starts[mine + 1]) return;
    at -= simtmm_recorder.skipped;
    if (at >= simtmm_recorder.room) return;  // those before `events` are far above it now
    Event event = {value, (unsigned)site, (unsigned short)thread, (unsigned char)kind, (unsigned char)bytes};
    simtmm_recorder.events[at] = event;
}

template <class T> struct Plain { typedef T type; };
template <class T> struct Plain<const T> { typedef T type; };
template <class T> struct Plain<volatile T> { typedef T type; };
template <class T> struct Plain<const volatile T> { typedef T type; };

// The updates, at a place; each records first, so what its operand loads has been recorded before.
template <class Self, class T> struct Updates {
    __device__ T& there() { return static_cast<Self*>(this)->update(); }
    template <class V> __device__ T simtmm_add(V v) { return atomicAdd(&there(), (T)v); }
    template <class V> __device__ T simtmm_min(V v) { return atomicMin(&there(), (T)v); }
    template <class V> __device__ T simtmm_max(V v) { return atomicMax(&there(), (T)v); }
    template <class V> __device__ T simtmm_and(V v) { return atomicAnd(&there(), (T)v); }
    template <class V> __device__ T simtmm_or(V v) { return atomicOr(&there(), (T)v); }
    template <class V> __device__ T simtmm_xor(V v) { return atomicXor(&there(), (T)v); }
    template <class V> __device__ T simtmm_exchange(V v) { return atomicExch(&there(), (T)v); }
    template <class V> __device__ Self simtmm_expecting(V v) {
        Self self = *static_cast<Self*>(this);
        self.expected = (T)v;
        return self;
    }
    template <class V> __device__ T simtmm_swap(V v) {
        return atomicCAS(&there(), static_cast<Self*>(this)->expected, (T)v);
    }
};

// --- global memory ------------------------------------------------------------------------------------------------

// The array that an address points into, or to the end of: there is a gap behind each.
__device__ __noinline__ static long long find_array(unsigned long long address, int site) {
    long long low = 0, high = simtmm_recorder.array_count;
    while (low < high) {
        long long middle = (low + high) / 2;
        if (simtmm_recorder.arrays[middle].begin <= address) low = middle + 1; else high = middle;
    }
    if (low == 0 || address > simtmm_recorder.arrays[low - 1].end) fail(NO_ARRAY, site, -1, 0, 0);
    return low - 1;
}

template <int SITE, class T> struct GlobalPlace : Updates<GlobalPlace<SITE, T>, typename Plain<T>::type> {
    static_assert(SITE < 65536, "too many sites in one kernel file");
    static_assert(sizeof(T) <= 255, "an access moves at most 255 bytes");
    T* array;
    long long index;
    typename Plain<T>::type expected;
    __device__ GlobalPlace(T* a, long long i) : array(a), index(i), expected() {}
    __device__ T& go(int kind) {
        unsigned long long base = (unsigned long long)array;
        long long number = find_array(base, SITE);
        Array extent = simtmm_recorder.arrays[number];
        long long size = sizeof(T);
        long long before = (long long)(base - extent.begin) / size, after = (long long)(extent.end - base) / size;
        if (index < -before || index >= after) fail(OUT_OF_BOUNDS, SITE, number, index + before, before + after);
        append(SITE, kind, sizeof(T), base + (unsigned long long)(index * size) - simtmm_recorder.origin);
        return array[index];
    }
    __device__ T& update() { return go(KIND_ATOMIC); }
    __device__ typename Plain<T>::type simtmm_load() { return go(KIND_LOAD); }
    __device__ typename Plain<T>::type simtmm_load_async() { return go(KIND_ASYNC); }
    template <class V> __device__ void simtmm_store(V v) { go(KIND_STORE) = v; }
};

// --- shared memory --------------------------------------------------------------------------------------------------

template <int SITE, class T> struct SharedPlace : Updates<SharedPlace<SITE, T>, T> {
    static_assert(SITE < 65536, "too many sites in one kernel file");
    static_assert(sizeof(T) <= 255, "an access moves at most 255 bytes");
    SharedArray<T> array;
    long long index;
    T expected;
    __device__ SharedPlace(const SharedArray<T>& s, long long i) : array(s), index(i), expected() {}
    __device__ T& go(int kind) {
        if ((unsigned long long)index >= (unsigned long long)array.count)
            fail(SHARED_OUT_OF_BOUNDS, SITE, array.declared, index, array.count);
        append(SITE, kind, sizeof(T), (unsigned long long)array.declared << 32 | (unsigned long long)index * sizeof(T));
        return array.data[index];
    }
    __device__ T& update() { return go(KIND_SHARED_ATOMIC); }
    __device__ T simtmm_load_shared() { return go(KIND_SHARED_LOAD); }
    template <class V> __device__ void simtmm_store_shared(V v) { go(KIND_SHARED_STORE) = v; }
};

}  // namespace simtmm

// --- what the macros of device.cuh call ------------------------------------------------------------------------------

template <int SITE, class T, class I> __device__ inline simtmm::GlobalPlace<SITE, T> simtmm_access(T* a, I i) {
    return simtmm::GlobalPlace<SITE, T>(a, (long long)i);
}

template <int SITE, class T, class I>
__device__ inline simtmm::SharedPlace<SITE, T> simtmm_access(const simtmm::SharedArray<T>& s, I i) {
    return simtmm::SharedPlace<SITE, T>(s, (long long)i);
}

template <int SITE> __device__ inline void simtmm_join(long long left_out = 0) {
    if (left_out < 0) simtmm::fail(simtmm::NEGATIVE, SITE, -1, left_out, 0);
    simtmm::append(SITE, simtmm::KIND_JOIN, 0, (unsigned long long)left_out);
}

template <int SITE> __device__ inline void simtmm_barrier() {
    simtmm::append(SITE, simtmm::KIND_BARRIER, 0, 0);
    __syncthreads();
}

template <int SITE> __device__ inline void simtmm_work(long long operations) {
    if (operations < 0) simtmm::fail(simtmm::NEGATIVE, SITE, -1, operations, 0);
    if (operations) simtmm::append(SITE, simtmm::KIND_WORK, 0, (unsigned long long)operations);
}

#define SIMTMM_SHARED(n, type, name, count)       \
    __shared__ type simtmm_storage_##name[count]; \
    const simtmm::SharedArray<type> name = {simtmm_storage_##name, (count), n}

// Sent before each pass over a launch; the order is that of simtmm/recorder/gpu/launches.py.
extern "C" __global__ void simtmm_begin(simtmm::Event* events, unsigned long long* used,
                                        const unsigned long long* starts, const int* chosen, long long first,
                                        long long slots, const simtmm::Array* arrays, long long array_count,
                                        unsigned long long origin, unsigned long long most, long long* fault,
                                        unsigned long long skipped, unsigned long long room) {
    simtmm_recorder = simtmm::Recorder{events, used,        starts, chosen, first, slots,  arrays,
                                       array_count, origin, most,   fault,  skipped, room};
}
