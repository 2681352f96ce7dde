; The head of the function that runs a warp: of the lanes that can go on, those at the lowest block of code are next.
; The blocks of code follow, one for each block of the kernel and of what it calls (program.py), and come back to
; `dispatch` when their lanes part, wait or leave. %mask holds the lanes that run, %next the lowest block at which others
; wait, %frame their activation, %fuel what is left of their turn. The other five are for addresses and data of accesses.

define internal i32 @run.warp(ptr %launch, ptr %block, ptr %warp) {
entry:
  %mask = alloca i32
  %next = alloca i32
  %frame = alloca ptr
  %fuel = alloca i32
  %addresses = alloca [32 x i64], align 64
  %data = alloca [2048 x i8], align 64
  %data2 = alloca [1024 x i8], align 64
  %result = alloca [1024 x i8], align 64
  %matrix = alloca [16384 x i8], align 64
  %first.frame = getelementptr i8, ptr %warp, i64 {WARP_BYTES}
  store ptr %first.frame, ptr %frame
  %fuel.at = getelementptr i8, ptr %launch, i64 {LAUNCH.fuel}
  %fuel.full = load i32, ptr %fuel.at
  store i32 %fuel.full, ptr %fuel
  br label %dispatch
dispatch:
  %living.at = getelementptr i8, ptr %warp, i64 {WARP.living}
  %living = load i32, ptr %living.at
  %blocked.at = getelementptr i8, ptr %warp, i64 {WARP.blocked}
  %blocked = load i32, ptr %blocked.at
  %tired.at = getelementptr i8, ptr %warp, i64 {WARP.tired}
  %tired = load i32, ptr %tired.at
  %stopped = or i32 %blocked, %tired
  %free = xor i32 %stopped, -1
  %ready = and i32 %living, %free
  %none = icmp eq i32 %ready, 0
  br i1 %none, label %nobody, label %choose
nobody:
  %are.tired = icmp ne i32 %tired, 0
  store i32 0, ptr %tired.at
  br i1 %are.tired, label %yield, label %wait
yield:
  ret i32 {YIELDED}
wait:
  %all.left = icmp eq i32 %living, 0
  %status = select i1 %all.left, i32 {DONE}, i32 {BLOCKED}
  ret i32 %status
choose:
  %ready.lanes = bitcast i32 %ready to <32 x i1>
  %pcs = load <32 x i32>, ptr %warp, align 64
  %places = select <32 x i1> %ready.lanes, <32 x i32> %pcs, <32 x i32> splat (i32 {LEFT})
  %lowest.place = call i32 @llvm.vector.reduce.umin.v32i32(<32 x i32> %places)
  %lowest.1 = insertelement <32 x i32> poison, i32 %lowest.place, i32 0
  %lowest.all = shufflevector <32 x i32> %lowest.1, <32 x i32> poison, <32 x i32> zeroinitializer
  %same = icmp eq <32 x i32> %places, %lowest.all
; GROUP
  %group.lanes = bitcast i32 %group to <32 x i1>
  %rest = select <32 x i1> %group.lanes, <32 x i32> splat (i32 {LEFT}), <32 x i32> %places
  %next.place = call i32 @llvm.vector.reduce.umin.v32i32(<32 x i32> %rest)
  store i32 %group, ptr %mask
  store i32 %next.place, ptr %next
  switch i32 %lowest.place, label %lost [
    ; BLOCKS
  ]
lost:
  unreachable
faulted:
  ret i32 {FAULTED}
