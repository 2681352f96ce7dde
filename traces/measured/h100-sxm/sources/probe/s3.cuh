#include "ops.cuh"
template<class O,int ILP> static void tp(typename AB<O>::A a,typename AB<O>::A b,int flops=0){ part(O::name(),[&]{ double best=0; std::string bp; for(int t:{512,1024}){ double c=runchain<O,ILP>(t,O::U>=64?64:48,a,b); double r=t/c; if(r>best){best=r;bp="t"+S(t)+"_ilp"+S(ILP);} } out(O::name(),bp,best,"thread-instr/cycle/SM"); if(flops) { out(O::name(),bp,best/32,"warp-mma/cycle/SM"); out(O::name(),bp,best/32*flops,"flop/cycle/SM"); } }); }
enum{ SH_LD4,SH_LD8,SH_LD16,SH_ST4,SH_ST16,SH_LDSM4,SH_ATOM,SH_ATOMRET,L1_4,L1_8,L1_16,CONST_LD };
__constant__ u32 carr[4096];
// each thread address = off(tid); 16 accesses per iteration
template<int M> __global__ void __launch_bounds__(1024) memk(long long*o,int iters,const u32*offs,const char*g,u32 z){
  extern __shared__ __align__(1024) char sm[]; for(int i=threadIdx.x;i<65536/4;i+=blockDim.x) ((u32*)sm)[i]=0; u32 off=offs[threadIdx.x]; u32 a=sm32(sm)+off+(threadIdx.x&z); const char*p=g+off; u64 cb=M==CONST_LD?(u64)__cvta_generic_to_constant((const char*)carr+off):0; u32 s0=0,s1=0,s2=0,s3=0; 
  if(M>=L1_4&&M<=L1_16) for(int q=0;q<65536;q+=blockDim.x*4) asm volatile("ld.global.u32 %0,[%1];":"=r"(s0):"l"(g+q+threadIdx.x*4):"memory");
  __syncthreads(); long long t0=clk();
#pragma unroll 1
  for(int i=0;i<iters;i++){
#pragma unroll
    for(int k=0;k<16;k++){ if((k&3)==0){ if(M==SH_LDSM4) a+=z; if(M>=L1_4&&M<=L1_16) p+=z; if(M==CONST_LD) cb+=z; } u32 x=0,y=0,z=0,w=0;
      if(M==SH_LD4) asm volatile("ld.volatile.shared.u32 %0,[%1];":"=r"(x):"r"(a));
      if(M==SH_LD8) asm volatile("ld.volatile.shared.v2.u32 {%0,%1},[%2];":"=r"(x),"=r"(y):"r"(a));
      if(M==SH_LD16) asm volatile("ld.volatile.shared.v4.u32 {%0,%1,%2,%3},[%4];":"=r"(x),"=r"(y),"=r"(z),"=r"(w):"r"(a));
      if(M==SH_ST4) asm volatile("st.volatile.shared.u32 [%0],%1;"::"r"(a),"r"(i):"memory");
      if(M==SH_ST16) asm volatile("st.volatile.shared.v4.u32 [%0],{%1,%1,%1,%1};"::"r"(a),"r"(i):"memory");
      if(M==SH_LDSM4) asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];":"=r"(x),"=r"(y),"=r"(z),"=r"(w):"r"(a+(k&3)*16384):"memory");
      if(M==SH_ATOM) asm volatile("red.shared.add.u32 [%0],%1;"::"r"(a),"r"(i):"memory");
      if(M==SH_ATOMRET) asm volatile("atom.shared.add.u32 %0,[%1],%2;":"=r"(x):"r"(a),"r"(i):"memory");
      if(M==L1_4) asm volatile("ld.global.u32 %0,[%1];":"=r"(x):"l"(p+(k&3)*16384):"memory");
      if(M==L1_8) asm volatile("ld.global.v2.u32 {%0,%1},[%2];":"=r"(x),"=r"(y):"l"(p+(k&3)*16384):"memory");
      if(M==L1_16) asm volatile("ld.global.v4.u32 {%0,%1,%2,%3},[%4];":"=r"(x),"=r"(y),"=r"(z),"=r"(w):"l"(p+(k&3)*16384):"memory");
      if(M==CONST_LD){ u32 q; asm volatile("ld.const.u32 %0,[%1];":"=r"(q):"l"((u64)cb+(k&3)*4096):"memory"); x=q; }
      s0^=x; s1^=y; s2^=z; s3^=w; } }
  if((s0+s1+s2+s3)==0x12345679u) o[1]=1;
  __syncthreads(); long long t1=clk(); if(threadIdx.x==0) o[0]=t1-t0; }
// returns cycles per warp instruction on the SM
template<int M> static double mk(int threads,std::function<u32(int)> f,int iters=64){ std::vector<u32> h(1024); for(int i=0;i<1024;i++) h[i]=f(i)&65535; Buf<u32> o(1024); o.up(h.data(),1024); static Buf<char>*g=nullptr; if(!g){ g=new Buf<char>(1<<20); g->set(0);} Buf<long long> r(2);
  CK(cudaFuncSetAttribute(memk<M>,cudaFuncAttributeMaxDynamicSharedMemorySize,65536+1024)); std::vector<double> v; for(int k=0;k<4;k++){ memk<M><<<1,threads,65536+1024>>>(r,iters,o,g->p,0); CKL(); auto x=r.down(1); if(k) v.push_back(double(x[0])/(iters*16.0*threads/32)); } return med(v); }
static void sec_throughput(){
  clockhz("start");
  note("one block on one SM, several independent chains (ilp) per thread, 512 and 1024 threads, better one: thread instructions per cycle per SM (pair names count both instructions; with_x names count the op only; iadd3 = half IADD3 half IMAD.IADD; hfma2 = half HFMA2 half HFMA2.MMA; mma e4m3 is emulated)");
  tp<ffma_,4>(1.0001f,0.5f); tp<fadd_,4>(1.0001f,0); tp<fmul_,4>(1.0001f,0); tp<fmnmx_fadd_pair,4>(1.f,.5f); tp<dfma,4>(1.0001,0.5); tp<dadd_,4>(1.0001,0.5); tp<imad,4>(3,5); tp<imul_hi,4>(0xfffffff1u,5); tp<imad_wide,4>(3,5); tp<iadd3,4>(3,5); tp<iadd3_3in,4>(3,5); tp<lop3,4>(0x5a5a1234,0x77); tp<shf,4>(0x1234567,7); tp<shl_iadd_pair,4>(1,7); tp<prmt,4>(0x1234567,0x6143); tp<viaddmnmx,4>(77777,1); tp<setp_sel,4>(20,30); tp<dp4a,4>(0x01020304,5);
  tp<popc,4>(1,1); tp<brev_iadd_pair,4>(1,1); tp<flo_clz,4>(1,1); tp<hfma2,4>(0x3c003c00,0x00010001); tp<hfma2_bf16,4>(0x3f803f80,0x00010001); tp<mufu_ex2,4>(1,1); tp<mufu_rcp_with_fadd,4>(1,1); tp<mufu_rsq,4>(1,1); tp<mufu_sqrt,4>(1,1); tp<mufu_lg2,4>(1,1); tp<mufu_sin_with_fmul,4>(1,1); tp<mufu_tanh,4>(1,1); tp<i2f,4>(1,1); tp<f2i,4>(1,1); tp<f2f_f64_to_f32,4>(1,1); tp<f2f_f32_to_f64,4>(1,1); tp<f2f_f32_to_f16,4>(1,1); tp<i2d_d2i,4>(1,1);
  tp<idiv_u32,2>(1,0x7fffffff); tp<idiv_s32,2>(1,0x7fffffff); tp<irem_u32,2>(1,0x7fffffff); tp<idiv_u64,1>(1,0x7fffffffffffull); tp<fdiv_rn,2>(3.3f,1); tp<fdiv_approx,2>(3.3f,1); tp<fsqrt_rn,2>(1,1); tp<ddiv_rn,2>(3.3,1); tp<dsqrt_rn,2>(1,1); tp<shfl_bfly,4>(1,1); tp<shfl_idx,4>(1,1); tp<redux_add,4>(1,1); tp<redux_max,4>(1,1); tp<vote_ballot_with_setp,4>(5,1); tp<match_any,2>(1,1); tp<match_any_same,2>(1,1);
  note("mma.sync on one SM: thread-instr, warp-mma and flop (2 per multiply-add) per cycle");
  tp<mma_m16n8k16_f16_f32,4>(0x3c003c00,0,4096); tp<mma_m16n8k16_f16_f16,4>(0x3c003c00,0,4096); tp<mma_m16n8k8_f16_f32,4>(0x3c003c00,0,2048); tp<mma_m16n8k16_bf16_f32,4>(0x3f803f80,0,4096); tp<mma_m16n8k8_tf32_f32,4>(0x3f800000,0,2048); tp<mma_m16n8k32_s8_s32,4>(0x01010101,0,8192); tp<mma_m16n8k32_e4m3_f32,4>(0x01010101,0,8192); tp<dmma_m8n8k4_f64,4>(0x3ff00000,0,512); tp<dmma_m16n8k16_f64,2>(0x3ff00000,0,4096);
  note("warps in one block against one dependent chain each: thread-instr/cycle/SM");
  for(int w:{1,2,4,8,12,16,24,32}) part("ffma_w",[&]{ out("ffma_warps","w"+S(w)+"_ilp1",32*w/runchain<ffma_,1>(32*w,64,1.0001f,.5f),"thread-instr/cycle"); out("ffma_warps","w"+S(w)+"_ilp2",32*w/runchain<ffma_,2>(32*w,64,1.0001f,.5f),"thread-instr/cycle"); out("ffma_warps","w"+S(w)+"_ilp4",32*w/runchain<ffma_,4>(32*w,64,1.0001f,.5f),"thread-instr/cycle"); out("mma_f16_warps","w"+S(w)+"_ilp1",w*4096/runchain<mma_m16n8k16_f16_f32,1>(32*w,64,1,1),"flop/cycle"); out("mma_f16_warps","w"+S(w)+"_ilp4",w*4096/runchain<mma_m16n8k16_f16_f32,4>(32*w,64,1,1),"flop/cycle"); out("mufu_ex2_warps","w"+S(w)+"_ilp1",32*w/runchain<mufu_ex2,1>(32*w,64,1,1),"thread-instr/cycle"); out("dfma_warps","w"+S(w)+"_ilp1",32*w/runchain<dfma,1>(32*w,64,1,1),"thread-instr/cycle"); });
  note("shared memory on one SM: 1024 threads, cycles per warp instruction and bytes per cycle (useful bytes)");
  auto pr=[&](const char*n,std::string p,double c,double bytes){ out(n,p,c,"cycles/warp-instr"); out(n,p,bytes/c,"bytes/cycle/SM"); };
  part("shld",[&]{ pr("lds4","t1024_unit",mk<SH_LD4>(1024,[](int t){return 4*t;}),128); pr("lds8","t1024_unit",mk<SH_LD8>(1024,[](int t){return 8*t;}),256); pr("lds16","t1024_unit",mk<SH_LD16>(1024,[](int t){return 16*t;}),512); pr("lds4","t1024_broadcast",mk<SH_LD4>(1024,[](int t){return 4*(t/32);}),128);
    for(int w:{1,2,4,8,16}) { pr("lds4","warps"+S(w),mk<SH_LD4>(32*w,[](int t){return 4*t;}),128); pr("lds16","warps"+S(w),mk<SH_LD16>(32*w,[](int t){return 16*t;}),512);}
    for(int c:{2,4,8,16,32}){ pr("lds4","conflict"+S(c),mk<SH_LD4>(1024,[c](int t){ return (t%32)*4*c+4*(t/32%c); }),128); pr("lds8","stride"+S(c)+"x8B",mk<SH_LD8>(1024,[c](int t){ return (t%32)*8*c; }),256); pr("lds16","stride"+S(c)+"x16B",mk<SH_LD16>(1024,[c](int t){ return (t%32)*16*c; }),512); } });
  part("shst",[&]{ pr("sts4","t1024_unit",mk<SH_ST4>(1024,[](int t){return 4*t;}),128); pr("sts16","t1024_unit",mk<SH_ST16>(1024,[](int t){return 16*t;}),512); for(int c:{2,4,8,16,32}) pr("sts4","conflict"+S(c),mk<SH_ST4>(1024,[c](int t){ return (t%32)*4*c+4*(t/32%c); }),128); pr("sts4","same_address",mk<SH_ST4>(1024,[](int t){return 4*(t/32);}),128); });
  part("ldsm",[&]{ for(int t:{128,512,1024}) pr("ldmatrix_x4","t"+S(t)+"_rows16B",mk<SH_LDSM4>(t,[](int t){return 16*t;}),512); pr("ldmatrix_x4","t1024_rows128B_conflict",mk<SH_LDSM4>(1024,[](int t){return 128*(t%32);}),512); pr("ldmatrix_x4","t1024_rows128B_xor_swizzle",mk<SH_LDSM4>(1024,[](int t){ int r=t%32; return 128*r+((r&7)<<4);}),512); });
  part("shatom",[&]{ auto A=[&](const char*p,std::function<u32(int)> f){ out("red_shared_add_u32",p,mk<SH_ATOM>(1024,f),"cycles/warp-instr"); out("atom_shared_add_u32_ret",p,mk<SH_ATOMRET>(1024,f),"cycles/warp-instr"); };
    A("all_same_address",[](int){return 0;}); A("each_warp_one_address",[](int t){return 4*(t/32);}); A("all_distinct",[](int t){return 4*t;}); A("32_addresses_one_per_bank",[](int t){return 4*(t%32);}); A("conflict32_distinct_same_bank",[](int t){return (t%32)*128+4*(t/32);}); A("2_addresses_a_warp",[](int t){return 4*(t%2);}); A("8_addresses_a_warp",[](int t){return 4*(t%8);}); A("conflict4",[](int t){return (t%32)*16;}); });
  note("global loads that hit L1 (ld.global.ca), one SM, 1024 threads: warps share a 4-64 KB range; strides in elements of 4 B (or 8 B) between lanes; all warps the same 32*stride range");
  part("l1",[&]{ for(int t:{128,1024}){ std::string p="t"+S(t)+"_unit"; pr("ldg4_L1",p,mk<L1_4>(t,[](int t){return 4*t;}),128); pr("ldg8_L1",p,mk<L1_8>(t,[](int t){return 8*t;}),256); pr("ldg16_L1",p,mk<L1_16>(t,[](int t){return 16*t;}),512);} 
    for(int s:{0,1,2,3,4,8,16,32}) pr("ldg4_L1","lane_stride"+S(s)+"x4B",mk<L1_4>(1024,[s](int t){return (t%32)*4*s;}),128); for(int s:{1,2,4,8,16,32}) pr("ldg8_L1","lane_stride"+S(s)+"x8B",mk<L1_8>(1024,[s](int t){return (t%32)*8*s;}),256); for(int s:{2,4,8}) pr("ldg16_L1","lane_stride"+S(s)+"x16B",mk<L1_16>(1024,[s](int t){return (t%32)*16*s;}),512); pr("ldg4_L1","random_in_4KB",mk<L1_4>(1024,[](int t){return ((t*2654435761u)>>13&1023)*4;}),128); pr("ldg4_L1","random_in_16KB",mk<L1_4>(1024,[](int t){return ((t*2654435761u)>>13&4095)*4;}),128); });
  note("constant memory (ld.const, indexed): cycles per warp instruction, uniform address and k different addresses a warp");
  part("const",[&]{ out("ldc","uniform",mk<CONST_LD>(1024,[](int){return 64;}),"cycles/warp-instr"); for(int k:{2,4,8,32}) out("ldc","different"+S(k),mk<CONST_LD>(1024,[k](int t){return 4*(t%k);},16),"cycles/warp-instr"); });
  clockhz("end"); }
