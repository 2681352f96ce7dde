
; ---- Surfaces -------------------------------------------------------------------------------------------------------

; Where the lanes of a mask access surfaces, so many bytes each: x [bytes], y, and z or the layer at %coordinates, places
; in this process to %hosts; the log is written. mode: 0 trap, 1 clamp, 2 zero. Gives the lanes that are inside, and
; whether one failed. Of what lies outside of a surface without slices x and y are told, with 32 bits each; else all three,
; y and z with 16 at most.
define internal {i32, i1} @surface.resolve(ptr %launch, i32 %access, i32 %site, i32 %mask, ptr %handles, ptr %coordinates, ptr %hosts, i32 %shape, i32 %mode, i32 %size) noinline {
entry:
  %addresses = alloca [32 x i64], align 64
  br label %each
each:
  %m = phi i32 [ %mask, %entry ], [ %m.next, %found ], [ %m.next, %outside ]
  %inside = phi i32 [ 0, %entry ], [ %inside.more, %found ], [ %inside, %outside ]
  %over = icmp eq i32 %m, 0
  br i1 %over, label %log, label %lane.one
lane.one:
  %lane = call i32 @llvm.cttz.i32(i32 %m, i1 true)
  %less = sub i32 %m, 1
  %m.next = and i32 %m, %less
  %one = shl i32 1, %lane
  %handle.at = getelementptr i64, ptr %handles, i32 %lane
  %handle = load i64, ptr %handle.at
  %row = call ptr @texture.find(ptr %launch, i64 %handle, i32 {KIND_SURFACE}, i32 %shape)
  %unknown = icmp eq ptr %row, null
  br i1 %unknown, label %fails, label %known
known:
  %width.at = getelementptr i8, ptr %row, i64 {TEXTURE.width}
  %width = load i32, ptr %width.at
  %height.at = getelementptr i8, ptr %row, i64 {TEXTURE.height}
  %height = load i32, ptr %height.at
  %bytes.at = getelementptr i8, ptr %row, i64 {TEXTURE.texel_bytes}
  %bytes = load i32, ptr %bytes.at
  %row.bytes = mul i32 %width, %bytes
  %room = sub i32 %row.bytes, %size
  %last.y = sub i32 %height, 1
  %x.at = getelementptr i32, ptr %coordinates, i32 %lane
  %x = load i32, ptr %x.at
  %y.at = getelementptr i8, ptr %x.at, i64 128
  %y.2d = load i32, ptr %y.at
  %z.at = getelementptr i8, ptr %x.at, i64 256
  %z.3d = load i32, ptr %z.at
  %depth.at = getelementptr i8, ptr %row, i64 {TEXTURE.depth}
  %depth = load i32, ptr %depth.at
  %last.z = sub i32 %depth, 1
  %has.z = icmp sge i32 %shape, 3
  %z = select i1 %has.z, i32 %z.3d, i32 0
  %dimensions = and i32 %shape, 15
  %is.flat = icmp eq i32 %dimensions, 1
  %y = select i1 %is.flat, i32 0, i32 %y.2d
  %place.x = zext i32 %x to i64
  %place.y = zext i32 %y to i64
  %place.high = shl i64 %place.y, 32
  %place.2d = or i64 %place.high, %place.x
  %y.least = call i32 @llvm.smax.i32(i32 %y, i32 -32768)
  %y.short = call i32 @llvm.smin.i32(i32 %y.least, i32 32767)
  %z.least = call i32 @llvm.smax.i32(i32 %z, i32 -32768)
  %z.short = call i32 @llvm.smin.i32(i32 %z.least, i32 32767)
  %y.16 = and i32 %y.short, 65535
  %z.16 = shl i32 %z.short, 16
  %yz = or i32 %y.16, %z.16
  %place.yz = zext i32 %yz to i64
  %place.yz.high = shl i64 %place.yz, 32
  %place.3d = or i64 %place.yz.high, %place.x
  %place = select i1 %has.z, i64 %place.3d, i64 %place.2d
  %size.less = sub i32 %size, 1
  %x.low = and i32 %x, %size.less
  %is.aligned = icmp eq i32 %x.low, 0
  %x.past = icmp sgt i32 %x, %room
  %x.before = icmp slt i32 %x, 0
  %x.out = or i1 %x.past, %x.before
  %y.out = icmp uge i32 %y, %height
  %z.out = icmp uge i32 %z, %depth
  %xy.out = or i1 %x.out, %y.out
  %out = or i1 %xy.out, %z.out
  br i1 %is.aligned, label %bounds, label %fails
bounds:
  br i1 %out, label %is.out, label %found
is.out:
  %holds.none = icmp slt i32 %room, 0
  %clamps = icmp eq i32 %mode, 1
  %holds.some = xor i1 %holds.none, true
  %moves = and i1 %clamps, %holds.some
  br i1 %moves, label %clamp, label %stays
stays:
  %is.zero = icmp eq i32 %mode, 2
  br i1 %is.zero, label %outside, label %fails
clamp:
  %not.size.less = xor i32 %size.less, -1
  %last.x = and i32 %room, %not.size.less
  %x.low.end = call i32 @llvm.smax.i32(i32 %x, i32 0)
  %x.clamped = call i32 @llvm.smin.i32(i32 %x.low.end, i32 %last.x)
  %y.low.end = call i32 @llvm.smax.i32(i32 %y, i32 0)
  %y.clamped = call i32 @llvm.smin.i32(i32 %y.low.end, i32 %last.y)
  %z.low.end = call i32 @llvm.smax.i32(i32 %z, i32 0)
  %z.clamped = call i32 @llvm.smin.i32(i32 %z.low.end, i32 %last.z)
  br label %found
found:
  %x.here = phi i32 [ %x, %bounds ], [ %x.clamped, %clamp ]
  %y.here = phi i32 [ %y, %bounds ], [ %y.clamped, %clamp ]
  %z.here = phi i32 [ %z, %bounds ], [ %z.clamped, %clamp ]
  %pitch.at = getelementptr i8, ptr %row, i64 {TEXTURE.pitch}
  %pitch = load i64, ptr %pitch.at
  %y.64 = zext i32 %y.here to i64
  %x.64 = zext i32 %x.here to i64
  %down = mul i64 %y.64, %pitch
  %slice.at = getelementptr i8, ptr %row, i64 {TEXTURE.slice}
  %slice = load i64, ptr %slice.at
  %z.64 = zext i32 %z.here to i64
  %deep = mul i64 %z.64, %slice
  %in.slice = add i64 %down, %x.64
  %offset = add i64 %deep, %in.slice
  %host.at = getelementptr i8, ptr %row, i64 {TEXTURE.host}
  %host = load i64, ptr %host.at
  %base.at = getelementptr i8, ptr %row, i64 {TEXTURE.base}
  %base = load i64, ptr %base.at
  %host.here = add i64 %host, %offset
  %base.here = add i64 %base, %offset
  %host.to = getelementptr i64, ptr %hosts, i32 %lane
  store i64 %host.here, ptr %host.to
  %address.to = getelementptr i64, ptr %addresses, i32 %lane
  store i64 %base.here, ptr %address.to
  %inside.more = or i32 %inside, %one
  br label %each
outside:
  br label %each
fails:
  %code = phi i32 [ {NO_TEXTURE}, %lane.one ], [ {OUTSIDE_SURFACE}, %known ], [ {OUTSIDE_SURFACE}, %stays ]
  %told = phi i64 [ %handle, %lane.one ], [ %place, %known ], [ %place, %stays ]
  call void @fault(ptr %launch, i32 %code, i32 %access, i32 %lane, i64 %told)
  %failed.0 = insertvalue {i32, i1} poison, i32 0, 0
  %failed.1 = insertvalue {i32, i1} %failed.0, i1 true, 1
  ret {i32, i1} %failed.1
log:
  %recorded = icmp sge i32 %site, 0
  %any = icmp ne i32 %inside, 0
  %written = and i1 %recorded, %any
  br i1 %written, label %logs, label %end
logs:
  call void @log.access(ptr %launch, i32 %site, i32 %inside, ptr %addresses)
  br label %end
end:
  %result.0 = insertvalue {i32, i1} poison, i32 %inside, 0
  %result.1 = insertvalue {i32, i1} %result.0, i1 false, 1
  ret {i32, i1} %result.1
}
