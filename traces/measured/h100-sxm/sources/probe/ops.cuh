#pragma once
// One op per struct: T state, f() one or N dependent instructions. chain kernel: ILP independent states per thread.
#define OP1(NAME,TY,CON,N_,UN,INIT,ASMS) struct NAME{ typedef TY T; static constexpr int N=N_,U=UN; static const char*name(){return #NAME;} \
  static __device__ __forceinline__ T init(u32 i,TY a){ return (TY)(INIT); } \
  static __device__ __forceinline__ void f(T&x,TY a,TY b){ asm volatile(ASMS:"+" CON(x):CON(a),CON(b)); } static __device__ __forceinline__ u32 fin(T x){ return (u32)(x); } };
OP1(ffma_,float,"f",1,128,i*0.001f+1.f,"fma.rn.f32 %0,%0,%1,%2;")
OP1(fadd_,float,"f",1,128,i*0.001f+1.f,"add.rn.f32 %0,%0,%1;")
OP1(fmul_,float,"f",1,128,i*0.001f+1.f,"mul.rn.f32 %0,%0,%1;")
OP1(fmnmx_fadd_pair,float,"f",2,64,i*0.001f+1.f,"max.f32 %0,%0,%1; add.rn.f32 %0,%0,%2;")
OP1(dfma,double,"d",1,128,i*0.001+1.,"fma.rn.f64 %0,%0,%1,%2;")
OP1(dadd_,double,"d",1,128,i*0.001+1.,"add.rn.f64 %0,%0,%1;")
OP1(imad,u32,"r",1,128,i+3,"mad.lo.u32 %0,%0,%1,%2;")
OP1(imul_hi,u32,"r",1,128,i*77777u+3,"mul.hi.u32 %0,%0,%1;")
OP1(imad_wide,u64,"l",1,64,i+3,"{.reg .b32 lo,hi; mov.b64 {lo,hi},%0; mad.wide.u32 %0,lo,hi,%2;}")
struct u2{u32 x,y;};
#define OP2(NAME,N_,UN,ASMS) struct NAME{ typedef u2 T; static constexpr int N=N_,U=UN; static const char*name(){return #NAME;} \
  static __device__ __forceinline__ T init(u32 i,u32 a){ return u2{i*7+a,i*3+1}; } \
  static __device__ __forceinline__ void f(T&x,u32 a,u32 b){ asm volatile(ASMS:"+r"(x.x),"+r"(x.y):"r"(a),"r"(b)); } static __device__ __forceinline__ u32 fin(T x){ return x.x+x.y; } };
OP2(iadd3,2,64,"add.u32 %0,%0,%1; add.u32 %1,%1,%0;")
OP2(iadd3_3in,2,64,"{.reg .u32 t; add.u32 t,%0,%1; add.u32 %0,t,%2; add.u32 t,%1,%0; add.u32 %1,t,%3;}")
OP2(lop3,2,64,"lop3.b32 %0,%0,%1,%2,0xe8; lop3.b32 %1,%1,%0,%3,0x2d;")
OP1(shf,u32,"r",1,128,i*77777u+3,"shf.l.wrap.b32 %0,%0,%1,%2;")
OP1(shl_iadd_pair,u32,"r",2,64,i*77777u+3,"shl.b32 %0,%0,%1; add.u32 %0,%0,%2;")
OP1(prmt,u32,"r",1,128,i*77777u+3,"prmt.b32 %0,%0,%1,%2;")
OP1(viaddmnmx,u32,"r",1,64,i+3,"min.u32 %0,%0,%1; add.u32 %0,%0,%2;")
OP1(setp_sel,u32,"r",2,64,i+3,"{.reg .pred p; setp.lt.u32 p,%0,%1; selp.u32 %0,%2,%1,p;}")
OP1(dp4a,u32,"r",1,128,i+3,"dp4a.u32.u32 %0,%0,%1,%2;")
OP1(popc,u32,"r",1,128,i*77777u+3,"popc.b32 %0,%0;")
OP1(brev_iadd_pair,u32,"r",2,64,i*77777u+3,"brev.b32 %0,%0; add.u32 %0,%0,%1;")
OP1(flo_clz,u32,"r",1,128,i*77777u+3,"bfind.u32 %0,%0;")
OP1(hfma2,u32,"r",1,128,0x3c003c00u+i,"fma.rn.f16x2 %0,%0,%1,%2;")
OP1(hfma2_bf16,u32,"r",1,128,0x3c003c00u+i,"fma.rn.bf16x2 %0,%0,%1,%2;")
OP1(mufu_ex2,float,"f",1,128,i*0.001f,"ex2.approx.ftz.f32 %0,%0;")
OP1(mufu_rcp_with_fadd,float,"f",1,64,i*0.001f+1.5f,"rcp.approx.ftz.f32 %0,%0; add.rn.f32 %0,%0,%1;")
OP1(mufu_rsq,float,"f",1,128,i*0.001f+1.5f,"rsqrt.approx.ftz.f32 %0,%0;")
OP1(mufu_sqrt,float,"f",1,128,i*0.001f+1.5f,"sqrt.approx.ftz.f32 %0,%0;")
OP1(mufu_lg2,float,"f",1,128,i*0.001f+1.5f,"lg2.approx.ftz.f32 %0,%0;")
OP1(mufu_sin_with_fmul,float,"f",1,128,i*0.001f+1.5f,"sin.approx.ftz.f32 %0,%0;")
OP1(mufu_tanh,float,"f",1,128,i*0.001f+1.5f,"tanh.approx.f32 %0,%0;")
OP1(i2f,u32,"r",1,128,i*77777u+3,"{.reg .f32 t; cvt.rn.f32.s32 t,%0; mov.b32 %0,t;}")
OP1(f2i,u32,"r",1,128,0x4b000000u+i*77777u,"{.reg .f32 t; mov.b32 t,%0; cvt.rzi.s32.f32 %0,t;}")
OP1(f2f_f64_to_f32,double,"d",1,64,i*0.5+1.,"{.reg .f32 t; .reg .b32 u; cvt.rn.f32.f64 t,%0; mov.b32 u,t; mov.b64 %0,{u,u};}")
OP1(f2f_f32_to_f64,double,"d",1,64,i*0.5+1.,"{.reg .f32 t; .reg .b32 u,v; mov.b64 {u,v},%0; mov.b32 t,v; cvt.f64.f32 %0,t;}")
OP1(f2f_f32_to_f16,u32,"r",1,64,i*77777u,"{.reg .f32 t; .reg .b16 h; mov.b32 t,%0; cvt.rn.f16.f32 h,t; mov.b32 %0,{h,h};}")
OP1(i2d_d2i,u32,"r",2,32,i*77777u,"{.reg .f64 t; cvt.rn.f64.s32 t,%0; cvt.rzi.s32.f64 %0,t; add.u32 %0,%0,%1;}")
OP1(idiv_u32,u32,"r",1,16,i+12345,"div.u32 %0,%2,%0;")
OP1(idiv_s32,u32,"r",1,16,i+12345,"div.s32 %0,%2,%0;")
OP1(irem_u32,u32,"r",1,16,i+12345,"{.reg .u32 t; rem.u32 t,%2,%0; or.b32 %0,t,%1;}")
OP1(idiv_u64,u64,"l",1,4,i+12345,"div.u64 %0,%2,%0;")
OP1(fdiv_rn,float,"f",1,16,i*0.01f+1.5f,"div.rn.f32 %0,%1,%0;")
OP1(fdiv_approx,float,"f",1,32,i*0.01f+1.5f,"div.approx.f32 %0,%1,%0;")
OP1(fsqrt_rn,float,"f",1,16,i*0.01f+1.5f,"sqrt.rn.f32 %0,%0;")
OP1(ddiv_rn,double,"d",1,8,i*0.01+1.5,"div.rn.f64 %0,%1,%0;")
OP1(dsqrt_rn,double,"d",1,8,i*0.01+1.5,"sqrt.rn.f64 %0,%0;")
OP1(shfl_bfly,u32,"r",1,128,i*77777u,"shfl.sync.bfly.b32 %0,%0,1,0x1f,0xffffffff;")
OP1(shfl_idx,u32,"r",1,128,i,"shfl.sync.idx.b32 %0,%0,%0,0x1f,0xffffffff;")
OP1(redux_add,u32,"r",1,64,i,"redux.sync.add.s32 %0,%0,0xffffffff;")
OP1(redux_max,u32,"r",1,64,i,"redux.sync.max.u32 %0,%0,0xffffffff;")
OP1(vote_ballot_with_setp,u32,"r",1,64,i,"{.reg .pred p; setp.gt.u32 p,%0,%1; vote.sync.ballot.b32 %0,p,0xffffffff;}")
OP1(vote_any_with_setp_sel,u32,"r",1,64,i,"{.reg .pred p,q; setp.gt.u32 p,%0,%1; vote.sync.any.pred q,p,0xffffffff; selp.u32 %0,%2,%1,q;}")
OP1(match_any,u32,"r",1,16,i,"match.any.sync.b32 %0,%0,0xffffffff;")
OP1(match_any_same,u32,"r",1,16,a,"match.any.sync.b32 %0,%0,0xffffffff;")
#define OPM(NAME,UN,ST,CT,NC,BODY) struct NAME{ struct T{ CT c[NC]; }; static constexpr int N=1,U=UN; static const char*name(){return #NAME;} \
  template<class Z> static __device__ __forceinline__ T init(u32 i,Z a){ T t; for(int k=0;k<NC;k++) t.c[k]=(CT)(i&3); return t; } \
  static __device__ __forceinline__ void f(T&x,u32 a,u32 b){ BODY } static __device__ __forceinline__ u32 fin(T x){ CT s=0; for(int k=0;k<NC;k++) s+=x.c[k]; return (u32)s; } };
#define MMAF(S) asm volatile(S " {%0,%1,%2,%3},{%4,%5,%4,%5},{%5,%4},{%0,%1,%2,%3};":"+f"(x.c[0]),"+f"(x.c[1]),"+f"(x.c[2]),"+f"(x.c[3]):"r"(a),"r"(b));
#define MMAI(S) asm volatile(S " {%0,%1,%2,%3},{%4,%5,%4,%5},{%5,%4},{%0,%1,%2,%3};":"+r"(x.c[0]),"+r"(x.c[1]),"+r"(x.c[2]),"+r"(x.c[3]):"r"(a),"r"(b));
OPM(mma_m16n8k16_f16_f32,64,,float,4,MMAF("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32"))
OPM(mma_m16n8k16_bf16_f32,64,,float,4,MMAF("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32"))
OPM(mma_m16n8k8_tf32_f32,64,,float,4,MMAF("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32"))
OPM(mma_m16n8k32_s8_s32,64,,u32,4,MMAI("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"))
OPM(mma_m16n8k32_e4m3_f32,64,,float,4,MMAF("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32"))
OPM(mma_m16n8k16_f16_f16,64,,u32,2,asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1},{%2,%3,%2,%3},{%3,%2},{%0,%1};":"+r"(x.c[0]),"+r"(x.c[1]):"r"(a),"r"(b));)
OPM(mma_m16n8k8_f16_f32,64,,float,4,asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3},{%4,%5},{%5},{%0,%1,%2,%3};":"+f"(x.c[0]),"+f"(x.c[1]),"+f"(x.c[2]),"+f"(x.c[3]):"r"(a),"r"(b));)
OPM(dmma_m8n8k4_f64,64,,double,2,asm volatile("{.reg .f64 p,q; mov.b64 p,{%2,%3}; mov.b64 q,{%3,%2}; mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1},{p},{q},{%0,%1};}":"+d"(x.c[0]),"+d"(x.c[1]):"r"(a),"r"(b));)
OPM(dmma_m16n8k16_f64,16,,double,4,asm volatile("{.reg .f64 p,q; mov.b64 p,{%4,%5}; mov.b64 q,{%5,%4}; mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0,%1,%2,%3},{p,q,p,q,p,q,p,q},{q,p,q,p},{%0,%1,%2,%3};}":"+d"(x.c[0]),"+d"(x.c[1]),"+d"(x.c[2]),"+d"(x.c[3]):"r"(a),"r"(b));)
template<class O> struct AB{ typedef u32 A; };
#define ABT(N,TY) template<> struct AB<N>{ typedef TY A; };
ABT(ffma_,float) ABT(fadd_,float) ABT(fmul_,float) ABT(fmnmx_fadd_pair,float) ABT(dfma,double) ABT(dadd_,double) ABT(imad_wide,u64) ABT(mufu_ex2,float) ABT(mufu_rcp_with_fadd,float) ABT(mufu_rsq,float) ABT(mufu_sqrt,float) ABT(mufu_lg2,float) ABT(mufu_sin_with_fmul,float) ABT(mufu_tanh,float)
ABT(f2f_f64_to_f32,double) ABT(f2f_f32_to_f64,double) ABT(idiv_u64,u64) ABT(fdiv_rn,float) ABT(fdiv_approx,float) ABT(fsqrt_rn,float) ABT(ddiv_rn,double) ABT(dsqrt_rn,double)
// o[0] = cycles of the loop (block barrier to block barrier)
template<class O,int ILP> __global__ void __launch_bounds__(1024) chain(long long*o,int iters,typename AB<O>::A a,typename AB<O>::A b){
  typename O::T x[ILP];
#pragma unroll
  for(int k=0;k<ILP;k++) x[k]=O::init(threadIdx.x%32+k*3,a);
  __syncthreads(); long long t0=clk();
#pragma unroll 1
  for(int i=0;i<iters;i++){
#pragma unroll
    for(int u=0;u<(O::U/ILP>0?O::U/ILP:1);u++){
#pragma unroll
      for(int k=0;k<ILP;k++) O::f(x[k],a,b); } }
  u32 s=0;
#pragma unroll
  for(int k=0;k<ILP;k++) s+=O::fin(x[k]);
  if(s==0x12345679u) o[1]=s;
  __syncthreads(); long long t1=clk(); if(threadIdx.x==0) o[0]=t1-t0; }
// cycles per instruction of a thread's stream
template<class O,int ILP> static double runchain(int threads,int iters,typename AB<O>::A a,typename AB<O>::A b){
  Buf<long long> o(2); std::vector<double> v; int per=(O::U/ILP>0?O::U/ILP:1)*ILP*O::N;
  for(int r=0;r<4;r++){ chain<O,ILP><<<1,threads>>>(o,iters,a,b); CKL(); auto h=o.down(1); if(r) v.push_back(double(h[0])/iters/per); } return med(v); }
