"""Exports of profilers and rows that users send, to be changed: small ones, written by hand."""

RAW = '"ID","Kernel Name","Grid Size","Block Size","gpu__time_duration.sum","smsp__inst_executed.sum"\n'
NSYS = "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n"
TRACE = (
    "Start (ns),Duration (ns),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),"
    "Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,Strm,Name\n"
)
PROFILES = [
    text.encode()
    for text in (
        f'{RAW}"","","","","us","inst"\n"0","void a::f<(int)3>(float *, int)","(2, 1, 1)","(32, 1, 1)","1,001.5","4"\n',
        '"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n"0","_Z1fPfi","Duration","us","4.5"\n',
        f'{NSYS}100.0,3000,2,1500.0,1500.0,1000,2000,500.0,"void a::f<(int)3>(float *, int)"\n',
        f"{TRACE}2000,3500,6,16,1,1,256,1,1,16,0.0,0.0,,,,,NVIDIA A100 (0),1,7,f(int)\n",
        '"Kernel Name","f(int)"\n"File Path","k.cu"\n"Line No","Source","Address","SASS","# Samples"\n'
        '"4","x;","","","9"\n"","","7f00","LDG R1","5"\n',
    )
]
ROWS = (
    b"# a comment\nmachine,machine_digest,gpu,kernel,grid,block,launch,quantity,measured,simulated,tool,simtmm\n"
    b'a100-80,0123abcd,NVIDIA A100,"f<int, 2>",16x1x1,256x1x1,0,seconds,2e-06,1.5e-06,Nsight Compute,0.1.0\n'
)
