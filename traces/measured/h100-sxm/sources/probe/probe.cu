// Facts of an H100 for a timing simulator. nvcc -O3 -std=c++17 -gencode=arch=compute_90a,code=sm_90a -o probe probe.cu
// ./probe            runs every section in its own child process ; ./probe latency sm  runs the named ones
#include "common.cuh"
#ifdef ONLY
#define HAS(k) (ONLY==k)
#else
#define HAS(k) 1
#endif
#if HAS(1)
#include "s1.cuh"
#endif
#if HAS(2) || HAS(3)
#include "ops.cuh"
#endif
#if HAS(2)
#include "s2.cuh"
#endif
#if HAS(3)
#include "s3.cuh"
#endif
#if HAS(4)
#include "s4.cuh"
#endif
#if HAS(5)
#include "s5.cuh"
#endif
#if HAS(6)
#include "s6.cuh"
#endif
#if HAS(7)
#include "s7.cuh"
#endif
#if HAS(8)
#include "s8.cuh"
#endif
#include <unistd.h>
#include <sys/wait.h>
#include <csignal>
struct SecT{ const char*n; void(*f)(); int limit; };
static SecT secs[]={
#if HAS(1)
 {"launches",sec_launches,10},
#endif
#if HAS(2)
 {"latency",sec_latency,10},
#endif
#if HAS(3)
 {"throughput",sec_throughput,10},
#endif
#if HAS(4)
 {"wgmma",sec_wgmma,12},
#endif
#if HAS(5)
 {"bandwidth",sec_bandwidth,10},
#endif
#if HAS(6)
 {"sectors",sec_sectors,10},
#endif
#if HAS(7)
 {"atomics",sec_atomics,10},
#endif
#if HAS(8)
 {"host",sec_host,10},
#endif
};
int main(int argc,char**argv){
  double T0=wall(); int bad=0;
  if(argc==3 && !strcmp(argv[1],"--in")){ for(auto&s:secs) if(!strcmp(s.n,argv[2])){ SEC=s.n; alarm(s.limit);
      cudaDeviceProp p; if(strcmp(s.n,"launches")&&cudaGetDeviceProperties(&p,0)==cudaSuccess){ printf("# %s: device %s SMs %d L2 %d bytes\n",SEC,p.name,p.multiProcessorCount,p.l2CacheSize); fflush(stdout);} 
      try{ s.f(); }catch(std::exception&e){ errline("section",e.what()); return 2; }
      cudaError_t e=cudaDeviceSynchronize(); if(e!=cudaSuccess){ errline("end",cudaGetErrorString(e)); return 2;} return 0; }
    printf("unknown section %s\n",argv[2]); return 1; }
  printf("section,what,parameter,value,unit\n"); fflush(stdout);
  for(auto&s:secs){ bool want=argc<2; for(int i=1;i<argc;i++) if(!strcmp(argv[i],s.n)) want=true; if(!want) continue;
    double t=wall(); SEC=s.n; if(argc<2 && t-T0>56){ errline("skipped","56 s of wall time used"); continue; }
    fflush(stdout); pid_t c=fork(); if(c<0){ errline("fork","failed"); bad=1; continue; }
    if(c==0){ execl("/proc/self/exe",argv[0],"--in",s.n,(char*)0); perror("exec"); _exit(127); }
    int st=0; waitpid(c,&st,0); if(WIFSIGNALED(st)){ errline("child",(std::string("killed by signal ")+S(WTERMSIG(st))+(WTERMSIG(st)==SIGALRM?" (section time limit)":"")).c_str()); bad=1; } else if(WEXITSTATUS(st)){ errline("child",("exit "+S(WEXITSTATUS(st))).c_str()); bad=1; }
    out("section_wall","s",wall()-t,"s"); }
  SEC="total"; out("wall","s",wall()-T0,"s"); return bad; }
