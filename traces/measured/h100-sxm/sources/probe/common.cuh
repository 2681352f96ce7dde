#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <cstring>
#include <vector>
#include <string>
#include <algorithm>
#include <chrono>
#include <random>
#include <functional>
#include <stdexcept>
#include <cuda_runtime.h>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
typedef unsigned long long u64; typedef uint32_t u32;
static const char* SEC = "?";
#define CK(x) do{ cudaError_t e_=(x); if(e_!=cudaSuccess){ char b_[400]; snprintf(b_,400,"%s:%d %s",__FILE__,__LINE__,cudaGetErrorString(e_)); throw std::runtime_error(b_);} }while(0)
#define CKL() CK(cudaGetLastError())
static void out(const std::string&what,const std::string&par,double v,const char*unit){ printf("%s,%s,%s,%.6g,%s\n",SEC,what.c_str(),par.c_str(),v,unit); fflush(stdout);}
static void note(const char*s){ printf("# %s: %s\n",SEC,s); fflush(stdout);}
static void errline(const char*what,const char*m){ std::string s(m); for(auto&c:s) if(c==','||c=='\n') c=';'; printf("%s,ERROR,%s,%s,-\n",SEC,what,s.c_str()); fflush(stdout);}
static std::string S(long long v){ return std::to_string(v);}
static double med(std::vector<double> v){ std::sort(v.begin(),v.end()); return v.empty()?0:v[v.size()/2]; }
static double wall(){ return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
// run one part: an error is printed; if it is sticky the section ends
template<class F> static void part(const char*name,F f){
  try{ f(); }catch(std::exception&e){ errline(name,e.what()); cudaGetLastError();
    if(cudaDeviceSynchronize()!=cudaSuccess){ errline(name,"sticky error - rest of this section is lost"); exit(3);} cudaGetLastError(); }
}
struct Ev{ cudaEvent_t a,b; Ev(){CK(cudaEventCreate(&a));CK(cudaEventCreate(&b));} ~Ev(){cudaEventDestroy(a);cudaEventDestroy(b);}
  void s(){CK(cudaEventRecord(a));} double e(){CK(cudaEventRecord(b));CK(cudaEventSynchronize(b));float m;CK(cudaEventElapsedTime(&m,a,b));return m*1e3;} };
// median us of f() over reps after one warm up
template<class F> static double tus(F f,int reps=5,int warm=1){ Ev ev; for(int i=0;i<warm;i++)f(); CKL(); CK(cudaDeviceSynchronize()); std::vector<double> v; for(int i=0;i<reps;i++){ ev.s(); f(); v.push_back(ev.e()); CKL(); } return med(v);}
__device__ __forceinline__ u64 gtime(){ u64 t; asm volatile("mov.u64 %0, %%globaltimer;":"=l"(t)::"memory"); return t;}
__device__ __forceinline__ long long clk(){ long long t; asm volatile("mov.u64 %0, %%clock64;":"=l"(t)::"memory"); return t;}
__device__ __forceinline__ u32 smid(){ u32 t; asm volatile("mov.u32 %0, %%smid;":"=r"(t)); return t;}
__global__ void spink(long long n){ long long t=clk(); while(clk()-t<n); }
static double lastHz=1.755e9;
static void clockhz(const char*w){ try{ spink<<<1,32>>>(1000); CKL(); CK(cudaDeviceSynchronize()); Ev ev; ev.s(); spink<<<1,32>>>(20000000); double us=ev.e(); lastHz=20e6/(us*1e-6); out("sm_clock",w,lastHz,"Hz"); }catch(std::exception&e){errline("clock",e.what());} }
template<class T> struct Buf{ T*p; size_t n; Buf(size_t n_):p(0),n(n_){CK(cudaMalloc(&p,n*sizeof(T)));} ~Buf(){cudaFree(p);} void set(int v){CK(cudaMemset(p,v,n*sizeof(T)));} operator T*(){return p;}
  void up(const T*h,size_t m){CK(cudaMemcpy(p,h,m*sizeof(T),cudaMemcpyHostToDevice));}
  std::vector<T> down(size_t m){ std::vector<T> h(m); CK(cudaMemcpy(h.data(),p,m*sizeof(T),cudaMemcpyDeviceToHost)); return h;} };
__device__ __forceinline__ u32 sm32(const void*p){ return (u32)__cvta_generic_to_shared(p);}
__device__ __forceinline__ void mb_init(u32 b,u32 n){ asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;"::"r"(b),"r"(n):"memory"); asm volatile("fence.mbarrier_init.release.cluster;":::"memory"); asm volatile("fence.proxy.async;":::"memory");}
__device__ __forceinline__ void mb_expect(u32 b,u32 n){ asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"::"r"(b),"r"(n):"memory");}
__device__ __forceinline__ void mb_arrive(u32 b){ asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];"::"r"(b):"memory");}
__device__ __forceinline__ void mb_wait(u32 b,u32 ph){ u32 ok; do{ asm volatile("{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0,1,0,p;}":"=r"(ok):"r"(b),"r"(ph):"memory"); }while(!ok);}
__device__ __forceinline__ void bulk(u32 dst,const void*src,u32 bytes,u32 b){ asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];"::"r"(dst),"l"(src),"r"(bytes),"r"(b):"memory");}
__global__ void fillk(u32*p,size_t n,u32 seed){ for(size_t i=blockIdx.x*(size_t)blockDim.x+threadIdx.x;i<n;i+=(size_t)gridDim.x*blockDim.x){ u32 x=(u32)i*2654435761u+seed; x^=x>>15; x*=0x2c1b3c6du; x^=x>>12; x*=0x297a2d39u; x^=x>>15; p[i]=x; } }
template<class K,class...A> static void launchx(K k,int grid,int block,size_t smem,int cluster,bool pdl,A...a){
  cudaLaunchConfig_t c={}; c.gridDim=dim3(grid); c.blockDim=dim3(block); c.dynamicSmemBytes=smem; c.stream=0; cudaLaunchAttribute at[2]; int n=0;
  if(cluster>1){ at[n].id=cudaLaunchAttributeClusterDimension; at[n].val.clusterDim.x=cluster; at[n].val.clusterDim.y=1; at[n].val.clusterDim.z=1; n++; }
  if(pdl){ at[n].id=cudaLaunchAttributeProgrammaticStreamSerialization; at[n].val.programmaticStreamSerializationAllowed=1; n++; }
  c.attrs=at; c.numAttrs=n; CK(cudaLaunchKernelEx(&c,k,a...)); }
