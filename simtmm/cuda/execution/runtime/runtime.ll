; What every kernel needs while it runs: which lanes go on, barriers, blocks, addresses, accesses and their record.
; Names in braces are offsets and constants of layout.py. A mask has a bit for each lane of a warp.

declare i32 @llvm.vector.reduce.umin.v32i32(<32 x i32>)
declare i64 @llvm.vector.reduce.or.v32i64(<32 x i64>)
declare i32 @llvm.cttz.i32(i32, i1)
declare i32 @llvm.ctpop.i32(i32)
declare i64 @llvm.umin.i64(i64, i64)
declare i32 @llvm.umin.i32(i32, i32)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)

; ---- Lanes ----------------------------------------------------------------------------------------------------------

; Lanes of a mask go on at a block of code.
define internal void @park(ptr %warp, i32 %mask, i32 %block) alwaysinline {
  %chosen = bitcast i32 %mask to <32 x i1>
  %pcs = load <32 x i32>, ptr %warp, align 64
  %one = insertelement <32 x i32> poison, i32 %block, i32 0
  %all = shufflevector <32 x i32> %one, <32 x i32> poison, <32 x i32> zeroinitializer
  %new = select <32 x i1> %chosen, <32 x i32> %all, <32 x i32> %pcs
  store <32 x i32> %new, ptr %warp, align 64
  ret void
}

; The lanes of a mask that are at a block of code.
define internal i32 @lanes.at(ptr %warp, i32 %mask, i32 %block) alwaysinline {
  %pcs = load <32 x i32>, ptr %warp, align 64
  %one = insertelement <32 x i32> poison, i32 %block, i32 0
  %all = shufflevector <32 x i32> %one, <32 x i32> poison, <32 x i32> zeroinitializer
  %same = icmp eq <32 x i32> %pcs, %all
  %bits = bitcast <32 x i1> %same to i32
  %result = and i32 %bits, %mask
  ret i32 %result
}

; The lowest block of code at which lanes of a mask are; LEFT if it is empty.
define internal i32 @lowest(ptr %warp, i32 %mask) alwaysinline {
  %chosen = bitcast i32 %mask to <32 x i1>
  %pcs = load <32 x i32>, ptr %warp, align 64
  %far = select <32 x i1> %chosen, <32 x i32> %pcs, <32 x i32> splat (i32 {LEFT})
  %result = call i32 @llvm.vector.reduce.umin.v32i32(<32 x i32> %far)
  ret i32 %result
}

; Lanes come to a block of code that begins with an instruction which gathers the lanes of its mask, a mask a lane:
; those whose lanes are all there, with the same mask, go on, the others wait. A lane may be there with another mask, in
; another round of a loop.
define internal i32 @gather(ptr %warp, i32 %mask, i32 %block, ptr %members) noinline {
entry:
  call void @park(ptr %warp, i32 %mask, i32 %block)
  %living.at = getelementptr i8, ptr %warp, i64 {WARP.living}
  %living = load i32, ptr %living.at
  %parked = call i32 @lanes.at(ptr %warp, i32 %living, i32 %block)
  ; Lanes that wait at a barrier of the block are parked at the code behind it, but have not come yet.
  %blocked.at = getelementptr i8, ptr %warp, i64 {WARP.blocked}
  %blocked = load i32, ptr %blocked.at
  %gathering.at = getelementptr i8, ptr %warp, i64 {WARP.gathering}
  %gathering = load i32, ptr %gathering.at
  %not.gathering = xor i32 %gathering, -1
  %at.barriers = and i32 %blocked, %not.gathering
  %not.at.barriers = xor i32 %at.barriers, -1
  %here = and i32 %parked, %not.at.barriers
  %leader = call i32 @llvm.cttz.i32(i32 %mask, i1 true)
  %activations.at = getelementptr i8, ptr %warp, i64 {WARP.activation}
  %activations = load <32 x i64>, ptr %activations.at, align 64
  %leader.at = getelementptr i64, ptr %activations.at, i32 %leader
  %own = load i64, ptr %leader.at
  %own.1 = insertelement <32 x i64> poison, i64 %own, i32 0
  %own.all = shufflevector <32 x i64> %own.1, <32 x i64> poison, <32 x i32> zeroinitializer
  %same = icmp eq <32 x i64> %activations, %own.all
  %same.bits = bitcast <32 x i1> %same to i32
  %group = and i32 %here, %same.bits
  %wanted = load <32 x i32>, ptr %members, align 64
  br label %each
each:
  ; Lanes of one mask after another.
  %left = phi i32 [ %group, %entry ], [ %left.next, %each ]
  %ready.before = phi i32 [ 0, %entry ], [ %ready, %each ]
  %first = call i32 @llvm.cttz.i32(i32 %left, i1 true)
  %first.at = getelementptr i32, ptr %members, i32 %first
  %one.mask = load i32, ptr %first.at
  %one.1 = insertelement <32 x i32> poison, i32 %one.mask, i32 0
  %one.all = shufflevector <32 x i32> %one.1, <32 x i32> poison, <32 x i32> zeroinitializer
  %alike = icmp eq <32 x i32> %wanted, %one.all
  %alike.bits = bitcast <32 x i1> %alike to i32
  %these = and i32 %alike.bits, %left
  %not.these = xor i32 %these, -1
  %needed = and i32 %one.mask, %living
  %missing = and i32 %needed, %not.these
  %complete = icmp eq i32 %missing, 0
  %found = select i1 %complete, i32 %these, i32 0
  %ready = or i32 %ready.before, %found
  %left.next = and i32 %left, %not.these
  %more = icmp ne i32 %left.next, 0
  br i1 %more, label %each, label %sorted
sorted:
  %not.ready = xor i32 %ready, -1
  %waits = and i32 %group, %not.ready
  %blocked.more = or i32 %blocked, %waits
  %blocked.now = and i32 %blocked.more, %not.ready
  store i32 %blocked.now, ptr %blocked.at
  %gathering.more = or i32 %gathering, %waits
  %gathering.now = and i32 %gathering.more, %not.ready
  store i32 %gathering.now, ptr %gathering.at
  ret i32 %ready
}

; The lanes that a warp began with: copies in bulk are written down as if these had shared them.
define internal i32 @lanes.begun(ptr %launch, ptr %warp) alwaysinline {
  %masks.at = getelementptr i8, ptr %launch, i64 {LAUNCH.living}
  %masks.address = load i64, ptr %masks.at
  %masks = inttoptr i64 %masks.address to ptr
  %number.at = getelementptr i8, ptr %warp, i64 {WARP.number}
  %number = load i32, ptr %number.at
  %mask.at = getelementptr i32, ptr %masks, i32 %number
  %mask = load i32, ptr %mask.at
  ret i32 %mask
}

; ---- Barriers -------------------------------------------------------------------------------------------------------

; All that wait at a barrier of a block go on.
define internal void @release(ptr %launch, ptr %block, i32 %barrier) noinline {
entry:
  %arrived.at = getelementptr i8, ptr %block, i64 {BLOCK.arrived}
  %arrived = getelementptr i32, ptr %arrived.at, i32 %barrier
  store i32 0, ptr %arrived
  %gathered.at = getelementptr i8, ptr %block, i64 {BLOCK.gathered}
  %gathered = getelementptr i32, ptr %gathered.at, i32 %barrier
  %result.at = getelementptr i8, ptr %block, i64 {BLOCK.result}
  %result = getelementptr i32, ptr %result.at, i32 %barrier
  %found = load i32, ptr %gathered
  store i32 %found, ptr %result
  %warps.at = getelementptr i8, ptr %launch, i64 {LAUNCH.warps}
  %warps = load i32, ptr %warps.at
  %stride.at = getelementptr i8, ptr %launch, i64 {LAUNCH.warp_bytes}
  %stride = load i64, ptr %stride.at
  %first = getelementptr i8, ptr %block, i64 {BLOCK_BYTES}
  %is.clusters = icmp eq i32 %barrier, {CLUSTER_BARRIER}
  br label %each
each:
  %n = phi i32 [ 0, %entry ], [ %n.next, %each ]
  %warp = phi ptr [ %first, %entry ], [ %warp.next, %each ]
  %waiting.at = getelementptr i8, ptr %warp, i64 {WARP.waiting}
  %waiting.here = getelementptr i32, ptr %waiting.at, i32 %barrier
  %waiting = load i32, ptr %waiting.here
  store i32 0, ptr %waiting.here
  %blocked.at = getelementptr i8, ptr %warp, i64 {WARP.blocked}
  %blocked = load i32, ptr %blocked.at
  %others = xor i32 %waiting, -1
  %left = and i32 %blocked, %others
  store i32 %left, ptr %blocked.at
  %clusters.at = getelementptr i8, ptr %warp, i64 {WARP.arrived}
  %clusters = load i32, ptr %clusters.at
  %clusters.now = select i1 %is.clusters, i32 0, i32 %clusters
  store i32 %clusters.now, ptr %clusters.at
  %warp.next = getelementptr i8, ptr %warp, i64 %stride
  %n.next = add i32 %n, 1
  %more = icmp ult i32 %n.next, %warps
  br i1 %more, label %each, label %end
end:
  ret void
}

; Likewise; at the barrier of a cluster once all threads of all its blocks have arrived that live.
define internal void @release.reached(ptr %launch, ptr %block, i32 %barrier) noinline {
entry:
  %is.clusters = icmp eq i32 %barrier, {CLUSTER_BARRIER}
  %size.at = getelementptr i8, ptr %block, i64 {BLOCK.cluster_size}
  %size = load i32, ptr %size.at
  %several = icmp ugt i32 %size, 1
  %of.several = and i1 %is.clusters, %several
  br i1 %of.several, label %cluster, label %alone
alone:
  call void @release(ptr %launch, ptr %block, i32 %barrier)
  ret void
cluster:
  %peers.at = getelementptr i8, ptr %block, i64 {BLOCK.peers}
  %peers = load ptr, ptr %peers.at
  br label %look
look:
  %n = phi i32 [ 0, %cluster ], [ %n.next, %look ]
  %missing = phi i1 [ false, %cluster ], [ %missing.next, %look ]
  %some = phi i32 [ 0, %cluster ], [ %some.next, %look ]
  %slot = getelementptr i64, ptr %peers, i32 %n
  %peer = load ptr, ptr %slot
  %living.at = getelementptr i8, ptr %peer, i64 {BLOCK.living}
  %living = load i32, ptr %living.at
  %arrived.at = getelementptr i8, ptr %peer, i64 {CLUSTER_ARRIVED}
  %arrived = load i32, ptr %arrived.at
  %lacks = icmp ult i32 %arrived, %living
  %missing.next = or i1 %missing, %lacks
  %some.next = or i32 %some, %arrived
  %n.next = add i32 %n, 1
  %more = icmp ult i32 %n.next, %size
  br i1 %more, label %look, label %looked
looked:
  %any = icmp ne i32 %some.next, 0
  %all = xor i1 %missing.next, true
  %open = and i1 %any, %all
  br i1 %open, label %each, label %end
each:
  %k = phi i32 [ 0, %looked ], [ %k.next, %each ]
  %k.slot = getelementptr i64, ptr %peers, i32 %k
  %k.peer = load ptr, ptr %k.slot
  call void @release(ptr %launch, ptr %k.peer, i32 {CLUSTER_BARRIER})
  %k.next = add i32 %k, 1
  %k.more = icmp ult i32 %k.next, %size
  br i1 %k.more, label %each, label %end
end:
  ret void
}

; Lanes of a warp arrive at a barrier, and wait there if they are to. count: threads that it waits for, 0 for all.
define internal void @arrive(ptr %launch, ptr %block, ptr %warp, i32 %mask, i32 %barrier, i32 %count, i1 %wait) noinline {
entry:
  %arrived.at = getelementptr i8, ptr %block, i64 {BLOCK.arrived}
  %arrived.here = getelementptr i32, ptr %arrived.at, i32 %barrier
  %before = load i32, ptr %arrived.here
  %lanes = call i32 @llvm.ctpop.i32(i32 %mask)
  %arrived = add i32 %before, %lanes
  store i32 %arrived, ptr %arrived.here
  %expected.at = getelementptr i8, ptr %block, i64 {BLOCK.expected}
  %expected.here = getelementptr i32, ptr %expected.at, i32 %barrier
  store i32 %count, ptr %expected.here
  br i1 %wait, label %waits, label %counted
waits:
  %waiting.at = getelementptr i8, ptr %warp, i64 {WARP.waiting}
  %waiting.here = getelementptr i32, ptr %waiting.at, i32 %barrier
  %waiting = load i32, ptr %waiting.here
  %waiting.now = or i32 %waiting, %mask
  store i32 %waiting.now, ptr %waiting.here
  %blocked.at = getelementptr i8, ptr %warp, i64 {WARP.blocked}
  %blocked = load i32, ptr %blocked.at
  %blocked.now = or i32 %blocked, %mask
  store i32 %blocked.now, ptr %blocked.at
  br label %counted
counted:
  %living.at = getelementptr i8, ptr %block, i64 {BLOCK.living}
  %living = load i32, ptr %living.at
  %all = icmp eq i32 %count, 0
  %needed = select i1 %all, i32 %living, i32 %count
  %full = icmp uge i32 %arrived, %needed
  br i1 %full, label %open, label %end
open:
  call void @release.reached(ptr %launch, ptr %block, i32 %barrier)
  br label %end
end:
  ret void
}

; What bar.red gathers: before lanes arrive. The first of a round begins anew. operation: 0 popc, 1 and, 2 or.
define internal void @gather.barrier(ptr %block, i32 %mask, i32 %barrier, i32 %true, i32 %operation) noinline {
  %arrived.at = getelementptr i8, ptr %block, i64 {BLOCK.arrived}
  %arrived.here = getelementptr i32, ptr %arrived.at, i32 %barrier
  %arrived = load i32, ptr %arrived.here
  %first = icmp eq i32 %arrived, 0
  %gathered.at = getelementptr i8, ptr %block, i64 {BLOCK.gathered}
  %gathered.here = getelementptr i32, ptr %gathered.at, i32 %barrier
  %before = load i32, ptr %gathered.here
  %is.and = icmp eq i32 %operation, 1
  %neutral = zext i1 %is.and to i32
  %old = select i1 %first, i32 %neutral, i32 %before
  %set = and i32 %true, %mask
  %count = call i32 @llvm.ctpop.i32(i32 %set)
  %sum = add i32 %old, %count
  %all = icmp eq i32 %set, %mask
  %all.bit = zext i1 %all to i32
  %both = and i32 %old, %all.bit
  %any = icmp ne i32 %set, 0
  %any.bit = zext i1 %any to i32
  %either = or i32 %old, %any.bit
  %is.popc = icmp eq i32 %operation, 0
  %logical = select i1 %is.and, i32 %both, i32 %either
  %new = select i1 %is.popc, i32 %sum, i32 %logical
  store i32 %new, ptr %gathered.here
  ret void
}

; Lanes of a warp leave. Barriers that wait for all who live may have waited for them, and so may their warp.
define internal void @leave(ptr %launch, ptr %block, ptr %warp, i32 %mask) noinline {
entry:
  %others = xor i32 %mask, -1
  %living.at = getelementptr i8, ptr %warp, i64 {WARP.living}
  %living = load i32, ptr %living.at
  %living.now = and i32 %living, %others
  store i32 %living.now, ptr %living.at
  %gathering.at = getelementptr i8, ptr %warp, i64 {WARP.gathering}
  %gathering = load i32, ptr %gathering.at
  store i32 0, ptr %gathering.at
  %blocked.at = getelementptr i8, ptr %warp, i64 {WARP.blocked}
  %blocked = load i32, ptr %blocked.at
  %not.gathering = xor i32 %gathering, -1
  %blocked.now = and i32 %blocked, %not.gathering
  store i32 %blocked.now, ptr %blocked.at
  %count = call i32 @llvm.ctpop.i32(i32 %mask)
  %threads.at = getelementptr i8, ptr %block, i64 {BLOCK.living}
  %threads = load i32, ptr %threads.at
  %threads.now = sub i32 %threads, %count
  store i32 %threads.now, ptr %threads.at
  ; Those that had arrived at the cluster's barrier, and wait for nobody, count no more.
  %clusters.at = getelementptr i8, ptr %warp, i64 {WARP.arrived}
  %clusters = load i32, ptr %clusters.at
  %clusters.now = and i32 %clusters, %others
  store i32 %clusters.now, ptr %clusters.at
  %clusters.gone = and i32 %clusters, %mask
  %gone = call i32 @llvm.ctpop.i32(i32 %clusters.gone)
  %at.clusters = getelementptr i8, ptr %block, i64 {CLUSTER_ARRIVED}
  %at.clusters.before = load i32, ptr %at.clusters
  %at.clusters.now = sub i32 %at.clusters.before, %gone
  store i32 %at.clusters.now, ptr %at.clusters
  br label %each
each:
  %barrier = phi i32 [ 0, %entry ], [ %barrier.next, %next ]
  %arrived.at = getelementptr i8, ptr %block, i64 {BLOCK.arrived}
  %arrived.here = getelementptr i32, ptr %arrived.at, i32 %barrier
  %arrived = load i32, ptr %arrived.here
  %expected.at = getelementptr i8, ptr %block, i64 {BLOCK.expected}
  %expected.here = getelementptr i32, ptr %expected.at, i32 %barrier
  %expected = load i32, ptr %expected.here
  %some = icmp ne i32 %arrived, 0
  %all = icmp eq i32 %expected, 0
  %full = icmp uge i32 %arrived, %threads.now
  %both = and i1 %some, %all
  %open = and i1 %both, %full
  br i1 %open, label %opens, label %next
opens:
  call void @release.reached(ptr %launch, ptr %block, i32 %barrier)
  br label %next
next:
  %barrier.next = add i32 %barrier, 1
  %more = icmp ult i32 %barrier.next, {ALL_BARRIERS}
  br i1 %more, label %each, label %last
last:
  ; Other blocks of the cluster may have waited for a block that has left.
  %size.at = getelementptr i8, ptr %block, i64 {BLOCK.cluster_size}
  %size = load i32, ptr %size.at
  %several = icmp ugt i32 %size, 1
  br i1 %several, label %cluster, label %end
cluster:
  call void @release.reached(ptr %launch, ptr %block, i32 {CLUSTER_BARRIER})
  br label %end
end:
  ret void
}

; ---- Calls ----------------------------------------------------------------------------------------------------------

; An activation of a function, for lanes of a warp, on its arena; null where that is full. behind: where they go on.
define internal ptr @call.function(ptr %launch, ptr %warp, i32 %mask, i64 %bytes, i64 %local, ptr %parent, i32 %behind) noinline {
entry:
  %top.at = getelementptr i8, ptr %warp, i64 {WARP.top}
  %top = load i64, ptr %top.at
  %new = add i64 %top, %bytes
  %arena.at = getelementptr i8, ptr %launch, i64 {LAUNCH.arena_bytes}
  %arena = load i64, ptr %arena.at
  %over = icmp ugt i64 %new, %arena
  %local.at = getelementptr i8, ptr %warp, i64 {WARP.local_top}
  %local.top = load i64, ptr %local.at
  %local.new = add i64 %local.top, %local
  %local.limit.at = getelementptr i8, ptr %launch, i64 {LAUNCH.local_bytes}
  %local.limit = load i64, ptr %local.limit.at
  %local.over = icmp ugt i64 %local.new, %local.limit
  %full = or i1 %over, %local.over
  br i1 %full, label %none, label %made
none:
  ret ptr null
made:
  store i64 %new, ptr %top.at
  store i64 %local.new, ptr %local.at
  %from = getelementptr i8, ptr %warp, i64 {WARP_BYTES}
  %frame = getelementptr i8, ptr %from, i64 %top
  %parent.address = ptrtoint ptr %parent to i64
  store i64 %parent.address, ptr %frame
  %behind.at = getelementptr i8, ptr %frame, i64 {ACTIVATION.behind}
  store i32 %behind, ptr %behind.at
  %lanes.at = getelementptr i8, ptr %frame, i64 {ACTIVATION.lanes}
  store i32 %mask, ptr %lanes.at
  %base.at = getelementptr i8, ptr %frame, i64 {ACTIVATION.local_top}
  store i64 %local.top, ptr %base.at
  call void @set.activations(ptr %warp, i32 %mask, ptr %frame)
  ret ptr %frame
}

define internal void @set.activations(ptr %warp, i32 %mask, ptr %frame) alwaysinline {
  %address = ptrtoint ptr %frame to i64
  %at = getelementptr i8, ptr %warp, i64 {WARP.activation}
  %before = load <32 x i64>, ptr %at, align 64
  %one = insertelement <32 x i64> poison, i64 %address, i32 0
  %all = shufflevector <32 x i64> %one, <32 x i64> poison, <32 x i32> zeroinitializer
  %chosen = bitcast i32 %mask to <32 x i1>
  %now = select <32 x i1> %chosen, <32 x i64> %all, <32 x i64> %before
  store <32 x i64> %now, ptr %at, align 64
  ret void
}

; Lanes return from an activation, whose place is free when the last has, if nothing stands behind it.
define internal void @return.function(ptr %warp, i32 %mask, ptr %frame) noinline {
entry:
  %parent.address = load i64, ptr %frame
  %parent = inttoptr i64 %parent.address to ptr
  %behind.at = getelementptr i8, ptr %frame, i64 {ACTIVATION.behind}
  %behind = load i32, ptr %behind.at
  call void @set.activations(ptr %warp, i32 %mask, ptr %parent)
  call void @park(ptr %warp, i32 %mask, i32 %behind)
  %lanes.at = getelementptr i8, ptr %frame, i64 {ACTIVATION.lanes}
  %lanes = load i32, ptr %lanes.at
  %others = xor i32 %mask, -1
  %left = and i32 %lanes, %others
  store i32 %left, ptr %lanes.at
  %empty = icmp eq i32 %left, 0
  br i1 %empty, label %free, label %end
free:
  ; Activations of lanes that parted may lie above each other in any order: the arena ends behind the last in use.
  %base.at = getelementptr i8, ptr %warp, i64 {WARP.activation}
  %living.at = getelementptr i8, ptr %warp, i64 {WARP.living}
  %living = load i32, ptr %living.at
  br label %scan
scan:
  %m = phi i32 [ %living, %free ], [ %m.next, %scan.next ]
  %highest = phi i64 [ 0, %free ], [ %highest.next, %scan.next ]
  %done = icmp eq i32 %m, 0
  br i1 %done, label %cut, label %scan.lane
scan.lane:
  %lane = call i32 @llvm.cttz.i32(i32 %m, i1 true)
  %slot = getelementptr i64, ptr %base.at, i32 %lane
  %of.lane = load i64, ptr %slot
  %is.higher = icmp ugt i64 %of.lane, %highest
  %highest.next = select i1 %is.higher, i64 %of.lane, i64 %highest
  %less = sub i32 %m, 1
  %m.next = and i32 %m, %less
  br label %scan.next
scan.next:
  br label %scan
cut:
  %this = ptrtoint ptr %frame to i64
  %covers = icmp ult i64 %highest, %this
  br i1 %covers, label %pop, label %end
pop:
  %warp.address = ptrtoint ptr %warp to i64
  %arena = add i64 %warp.address, {WARP_BYTES}
  %top = sub i64 %this, %arena
  %top.at = getelementptr i8, ptr %warp, i64 {WARP.top}
  store i64 %top, ptr %top.at
  %local.base.at = getelementptr i8, ptr %frame, i64 {ACTIVATION.local_top}
  %local.base = load i64, ptr %local.base.at
  %local.at = getelementptr i8, ptr %warp, i64 {WARP.local_top}
  store i64 %local.base, ptr %local.at
  br label %end
end:
  ret void
}

; ---- Blocks ---------------------------------------------------------------------------------------------------------

; A block at its beginning.
define internal void @begin.block(ptr %launch, ptr %block, i64 %number) noinline {
entry:
  %grid.x = load i32, ptr %launch
  %grid.y.at = getelementptr i8, ptr %launch, i64 4
  %grid.y = load i32, ptr %grid.y.at
  %nx = zext i32 %grid.x to i64
  %ny = zext i32 %grid.y to i64
  %x = urem i64 %number, %nx
  %rest = udiv i64 %number, %nx
  %y = urem i64 %rest, %ny
  %z = udiv i64 %rest, %ny
  %x.32 = trunc i64 %x to i32
  %y.32 = trunc i64 %y to i32
  %z.32 = trunc i64 %z to i32
  store i32 %x.32, ptr %block
  %y.at = getelementptr i8, ptr %block, i64 4
  store i32 %y.32, ptr %y.at
  %z.at = getelementptr i8, ptr %block, i64 8
  store i32 %z.32, ptr %z.at
  %number.at = getelementptr i8, ptr %block, i64 {BLOCK.number}
  store i64 %number, ptr %number.at
  %threads.at = getelementptr i8, ptr %launch, i64 {LAUNCH.warp_threads}
  %threads = load i32, ptr %threads.at
  %living.at = getelementptr i8, ptr %block, i64 {BLOCK.living}
  store i32 %threads, ptr %living.at
  %next.at = getelementptr i8, ptr %block, i64 {BLOCK.next}
  store i32 0, ptr %next.at
  %barriers = getelementptr i8, ptr %block, i64 {BLOCK.arrived}
  call void @llvm.memset.p0.i64(ptr %barriers, i8 0, i64 {BLOCK_BARRIER_BYTES}, i1 false)
  %shared.at = getelementptr i8, ptr %block, i64 {BLOCK.shared}
  %shared.address = load i64, ptr %shared.at
  %shared = inttoptr i64 %shared.address to ptr
  %shared.bytes.at = getelementptr i8, ptr %launch, i64 {LAUNCH.shared_bytes}
  %shared.bytes = load i64, ptr %shared.bytes.at
  call void @llvm.memset.p0.i64(ptr %shared, i8 0, i64 %shared.bytes, i1 false)
  %warps.at = getelementptr i8, ptr %launch, i64 {LAUNCH.warps}
  %warps = load i32, ptr %warps.at
  %stride.at = getelementptr i8, ptr %launch, i64 {LAUNCH.warp_bytes}
  %stride = load i64, ptr %stride.at
  %frame.at = getelementptr i8, ptr %launch, i64 {LAUNCH.frame_bytes}
  %frame = load i64, ptr %frame.at
  %local.at = getelementptr i8, ptr %launch, i64 {LAUNCH.entry_local}
  %local = load i64, ptr %local.at
  %masks.at = getelementptr i8, ptr %launch, i64 {LAUNCH.living}
  %masks.address = load i64, ptr %masks.at
  %masks = inttoptr i64 %masks.address to ptr
  %first = getelementptr i8, ptr %block, i64 {BLOCK_BYTES}
  br label %each
each:
  %n = phi i32 [ 0, %entry ], [ %n.next, %each ]
  %warp = phi ptr [ %first, %entry ], [ %warp.next, %each ]
  %mask.at = getelementptr i32, ptr %masks, i32 %n
  %mask = load i32, ptr %mask.at
  store <32 x i32> zeroinitializer, ptr %warp, align 64
  %activation = getelementptr i8, ptr %warp, i64 {WARP_BYTES}
  call void @set.activations(ptr %warp, i32 -1, ptr %activation)
  call void @llvm.memset.p0.i64(ptr align 64 %activation, i8 0, i64 {ACTIVATION_BYTES}, i1 false)
  %warp.living = getelementptr i8, ptr %warp, i64 {WARP.living}
  store i32 %mask, ptr %warp.living
  %warp.blocked = getelementptr i8, ptr %warp, i64 {WARP.blocked}
  call void @llvm.memset.p0.i64(ptr %warp.blocked, i8 0, i64 12, i1 false)
  %warp.number = getelementptr i8, ptr %warp, i64 {WARP.number}
  store i32 %n, ptr %warp.number
  %warp.top = getelementptr i8, ptr %warp, i64 {WARP.top}
  store i64 %frame, ptr %warp.top
  %warp.local = getelementptr i8, ptr %warp, i64 {WARP.local_top}
  store i64 %local, ptr %warp.local
  %warp.waiting = getelementptr i8, ptr %warp, i64 {WARP.waiting}
  call void @llvm.memset.p0.i64(ptr %warp.waiting, i8 0, i64 {WARP_BARRIER_BYTES}, i1 false)
  %warp.committed = getelementptr i8, ptr %warp, i64 {WARP.committed}
  store i32 0, ptr %warp.committed
  %warp.next = getelementptr i8, ptr %warp, i64 %stride
  %n.next = add i32 %n, 1
  %more = icmp ult i32 %n.next, %warps
  br i1 %more, label %each, label %end
end:
  call void @log.mark(ptr %launch, i32 {NEW_BLOCK}, i64 %number, i32 0)
  ret void
}

; A block goes on until it has ended, or can't for now.
define i32 @run.block(ptr %launch, ptr %block) {
entry:
  %warps.at = getelementptr i8, ptr %launch, i64 {LAUNCH.warps}
  %warps = load i32, ptr %warps.at
  %stride.at = getelementptr i8, ptr %launch, i64 {LAUNCH.warp_bytes}
  %stride = load i64, ptr %stride.at
  %first = getelementptr i8, ptr %block, i64 {BLOCK_BYTES}
  %next.at = getelementptr i8, ptr %block, i64 {BLOCK.next}
  %begin = load i32, ptr %next.at
  store i32 0, ptr %next.at
  %running.at = getelementptr i8, ptr %block, i64 {BLOCK.running}
  %rounds.at = getelementptr i8, ptr %block, i64 {BLOCK.rounds}
  %rounds = load i32, ptr %rounds.at
  br label %round
round:
  %from = phi i32 [ %begin, %entry ], [ 0, %again ]
  %left.rounds = phi i32 [ %rounds, %entry ], [ %fewer, %again ]
  %left.all = phi i32 [ {MOST_ROUNDS}, %entry ], [ %fewer.all, %again ]
  %from.64 = zext i32 %from to i64
  %skipped = mul i64 %from.64, %stride
  %start = getelementptr i8, ptr %first, i64 %skipped
  br label %each
each:
  %n = phi i32 [ %from, %round ], [ %n.next, %next ]
  %warp = phi ptr [ %start, %round ], [ %warp.next, %next ]
  %moved = phi i1 [ false, %round ], [ %moved.next, %next ]
  %yielded = phi i1 [ false, %round ], [ %yielded.next, %next ]
  %living.at = getelementptr i8, ptr %warp, i64 {WARP.living}
  %living = load i32, ptr %living.at
  %blocked.at = getelementptr i8, ptr %warp, i64 {WARP.blocked}
  %blocked = load i32, ptr %blocked.at
  %not.blocked = xor i32 %blocked, -1
  %ready = and i32 %living, %not.blocked
  %runs = icmp ne i32 %ready, 0
  br i1 %runs, label %run, label %skip
run:
  store i32 %n, ptr %running.at
  call void @log.mark(ptr %launch, i32 {NEW_WARP}, i64 0, i32 %n)
  %status = call i32 @run.warp(ptr %launch, ptr %block, ptr %warp)
  %ends = icmp uge i32 %status, {LOG_FULL}
  br i1 %ends, label %stop, label %ran
stop:
  store i32 %n, ptr %next.at
  ret i32 %status
ran:
  %is.yield = icmp eq i32 %status, {YIELDED}
  %yielded.here = or i1 %yielded, %is.yield
  br label %next
skip:
  br label %next
next:
  %moved.next = phi i1 [ true, %ran ], [ %moved, %skip ]
  %yielded.next = phi i1 [ %yielded.here, %ran ], [ %yielded, %skip ]
  %n.next = add i32 %n, 1
  %warp.next = getelementptr i8, ptr %warp, i64 %stride
  %more = icmp ult i32 %n.next, %warps
  br i1 %more, label %each, label %went
went:
  %threads.at = getelementptr i8, ptr %block, i64 {BLOCK.living}
  %threads = load i32, ptr %threads.at
  %over = icmp eq i32 %threads, 0
  br i1 %over, label %done, label %goes
done:
  ret i32 {DONE}
goes:
  br i1 %moved.next, label %counted, label %stuck.maybe
stuck.maybe:
  ; A round that began at a later warp says nothing of those before it.
  %whole = icmp eq i32 %from, 0
  br i1 %whole, label %stuck, label %counted
stuck:
  ret i32 {BLOCKED}
counted:
  %cost = zext i1 %yielded.next to i32
  %fewer = sub i32 %left.rounds, %cost
  %fewer.all = sub i32 %left.all, 1
  %both = call i32 @llvm.umin.i32(i32 %fewer, i32 %fewer.all)
  %turn = icmp eq i32 %both, 0
  br i1 %turn, label %turns, label %again
again:
  br label %round
turns:
  ret i32 {YIELDED}
}

; Blocks one after another, up to the first that does not end; the number of the next stands in the launch.
define i32 @run.blocks(ptr %launch, ptr %block, i64 %first, i64 %last) {
entry:
  %current.at = getelementptr i8, ptr %launch, i64 {LAUNCH.current}
  br label %check
check:
  %number = phi i64 [ %first, %entry ], [ %number.next, %next ]
  store i64 %number, ptr %current.at
  %more = icmp ult i64 %number, %last
  br i1 %more, label %run, label %done
run:
  call void @begin.block(ptr %launch, ptr %block, i64 %number)
  %status = call i32 @run.block(ptr %launch, ptr %block)
  %number.next = add i64 %number, 1
  %ended = icmp eq i32 %status, {DONE}
  br i1 %ended, label %next, label %stop
next:
  br label %check
stop:
  store i64 %number.next, ptr %current.at
  ret i32 %status
done:
  ret i32 {DONE}
}

; ---- The record -----------------------------------------------------------------------------------------------------

; A mark: eight bytes, and eight of a number behind NEW_BLOCK.
define internal void @log.mark(ptr %launch, i32 %mark, i64 %number, i32 %warp) noinline {
entry:
  %log.at = getelementptr i8, ptr %launch, i64 {LAUNCH.log}
  %log = load ptr, ptr %log.at
  %on = icmp ne ptr %log, null
  br i1 %on, label %write, label %end
write:
  store i32 %mark, ptr %log
  %warp.at = getelementptr i8, ptr %log, i64 4
  store i32 %warp, ptr %warp.at
  %number.at = getelementptr i8, ptr %log, i64 8
  store i64 %number, ptr %number.at
  %is.block = icmp eq i32 %mark, {NEW_BLOCK}
  %step = select i1 %is.block, i64 16, i64 8
  %log.next = getelementptr i8, ptr %log, i64 %step
  store ptr %log.next, ptr %log.at
  br label %end
end:
  ret void
}

; Instructions without an access, of the lanes of a mask.
define internal void @log.work(ptr %launch, i32 %site, i32 %mask) alwaysinline {
entry:
  %log.at = getelementptr i8, ptr %launch, i64 {LAUNCH.log}
  %log = load ptr, ptr %log.at
  %on = icmp ne ptr %log, null
  br i1 %on, label %write, label %end
write:
  store i32 %site, ptr %log
  %mask.at = getelementptr i8, ptr %log, i64 4
  store i32 %mask, ptr %mask.at
  %log.next = getelementptr i8, ptr %log, i64 8
  store ptr %log.next, ptr %log.at
  br label %end
end:
  ret void
}

define internal void @log.access(ptr %launch, i32 %site, i32 %mask, ptr %addresses) alwaysinline {
entry:
  %log.at = getelementptr i8, ptr %launch, i64 {LAUNCH.log}
  %log = load ptr, ptr %log.at
  %on = icmp ne ptr %log, null
  br i1 %on, label %write, label %end
write:
  store i32 %site, ptr %log
  %mask.at = getelementptr i8, ptr %log, i64 4
  store i32 %mask, ptr %mask.at
  %values = getelementptr i8, ptr %log, i64 8
  %all = load <32 x i64>, ptr %addresses, align 64
  store <32 x i64> %all, ptr %values, align 8
  %log.next = getelementptr i8, ptr %log, i64 {LOG_ENTRY}
  store ptr %log.next, ptr %log.at
  br label %end
end:
  ret void
}

; ---- Addresses ------------------------------------------------------------------------------------------------------

define internal void @fault(ptr %launch, i32 %code, i32 %access, i32 %lane, i64 %address) noinline {
  %code.at = getelementptr i8, ptr %launch, i64 {LAUNCH.fault}
  store i32 %code, ptr %code.at
  %access.at = getelementptr i8, ptr %launch, i64 {LAUNCH.fault_access}
  store i32 %access, ptr %access.at
  %lane.at = getelementptr i8, ptr %launch, i64 {LAUNCH.fault_lane}
  store i32 %lane, ptr %lane.at
  %address.at = getelementptr i8, ptr %launch, i64 {LAUNCH.fault_address}
  store i64 %address, ptr %address.at
  ret void
}

; Where generic addresses of the lanes of a mask lie in this process. True where one lies nowhere. writes: whether they
; are written to. The array that an access met last is looked at first.
define internal i1 @resolve.global(ptr %launch, ptr %block, ptr %warp, i32 %access, i32 %mask, i64 %size, i1 %writes, ptr %addresses, ptr %hosts) noinline {
entry:
  %caches.at = getelementptr i8, ptr %launch, i64 {LAUNCH.caches}
  %caches = load ptr, ptr %caches.at
  %cache = getelementptr {i64, i64, i64}, ptr %caches, i32 %access
  %low = load i64, ptr %cache
  %last.at = getelementptr i8, ptr %cache, i64 8
  %last = load i64, ptr %last.at
  %shift.at = getelementptr i8, ptr %cache, i64 16
  %shift = load i64, ptr %shift.at
  %all = load <32 x i64>, ptr %addresses, align 64
  %low.1 = insertelement <32 x i64> poison, i64 %low, i32 0
  %lows = shufflevector <32 x i64> %low.1, <32 x i64> poison, <32 x i32> zeroinitializer
  %last.1 = insertelement <32 x i64> poison, i64 %last, i32 0
  %lasts = shufflevector <32 x i64> %last.1, <32 x i64> poison, <32 x i32> zeroinitializer
  %shift.1 = insertelement <32 x i64> poison, i64 %shift, i32 0
  %shifts = shufflevector <32 x i64> %shift.1, <32 x i64> poison, <32 x i32> zeroinitializer
  %less = sub i64 %size, 1
  %less.1 = insertelement <32 x i64> poison, i64 %less, i32 0
  %lesses = shufflevector <32 x i64> %less.1, <32 x i64> poison, <32 x i32> zeroinitializer
  %offsets = sub <32 x i64> %all, %lows
  %full = icmp eq i32 %mask, -1
  br i1 %full, label %quick, label %careful
quick:
  ; Of all lanes at once: an offset is within bounds where neither it nor what is left behind it is negative.
  %left = sub <32 x i64> %lasts, %offsets
  %signs = or <32 x i64> %offsets, %left
  %any.sign = call i64 @llvm.vector.reduce.or.v32i64(<32 x i64> %signs)
  %any.low = call i64 @llvm.vector.reduce.or.v32i64(<32 x i64> %all)
  %odd.bits = and i64 %any.low, %less
  %all.inside = icmp sge i64 %any.sign, 0
  %all.aligned = icmp eq i64 %odd.bits, 0
  %all.good = and i1 %all.inside, %all.aligned
  br i1 %all.good, label %fast, label %slow
careful:
  %inside = icmp ule <32 x i64> %offsets, %lasts
  %low.bits = and <32 x i64> %all, %lesses
  %aligned = icmp eq <32 x i64> %low.bits, zeroinitializer
  %good = and <32 x i1> %inside, %aligned
  %good.bits = bitcast <32 x i1> %good to i32
  %bad = xor i32 %good.bits, -1
  %missed = and i32 %bad, %mask
  %hit = icmp eq i32 %missed, 0
  br i1 %hit, label %fast, label %slow
fast:
  %found = add <32 x i64> %all, %shifts
  store <32 x i64> %found, ptr %hosts, align 64
  ret i1 false
slow:
  br label %each
each:
  %m = phi i32 [ %mask, %slow ], [ %m.next, %stored ]
  %lane = call i32 @llvm.cttz.i32(i32 %m, i1 true)
  %address.at = getelementptr i64, ptr %addresses, i32 %lane
  %address = load i64, ptr %address.at
  %host = call i64 @locate(ptr %launch, ptr %block, ptr %warp, ptr %cache, i32 %access, i32 %lane, i64 %address, i64 %size, i1 %writes)
  %nowhere = icmp eq i64 %host, 0
  br i1 %nowhere, label %failed, label %stored
stored:
  %host.at = getelementptr i64, ptr %hosts, i32 %lane
  store i64 %host, ptr %host.at
  %m.less = sub i32 %m, 1
  %m.next = and i32 %m, %m.less
  %more = icmp ne i32 %m.next, 0
  br i1 %more, label %each, label %end
end:
  ret i1 false
failed:
  ret i1 true
}

; Where an address lies in this process; 0 where nowhere, which is told.
define internal i64 @locate(ptr %launch, ptr %block, ptr %warp, ptr %cache, i32 %access, i32 %lane, i64 %address, i64 %size, i1 %writes) noinline {
entry:
  %less = sub i64 %size, 1
  %low.bits = and i64 %address, %less
  %aligned = icmp eq i64 %low.bits, 0
  br i1 %aligned, label %where, label %misaligned
misaligned:
  call void @fault(ptr %launch, i32 {MISALIGNED}, i32 %access, i32 %lane, i64 %address)
  ret i64 0
where:
  %window = lshr i64 %address, 40
  switch i64 %window, label %search [ i64 1, label %shared
                                      i64 2, label %local ]
shared:
  %s.any = sub i64 %address, {SHARED_WINDOW}
  %s.rank = lshr i64 %s.any, {PEER_BIT}
  %s.own = icmp eq i64 %s.rank, 0
  br i1 %s.own, label %shared.own, label %shared.peer
shared.peer:
  ; Of another block of the cluster.
  %p.size.at = getelementptr i8, ptr %block, i64 {BLOCK.cluster_size}
  %p.size = load i32, ptr %p.size.at
  %p.size.64 = zext i32 %p.size to i64
  %p.known = icmp ule i64 %s.rank, %p.size.64
  %p.offset = and i64 %s.any, {PEER_OFFSETS}
  %p.end = add i64 %p.offset, %size
  %p.bytes.at = getelementptr i8, ptr %launch, i64 {LAUNCH.shared_bytes}
  %p.bytes = load i64, ptr %p.bytes.at
  %p.in = icmp ule i64 %p.end, %p.bytes
  %p.good = and i1 %p.known, %p.in
  br i1 %p.good, label %shared.of.peer, label %outside
shared.of.peer:
  %p.base = call i64 @peer.shared(ptr %block, i64 %s.rank)
  %p.host = add i64 %p.base, %p.offset
  ret i64 %p.host
shared.own:
  %s = add i64 %s.any, 0
  %s.end = add i64 %s, %size
  %s.bytes.at = getelementptr i8, ptr %launch, i64 {LAUNCH.shared_bytes}
  %s.bytes = load i64, ptr %s.bytes.at
  %s.in = icmp ule i64 %s.end, %s.bytes
  br i1 %s.in, label %shared.found, label %outside
shared.found:
  %s.base.at = getelementptr i8, ptr %block, i64 {BLOCK.shared}
  %s.base = load i64, ptr %s.base.at
  %s.host = add i64 %s.base, %s
  %s.last = sub i64 %s.bytes, %size
  %s.shift = sub i64 %s.base, {SHARED_WINDOW}
  store i64 {SHARED_WINDOW}, ptr %cache
  %s.last.at = getelementptr i8, ptr %cache, i64 8
  store i64 %s.last, ptr %s.last.at
  %s.shift.at = getelementptr i8, ptr %cache, i64 16
  store i64 %s.shift, ptr %s.shift.at
  ret i64 %s.host
local:
  %l = sub i64 %address, {LOCAL_WINDOW}
  %l.end = add i64 %l, %size
  %l.bytes.at = getelementptr i8, ptr %launch, i64 {LAUNCH.local_bytes}
  %l.bytes = load i64, ptr %l.bytes.at
  %l.in = icmp ule i64 %l.end, %l.bytes
  br i1 %l.in, label %local.found, label %outside
local.found:
  %l.base.at = getelementptr i8, ptr %warp, i64 {WARP.local}
  %l.base = load i64, ptr %l.base.at
  %lane.64 = zext i32 %lane to i64
  %l.lane = mul i64 %lane.64, %l.bytes
  %l.of.lane = add i64 %l.base, %l.lane
  %l.host = add i64 %l.of.lane, %l
  ret i64 %l.host
search:
  %table.at = getelementptr i8, ptr %launch, i64 {LAUNCH.allocations}
  %table = load ptr, ptr %table.at
  %count.at = getelementptr i8, ptr %launch, i64 {LAUNCH.allocation_count}
  %count = load i64, ptr %count.at
  br label %halve
halve:
  ; The last allocation that begins at or before the address is in [from, to).
  %from = phi i64 [ 0, %search ], [ %from.next, %halved ]
  %to = phi i64 [ %count, %search ], [ %to.next, %halved ]
  %span = sub i64 %to, %from
  %wide = icmp ugt i64 %span, 1
  br i1 %wide, label %halved, label %candidate
halved:
  %half = lshr i64 %span, 1
  %middle = add i64 %from, %half
  %middle.at = getelementptr {i64, i64, i64, i64}, ptr %table, i64 %middle
  %middle.low = load i64, ptr %middle.at
  %below = icmp ule i64 %middle.low, %address
  %from.next = select i1 %below, i64 %middle, i64 %from
  %to.next = select i1 %below, i64 %to, i64 %middle
  br label %halve
candidate:
  %any = icmp ne i64 %count, 0
  br i1 %any, label %compare, label %outside
compare:
  %entry.at = getelementptr {i64, i64, i64, i64}, ptr %table, i64 %from
  %low = load i64, ptr %entry.at
  %bytes.at = getelementptr i8, ptr %entry.at, i64 8
  %bytes = load i64, ptr %bytes.at
  %base.at = getelementptr i8, ptr %entry.at, i64 16
  %base = load i64, ptr %base.at
  %flags.at = getelementptr i8, ptr %entry.at, i64 24
  %flags = load i64, ptr %flags.at
  %constant.bit = and i64 %flags, {CONSTANT}
  %constant = icmp ne i64 %constant.bit, 0
  %not.to.write = and i1 %constant, %writes
  %offset = sub i64 %address, %low
  %fits = icmp ule i64 %size, %bytes
  %last = sub i64 %bytes, %size
  %within = icmp ule i64 %offset, %last
  %in = and i1 %fits, %within
  br i1 %in, label %may, label %outside
may:
  br i1 %not.to.write, label %readonly, label %found
readonly:
  call void @fault(ptr %launch, i32 {READ_ONLY}, i32 %access, i32 %lane, i64 %address)
  ret i64 0
found:
  %shift = sub i64 %base, %low
  store i64 %low, ptr %cache
  %last.at = getelementptr i8, ptr %cache, i64 8
  store i64 %last, ptr %last.at
  %shift.at = getelementptr i8, ptr %cache, i64 16
  store i64 %shift, ptr %shift.at
  %host = add i64 %base, %offset
  ; An access finds its array here before any other place: what a launch touched stands in the table in the end.
  %bits = select i1 %writes, i64 {TOUCHED_AND_WRITTEN}, i64 {TOUCHED}
  %had = and i64 %flags, %bits
  %known = icmp eq i64 %had, %bits
  br i1 %known, label %noted, label %note
note:
  %before = atomicrmw or ptr %flags.at, i64 %bits monotonic
  br label %noted
noted:
  ret i64 %host
outside:
  call void @fault(ptr %launch, i32 {OUT_OF_BOUNDS}, i32 %access, i32 %lane, i64 %address)
  ret i64 0
}

; Where the shared memory begins of a block of the cluster. rank: one more than its, 0 for the own.
define internal i64 @peer.shared(ptr %block, i64 %rank) alwaysinline {
entry:
  %own = icmp eq i64 %rank, 0
  br i1 %own, label %here, label %there
here:
  br label %found
there:
  %peers.at = getelementptr i8, ptr %block, i64 {BLOCK.peers}
  %peers = load ptr, ptr %peers.at
  %number = sub i64 %rank, 1
  %slot = getelementptr i64, ptr %peers, i64 %number
  %peer = load ptr, ptr %slot
  br label %found
found:
  %which = phi ptr [ %block, %here ], [ %peer, %there ]
  %shared.at = getelementptr i8, ptr %which, i64 {BLOCK.shared}
  %shared = load i64, ptr %shared.at
  ret i64 %shared
}

; Likewise offsets within the block's shared memory, or another's of its cluster,
define internal i1 @resolve.shared(ptr %launch, ptr %block, ptr %warp, i32 %access, i32 %mask, i64 %size, i1 %writes, ptr %addresses, ptr %hosts) noinline {
entry:
  %bytes.at = getelementptr i8, ptr %launch, i64 {LAUNCH.shared_bytes}
  %bytes = load i64, ptr %bytes.at
  %base.at = getelementptr i8, ptr %block, i64 {BLOCK.shared}
  %base = load i64, ptr %base.at
  %all = load <32 x i64>, ptr %addresses, align 64
  %missed = call i32 @window.misses(i32 %mask, i64 %size, i64 %bytes, <32 x i64> %all)
  %hit = icmp eq i32 %missed, 0
  br i1 %hit, label %fast, label %missing
fast:
  %base.1 = insertelement <32 x i64> poison, i64 %base, i32 0
  %bases = shufflevector <32 x i64> %base.1, <32 x i64> poison, <32 x i32> zeroinitializer
  %found = add <32 x i64> %all, %bases
  store <32 x i64> %found, ptr %hosts, align 64
  ret i1 false
missing:
  %far = lshr <32 x i64> %all, splat (i64 32)
  %far.all = icmp ne <32 x i64> %far, zeroinitializer
  %far.bits = bitcast <32 x i1> %far.all to i32
  %far.some = and i32 %far.bits, %mask
  %near = icmp eq i32 %far.some, 0
  br i1 %near, label %peers, label %failed
peers:
  br label %each
each:
  %m = phi i32 [ %mask, %peers ], [ %m.next, %stored ]
  %lane = call i32 @llvm.cttz.i32(i32 %m, i1 true)
  %address.at = getelementptr i64, ptr %addresses, i32 %lane
  %address = load i64, ptr %address.at
  %generic = add i64 %address, {SHARED_WINDOW}
  %caches.at = getelementptr i8, ptr %launch, i64 {LAUNCH.caches}
  %caches = load ptr, ptr %caches.at
  %cache = getelementptr {i64, i64, i64}, ptr %caches, i32 %access
  %host = call i64 @locate(ptr %launch, ptr %block, ptr %warp, ptr %cache, i32 %access, i32 %lane, i64 %generic, i64 %size, i1 %writes)
  %nowhere = icmp eq i64 %host, 0
  br i1 %nowhere, label %told, label %stored
stored:
  %host.at = getelementptr i64, ptr %hosts, i32 %lane
  store i64 %host, ptr %host.at
  %m.less = sub i32 %m, 1
  %m.next = and i32 %m, %m.less
  %more = icmp ne i32 %m.next, 0
  br i1 %more, label %each, label %end
end:
  ret i1 false
told:
  ret i1 true
failed:
  call void @window.fault(ptr %launch, i32 %access, i32 %missed, i64 %size, ptr %addresses, i64 {SHARED_WINDOW})
  ret i1 true
}

; and within each lane's local memory.
define internal i1 @resolve.local(ptr %launch, ptr %block, ptr %warp, i32 %access, i32 %mask, i64 %size, i1 %writes, ptr %addresses, ptr %hosts) noinline {
entry:
  %bytes.at = getelementptr i8, ptr %launch, i64 {LAUNCH.local_bytes}
  %bytes = load i64, ptr %bytes.at
  %base.at = getelementptr i8, ptr %warp, i64 {WARP.local}
  %base = load i64, ptr %base.at
  %all = load <32 x i64>, ptr %addresses, align 64
  %missed = call i32 @window.misses(i32 %mask, i64 %size, i64 %bytes, <32 x i64> %all)
  %hit = icmp eq i32 %missed, 0
  br i1 %hit, label %fast, label %failed
fast:
  %base.1 = insertelement <32 x i64> poison, i64 %base, i32 0
  %bases = shufflevector <32 x i64> %base.1, <32 x i64> poison, <32 x i32> zeroinitializer
  %bytes.1 = insertelement <32 x i64> poison, i64 %bytes, i32 0
  %strides = shufflevector <32 x i64> %bytes.1, <32 x i64> poison, <32 x i32> zeroinitializer
  %starts = mul <32 x i64> %strides, {IOTA}
  %of.lanes = add <32 x i64> %bases, %starts
  %found = add <32 x i64> %all, %of.lanes
  store <32 x i64> %found, ptr %hosts, align 64
  ret i1 false
failed:
  call void @window.fault(ptr %launch, i32 %access, i32 %missed, i64 %size, ptr %addresses, i64 {LOCAL_WINDOW})
  ret i1 true
}

; The lanes of a mask whose access is not aligned, or not within so many bytes from 0.
define internal i32 @window.misses(i32 %mask, i64 %size, i64 %bytes, <32 x i64> %all) alwaysinline {
  %fits = icmp ule i64 %size, %bytes
  %room = sub i64 %bytes, %size
  %last = select i1 %fits, i64 %room, i64 0
  %last.1 = insertelement <32 x i64> poison, i64 %last, i32 0
  %lasts = shufflevector <32 x i64> %last.1, <32 x i64> poison, <32 x i32> zeroinitializer
  %less = sub i64 %size, 1
  %less.1 = insertelement <32 x i64> poison, i64 %less, i32 0
  %lesses = shufflevector <32 x i64> %less.1, <32 x i64> poison, <32 x i32> zeroinitializer
  %inside = icmp ule <32 x i64> %all, %lasts
  %low.bits = and <32 x i64> %all, %lesses
  %aligned = icmp eq <32 x i64> %low.bits, zeroinitializer
  %good = and <32 x i1> %inside, %aligned
  %good.bits = bitcast <32 x i1> %good to i32
  %good.some = select i1 %fits, i32 %good.bits, i32 0
  %bad = xor i32 %good.some, -1
  %missed = and i32 %bad, %mask
  ret i32 %missed
}

define internal void @window.fault(ptr %launch, i32 %access, i32 %missed, i64 %size, ptr %addresses, i64 %window) noinline {
  %lane = call i32 @llvm.cttz.i32(i32 %missed, i1 true)
  %address.at = getelementptr i64, ptr %addresses, i32 %lane
  %address = load i64, ptr %address.at
  %less = sub i64 %size, 1
  %low.bits = and i64 %address, %less
  %aligned = icmp eq i64 %low.bits, 0
  %code = select i1 %aligned, i32 {OUT_OF_BOUNDS}, i32 {MISALIGNED}
  %generic = add i64 %address, %window
  call void @fault(ptr %launch, i32 %code, i32 %access, i32 %lane, i64 %generic)
  ret void
}
