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

template <int NUMBER, int KIND> struct Site {
    enum { number = NUMBER, kind = KIND };
};

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

template <class S, class T, class I> __device__ inline T* record(T* a, I i) {
    T* place = a + i;
    append(S::number, S::kind, sizeof(T), (unsigned long long)place);
    return place;
}

template <class T> __device__ inline unsigned long long shared_address(const SharedArray<T>& s, long long i) {
    return (unsigned long long)s.declared << 32 | (unsigned long long)(i * (long long)sizeof(T));
}

template <class S, class T, class I> __device__ inline typename Plain<T>::type load(T* a, I i) {
    return *record<S>(a, i);
}

template <class S, class T, class I, class V> __device__ inline void store(T* a, I i, V v) {
    *record<S>(a, i) = v;
}

template <class S, class T, class I> __device__ inline T load_shared(const SharedArray<T>& s, I i) {
    append(S::number, S::kind, sizeof(T), shared_address(s, i));
    return s.data[i];
}

template <class S, class T, class I, class V> __device__ inline void store_shared(const SharedArray<T>& s, I i, V v) {
    append(S::number, S::kind, sizeof(T), shared_address(s, i));
    s.data[i] = v;
}

template <class S, class T, class I, class F> __device__ inline T atomic(T* a, I i, F update) {
    return update(*record<S>(a, i));
}

template <class S, class T, class I, class F> __device__ inline T atomic(const SharedArray<T>& s, I i, F update) {
    append(S::number, SHARED_ATOMIC, sizeof(T), shared_address(s, i));
    return update(s.data[i]);
}

template <class T, class V> __device__ inline T atomic_add(T& place, V v) { return atomicAdd(&place, (T)v); }
template <class T, class V> __device__ inline T atomic_min(T& place, V v) { return atomicMin(&place, (T)v); }
template <class T, class V> __device__ inline T atomic_max(T& place, V v) { return atomicMax(&place, (T)v); }
template <class T, class V> __device__ inline T atomic_and(T& place, V v) { return atomicAnd(&place, (T)v); }
template <class T, class V> __device__ inline T atomic_or(T& place, V v) { return atomicOr(&place, (T)v); }
template <class T, class V> __device__ inline T atomic_xor(T& place, V v) { return atomicXor(&place, (T)v); }
template <class T, class V> __device__ inline T atomic_exch(T& place, V v) { return atomicExch(&place, (T)v); }
template <class T, class E, class V> __device__ inline T atomic_cas(T& place, E expected, V v) {
    return atomicCAS(&place, (T)expected, (T)v);
}

template <class S> __device__ inline void join(long long left_out = 0) { append(S::number, S::kind, 0, left_out); }

template <class S> __device__ inline void barrier() {
    append(S::number, S::kind, 0, 0);
    __syncthreads();
}

template <class S> __device__ inline void work(long long operations) {
    if (operations > 0) append(S::number, S::kind, 0, operations);
}

}  // namespace simtmm

#define SIMTMM_SHARED(n, type, name, count)       \
    __shared__ type simtmm_storage_##name[count]; \
    const simtmm::SharedArray<type> name = {simtmm_storage_##name, (count), n}
