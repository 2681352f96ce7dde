
; ---- Texels ---------------------------------------------------------------------------------------------------------
; CUDA C++ Programming Guide, "Texture Fetching": which texels a coordinate means, what they hold, and what lies between
; them. Names in braces are offsets and constants of layout.py; modes and formats those of simtmm/cuda/texture.py.

declare float @llvm.floor.f32(float)
declare float @llvm.maxnum.f32(float, float)
declare i32 @llvm.fptosi.sat.i32.f32(float)
declare i32 @llvm.sadd.sat.i32(i32, i32)
declare i32 @llvm.smax.i32(i32, i32)
declare i32 @llvm.smin.i32(i32, i32)

; A coordinate in texels: [0, size) is the texture. A normalised one has size 1, wraps or is mirrored.
define internal float @texture.scaled(float %x, i32 %size, i32 %mode, i32 %normalized) alwaysinline {
entry:
  %is.normalized = icmp ne i32 %normalized, 0
  br i1 %is.normalized, label %scale, label %plain
plain:
  ret float %x
scale:
  %whole = call float @llvm.floor.f32(float %x)
  %rest = fsub float %x, %whole
  %half = fmul float %whole, 5.000000e-01
  %half.whole = call float @llvm.floor.f32(float %half)
  %is.odd = fcmp une float %half, %half.whole
  %turned = fsub float 1.000000e+00, %rest
  %mirrored = select i1 %is.odd, float %turned, float %rest
  %is.wrap = icmp eq i32 %mode, 0
  %is.mirror = icmp eq i32 %mode, 2
  %x.1 = select i1 %is.wrap, float %rest, float %x
  %x.2 = select i1 %is.mirror, float %mirrored, float %x.1
  %size.real = sitofp i32 %size to float
  %result = fmul float %x.2, %size.real
  ret float %result
}

; The texel that a number means; -1 for the border.
define internal i32 @texture.index(i32 %i, i32 %size, i32 %mode) alwaysinline {
  %last = sub i32 %size, 1
  %low = call i32 @llvm.smax.i32(i32 %i, i32 0)
  %clamped = call i32 @llvm.smin.i32(i32 %low, i32 %last)
  %rest = srem i32 %i, %size
  %rest.more = add i32 %rest, %size
  %is.negative = icmp slt i32 %rest, 0
  %wrapped = select i1 %is.negative, i32 %rest.more, i32 %rest
  %is.inside = icmp ult i32 %i, %size
  %bordered = select i1 %is.inside, i32 %i, i32 -1
  %is.wrap = icmp eq i32 %mode, 0
  %is.border = icmp eq i32 %mode, 3
  %r.1 = select i1 %is.wrap, i32 %wrapped, i32 %clamped
  %r.2 = select i1 %is.border, i32 %bordered, i32 %r.1
  ret i32 %r.2
}

; Where a texel lies: bytes from the beginning. -1 for the border.
define internal i64 @texture.offset(ptr %row, i32 %x, i32 %y, i32 %z) alwaysinline {
  %either = or i32 %x, %y
  %any = or i32 %either, %z
  %is.border = icmp slt i32 %any, 0
  %slice.at = getelementptr i8, ptr %row, i64 {TEXTURE.slice}
  %slice = load i64, ptr %slice.at
  %pitch.at = getelementptr i8, ptr %row, i64 {TEXTURE.pitch}
  %pitch = load i64, ptr %pitch.at
  %bytes.at = getelementptr i8, ptr %row, i64 {TEXTURE.texel_bytes}
  %bytes = load i32, ptr %bytes.at
  %bytes.64 = zext i32 %bytes to i64
  %x.64 = sext i32 %x to i64
  %y.64 = sext i32 %y to i64
  %down = mul i64 %y.64, %pitch
  %along = mul i64 %x.64, %bytes.64
  %z.64 = sext i32 %z to i64
  %deep = mul i64 %z.64, %slice
  %in.slice = add i64 %down, %along
  %offset = add i64 %deep, %in.slice
  %result = select i1 %is.border, i64 -1, i64 %offset
  ret i64 %result
}

; The texel at an offset, as the bits of four registers. The first case is the usual one: a number of 32 bits.
define internal <4 x i32> @texture.texel(ptr %row, i64 %offset) alwaysinline {
entry:
  %is.inside = icmp sge i64 %offset, 0
  %format.at = getelementptr i8, ptr %row, i64 {TEXTURE.format}
  %format = load i32, ptr %format.at
  %channels.at = getelementptr i8, ptr %row, i64 {TEXTURE.channels}
  %channels = load i32, ptr %channels.at
  %is.word = icmp eq i32 %format, 4
  %is.one = icmp eq i32 %channels, 1
  %is.plain = and i1 %is.word, %is.one
  %is.usual = and i1 %is.plain, %is.inside
  br i1 %is.usual, label %usual, label %other
usual:
  %missing.at = getelementptr i8, ptr %row, i64 {TEXTURE.missing}
  %missing = load <4 x i32>, ptr %missing.at, align 4
  %host.at = getelementptr i8, ptr %row, i64 {TEXTURE.host}
  %host = load ptr, ptr %host.at
  %at = getelementptr i8, ptr %host, i64 %offset
  %word = load i32, ptr %at, align 1
  %with = insertelement <4 x i32> %missing, i32 %word, i32 0
  ret <4 x i32> %with
other:
  %any = call <4 x i32> @texture.texel.any(ptr %row, i64 %offset)
  ret <4 x i32> %any
}

define internal <4 x i32> @texture.texel.any(ptr %row, i64 %offset) noinline {
entry:
  %is.border = icmp slt i64 %offset, 0
  br i1 %is.border, label %border, label %inside
border:
  %border.at = getelementptr i8, ptr %row, i64 {TEXTURE.border}
  %colour = load <4 x i32>, ptr %border.at, align 4
  ret <4 x i32> %colour
inside:
  %missing.at = getelementptr i8, ptr %row, i64 {TEXTURE.missing}
  %missing = load <4 x i32>, ptr %missing.at, align 4
  %host.at = getelementptr i8, ptr %row, i64 {TEXTURE.host}
  %host = load ptr, ptr %host.at
  %first = getelementptr i8, ptr %host, i64 %offset
  %channels.at = getelementptr i8, ptr %row, i64 {TEXTURE.channels}
  %channels = load i32, ptr %channels.at
  %step.at = getelementptr i8, ptr %row, i64 {TEXTURE.element_bytes}
  %step = load i32, ptr %step.at
  %format.at = getelementptr i8, ptr %row, i64 {TEXTURE.format}
  %format = load i32, ptr %format.at
  br label %channel
channel:
  %c = phi i32 [ 0, %inside ], [ %c.next, %next ]
  %at = phi ptr [ %first, %inside ], [ %at.next, %next ]
  %have = phi <4 x i32> [ %missing, %inside ], [ %with, %next ]
  switch i32 %format, label %word [ i32 0, label %u8
                                    i32 1, label %s8
                                    i32 2, label %u16
                                    i32 3, label %s16
                                    i32 5, label %f16
                                    i32 6, label %nu8
                                    i32 7, label %ns8
                                    i32 8, label %nu16
                                    i32 9, label %ns16 ]
word:
  %word.v = load i32, ptr %at, align 1
  br label %next
u8:
  %u8.v = load i8, ptr %at, align 1
  %u8.w = zext i8 %u8.v to i32
  br label %next
s8:
  %s8.v = load i8, ptr %at, align 1
  %s8.w = sext i8 %s8.v to i32
  br label %next
u16:
  %u16.v = load i16, ptr %at, align 1
  %u16.w = zext i16 %u16.v to i32
  br label %next
s16:
  %s16.v = load i16, ptr %at, align 1
  %s16.w = sext i16 %s16.v to i32
  br label %next
f16:
  %f16.v = load half, ptr %at, align 1
  %f16.f = fpext half %f16.v to float
  %f16.w = bitcast float %f16.f to i32
  br label %next
nu8:
  %nu8.v = load i8, ptr %at, align 1
  %nu8.f = uitofp i8 %nu8.v to float
  %nu8.q = fdiv float %nu8.f, 2.550000e+02
  %nu8.w = bitcast float %nu8.q to i32
  br label %next
ns8:
  %ns8.v = load i8, ptr %at, align 1
  %ns8.f = sitofp i8 %ns8.v to float
  %ns8.q = fdiv float %ns8.f, 1.270000e+02
  %ns8.m = call float @llvm.maxnum.f32(float %ns8.q, float -1.000000e+00)
  %ns8.w = bitcast float %ns8.m to i32
  br label %next
nu16:
  %nu16.v = load i16, ptr %at, align 1
  %nu16.f = uitofp i16 %nu16.v to float
  %nu16.q = fdiv float %nu16.f, 6.553500e+04
  %nu16.w = bitcast float %nu16.q to i32
  br label %next
ns16:
  %ns16.v = load i16, ptr %at, align 1
  %ns16.f = sitofp i16 %ns16.v to float
  %ns16.q = fdiv float %ns16.f, 3.276700e+04
  %ns16.m = call float @llvm.maxnum.f32(float %ns16.q, float -1.000000e+00)
  %ns16.w = bitcast float %ns16.m to i32
  br label %next
next:
  %w = phi i32 [ %word.v, %word ], [ %u8.w, %u8 ], [ %s8.w, %s8 ], [ %u16.w, %u16 ], [ %s16.w, %s16 ], [ %f16.w, %f16 ],
    [ %nu8.w, %nu8 ], [ %ns8.w, %ns8 ], [ %nu16.w, %nu16 ], [ %ns16.w, %ns16 ]
  %with = insertelement <4 x i32> %have, i32 %w, i32 %c
  %at.next = getelementptr i8, ptr %at, i32 %step
  %c.next = add i32 %c, 1
  %more = icmp ult i32 %c.next, %channels
  br i1 %more, label %channel, label %done
done:
  ret <4 x i32> %with
}

; The weight of the second of two texels: 9 bits, 8 of them behind the point.
define internal float @texture.weight(float %x, float %whole) alwaysinline {
  %rest = fsub float %x, %whole
  %many = fmul float %rest, 2.560000e+02
  %near = fadd float %many, 5.000000e-01
  %rounded = call float @llvm.floor.f32(float %near)
  %weight = fmul float %rounded, 3.906250e-03
  %is.number = fcmp ord float %weight, 0.000000e+00
  %result = select i1 %is.number, float %weight, float 0.000000e+00
  ret float %result
}

; What lies between texels, by linear filtering, and the offset of the first of them that counts, -1 if none is of
; memory. Those of weight 0 don't count. volume: whether slices are filtered, too; else z is the middle of one.
define internal {<4 x i32>, i64} @texture.filtered(ptr %row, float %x, float %y, float %z, i32 %width, i32 %height, i32 %depth, i32 %mode.x, i32 %mode.y, i32 %mode.z, i1 %volume) noinline {
entry:
  %xb = fsub float %x, 5.000000e-01
  %yb = fsub float %y, 5.000000e-01
  %zb = fsub float %z, 5.000000e-01
  %x.whole = call float @llvm.floor.f32(float %xb)
  %y.whole = call float @llvm.floor.f32(float %yb)
  %z.whole = call float @llvm.floor.f32(float %zb)
  %a = call float @texture.weight(float %xb, float %x.whole)
  %b = call float @texture.weight(float %yb, float %y.whole)
  %c = call float @texture.weight(float %zb, float %z.whole)
  %a.rest = fsub float 1.000000e+00, %a
  %b.rest = fsub float 1.000000e+00, %b
  %c.rest = fsub float 1.000000e+00, %c
  %i = call i32 @llvm.fptosi.sat.i32.f32(float %x.whole)
  %j = call i32 @llvm.fptosi.sat.i32.f32(float %y.whole)
  %k = call i32 @llvm.fptosi.sat.i32.f32(float %z.whole)
  %texels = select i1 %volume, i32 8, i32 4
  br label %texel
texel:
  %n = phi i32 [ 0, %entry ], [ %n.next, %next ]
  %sum = phi <4 x float> [ zeroinitializer, %entry ], [ %sum.next, %next ]
  %first = phi i64 [ -1, %entry ], [ %first.next, %next ]
  %dx = and i32 %n, 1
  %n.half = lshr i32 %n, 1
  %dy = and i32 %n.half, 1
  %dz = lshr i32 %n, 2
  %right = icmp ne i32 %dx, 0
  %below = icmp ne i32 %dy, 0
  %behind = icmp ne i32 %dz, 0
  %wx = select i1 %right, float %a, float %a.rest
  %wy = select i1 %below, float %b, float %b.rest
  %wz = select i1 %behind, float %c, float %c.rest
  %weight.2d = fmul float %wx, %wy
  %weight = fmul float %weight.2d, %wz
  %none = fcmp oeq float %weight, 0.000000e+00
  br i1 %none, label %next, label %counts
counts:
  %i.here = call i32 @llvm.sadd.sat.i32(i32 %i, i32 %dx)
  %j.here = call i32 @llvm.sadd.sat.i32(i32 %j, i32 %dy)
  %column = call i32 @texture.index(i32 %i.here, i32 %width, i32 %mode.x)
  %line = call i32 @texture.index(i32 %j.here, i32 %height, i32 %mode.y)
  %k.here = call i32 @llvm.sadd.sat.i32(i32 %k, i32 %dz)
  %slice = call i32 @texture.index(i32 %k.here, i32 %depth, i32 %mode.z)
  %offset = call i64 @texture.offset(ptr %row, i32 %column, i32 %line, i32 %slice)
  %bits = call <4 x i32> @texture.texel(ptr %row, i64 %offset)
  %values = bitcast <4 x i32> %bits to <4 x float>
  %weight.1 = insertelement <4 x float> poison, float %weight, i32 0
  %weights = shufflevector <4 x float> %weight.1, <4 x float> poison, <4 x i32> zeroinitializer
  %part = fmul <4 x float> %values, %weights
  %more = fadd <4 x float> %sum, %part
  %is.first = icmp slt i64 %first, 0
  %first.now = select i1 %is.first, i64 %offset, i64 %first
  br label %next
next:
  %sum.next = phi <4 x float> [ %sum, %texel ], [ %more, %counts ]
  %first.next = phi i64 [ %first, %texel ], [ %first.now, %counts ]
  %n.next = add i32 %n, 1
  %over = icmp eq i32 %n.next, %texels
  br i1 %over, label %end, label %texel
end:
  %result.bits = bitcast <4 x float> %sum.next to <4 x i32>
  %pair = insertvalue {<4 x i32>, i64} poison, <4 x i32> %result.bits, 0
  %both = insertvalue {<4 x i32>, i64} %pair, i64 %first.next, 1
  ret {<4 x i32>, i64} %both
}

; One channel of the four texels that linear filtering weighs, counter-clockwise from the lower left: (i, j + 1),
; (i + 1, j + 1), (i + 1, j), (i, j); and the offset of the first of them in memory, the last one looked at first, -1 if
; none is.
define internal {<4 x i32>, i64} @texture.gathered(ptr %row, float %x, float %y, float %z, i32 %width, i32 %height, i32 %depth, i32 %mode.x, i32 %mode.y, i32 %mode.z, i32 %channel) noinline {
entry:
  %xb = fsub float %x, 5.000000e-01
  %yb = fsub float %y, 5.000000e-01
  %x.whole = call float @llvm.floor.f32(float %xb)
  %y.whole = call float @llvm.floor.f32(float %yb)
  %z.whole = call float @llvm.floor.f32(float %z)
  %i = call i32 @llvm.fptosi.sat.i32.f32(float %x.whole)
  %j = call i32 @llvm.fptosi.sat.i32.f32(float %y.whole)
  %k = call i32 @llvm.fptosi.sat.i32.f32(float %z.whole)
  %slice = call i32 @texture.index(i32 %k, i32 %depth, i32 %mode.z)
  br label %texel
texel:
  %n = phi i32 [ 3, %entry ], [ %n.next, %texel ]
  %have = phi <4 x i32> [ zeroinitializer, %entry ], [ %with, %texel ]
  %first = phi i64 [ -1, %entry ], [ %first.now, %texel ]
  %turned = add i32 %n, 1
  %turned.half = lshr i32 %turned, 1
  %dx = and i32 %turned.half, 1
  %is.below = icmp ult i32 %n, 2
  %dy = zext i1 %is.below to i32
  %i.here = call i32 @llvm.sadd.sat.i32(i32 %i, i32 %dx)
  %j.here = call i32 @llvm.sadd.sat.i32(i32 %j, i32 %dy)
  %column = call i32 @texture.index(i32 %i.here, i32 %width, i32 %mode.x)
  %line = call i32 @texture.index(i32 %j.here, i32 %height, i32 %mode.y)
  %offset = call i64 @texture.offset(ptr %row, i32 %column, i32 %line, i32 %slice)
  %bits = call <4 x i32> @texture.texel(ptr %row, i64 %offset)
  %value = extractelement <4 x i32> %bits, i32 %channel
  %with = insertelement <4 x i32> %have, i32 %value, i32 %n
  %is.first = icmp slt i64 %first, 0
  %first.now = select i1 %is.first, i64 %offset, i64 %first
  %n.next = sub i32 %n, 1
  %over = icmp eq i32 %n, 0
  br i1 %over, label %end, label %texel
end:
  %pair = insertvalue {<4 x i32>, i64} poison, <4 x i32> %with, 0
  %both = insertvalue {<4 x i32>, i64} %pair, i64 %first.now, 1
  ret {<4 x i32>, i64} %both
}
