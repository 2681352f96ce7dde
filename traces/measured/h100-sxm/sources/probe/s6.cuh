#include "common.cuh"
// each warp owns lines; k of 4 sectors of each 128 B line: lane -> (line, sector, 4 B word). words = words of each sector touched (8 = whole)
template<int W,int k,int words> __global__ void __launch_bounds__(1024) sect(u32*b,u64 lines,u32*dump){
  constexpr u32 per=k*words; u32 t=blockIdx.x*blockDim.x+threadIdx.x,T=gridDim.x*blockDim.x; u32 s=0; u32 n=lines*per; // items are (line, j)
#pragma unroll 4
  for(u32 i=t;i<n;i+=T){ u32 l=i/per; u32 j=i-l*per; u32 sec=j/words, w=j%words; u32*p=b+(u64)l*32+sec*8+w; if(W) asm volatile("st.global.u32 [%0],%1;"::"l"(p),"r"(i):"memory"); else { u32 x; asm volatile("ld.global.cg.u32 %0,[%1];":"=r"(x):"l"(p)); s^=x; } }
  if(s==0x12345679u) *dump=s; }
// k sectors with 16-byte accesses (2 lanes a sector)
template<int W,int k> __global__ void __launch_bounds__(1024) sect16(char*b,u64 lines,u32*dump){ constexpr u32 per=2*k; u32 t=blockIdx.x*blockDim.x+threadIdx.x,T=gridDim.x*blockDim.x,n=lines*per; u32 s=0;
#pragma unroll 4
  for(u32 i=t;i<n;i+=T){ u32 l=i/per; u32 j=i-l*per; char*p=b+(u64)l*128+j*16; if(W) asm volatile("st.global.v4.u32 [%0],{%1,%1,%1,%1};"::"l"(p),"r"((u32)i):"memory"); else { u32 x,y,z,w; asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3},[%4];":"=r"(x),"=r"(y),"=r"(z),"=r"(w):"l"(p)); s^=x^y^z^w; } }
  if(s==0x12345679u) *dump=s; }
// partial sector writes scattered: each thread one 4/8/16/32 B store at a pseudo random sector of n sectors (odd multiplier permutes a power of two)
template<int B,int RD> __global__ void __launch_bounds__(1024) scat(char*b,u32 mask,u32 cnt,u32*dump){ u32 s=0; for(u32 i=blockIdx.x*blockDim.x+threadIdx.x;i<cnt;i+=gridDim.x*blockDim.x){ u32 q=(i*2654435761u); q^=(q&mask)>>7; q=(q*0x9E3779B1u)&mask; char*p=b+(u64)q*32;
   if(RD){ u32 x; asm volatile("ld.global.cg.u32 %0,[%1];":"=r"(x):"l"(p)); s^=x; }
   else { if(B==4) asm volatile("st.global.u32 [%0],%1;"::"l"(p),"r"(i):"memory"); if(B==8) asm volatile("st.global.v2.u32 [%0],{%1,%1};"::"l"(p),"r"(i):"memory"); if(B>=16) asm volatile("st.global.v4.u32 [%0],{%1,%1,%1,%1};"::"l"(p),"r"(i):"memory"); if(B==32) asm volatile("st.global.v4.u32 [%0],{%1,%1,%1,%1};"::"l"(p+16),"r"(i):"memory"); if(B==1) asm volatile("st.global.u8 [%0],%1;"::"l"(p),"r"(i):"memory"); } }
  if(s==0x12345679u) *dump=s; }
__global__ void scatter(float*o,const float*in,const u32*p,u32 n){ u32 i=blockIdx.x*blockDim.x+threadIdx.x; if(i<n) o[p[i]]=in[i]; }
__global__ void gather(float*o,const float*in,const u32*p,u32 n){ u32 i=blockIdx.x*blockDim.x+threadIdx.x; if(i<n) o[i]=in[p[i]]; }
__global__ void trA(float*o,const float*in,int n){ int x=blockIdx.x*32+threadIdx.x,y=blockIdx.y*32+threadIdx.y; for(int j=0;j<32;j+=blockDim.y) o[(size_t)x*n+y+j]=in[(size_t)(y+j)*n+x]; }
__global__ void trB(float*o,const float*in,int n){ int x=blockIdx.x*32+threadIdx.x,y=blockIdx.y*32+threadIdx.y; for(int j=0;j<32;j+=blockDim.y) o[(size_t)(y+j)*n+x]=in[(size_t)x*n+y+j]; }
template<int P> __global__ void trT(float*o,const float*in,int n){ __shared__ float t[32][32+P]; int x=blockIdx.x*32+threadIdx.x,y=blockIdx.y*32+threadIdx.y; for(int j=0;j<32;j+=blockDim.y) t[threadIdx.y+j][threadIdx.x]=in[(size_t)(y+j)*n+x]; __syncthreads(); x=blockIdx.y*32+threadIdx.x; y=blockIdx.x*32+threadIdx.y; for(int j=0;j<32;j+=blockDim.y) o[(size_t)(y+j)*n+x]=t[threadIdx.x][threadIdx.y+j]; }
__global__ void cpyk(float*o,const float*in,int n){ int x=blockIdx.x*32+threadIdx.x,y=blockIdx.y*32+threadIdx.y; for(int j=0;j<32;j+=blockDim.y) o[(size_t)(y+j)*n+x]=in[(size_t)(y+j)*n+x]; }
static void sec_sectors(){ Buf<char> b(1ull<<30); b.set(1); Buf<u32> du(16); clockhz("start");
  for(int l2=0;l2<2;l2++){ u64 bytes=l2?8ull<<20:1ull<<30,lines=bytes/128; const char*w=l2?"L2_8MB":"DRAM_1GB"; int reps=l2?9:3; std::string tag=w;
   note(l2?"the same within 8 MB (stays in L2)":"1 GB buffer, 264 x 1024 threads, consecutive lanes on consecutive words/16 B pieces of the first k sectors of each 128 B line; useful bytes / event time; ns per useful MB");
   auto pr=[&](const std::string&n,const std::string&p,double useful,double us){ out(n,p,useful/us*1e-3,"GB/s_useful"); out(n,p,us*1e3/(useful/1e6),"ns/MB_useful"); };
   auto kk=[&](auto K){ constexpr int k=decltype(K)::value; part("sect",[&]{ double u=lines*32.0*k; std::string p=tag+"_k"+S(k); pr("read_k_sectors_4B",p,u,tus([&]{ sect<0,k,8><<<264,1024>>>((u32*)b.p,lines,du); },reps)); pr("write_k_sectors_4B",p,u,tus([&]{ sect<1,k,8><<<264,1024>>>((u32*)b.p,lines,du); },reps)); pr("read_k_sectors_16B",p,u,tus([&]{ sect16<0,k><<<264,1024>>>(b,lines,du); },reps)); pr("write_k_sectors_16B",p,u,tus([&]{ sect16<1,k><<<264,1024>>>(b,lines,du); },reps)); }); };
   kk(std::integral_constant<int,1>()); kk(std::integral_constant<int,2>()); kk(std::integral_constant<int,3>()); kk(std::integral_constant<int,4>());
   auto ww=[&](auto K){ constexpr int words=decltype(K)::value; part("part",[&]{ double u=lines*4.0*4*words; std::string p=tag+"_"+S(words*4)+"B_of_each_sector"; pr("write_partial_sector_in_order",p,u,tus([&]{ sect<1,4,words><<<264,1024>>>((u32*)b.p,lines,du); },reps)); pr("read_partial_sector_in_order",p,u,tus([&]{ sect<0,4,words><<<264,1024>>>((u32*)b.p,lines,du); },reps)); }); };
   ww(std::integral_constant<int,1>()); ww(std::integral_constant<int,2>()); ww(std::integral_constant<int,4>()); ww(std::integral_constant<int,8>());
   part("scat",[&]{ u32 ns=bytes/32,cnt=l2?ns*4:ns/2; auto sc=[&](const char*n,auto f,double by){ double us=tus(f,reps); pr(n,tag,by*cnt,us); out(n,tag,cnt/us*1e-3,"accesses/ns"); }; 
     sc("scatter_write_1B_per_random_sector",[&]{ scat<1,0><<<264,1024>>>(b,ns-1,cnt,du); },1); sc("scatter_write_4B_per_random_sector",[&]{ scat<4,0><<<264,1024>>>(b,ns-1,cnt,du); },4); sc("scatter_write_8B_per_random_sector",[&]{ scat<8,0><<<264,1024>>>(b,ns-1,cnt,du); },8); sc("scatter_write_16B_per_random_sector",[&]{ scat<16,0><<<264,1024>>>(b,ns-1,cnt,du); },16); sc("scatter_write_32B_2stores_per_random_sector",[&]{ scat<32,0><<<264,1024>>>(b,ns-1,cnt,du); },32); sc("gather_read_4B_per_random_sector",[&]{ scat<4,1><<<264,1024>>>(b,ns-1,cnt,du); },4); }); }
  note("out[perm[i]]=in[i] and out[i]=in[perm[i]], random permutation of n floats, 256-thread blocks, one element a thread (perm read too): us and ns per element");
  for(u32 n:{1u<<20,1u<<22,1u<<24}) part("perm",[&]{ std::vector<u32> p(n); for(u32 i=0;i<n;i++)p[i]=i; std::mt19937 g(5); for(u32 i=n-1;i>0;i--) std::swap(p[i],p[(u32)(((u64)g()*(i+1))>>32)]); Buf<u32> d(n); d.up(p.data(),n); float*a=(float*)b.p,*c=a+n; double us=tus([&]{ scatter<<<n/256,256>>>(c,a,d,n); },7); out("scatter_perm","n"+S(n),us,"us"); us=tus([&]{ gather<<<n/256,256>>>(c,a,d,n); },7); out("gather_perm","n"+S(n),us,"us"); for(u32 i=0;i<n;i++)p[i]=i; d.up(p.data(),n); us=tus([&]{ scatter<<<n/256,256>>>(c,a,d,n); },7); out("scatter_identity","n"+S(n),us,"us"); });
  note("transposes of an n x n float matrix, 32x8-thread blocks on 32x32 tiles (32x32 threads as _t1024): us");
  for(int n:{1024,2048,4096}) for(int ty:{8,32}) part("tr",[&]{ float*a=(float*)b.p,*c=a+(size_t)n*n; dim3 gr(n/32,n/32),bl(32,ty); std::string p="n"+S(n)+"_t"+S(32*ty); out("copy_tiles",p,tus([&]{cpyk<<<gr,bl>>>(c,a,n);},7),"us"); out("transpose_coalesced_reads_strided_writes",p,tus([&]{trA<<<gr,bl>>>(c,a,n);},7),"us"); out("transpose_strided_reads_coalesced_writes",p,tus([&]{trB<<<gr,bl>>>(c,a,n);},7),"us"); out("transpose_tiled_no_pad",p,tus([&]{trT<0><<<gr,bl>>>(c,a,n);},7),"us"); out("transpose_tiled_padded",p,tus([&]{trT<1><<<gr,bl>>>(c,a,n);},7),"us"); });
  clockhz("end"); }
