; The clocks of warps, in kernels that read one: an entry for each, of layout.CLOCK (device_clock.py).

define internal ptr @clock.entry(ptr %launch, ptr %block, ptr %warp) {
entry:
  %timing.at = getelementptr i8, ptr %launch, i64 {LAUNCH.timing}
  %timing = load ptr, ptr %timing.at
  %number.at = getelementptr i8, ptr %block, i64 {BLOCK.number}
  %number = load i64, ptr %number.at
  %mine = add i64 %number, 1
  %warps.at = getelementptr i8, ptr %launch, i64 {LAUNCH.warps}
  %warps.32 = load i32, ptr %warps.at
  %warps = sext i32 %warps.32 to i64
  %rows = add i64 %warps, 1
  %row = and i64 %number, {CLOCK_BLOCKS_MASK}
  %first = mul i64 %row, %rows
  %own.at = getelementptr i8, ptr %warp, i64 {WARP.number}
  %own.32 = load i32, ptr %own.at
  %own = sext i32 %own.32 to i64
  %index = add i64 %first, %own
  %offset = mul i64 %index, {CLOCK_BYTES}
  %entries.at = getelementptr i8, ptr %timing, i64 {TIMING.entries}
  %entries = load ptr, ptr %entries.at
  %found = getelementptr i8, ptr %entries, i64 %offset
  %last = add i64 %first, %warps
  %last.offset = mul i64 %last, {CLOCK_BYTES}
  %whole = getelementptr i8, ptr %entries, i64 %last.offset
  %base = load i64, ptr %timing
  %there = load i64, ptr %found
  %is.mine = icmp eq i64 %there, %mine
  br i1 %is.mine, label %look, label %new
new:
  call void @llvm.memset.p0.i64(ptr %found, i8 0, i64 {CLOCK_BYTES}, i1 false)
  store i64 %mine, ptr %found
  %clock.at = getelementptr i8, ptr %found, i64 {CLOCK.clock}
  store i64 %base, ptr %clock.at
  %whole.there = load i64, ptr %whole
  %whole.mine = icmp eq i64 %whole.there, %mine
  br i1 %whole.mine, label %end, label %first.of.block
first.of.block:
  call void @llvm.memset.p0.i64(ptr %whole, i8 0, i64 {CLOCK_BYTES}, i1 false)
  store i64 %mine, ptr %whole
  br label %end
look:
  %met.at = getelementptr i8, ptr %found, i64 {CLOCK.met}
  %met = load i64, ptr %met.at
  %has.met = icmp ne i64 %met, 0
  br i1 %has.met, label %behind, label %end
behind:
  store i64 0, ptr %met.at
  %all.at = getelementptr i8, ptr %whole, i64 {CLOCK.clock}
  %all = load i64, ptr %all.at
  %own.clock.at = getelementptr i8, ptr %found, i64 {CLOCK.clock}
  %own.clock = load i64, ptr %own.clock.at
  %later = call i64 @llvm.smax.i64(i64 %all, i64 %own.clock)
  store i64 %later, ptr %own.clock.at
  br label %end
end:
  ret ptr %found
}

define internal void @clock.pass(ptr %launch, ptr %block, ptr %warp, i64 %cycles) noinline {
  %found = call ptr @clock.entry(ptr %launch, ptr %block, ptr %warp)
  %at = getelementptr i8, ptr %found, i64 {CLOCK.clock}
  %before = load i64, ptr %at
  %now = add i64 %before, %cycles
  store i64 %now, ptr %at
  %timing.at = getelementptr i8, ptr %launch, i64 {LAUNCH.timing}
  %timing = load ptr, ptr %timing.at
  %latest.at = getelementptr i8, ptr %timing, i64 {TIMING.latest}
  %latest = load i64, ptr %latest.at
  %later = call i64 @llvm.smax.i64(i64 %latest, i64 %now)
  store i64 %later, ptr %latest.at
  ret void
}

define internal void @clock.wait(ptr %launch, ptr %block, ptr %warp, i32 %slots) noinline {
entry:
  %found = call ptr @clock.entry(ptr %launch, ptr %block, ptr %warp)
  %at = getelementptr i8, ptr %found, i64 {CLOCK.clock}
  %ready = getelementptr i8, ptr %found, i64 {CLOCK.ready}
  %before = load i64, ptr %at
  br label %each
each:
  %slot = phi i32 [ 0, %entry ], [ %slot.next, %each ]
  %clock = phi i64 [ %before, %entry ], [ %clock.next, %each ]
  %place = getelementptr i64, ptr %ready, i32 %slot
  %when = load i64, ptr %place
  %bit = lshr i32 %slots, %slot
  %odd = trunc i32 %bit to i1
  %later = call i64 @llvm.smax.i64(i64 %clock, i64 %when)
  %clock.next = select i1 %odd, i64 %later, i64 %clock
  %slot.next = add i32 %slot, 1
  %over = icmp eq i32 %slot.next, {CLOCK_SLOTS}
  br i1 %over, label %end, label %each
end:
  store i64 %clock.next, ptr %at
  ret void
}

define internal void @clock.begin(ptr %launch, ptr %block, ptr %warp, i64 %field) noinline {
  %found = call ptr @clock.entry(ptr %launch, ptr %block, ptr %warp)
  %timing.at = getelementptr i8, ptr %launch, i64 {LAUNCH.timing}
  %timing = load ptr, ptr %timing.at
  %usual.at = getelementptr i8, ptr %timing, i64 %field
  %usual = load i64, ptr %usual.at
  %at = getelementptr i8, ptr %found, i64 {CLOCK.latency}
  store i64 %usual, ptr %at
  ret void
}

define internal void @clock.loaded(ptr %launch, ptr %block, ptr %warp, i32 %slot) noinline {
  %found = call ptr @clock.entry(ptr %launch, ptr %block, ptr %warp)
  %at = getelementptr i8, ptr %found, i64 {CLOCK.latency}
  %latency = load i64, ptr %at
  call void @clock.result(ptr %launch, ptr %block, ptr %warp, i64 %latency, i32 %slot)
  ret void
}

define internal void @clock.result(ptr %launch, ptr %block, ptr %warp, i64 %latency, i32 %slot) noinline {
  %found = call ptr @clock.entry(ptr %launch, ptr %block, ptr %warp)
  %at = getelementptr i8, ptr %found, i64 {CLOCK.clock}
  %clock = load i64, ptr %at
  %when = add i64 %clock, %latency
  %ready = getelementptr i8, ptr %found, i64 {CLOCK.ready}
  %place = getelementptr i64, ptr %ready, i32 %slot
  %before = load i64, ptr %place
  %later = call i64 @llvm.smax.i64(i64 %before, i64 %when)
  store i64 %later, ptr %place
  ret void
}

define internal void @clock.meet(ptr %launch, ptr %block, ptr %warp) noinline {
  %found = call ptr @clock.entry(ptr %launch, ptr %block, ptr %warp)
  %timing.at = getelementptr i8, ptr %launch, i64 {LAUNCH.timing}
  %timing = load ptr, ptr %timing.at
  %latency.at = getelementptr i8, ptr %timing, i64 {TIMING.barrier}
  %latency = load i64, ptr %latency.at
  %at = getelementptr i8, ptr %found, i64 {CLOCK.clock}
  %clock = load i64, ptr %at
  %there = add i64 %clock, %latency
  %met.at = getelementptr i8, ptr %found, i64 {CLOCK.met}
  store i64 1, ptr %met.at
  %warps.at = getelementptr i8, ptr %launch, i64 {LAUNCH.warps}
  %warps = load i32, ptr %warps.at
  %own.at = getelementptr i8, ptr %warp, i64 {WARP.number}
  %own = load i32, ptr %own.at
  %behind = sub i32 %warps, %own
  %behind.64 = sext i32 %behind to i64
  %offset = mul i64 %behind.64, {CLOCK_BYTES}
  %whole = getelementptr i8, ptr %found, i64 %offset
  %all.at = getelementptr i8, ptr %whole, i64 {CLOCK.clock}
  %all = load i64, ptr %all.at
  %later = call i64 @llvm.smax.i64(i64 %all, i64 %there)
  store i64 %later, ptr %all.at
  ret void
}

define internal i64 @clock.read(ptr %launch, ptr %block, ptr %warp) noinline {
  %found = call ptr @clock.entry(ptr %launch, ptr %block, ptr %warp)
  %at = getelementptr i8, ptr %found, i64 {CLOCK.clock}
  %clock = load i64, ptr %at
  ret i64 %clock
}

define internal i64 @clock.nanoseconds(ptr %launch, ptr %block, ptr %warp) noinline {
  %clock = call i64 @clock.read(ptr %launch, ptr %block, ptr %warp)
  %timing.at = getelementptr i8, ptr %launch, i64 {LAUNCH.timing}
  %timing = load ptr, ptr %timing.at
  %scale.at = getelementptr i8, ptr %timing, i64 {TIMING.nanoseconds}
  %scale = load i64, ptr %scale.at
  %wide = zext i64 %clock to i128
  %wide.scale = zext i64 %scale to i128
  %product = mul i128 %wide, %wide.scale
  %whole = lshr i128 %product, {CLOCK_SCALE}
  %found = trunc i128 %whole to i64
  ret i64 %found
}

; Whether a line is in a cache, the one of a number of several; it is from now on.
define internal i1 @clock.hits(ptr %timing, i64 %lines.field, i64 %tags.field, i64 %cache, i64 %tag) noinline {
entry:
  %lines.at = getelementptr i8, ptr %timing, i64 %lines.field
  %lines = load i64, ptr %lines.at
  %none = icmp eq i64 %lines, 0
  br i1 %none, label %missing, label %look
missing:
  ret i1 false
look:
  %tags.at = getelementptr i8, ptr %timing, i64 %tags.field
  %tags = load ptr, ptr %tags.at
  %first = mul i64 %cache, %lines
  %rest = urem i64 %tag, %lines
  %index = add i64 %first, %rest
  %place = getelementptr i64, ptr %tags, i64 %index
  %there = load i64, ptr %place
  %hit = icmp eq i64 %there, %tag
  store i64 %tag, ptr %place
  ret i1 %hit
}

; The latency of the slowest lane: where its line was found.
define internal void @clock.access(ptr %launch, ptr %block, ptr %warp, i32 %mask, ptr %addresses) noinline {
entry:
  %found = call ptr @clock.entry(ptr %launch, ptr %block, ptr %warp)
  %timing.at = getelementptr i8, ptr %launch, i64 {LAUNCH.timing}
  %timing = load ptr, ptr %timing.at
  %l1.at = getelementptr i8, ptr %timing, i64 {TIMING.l1}
  %l1 = load i64, ptr %l1.at
  %l2.at = getelementptr i8, ptr %timing, i64 {TIMING.l2}
  %l2 = load i64, ptr %l2.at
  %memory.at = getelementptr i8, ptr %timing, i64 {TIMING.memory}
  %memory = load i64, ptr %memory.at
  %shared.at = getelementptr i8, ptr %timing, i64 {TIMING.shared}
  %shared = load i64, ptr %shared.at
  %latency.at = getelementptr i8, ptr %found, i64 {CLOCK.latency}
  %number.at = getelementptr i8, ptr %block, i64 {BLOCK.number}
  %number = load i64, ptr %number.at
  %groups.at = getelementptr i8, ptr %timing, i64 {TIMING.groups}
  %groups = load i64, ptr %groups.at
  %group = urem i64 %number, %groups
  br label %each
each:
  %m = phi i32 [ %mask, %entry ], [ %m.next, %next ]
  %line.before = phi i64 [ -1, %entry ], [ %line, %next ]
  %slowest = phi i64 [ 0, %entry ], [ %slowest.next, %next ]
  %lane = call i32 @llvm.cttz.i32(i32 %m, i1 true)
  %address.at = getelementptr i64, ptr %addresses, i32 %lane
  %address = load i64, ptr %address.at
  %line = lshr i64 %address, {CLOCK_LINE_BITS}
  %same = icmp eq i64 %line, %line.before
  br i1 %same, label %next, label %other
other:
  %is.low = icmp ult i64 %address, {SHARED_WINDOW}
  br i1 %is.low, label %look, label %window
window:
  %is.shared = icmp ult i64 %address, {LOCAL_WINDOW}
  %of.window = select i1 %is.shared, i64 %shared, i64 %l1
  br label %known
look:
  %in.l1 = call i1 @clock.hits(ptr %timing, i64 {TIMING.l1_lines}, i64 {TIMING.l1_tags}, i64 %group, i64 %line)
  br i1 %in.l1, label %known, label %beyond
beyond:
  %in.l2 = call i1 @clock.hits(ptr %timing, i64 {TIMING.l2_lines}, i64 {TIMING.l2_tags}, i64 0, i64 %line)
  %far = select i1 %in.l2, i64 %l2, i64 %memory
  br label %known
known:
  %latency = phi i64 [ %of.window, %window ], [ %l1, %look ], [ %far, %beyond ]
  br label %next
next:
  %own = phi i64 [ 0, %each ], [ %latency, %known ]
  %slowest.next = call i64 @llvm.smax.i64(i64 %slowest, i64 %own)
  %less = sub i32 %m, 1
  %m.next = and i32 %m, %less
  %over = icmp eq i32 %m.next, 0
  br i1 %over, label %end, label %each
end:
  store i64 %slowest.next, ptr %latency.at
  ret void
}
