#include "common.cuh"
__global__ void emptyk(){}
__global__ void empty_first(int*p){ if(p) *p=1; }
__global__ void empty_pdl(){ asm volatile("griddepcontrol.launch_dependents;":::"memory"); asm volatile("griddepcontrol.wait;":::"memory"); }
__global__ void gridsync(int n,long long*o){ cg::grid_group g=cg::this_grid(); g.sync(); g.sync(); long long t0=clk(); u64 g0=gtime(); for(int i=0;i<n;i++) g.sync(); u64 g1=gtime(); long long t1=clk(); if(blockIdx.x==0&&threadIdx.x==0){o[0]=t1-t0;o[1]=g1-g0;} }
__global__ void blkstart(u64*o){ if(threadIdx.x==0){ o[blockIdx.x]=gtime(); } }
static void sec_launches(){
  note("first launches of a fresh process (host wall time; cudaFree(0) done before): launch call alone then launch+sync");
  part("first",[&]{ double t0=wall(); CK(cudaFree(0)); double t1=wall(); out("cudaFree0","process",(t1-t0)*1e6,"us");
    for(int i=0;i<4;i++){ double a=wall(); empty_first<<<1,32>>>(nullptr); double b=wall(); CK(cudaDeviceSynchronize()); double c=wall(); out("first_launch_call",S(i),(b-a)*1e6,"us"); out("first_launch_and_sync",S(i),(c-a)*1e6,"us"); }
    double a=wall(); emptyk<<<1,32>>>(); CK(cudaDeviceSynchronize()); out("first_launch_of_second_kernel",S(0),(wall()-a)*1e6,"us"); });
  clockhz("start");
  note("empty kernel, 1000 back-to-back launches in one stream, GPU event time / 1000; host_call = host time per launch call");
  for(int b:{1,132,132*16}) for(int t:{32,256,1024}) part("b2b",[&]{ std::string p="b"+S(b)+"_t"+S(t); double host=0;
    double us=tus([&]{ double a=wall(); for(int i=0;i<1000;i++) emptyk<<<b,t>>>(); host=wall()-a; },5); out("empty_b2b",p,us/1000,"us/launch"); out("empty_b2b_host_call",p,host*1e6/1000,"us/launch"); });
  note("CUDA graph of 1000 empty-kernel nodes in a chain: event time / 1000");
  for(int b:{1,132,132*16}) for(int t:{32,256,1024}) part("graph",[&]{ cudaStream_t s; CK(cudaStreamCreate(&s)); cudaGraph_t g; cudaGraphExec_t ge; CK(cudaStreamBeginCapture(s,cudaStreamCaptureModeGlobal)); for(int i=0;i<1000;i++) emptyk<<<b,t,0,s>>>(); CK(cudaStreamEndCapture(s,&g)); CK(cudaGraphInstantiate(&ge,g,0));
    double us=tus([&]{ CK(cudaGraphLaunch(ge,0)); },5); out("graph_chain",("b"+S(b)+"_t"+S(t)),us/1000,"us/node"); cudaGraphExecDestroy(ge); cudaGraphDestroy(g); cudaStreamDestroy(s); });
  note("cooperative grid.sync(): 1000 in one launch, ns and cycles each");
  for(int per:{1,2}) for(int t:{256,1024}) part("gridsync",[&]{ Buf<long long> o(2); int n=1000; long long*op=o.p; void*a[]={&n,&op}; std::vector<double> c,ns; for(int r=0;r<4;r++){ CK(cudaLaunchCooperativeKernel((void*)gridsync,dim3(132*per),dim3(t),a,0,0)); CK(cudaDeviceSynchronize()); auto h=o.down(2); c.push_back(h[0]/1000.0); ns.push_back(h[1]/1000.0);} out("grid_sync","132x"+S(per)+"_t"+S(t),med(ns),"ns"); out("grid_sync","132x"+S(per)+"_t"+S(t),med(c),"cycles"); });
  note("programmatic dependent launch of empty kernels (launch_dependents at once, then griddepcontrol.wait), 1000 back to back, us each; and emptyk with the attribute only");
  for(int b:{1,132,132*16}) for(int t:{32,256,1024}) part("pdl",[&]{ double us=tus([&]{ for(int i=0;i<1000;i++) launchx(empty_pdl,b,t,0,1,true); },5); out("pdl_b2b",("b"+S(b)+"_t"+S(t)),us/1000,"us/launch"); us=tus([&]{ for(int i=0;i<1000;i++) launchx(emptyk,b,t,0,1,true); },3); out("pdl_attr_only_b2b",("b"+S(b)+"_t"+S(t)),us/1000,"us/launch"); });
  note("PDL chain inside a graph of 1000 nodes (captured), us per node");
  part("pdlgraph",[&]{ cudaStream_t s; CK(cudaStreamCreate(&s)); cudaGraph_t g; cudaGraphExec_t ge; CK(cudaStreamBeginCapture(s,cudaStreamCaptureModeGlobal)); for(int i=0;i<1000;i++){ cudaLaunchConfig_t c={}; c.gridDim=dim3(132); c.blockDim=dim3(256); c.stream=s; cudaLaunchAttribute at; at.id=cudaLaunchAttributeProgrammaticStreamSerialization; at.val.programmaticStreamSerializationAllowed=1; c.attrs=&at;c.numAttrs=1; CK(cudaLaunchKernelEx(&c,empty_pdl)); } CK(cudaStreamEndCapture(s,&g)); CK(cudaGraphInstantiate(&ge,g,0)); double us=tus([&]{ CK(cudaGraphLaunch(ge,0)); },5); out("pdl_graph_chain","b132_t256",us/1000,"us/node"); cudaGraphExecDestroy(ge); cudaGraphDestroy(g); cudaStreamDestroy(s); });
  note("one launch between two events (median of 51): 1 block of t threads");
  for(int t=32;t<=1024;t*=2) part("oneblk",[&]{ out("event_pair_one_block","t"+S(t),tus([&]{ emptyk<<<1,t>>>(); },51,5),"us"); });
  note("one launch of many 1-warp empty blocks between two events, and per block and SM (slope from 132 blocks); also 256- and 1024-thread blocks; spread_ns = globaltimer of the last block start minus the first");
  for(int t:{32,256,1024}){ double base=0; for(int m=1;m<=256;m*=2) part("blkrate",[&]{ double us=tus([&]{ emptyk<<<132*m,t>>>(); },11,3); std::string p="b132x"+S(m)+"_t"+S(t); if(m==1) base=us; out("empty_many_blocks",p,us,"us"); if(m>1) out("block_start_rate",p,(us-base)*1e3/(m-1),"ns/block/SM");
     Buf<u64> o(132*256); std::vector<double> v; for(int r=0;r<5;r++){ blkstart<<<132*m,t>>>(o); CKL(); auto h=o.down(132*m); v.push_back(double(*std::max_element(h.begin(),h.end())-*std::min_element(h.begin(),h.end()))); } out("block_start_spread",p,med(v),"ns"); }); }
  clockhz("end");
}
