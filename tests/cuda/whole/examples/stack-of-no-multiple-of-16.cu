// The machine code of sm_75 was told to store 16 bytes at a misaligned place of its stack
// Kernel 0: 2 blocks of 70 threads -maxrregcount=32
namespace of_k0 {
__device__ __forceinline__ i64 f_1(i32 a, u8 b, i32 c, u32 d) {
  d = (u32)((u32)d & (u32)(u32)(((d) % 7 == 1)));
  return ((((i64)((u64)((i64)0x1e7ull) | (u64)(i64)(c))) >> 7 & 1) ? ((b < b) ? (i64)(((i8)0x1full)) : (i64)(~(u64)(i64)(a))) : min((i64)(b), (i64)((u64)((i64)0xffffull) & (u64)(i64)(a))));
}
__device__ __forceinline__ i32 f_2(i64 a) {
  if ((((i64)((u64)(i64)(a) - (u64)a)) % 5 == 2)) {
    a = (i64)((u64)(((i32)(a) <= ((i32)0x100000000ull)) ? min(a, a) : f_1((i32)(a), (u8)(a), ((i32)0x64ull), (u32)(a))) << ((u32)(((i8)0x7full)) & 63));
  }
  if (((((u16)(a)) % 2 == 0) && (((((u64)0x2295922d7605558ull)) >> 4 & 1) && ((((i8)0x80c672e668ull)) >> 3 & 1)))) {
    if ((((((u32)0x7fffffffffffffffull) < (u32)(a)) && ((((i16)0x63ca8bdd970f346ull)) % 2 == 2)) || ((((i8)0xffffull)) % 2 == 1))) {
      a = (i64)((u64)f_1((i32)(a), (u8)(a), (i32)(a), ((u32)0x7fffffffull)) | (u64)f_1((i32)(a), ((u8)0x3127ff61dc85ull), (i32)(a), ((u32)0x8bfb6ull)));
      a = f_1((i32)((i32)(a) >> ((u32)(((i16)0x1f3abc7314073ull)) & 31)), (u8)((((i8)(a)) >> 6 & 1)), (i32)bits_of(((u16)0x3full)), (u32)((u32)(u32)(a) | (u32)(u32)(a)));
      if (((u8)((u32)(u8)(a) << ((u32)(((i8)0x187a85b3dull)) & 7)) != (u8)((u32)(u8)(a) * (u32)((u8)0x9e1a2230f3a8e7aull)))) return (i32)bits_of((i64)bits_of((i32)(a)));
    }
  }
  return (i32)((u32)(i32)bits_of((u32)((u8)(a))) * (u32)(i32)((u32)(i32)((u32)(i32)(a) + (u32)((i32)0x35f4d0c8660c8046ull)) | (u32)(i32)((u32)(i32)(a) + (u32)(i32)(a))));
}
template <class T, int N> struct St_3 { static __device__ T of(T a, T b) {
  for (int i = 0; i < N; ++i) { a = T(rotated<T>(a, 7) | b); b = T(b + T(i + 1)); }
  return a;
} };
struct C_4 { u32 own; __device__ C_4(u32 own) : own(own) {}
  virtual __device__ u32 of(u32 a) const = 0; };
struct C_4_0 : C_4 { using C_4::C_4;
  __device__ u32 of(u32 a) const override; };
__device__ u32 C_4_0::of(u32 a) const {
  switch ((u32)((u32)((u32)(u32)(~(u32)min(a, (u32)(a))) + (u32)own)) % 8) { case 0: {
    a = (u32)((u32)(u32)((u32)(u32)((a != own)) * (u32)min(((u32)0x7ull), own)) | (u32)(u32)((u32)((((u64)0x3e8ull) > ((u64)0x3ull)) ? a : own) * (u32)own));
    break;
  } case 1: {
    break;
  } case 2: {
    break;
  } case 3: {
    break;
  } case 4: {
  } case 5: {
    break;
  } case 6: {
    break;
  } default: {
  } }
  return ((((((u8)(own)) % 4 == 1) ? (i16)(a) : ((i16)0x100000000ull)) < (i16)(-(u32)(i16)(own))) ? (u32)bits_of((u16)((u32)((u16)0x7fffull) << 1)) : (u32)((u32)(u32)bits_of(((u16)0xffffull)) << ((u32)(((((i8)(own)) % 5 == 0) ? a : a)) & 31)));
}
struct C_4_1 : C_4 { using C_4::C_4;
  __device__ u32 of(u32 a) const override; };
__device__ u32 C_4_1::of(u32 a) const {
  for (u32 i_5 = 0; i_5 < ((u32)(f_1(((i32)0xfc61c35c4c3ull), (u8)(a), (i32)(own), a)) & 3) + 1; ++i_5) {
    a = (u32)((i16)((u32)(i16)((((i16)0xf9f6ull) > ((i16)0x69fa63aull))) ^ (u32)(i16)((u32)(i16)(i_5) | (u32)(i16)(a))));
  }
  {
    for (u32 g_8 = 0; g_8 < 2; ++g_8) {
      for (u32 i_7 = 0; i_7 < 1; ++i_7) {
        a = (u32)((u32)(u32)((u32)(u32)bits_of((i16)(a)) ^ (u32)((u32)0x100ull)) - (u32)(u32)((u32)(u32)(i_7 >> ((u32)(((u8)0x100000000ull)) & 31)) ^ (u32)i_7));
        if ((((u64)(i_7) == ((u64)0x20ull)) != (((i32)(a)) % 7 == 1))) break;
      }
      if ((((i16)(~(u32)((i16)0xffffffffull))) >> 0 & 1)) goto l_6;
    }
  }
l_6:;
  return a;
}
__device__ __noinline__ u32 of_C_4(const C_4* which, u32 a) { return which->of(a); }
__device__ u32 either_C_4(u32 which, u32 a, u32 b) {
  C_4_0 first(b); C_4_1 second(a);
  return of_C_4(which % 2 ? (const C_4*)&first : (const C_4*)&second, a);
}
}
extern "C" __global__ void k0(const u64* in, u64* out, u32* totals, u64* wide_totals) {
  using namespace of_k0;
  __shared__ u32 cells_u32[96]; __shared__ i32 cells_i32[96];
  __shared__ f32 cells_f32[96]; __shared__ u64 cells_u64[96];
  __shared__ u32 sums[8]; __shared__ u64 wide_sums[8];
  const u32 tid = threadIdx.x, size = blockDim.x, slot = blockIdx.x * size + tid, lane = tid & 31;
  u64* mine = out + slot * 12;
  u64 h = 0;
  u32 mask = size - (tid & ~31u) >= 32 ? ~0u : (1u << (size & 31)) - 1;
  cells_u32[tid] = slot * 0x9e3779b1u; cells_i32[tid] = (i32)slot - 40;
  cells_f32[tid] = (f32)slot * 0.75f; cells_u64[tid] = ~(u64)slot;
  if (tid < 8) sums[tid] = tid & 1 && tid < 4 ? ~0u : 0, wide_sums[tid] = tid & 1 && tid < 4 ? ~0ull : 0;
  __syncthreads();
  i32 v_9 = (i32)(in[(slot * 7 + 30) % 64]);
  i8 v_10 = (i8)(in[(slot * 5 + 30) % 64]);
  i16 v_11 = (i16)(in[(slot * 5 + 45) % 64]);
  i64 v_12 = (i64)(in[(slot * 5 + 61) % 64]);
  const bool cm_13 = ((((tid) % 4 == 2) != ((v_10) % 7 == 0)) || (((u32)(in[(v_12) % 64 & 63])) % 5 == 1));
  const u32 m_13 = __ballot_sync(mask, cm_13);
  if (cm_13) {
    i32 v_14 = from_lane(m_13, (i32)((i32)(v_9 >> 21) >> ((u32)(either_C_4(tid, tid, ((u32)0x1ull))) & 31)), (u32)(-(u32)tid));
    u16 a_15[8];
    for (u32 i_16 = 0; i_16 < 8; ++i_16) a_15[i_16] = (u16)((u32)(u16)((u32)(u16)(tid) & (u32)(u16)(tid)) - (u32)(u16)((u32)((u16)0x100000000ull) & (u32)((u16)0x1494c74ull)));
    for (u32 w_17 = 0; w_17 < 4 && __any_sync(m_13, (((u8)(tid)) % 3 == 1)); ++w_17) {
      u32 v_18 = across(m_13, tid, 2, 32);
      v_14 = (i32)(either_C_4((u32)(size), v_18, v_18));
      i32 v_19 = from_above(m_13, (i32)((u32)f_2(v_12) << 22), 4, 4);
      a_15[(u32)((u32)(v_18)) & 7] = (u16)((u32)(u16)((u32)(u16)((u32)a_15[(u32)(v_10) & 7] ^ (u32)a_15[(u32)(tid) & 7]) + (u32)a_15[(u32)(v_19) & 7]) - (u32)(u16)bits_of(either_C_4((u32)(in[(v_14) % 64 & 63]), v_18, (u32)(v_18))));
    }
    if (((v_9 <= ((i32)0x64ull)) != ((tid) % 2 == 1))) {
      NOTE(v_9)
      {
        u32 w_20 = 0;
        do {
          v_11 = (i16)bits_of((u16)((u32)a_15[(u32)(v_14) & 7] ^ (u32)(u16)(~(u32)a_15[(u32)(tid) & 7])));
          v_11 = v_11;
        } while (++w_20 < 2 && ((i32)(v_11) > v_14));
      }
      u8 a_21[16];
      for (u32 i_22 = 0; i_22 < 16; ++i_22) a_21[i_22] = (u8)((u32)(u8)((u32)((u8)0x20ull) * (u32)((u8)0x1904cf827faull)) & (u32)St_3<u8, 4>::of((u8)(v_9), ((u8)0x100ull)));
      NOTE(a_21[(u32)(((i16)0xffffffffull)) & 15])
      switch ((u32)(tid) % 8) { case 0: {
        u64 a_23[16];
        for (u32 i_24 = 0; i_24 < 16; ++i_24) a_23[i_24] = ((((((i16)0x8000000000000000ull)) % 2 == 2) || (a_15[(u32)(v_14) & 7] >= (u16)(size))) ? (u64)((v_14 >= (i32)(lane))) : (u64)(((u64)0x5ull) >> 24));
        break;
      } case 1: {
        i64 v_25 = (i64)((u64)max((i64)((u64)v_12 | (u64)v_12), (i64)((u64)v_12 * (u64)(i64)(v_12))) << ((u32)((i8)((u32)(i8)((u32)v_10 * (u32)v_10) ^ (u32)v_10)) & 63));
        i32 v_26 = (i32)((((i16)((u32)v_11 - (u32)v_11)) % 5 == 2));
        break;
      } case 2: {
        i16 v_27 = (i16)((u32)v_11 | (u32)(i16)((u32)(i16)((u32)(i16)(tid) + (u32)(i16)(v_9)) ^ (u32)(i16)((u32)v_11 ^ (u32)(i16)(in[(v_14) % 64 & 63]))));
        break;
      } case 3: {
        i16 v_28 = (i16)((((i32)((u32)v_9 + (u32)(i32)(size))) % 6 == 1));
        break;
      } case 4: {
        i64 v_29 = (i64)(~(u64)(i64)((u64)v_12 << 51));
      } case 5: {
        NOTE(v_9)
        break;
      } case 6: {
        i32 a_30[8];
        for (u32 i_31 = 0; i_31 < 8; ++i_31) a_30[i_31] = f_2(v_12);
      } default: {
        i32 v_32 = (i32)(v_12);
      } }
    }
    if (((f_2(((i64)0x8000ull))) % 6 == 1)) {
      {
        for (u32 g_37 = 0; g_37 < 2; ++g_37) {
          v_9 = (i32)(in[(v_9) % 64 & 63]);
          v_14 = (i32)(f_2(v_12) >> 0);
          u64 v_34 = (u64)(St_3<u64, 4>::of(((u64)0x348bbb316bull), (u64)(v_12)) >> 63);
          v_9 = (i32)((u32)v_14 - (u32)max(v_14, min(v_9, (i32)(v_9))));
          a_15[(u32)(v_14) & 7] = a_15[(u32)(a_15[(u32)((u8)(tid)) & 7]) & 7];
          if (((v_10 > v_10) || ((v_12) % 5 == 0))) goto l_33;
          v_34 = (u64)(~(u64)St_3<u64, 4>::of(v_34, v_34));
          u64 a_35[4];
          for (u32 i_36 = 0; i_36 < 4; ++i_36) a_35[i_36] = St_3<u64, 4>::of((u64)(size), v_34);
        }
        NOTE(v_9)
      }
l_33:;
      v_9 = (i32)(~(u32)(i32)((u32)(i32)(v_9) ^ (u32)f_2((i64)(v_12))));
      {
        for (u32 g_39 = 0; g_39 < 2; ++g_39) {
          v_12 = (i64)((u64)(i64)((u64)(i64)((u64)v_12 + (u64)v_12) - (u64)(i64)((u64)((i64)0x3ull) * (u64)v_12)) | (u64)(i64)((u64)(i64)((u64)(i64)(v_12) | (u64)v_12) ^ (u64)(i64)(tid)));
          if ((((i32)(a_15[(u32)(v_14) & 7])) % 2 == 0)) goto l_38;
          v_14 = (i32)((u32)(i32)(((v_10 != v_10) ? v_14 : v_14) >> 12) & (u32)(i32)((u32)(i32)((u32)v_14 << 3) - (u32)(i32)(((u32)0x3ull))));
          v_12 = (i64)(-(u64)(i64)(size));
        }
        u64 v_40 = ((u64)0x1975446c40d9bc1ull);
      }
l_38:;
      switch ((u32)(tid) % 102) { case 77: {
        v_9 = v_14;
        a_15[(u32)(tid) & 7] = (u16)(((v_10) % 6 == 1));
      } case 65536: {
        v_14 = (i32)((u32)(i32)((u32)(i32)(~(u32)((i32)0xaull)) & (u32)(i32)((u32)v_9 & (u32)v_9)) | (u32)(i32)(~(u32)(i32)(((u64)(v_9) >= ((u64)0x1daa2cull)))));
        break;
      } }
      {
        for (u32 g_46 = 0; g_46 < 1; ++g_46) {
          v_12 = (((f_2(v_12)) % 6 == 0) ? (i64)(~(u64)(i64)(-(u64)(i64)(size))) : f_1(v_14, ((u8)0xf879dull), v_14, tid));
          NOTE(v_11)
          u32 a_42[16];
          for (u32 i_43 = 0; i_43 < 16; ++i_43) a_42[i_43] = (u32)((u32)(u32)(-(u32)i_43) & (u32)(u32)((u32)i_43 | (u32)((u32)0x39ull)));
          v_11 = ((((u32)((u32)a_42[(u32)(tid) & 15] * (u32)((u32)0x1full))) % 6 == 1) ? (i16)((u32)(i16)(-(u32)v_11) & (u32)(i16)(v_9)) : v_11);
          if (((((u8)0x7fffffffffffffffull)) % 2 == 0)) goto l_41;
          i16 a_44[8];
          for (u32 i_45 = 0; i_45 < 8; ++i_45) a_44[i_45] = (i16)bits_of((i64)((u64)v_12 | (u64)(i64)(tid)));
          a_15[(u32)((u64)(tid)) & 7] = (u16)((u32)(u16)((u32)a_15[(u32)(((u64)0x8000ull)) & 7] & (u32)(u16)((u32)(u16)(tid) << 15)) ^ (u32)a_15[(u32)(((u64)0x6b9bull)) & 7]);
        }
        v_10 = (i8)(~(u32)(i8)(~(u32)(i8)(~(u32)v_10)));
      }
l_41:;
    }
  } else {
    i32 v_47 = across((mask & ~m_13), f_2((i64)(v_11)), 14, 16);
  }
  __syncwarp(mask);
  for (u32 w_48 = 0; w_48 < 3 && __any_sync(mask, ((((i8)(v_11)) % 4 == 0) != ((tid) >> 3 & 1))); ++w_48) {
    i32 v_49 = across(mask, v_9, 3, 8);
    const bool cm_50 = (((v_11) % 6 == 0) || (v_9 >= v_9));
    const u32 m_50 = __ballot_sync(mask, cm_50);
    if (cm_50) {
      u16 v_51 = ((((tid) % 3 == 1) && ((u16)(v_10) < (u16)(slot))) ? (u16)((u32)(u16)(tid) - (u32)(((u64)(v_10) == (u64)(v_9)) ? (u16)(in[(v_49) % 64 & 63]) : ((u16)0x3cc1full))) : (u16)(in[(v_11) % 64 & 63]));
      u8 v_52 = (u8)((u32)(u8)((u8)(-(u32)(u8)(in[(tid) % 64 & 63])) >> 4) * (u32)(u8)((u32)(u8)((u8)(in[(tid) % 64 & 63]) >> ((u32)(v_9) & 7)) + (u32)(u8)((tid != tid))));
    } else {
      {
        u32 w_53 = 0;
        do {
          NOTE(v_12)
          v_9 = ((i32)0x3ec2a3ca744eull);
          NOTE(v_10)
          u32 a_54[8];
          for (u32 i_55 = 0; i_55 < 8; ++i_55) a_54[i_55] = tid;
          v_11 = (i16)((u32)v_11 - (u32)(i16)((u64)((u64)((u64)0x7full) ^ (u64)((u64)0x8000000000000000ull))));
        } while (++w_53 < 5 && ((v_12) >> 7 & 1));
      }
      {
        u32 w_56 = 0;
        do {
          NOTE(v_10)
          v_12 = f_1((((u16)(in[(tid) % 64 & 63]) > ((u16)0x7bcull)) ? v_49 : v_9), (u8)((u32)((u8)0x375ec4ull) ^ (u32)(u8)(slot)), f_2(v_12), tid);
        } while (++w_56 < 5 && ((((u64)0xaull) == (u64)(v_11)) || (((u8)(in[(v_11) % 64 & 63])) % 4 == 0)));
      }
      {
        for (u32 g_58 = 0; g_58 < 2; ++g_58) {
          v_11 = (i16)((u32)(i16)((((((i16)0x3e8ull)) % 4 == 1) && (v_49 >= ((i32)0x2ull)))) << 11);
          if (((min(tid, tid)) % 3 == 1)) goto l_57;
        }
      }
l_57:;
    }
  }
  mine[1] = (u64)bits_of(v_9); mine[2] = (u64)bits_of(v_10); mine[3] = (u64)bits_of(v_11); mine[4] = (u64)bits_of(v_12);
  mine[0] = h;
}
