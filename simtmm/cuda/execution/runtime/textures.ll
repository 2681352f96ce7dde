
; ---- Textures -------------------------------------------------------------------------------------------------------
; By handles, which number the rows of the launch's table.

; What a handle is of; null where it is of nothing of this kind. shape 0: any; FLAT: of one dimension, or of two.
define internal ptr @texture.find(ptr %launch, i64 %handle, i32 %kind, i32 %shape) alwaysinline {
entry:
  %count.at = getelementptr i8, ptr %launch, i64 {LAUNCH.texture_count}
  %count = load i64, ptr %count.at
  %number = sub i64 %handle, {TEXTURE_HANDLE}
  %known = icmp ult i64 %number, %count
  br i1 %known, label %look, label %none
look:
  %table.at = getelementptr i8, ptr %launch, i64 {LAUNCH.textures}
  %table = load ptr, ptr %table.at
  %offset = mul i64 %number, {TEXTURE_BYTES}
  %row = getelementptr i8, ptr %table, i64 %offset
  %kind.at = getelementptr i8, ptr %row, i64 {TEXTURE.kind}
  %kind.here = load i32, ptr %kind.at
  %shape.at = getelementptr i8, ptr %row, i64 {TEXTURE.shape}
  %shape.here = load i32, ptr %shape.at
  %same.kind = icmp eq i32 %kind, %kind.here
  %same.shape = icmp eq i32 %shape, %shape.here
  %any = icmp eq i32 %shape, 0
  %is.flat = icmp eq i32 %shape, {FLAT}
  %others = sub i32 %shape.here, 1
  %is.one.of.two = icmp ult i32 %others, 2
  %either = and i1 %is.flat, %is.one.of.two
  %named = or i1 %same.shape, %either
  %fits = or i1 %named, %any
  %good = and i1 %same.kind, %fits
  br i1 %good, label %found, label %none
found:
  ret ptr %row
none:
  ret ptr null
}

; What the lanes of a mask read: x, y, and z or the layer of each at %coordinates, the four registers of all lanes at
; %result. real: whether coordinates, but for layers, are floating-point numbers. gathered: the channel of four texels
; that is read, -1 for all channels of one place. Lanes that touch no memory leave nothing in the log. A texture without
; a z has one at the middle of its layer, or of its only slice. A layer is a number without a sign.
define internal i1 @texture.fetch(ptr %launch, i32 %access, i32 %site, i32 %mask, ptr %handles, ptr %coordinates, ptr %result, i32 %shape, i1 %real, i32 %gathered) noinline {
entry:
  %addresses = alloca [32 x i64], align 64
  br label %each
each:
  %m = phi i32 [ %mask, %entry ], [ %m.next, %store ]
  %touched = phi i32 [ 0, %entry ], [ %touched.next, %store ]
  %over = icmp eq i32 %m, 0
  br i1 %over, label %log, label %lane.one
lane.one:
  %lane = call i32 @llvm.cttz.i32(i32 %m, i1 true)
  %less = sub i32 %m, 1
  %m.next = and i32 %m, %less
  %one = shl i32 1, %lane
  %handle.at = getelementptr i64, ptr %handles, i32 %lane
  %handle = load i64, ptr %handle.at
  %row = call ptr @texture.find(ptr %launch, i64 %handle, i32 {KIND_TEXTURE}, i32 %shape)
  %unknown = icmp eq ptr %row, null
  br i1 %unknown, label %failed, label %known
failed:
  call void @fault(ptr %launch, i32 {NO_TEXTURE}, i32 %access, i32 %lane, i64 %handle)
  ret i1 true
known:
  %shape.at = getelementptr i8, ptr %row, i64 {TEXTURE.shape}
  %shape.here = load i32, ptr %shape.at
  %is.linear.memory = icmp eq i32 %shape.here, 1
  %dimensions = and i32 %shape.here, 15
  %layered = and i32 %shape.here, {LAYERED}
  %is.layered = icmp ne i32 %layered, 0
  %is.flat = icmp eq i32 %dimensions, 1
  %is.volume = icmp eq i32 %dimensions, 3
  %width.at = getelementptr i8, ptr %row, i64 {TEXTURE.width}
  %width = load i32, ptr %width.at
  %height.at = getelementptr i8, ptr %row, i64 {TEXTURE.height}
  %height = load i32, ptr %height.at
  %depth.at = getelementptr i8, ptr %row, i64 {TEXTURE.depth}
  %depth = load i32, ptr %depth.at
  %mode.x.at = getelementptr i8, ptr %row, i64 {TEXTURE.address_x}
  %mode.x = load i32, ptr %mode.x.at
  %mode.y.at = getelementptr i8, ptr %row, i64 {TEXTURE.address_y}
  %mode.y.2d = load i32, ptr %mode.y.at
  %mode.y = select i1 %is.flat, i32 1, i32 %mode.y.2d
  %mode.z.at = getelementptr i8, ptr %row, i64 {TEXTURE.address_z}
  %mode.z.3d = load i32, ptr %mode.z.at
  %mode.z = select i1 %is.volume, i32 %mode.z.3d, i32 1
  %x.at = getelementptr i32, ptr %coordinates, i32 %lane
  %x.bits = load i32, ptr %x.at
  %y.at = getelementptr i8, ptr %x.at, i64 128
  %y.bits = load i32, ptr %y.at
  %z.at = getelementptr i8, ptr %x.at, i64 256
  %z.bits = load i32, ptr %z.at
  %layer.told = select i1 %is.layered, i32 %z.bits, i32 0
  %last.layer = sub i32 %depth, 1
  %layer = call i32 @llvm.umin.i32(i32 %layer.told, i32 %last.layer)
  br i1 %real, label %position, label %number
number:
  ; Of linear memory nothing is read that lies beyond it; the other modes are for coordinates of arrays.
  %outside = icmp uge i32 %x.bits, %width
  %nothing = and i1 %outside, %is.linear.memory
  %z.number = select i1 %is.volume, i32 %z.bits, i32 %layer
  %y.number = select i1 %is.flat, i32 0, i32 %y.bits
  br i1 %nothing, label %store, label %point
position:
  %normalized.at = getelementptr i8, ptr %row, i64 {TEXTURE.normalized}
  %normalized = load i32, ptr %normalized.at
  %x.real = bitcast i32 %x.bits to float
  %x = call float @texture.scaled(float %x.real, i32 %width, i32 %mode.x, i32 %normalized)
  %y.real = bitcast i32 %y.bits to float
  %y.2d = call float @texture.scaled(float %y.real, i32 %height, i32 %mode.y, i32 %normalized)
  %y = select i1 %is.flat, float 5.000000e-01, float %y.2d
  %z.real = bitcast i32 %z.bits to float
  %z.3d = call float @texture.scaled(float %z.real, i32 %depth, i32 %mode.z, i32 %normalized)
  %layer.real = sitofp i32 %layer to float
  %layer.middle = fadd float %layer.real, 5.000000e-01
  %z = select i1 %is.volume, float %z.3d, float %layer.middle
  %gathers = icmp sge i32 %gathered, 0
  br i1 %gathers, label %gather, label %one.place
gather:
  %four = call {<4 x i32>, i64} @texture.gathered(ptr %row, float %x, float %y, float %z, i32 %width, i32 %height, i32 %depth, i32 %mode.x, i32 %mode.y, i32 %mode.z, i32 %gathered)
  %channels = extractvalue {<4 x i32>, i64} %four, 0
  %place = extractvalue {<4 x i32>, i64} %four, 1
  br label %store
one.place:
  %linear.at = getelementptr i8, ptr %row, i64 {TEXTURE.linear}
  %linear = load i32, ptr %linear.at
  %is.linear = icmp ne i32 %linear, 0
  br i1 %is.linear, label %between, label %nearest
between:
  %both = call {<4 x i32>, i64} @texture.filtered(ptr %row, float %x, float %y, float %z, i32 %width, i32 %height, i32 %depth, i32 %mode.x, i32 %mode.y, i32 %mode.z, i1 %is.volume)
  %filtered = extractvalue {<4 x i32>, i64} %both, 0
  %first = extractvalue {<4 x i32>, i64} %both, 1
  br label %store
nearest:
  %x.whole = call float @llvm.floor.f32(float %x)
  %y.whole = call float @llvm.floor.f32(float %y)
  %z.whole = call float @llvm.floor.f32(float %z)
  %i.real = call i32 @llvm.fptosi.sat.i32.f32(float %x.whole)
  %j.real = call i32 @llvm.fptosi.sat.i32.f32(float %y.whole)
  %k.real = call i32 @llvm.fptosi.sat.i32.f32(float %z.whole)
  br label %point
point:
  %i = phi i32 [ %x.bits, %number ], [ %i.real, %nearest ]
  %j = phi i32 [ %y.number, %number ], [ %j.real, %nearest ]
  %k = phi i32 [ %z.number, %number ], [ %k.real, %nearest ]
  %column = call i32 @texture.index(i32 %i, i32 %width, i32 %mode.x)
  %line = call i32 @texture.index(i32 %j, i32 %height, i32 %mode.y)
  %slice = call i32 @texture.index(i32 %k, i32 %depth, i32 %mode.z)
  %offset = call i64 @texture.offset(ptr %row, i32 %column, i32 %line, i32 %slice)
  %texel = call <4 x i32> @texture.texel(ptr %row, i64 %offset)
  br label %store
store:
  %value = phi <4 x i32> [ zeroinitializer, %number ], [ %channels, %gather ], [ %filtered, %between ], [ %texel, %point ]
  %from = phi i64 [ -1, %number ], [ %place, %gather ], [ %first, %between ], [ %offset, %point ]
  %value.0 = extractelement <4 x i32> %value, i32 0
  %value.1 = extractelement <4 x i32> %value, i32 1
  %value.2 = extractelement <4 x i32> %value, i32 2
  %value.3 = extractelement <4 x i32> %value, i32 3
  %at.0 = getelementptr i32, ptr %result, i32 %lane
  %at.1 = getelementptr i8, ptr %at.0, i64 128
  %at.2 = getelementptr i8, ptr %at.0, i64 256
  %at.3 = getelementptr i8, ptr %at.0, i64 384
  store i32 %value.0, ptr %at.0
  store i32 %value.1, ptr %at.1
  store i32 %value.2, ptr %at.2
  store i32 %value.3, ptr %at.3
  ; In the log, an address has the bytes of a texel in front.
  %base.at = getelementptr i8, ptr %row, i64 {TEXTURE.base}
  %base = load i64, ptr %base.at
  %bytes.at = getelementptr i8, ptr %row, i64 {TEXTURE.texel_bytes}
  %bytes = load i32, ptr %bytes.at
  %bytes.64 = zext i32 %bytes to i64
  %told = shl i64 %bytes.64, {TOLD_WIDTH}
  %address = add i64 %base, %from
  %entry.here = or i64 %address, %told
  %entry.at = getelementptr i64, ptr %addresses, i32 %lane
  store i64 %entry.here, ptr %entry.at
  %is.memory = icmp sge i64 %from, 0
  %bit = select i1 %is.memory, i32 %one, i32 0
  %touched.next = or i32 %touched, %bit
  br label %each
log:
  %recorded = icmp sge i32 %site, 0
  %any = icmp ne i32 %touched, 0
  %written = and i1 %recorded, %any
  br i1 %written, label %logs, label %end
logs:
  call void @log.access(ptr %launch, i32 %site, i32 %touched, ptr %addresses)
  br label %end
end:
  ret i1 false
}

; A field of the textures or surfaces of the lanes of a mask, as 32 bits of each at %result.
define internal i1 @texture.query(ptr %launch, i32 %access, i32 %mask, ptr %handles, ptr %result, i32 %kind, i64 %field) noinline {
entry:
  br label %each
each:
  %m = phi i32 [ %mask, %entry ], [ %m.next, %known ]
  %over = icmp eq i32 %m, 0
  br i1 %over, label %end, label %lane.one
lane.one:
  %lane = call i32 @llvm.cttz.i32(i32 %m, i1 true)
  %less = sub i32 %m, 1
  %m.next = and i32 %m, %less
  %handle.at = getelementptr i64, ptr %handles, i32 %lane
  %handle = load i64, ptr %handle.at
  %row = call ptr @texture.find(ptr %launch, i64 %handle, i32 %kind, i32 0)
  %unknown = icmp eq ptr %row, null
  br i1 %unknown, label %failed, label %known
failed:
  call void @fault(ptr %launch, i32 {NO_TEXTURE}, i32 %access, i32 %lane, i64 %handle)
  ret i1 true
known:
  %field.at = getelementptr i8, ptr %row, i64 %field
  %value = load i32, ptr %field.at
  %at = getelementptr i32, ptr %result, i32 %lane
  store i32 %value, ptr %at
  br label %each
end:
  ret i1 false
}
