#include "common.cuh"
// every block reads the n bytes of its part `passes` times, 16 B a thread, U independent loads; part = whole buffer interleaved over blocks
template<int U,int W> __global__ void __launch_bounds__(1024) rd(char*b,u64 n,int passes,long long*o,u32*dump){
  u64 T=(u64)gridDim.x*blockDim.x*16; u64 st=((u64)blockIdx.x*blockDim.x+threadIdx.x)*16; u32 s=0; __syncthreads(); long long t0=clk();
  for(int p=0;p<passes;p++){
#pragma unroll 1
    for(u64 i=st;i+(U-1)*T<n;i+=T*U){ 
      if(W){
#pragma unroll
        for(int u=0;u<U;u++) asm volatile("st.global.v4.u32 [%0],{%1,%1,%1,%1};"::"l"(b+i+u*T),"r"(p):"memory");
      } else { u32 x[U][4];
#pragma unroll
        for(int u=0;u<U;u++) asm volatile("ld.global.cg.v4.u32 {%0,%1,%2,%3},[%4];":"=r"(x[u][0]),"=r"(x[u][1]),"=r"(x[u][2]),"=r"(x[u][3]):"l"(b+i+u*T));
#pragma unroll
        for(int u=0;u<U;u++) s^=x[u][0]^x[u][1]^x[u][2]^x[u][3]; } } }
  if(s==0x12345679u) *dump=s; __syncthreads(); long long t1=clk(); if(threadIdx.x==0) o[blockIdx.x]=t1-t0; }
template<int R,int WR> __global__ void __launch_bounds__(1024) mix(const uint4*a,uint4*b,u64 n){ // per step: R reads, WR writes of 16 B
  u64 T=(u64)gridDim.x*blockDim.x; for(u64 i=(u64)blockIdx.x*blockDim.x+threadIdx.x;i+3*T<n;i+=4*T){ uint4 x[4]; 
#pragma unroll
   for(int u=0;u<R;u++) x[u]=__ldcg(a+i+u*T);
#pragma unroll
   for(int u=0;u<WR;u++){ uint4 y=R?x[u%(R?R:1)]:make_uint4(1,2,3,4); 
#pragma unroll
     for(int q=WR;q<R;q+=1) y.x^=x[q].x; 
     b[i+u*T]=y; }
   if(R&&!WR){ u32 s=0;
#pragma unroll
     for(int u=0;u<R;u++) s^=x[u].x^x[u].y^x[u].z^x[u].w; if(s==0x12345679u) b[0].x=s; } } }
// TMA bulk: one thread a block, pieces of `pb` bytes, `st` stages; asynchronously refilled
__global__ void tma(const char*b,u64 n,u32 pb,int st,int pieces,long long*o){ extern __shared__ __align__(1024) char sm[]; __shared__ __align__(8) u64 bar[8]; if(threadIdx.x) return; u32 B=sm32(bar),D=sm32(sm); for(int i=0;i<st;i++) mb_init(B+8*i,1); u64 np=n/pb; u64 k=blockIdx.x; long long t0=clk(); 
  for(int i=0;i<st&&i<pieces;i++){ mb_expect(B+8*i,pb); bulk(D+i*pb,b+k*pb,pb,B+8*i); k+=gridDim.x; if(k>=np) k-=np; }
  u32 ph=0; int s=0; for(int i=0;i<pieces;i++){ mb_wait(B+8*s,ph); if(i+st<pieces){ mb_expect(B+8*s,pb); bulk(D+s*pb,b+k*pb,pb,B+8*s); k+=gridDim.x; if(k>=np) k-=np; } if(++s==st){s=0;ph^=1;} }
  o[blockIdx.x]=clk()-t0; }
template<int ST> __global__ void cpa(const char*b,u64 n,int iters,long long*o){ extern __shared__ __align__(1024) char sm[]; u32 D=sm32(sm)+threadIdx.x*16; u64 T=(u64)gridDim.x*blockDim.x*16,off=((u64)blockIdx.x*blockDim.x+threadIdx.x)*16; __syncthreads(); long long t0=clk();
#pragma unroll 1
  for(int i=0;i<iters;i++){ asm volatile("cp.async.cg.shared.global [%0],[%1],16;"::"r"(D+(i%ST)*blockDim.x*16),"l"(b+off):"memory"); asm volatile("cp.async.commit_group;":::"memory"); asm volatile("cp.async.wait_group %0;"::"n"(ST-1):"memory"); off+=T; if(off>=n) off-=n; }
  asm volatile("cp.async.wait_group 0;":::"memory"); __syncthreads(); if(threadIdx.x==0) o[blockIdx.x]=clk()-t0; }
static Buf<long long>*O; static Buf<char>*BIG; static Buf<u32>*DU;
static double mx(int blocks){ auto h=O->down(blocks); return (double)*std::max_element(h.begin(),h.end()); }
template<int U,int W> static double rrun(int blocks,int threads,u64 n,int passes,bool onesm,int reps=4,double*us=0){ size_t sh=onesm?120*1024:0; CK(cudaFuncSetAttribute(rd<U,W>,cudaFuncAttributeMaxDynamicSharedMemorySize,120*1024)); std::vector<double> v,t; Ev ev; u64 T1=(u64)blocks*threads*16,TU=T1*U,rem=n%TU; double bytes=(double(n/TU*TU)+(rem>(U-1)*T1?double(rem-(U-1)*T1)*U:0.))*passes; for(int r=0;r<reps;r++){ ev.s(); rd<U,W><<<blocks,threads,sh>>>(*BIG,n,passes,*O,*DU); double e=ev.e(); CKL(); if(r){ v.push_back(bytes/mx(blocks)); t.push_back(bytes/e*1e-3);} } if(us)*us=med(t); return med(v); }
static void sec_bandwidth(){
  O=new Buf<long long>(4096); BIG=new Buf<char>(2ull<<30); BIG->set(1); DU=new Buf<u32>(16); clockhz("start");
  note("one SM (one block) reading 16 B a thread, U independent loads in flight a thread: bytes per cycle; L2 = 8 MB buffer read before by the same kernel, DRAM = a new part of 2 GB every launch");
  for(int w:{1,2,4,8,16,32}) part("one",[&]{ std::string p="w"+S(w); double us; u64 n=8<<20; if(w<4) n=2<<20; out("one_sm_L2",p+"_U1",rrun<1,0>(1,32*w,n,1,true),"bytes/cycle"); out("one_sm_L2",p+"_U4",rrun<4,0>(1,32*w,n,1,true),"bytes/cycle"); out("one_sm_L2",p+"_U8",rrun<8,0>(1,32*w,n,1,true,4,&us),"bytes/cycle"); });
  part("one64",[&]{ CK(cudaFuncSetAttribute(rd<4,0>,cudaFuncAttributeMaxDynamicSharedMemorySize,120*1024)); out("one_sm_L2_write","w32_U4",rrun<4,1>(1,1024,8<<20,1,true),"bytes/cycle"); out("one_sm_L2_write","w8_U4",rrun<4,1>(1,256,8<<20,1,true),"bytes/cycle"); });
  note("64 warps an SM: the same kernel with 2 blocks an SM on all 132 SMs (16 MB in L2), bytes/cycle/SM; and DRAM by one SM (w warps, U loads), bytes per cycle, cold 4 MB");
  part("w64",[&]{ out("all_sm_L2_2blocks","w64_U4",rrun<4,0>(264,1024,16<<20,8,false)/132,"bytes/cycle/SM"); });
  { u64 pos=0; auto dr=[&](auto tag,int w){ constexpr int U=decltype(tag)::value; std::vector<double> v; u64 n=w<8?1<<20:4<<20; for(int r=0;r<4;r++){ char*b=BIG->p+pos; pos+=8<<20; if(pos+(8<<20)>(2ull<<30)) pos=0; rd<U,0><<<1,32*w>>>(b,n,1,*O,*DU); CKL(); u64 T=(u64)32*w*16*U; v.push_back(double(n/T*T)/mx(1)); } out("one_sm_DRAM","w"+S(w)+"_U"+S(U),med(v),"bytes/cycle"); };
    BIG->set(2); for(int w:{1,2,4,8,16,32}) part("onedram",[&]{ dr(std::integral_constant<int,1>(),w); dr(std::integral_constant<int,4>(),w); dr(std::integral_constant<int,8>(),w); }); }
  note("k SMs (one 1024-thread block each, U=4) reading a 16 MB buffer from L2 repeatedly: bytes per cycle in total; writes likewise");
  for(int k:{1,2,4,8,16,24,32,48,64,66,80,96,112,132}) part("ksm",[&]{ double gb; double r=rrun<4,0>(k,1024,16<<20,k<16?1:8,true,4,&gb); out("L2_read_k_sms","k"+S(k),r,"bytes/cycle"); out("L2_read_k_sms_by_event","k"+S(k),gb,"GB/s"); if(k==1||k==8||k==32||k==66||k==132) { r=rrun<4,1>(k,1024,16<<20,k<16?1:8,true,4,&gb); out("L2_write_k_sms","k"+S(k),r,"bytes/cycle"); out("L2_write_k_sms_by_event","k"+S(k),gb,"GB/s"); } });
  note("132 SMs x 2 blocks reading n MB repeatedly (8 passes after a warm pass): the edge of the L2");
  for(int m:{1,2,4,8,16,20,24,28,32,36,40,44,48,56,64,96,128,256}) part("edge",[&]{ double gb; u64 T=264ull*1024*64; u64 n=((u64)m<<20); (void)T; double r=rrun<1,0>(264,1024,n,m<17?16:8,false,4,&gb); out("L2_edge_read","MB"+S(m),gb,"GB/s"); out("L2_edge_read","MB"+S(m),r,"bytes/cycle"); });
  for(int m:{8,16,24,32,48,64}) part("edgew",[&]{ double gb; u64 T=264ull*1024*64; u64 n=((u64)m<<20); (void)T; double r=rrun<1,1>(264,1024,n,8,false,4,&gb); out("L2_edge_write","MB"+S(m),gb,"GB/s"); out("L2_edge_write","MB"+S(m),r,"bytes/cycle"); });
  note("DRAM, 1 GB footprint, 16 B a thread, 4 steps in flight: total bytes moved / event time");
  part("dram",[&]{ uint4*a=(uint4*)BIG->p,*b=a+(1ull<<26); u64 n=1ull<<26; double T; for(int bl:{132,264,528,2112}){ int th=bl==132?1024:(bl==264?1024:512); std::string p="grid"+S(bl)+"x"+S(th); 
     T=tus([&]{ mix<4,0><<<bl,th>>>(a,b,n); },3); out("dram_read_1GB",p,n*16./T*1e-3,"GB/s"); T=tus([&]{ mix<0,4><<<bl,th>>>(a,b,n); },3); out("dram_write_1GB",p,n*16./T*1e-3,"GB/s"); T=tus([&]{ mix<4,4><<<bl,th>>>(a,b,n); },3); out("dram_copy_1to1",p,2*n*16./T*1e-3,"GB/s"); T=tus([&]{ mix<4,2><<<bl,th>>>(a,b,n); },3); out("dram_read_write_2to1",p,1.5*n*16./T*1e-3,"GB/s"); T=tus([&]{ mix<4,1><<<bl,th>>>(a,b,n); },3); out("dram_read_write_4to1",p,1.25*n*16./T*1e-3,"GB/s"); }
     for(u64 mb:{16,64,256}){ u64 m=mb<<16; T=tus([&]{ mix<4,4><<<264,1024>>>(a,b,m); },5); out("copy_small","MB"+S(mb),2*m*16./T*1e-3,"GB/s"); T=tus([&]{ mix<4,0><<<264,1024>>>(a,b,m); },5); out("read_small","MB"+S(mb),m*16./T*1e-3,"GB/s"); }
     T=tus([&]{ CK(cudaMemcpyAsync(b,a,1ull<<30,cudaMemcpyDeviceToDevice)); },3); out("memcpyD2D_1GB","read+write",2.*(1ull<<30)/T*1e-3,"GB/s"); });
  note("cp.async.bulk (one issuing thread a block): pieces of pb bytes, st stages in flight; L2 = 16 MB buffer, DRAM = 2 GB (each piece once); bytes per cycle of the SM(s), max cycles over blocks");
  part("tma",[&]{ CK(cudaFuncSetAttribute(tma,cudaFuncAttributeMaxDynamicSharedMemorySize,200*1024)); auto go=[&](int bl,u32 pb,int st,int dram,int pieces){ std::vector<double> v; u64 n=dram?(2ull<<30):(16ull<<20); for(int r=0;r<3;r++){ tma<<<bl,32,200*1024>>>(*BIG,n,pb,st,pieces,*O); CKL(); v.push_back((double)pb*pieces*bl/mx(bl)); } out(std::string("tma_bulk_")+(dram?"DRAM":"L2"),"sms"+S(bl)+"_piece"+S(pb)+"_stages"+S(st),med(v),"bytes/cycle"); };
     for(u32 pb:{512u,1024u,2048u,4096u,8192u,16384u,32768u}) for(int st:{1,2,4,6,8}){ if((u64)pb*st>200*1024) continue; if(pb<4096&&st==6) continue; int pc=std::max(64,int((1u<<20)/pb)); go(1,pb,st,0,pc); go(132,pb,st,0,pc); }
     for(u32 pb:{2048u,4096u,16384u}) for(int st:{1,2,4,8}){ BIG->set(3); if((u64)pb*st>200*1024) continue; int pc=int((8u<<20)/pb); go(132,pb,st,1,pc); } 
     fillk<<<1024,256>>>((u32*)BIG->p,(2ull<<30)/4,5); CK(cudaDeviceSynchronize()); for(u32 pb:{4096u,16384u}) for(int st:{1,2,4,8}){ std::vector<double> v; for(int r=0;r<3;r++){ u64 off=((u64)(pb/4096*12+st*3+r)%240)*(8<<20); int pc=(2<<20)/pb; tma<<<1,32,200*1024>>>(BIG->p+off,8<<20,pb,st,pc,*O); CKL(); v.push_back((double)pb*pc/mx(1)); } out("tma_bulk_DRAM","sms1_piece"+S(pb)+"_stages"+S(st),med(v),"bytes/cycle"); } });
  note("cp.async.cg 16 B a thread, ST groups in flight: bytes per cycle, 1 and 132 SMs (one block each), L2 16 MB and DRAM 2 GB");
  { auto go=[&](auto tag,int bl,int th,int dram){ constexpr int ST=decltype(tag)::value; part("cpasync",[&]{ CK(cudaFuncSetAttribute(cpa<ST>,cudaFuncAttributeMaxDynamicSharedMemorySize,200*1024)); std::vector<double> v; u64 n=dram?(2ull<<30):(16ull<<20); int it=bl==1?512:(dram?1024:512); for(int r=0;r<3;r++){ cpa<ST><<<bl,th,200*1024>>>(*BIG,n,it,*O); CKL(); v.push_back(16.0*th*it*bl/mx(bl)); } out(std::string("cp_async_16B_")+(dram?"DRAM":"L2"),"sms"+S(bl)+"_t"+S(th)+"_groups"+S(ST),med(v),"bytes/cycle"); }); };
    for(int bl:{1,132}) for(int th:{128,512,1024}) for(int d:{0,1}){ if(bl==1&&d) continue; go(std::integral_constant<int,1>(),bl,th,d); go(std::integral_constant<int,2>(),bl,th,d); go(std::integral_constant<int,4>(),bl,th,d); go(std::integral_constant<int,8>(),bl,th,d); } }
  clockhz("end"); }
