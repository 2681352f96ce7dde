// Instrumented CUDA: what the macros of device.cuh do on a GPU.
//
// Each thread appends to its own stretch of one buffer. The host runs a kernel twice: with `events` null it only
// counts, then it lays out the stretches exactly and runs it again. Addresses are the device's; the host knows
// where its arrays lie and makes them virtual.

#pragma once

namespace simtmm {

struct Recorder {
    Event* events;              // null while counting
    unsigned long long* next;   // of each thread of the launch: where its next event goes, or how many it has
    unsigned long long first;   // the first block that is recorded
    unsigned long long blocks;  // how many are
};

}  // namespace simtmm

extern "C" __device__ simtmm::Recorder simtmm_recorder;
__device__ simtmm::Recorder simtmm_recorder;

namespace simtmm {

// A block's local array: s[i] of the plain build, with the site of its declaration.
template <class T> struct SharedArray {
    T* data;
    int count;
    int declared;
};

__device__ inline void append(int site, int kind, unsigned bytes, unsigned long long value) {
    unsigned long long block = blockIdx.x + (unsigned long long)gridDim.x * (blockIdx.y + (unsigned long long)gridDim.y * blockIdx.z);
    if (block - simtmm_recorder.first >= simtmm_recorder.blocks) return;
    int threads = blockDim.x * blockDim.y * blockDim.z;
    int thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
    unsigned long long at = simtmm_recorder.next[(block - simtmm_recorder.first) * threads + thread]++;
    if (simtmm_recorder.events) {
        Event event = {value, thread, (unsigned short)site, (unsigned char)kind, (unsigned char)bytes};
        simtmm_recorder.events[at] = event;
    }
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
    template <class V> __device__ T simtmm_swap(V v) { return atomicCAS(&there(), static_cast<Self*>(this)->expected, (T)v); }
};

template <int SITE, class T> struct GlobalPlace : Updates<GlobalPlace<SITE, T>, typename Plain<T>::type> {
    T* place;
    typename Plain<T>::type expected;
    __device__ GlobalPlace(T* a, long long i) : place(a + i), expected() {}
    __device__ T& go(int kind) {
        append(SITE, kind, sizeof(T), (unsigned long long)place);
        return *place;
    }
    __device__ T& update() { return go(KIND_ATOMIC); }
    __device__ typename Plain<T>::type simtmm_load() { return go(KIND_LOAD); }
    __device__ typename Plain<T>::type simtmm_load_async() { return go(KIND_ASYNC); }
    template <class V> __device__ void simtmm_store(V v) { go(KIND_STORE) = v; }
};

template <int SITE, class T> struct SharedPlace : Updates<SharedPlace<SITE, T>, T> {
    T* place;
    unsigned long long address;
    T expected;
    __device__ SharedPlace(const SharedArray<T>& s, long long i)
        : place(s.data + i), address((unsigned long long)s.declared << 32 | (unsigned long long)(i * (long long)sizeof(T))), expected() {}
    __device__ T& go(int kind) {
        append(SITE, kind, sizeof(T), address);
        return *place;
    }
    __device__ T& update() { return go(KIND_SHARED_ATOMIC); }
    __device__ T simtmm_load_shared() { return go(KIND_SHARED_LOAD); }
    template <class V> __device__ void simtmm_store_shared(V v) { go(KIND_SHARED_STORE) = v; }
};

}  // namespace simtmm

template <int SITE, class T, class I> __device__ inline simtmm::GlobalPlace<SITE, T> simtmm_access(T* a, I i) {
    return simtmm::GlobalPlace<SITE, T>(a, (long long)i);
}

template <int SITE, class T, class I>
__device__ inline simtmm::SharedPlace<SITE, T> simtmm_access(const simtmm::SharedArray<T>& s, I i) {
    return simtmm::SharedPlace<SITE, T>(s, (long long)i);
}

template <int SITE> __device__ inline void simtmm_join(long long left_out = 0) {
    simtmm::append(SITE, simtmm::KIND_JOIN, 0, left_out);
}

template <int SITE> __device__ inline void simtmm_barrier() {
    simtmm::append(SITE, simtmm::KIND_BARRIER, 0, 0);
    __syncthreads();
}

template <int SITE> __device__ inline void simtmm_work(long long operations) {
    if (operations > 0) simtmm::append(SITE, simtmm::KIND_WORK, 0, operations);
}

#define SIMTMM_SHARED(n, type, name, count)       \
    __shared__ type simtmm_storage_##name[count]; \
    const simtmm::SharedArray<type> name = {simtmm_storage_##name, (count), n}
