// What arguments a __global__ function takes, found out on the GPU: simtmm/recorder/gpu/device.py passes them so.

#pragma once

namespace simtmm {

template <class T> struct ArgumentKind { static const char code = 's'; };  // a structure
template <class T> struct ArgumentKind<T*> { static const char code = 'p'; };
template <> struct ArgumentKind<bool> { static const char code = 'b'; };
template <> struct ArgumentKind<float> { static const char code = 'f'; };
template <> struct ArgumentKind<double> { static const char code = 'f'; };
template <> struct ArgumentKind<char> { static const char code = (char)-1 < (char)0 ? 'i' : 'u'; };
template <> struct ArgumentKind<signed char> { static const char code = 'i'; };
template <> struct ArgumentKind<short> { static const char code = 'i'; };
template <> struct ArgumentKind<int> { static const char code = 'i'; };
template <> struct ArgumentKind<long> { static const char code = 'i'; };
template <> struct ArgumentKind<long long> { static const char code = 'i'; };
template <> struct ArgumentKind<unsigned char> { static const char code = 'u'; };
template <> struct ArgumentKind<unsigned short> { static const char code = 'u'; };
template <> struct ArgumentKind<unsigned> { static const char code = 'u'; };
template <> struct ArgumentKind<unsigned long> { static const char code = 'u'; };
template <> struct ArgumentKind<unsigned long long> { static const char code = 'u'; };

template <class F> struct Signature;
template <class... A> struct Signature<void (*)(A...)> {
    static_assert(sizeof...(A) <= 32, "a kernel takes at most 32 arguments");
    // words: how many arguments there are, then 256 * kind + bytes of each.
    __device__ static void simtmm_describe(long long* words) {
        const long long all[] = {
            (long long)sizeof...(A), 256 * (long long)ArgumentKind<A>::code + (long long)sizeof(A)...};
        for (unsigned i = 0; i <= sizeof...(A); ++i) words[i] = all[i];
    }
};

}  // namespace simtmm
