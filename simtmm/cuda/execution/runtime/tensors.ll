; What an instruction moves by a tensor map: a box of a tensor, between global and shared memory, for one lane.
; NAME, DIMS and the words in capitals below are what a variant has (instructions/tensor_code.py).

define internal i1 @"NAME"(ptr %launch, ptr %block, ptr %warp, i32 %access, i32 %site, i32 %lane, i64 %map.address, i64 %shared, ptr %coordinates, ptr %size) noinline {
entry:
  %pieces = alloca [32 x i64], align 64
  %hosts = alloca [32 x i64], align 64
  %filled = alloca i64
  %room = alloca i64
  %row = alloca i64
  %e = alloca i64
  store i64 0, ptr %filled
  store i64 {TENSOR_ENTRIES}, ptr %room
  store i64 0, ptr %row
  store i64 0, ptr %size
  ; For checks: the bytes of the box as it lies in shared memory, and whether some of it is left out.
  %size.whole = getelementptr i64, ptr %size, i64 32
  store i64 0, ptr %size.whole
  %size.cut = getelementptr i64, ptr %size, i64 64
  store i64 0, ptr %size.cut
  %caches.at = getelementptr i8, ptr %launch, i64 {LAUNCH.caches}
  %caches = load ptr, ptr %caches.at
  %cache = getelementptr {i64, i64, i64}, ptr %caches, i32 %access
  %map.host = call i64 @locate(ptr %launch, ptr %block, ptr %warp, ptr %cache, i32 %access, i32 %lane, i64 %map.address, i64 64, i1 false)
  %map.nowhere = icmp eq i64 %map.host, 0
  br i1 %map.nowhere, label %failed, label %map.found
map.found:
  %map.last = add i64 %map.address, 64
  %map.host.2 = call i64 @locate(ptr %launch, ptr %block, ptr %warp, ptr %cache, i32 %access, i32 %lane, i64 %map.last, i64 64, i1 false)
  %map.nowhere.2 = icmp eq i64 %map.host.2, 0
  br i1 %map.nowhere.2, label %failed, label %map.whole
map.whole:
  %map = inttoptr i64 %map.host to ptr
  %magic = load i64, ptr %map, align 1
  %is.map = icmp eq i64 %magic, {TENSOR_MAGIC}
  %rank.at = getelementptr i8, ptr %map, i64 {TENSOR_MAP.rank}
  %rank = load i8, ptr %rank.at
  %rank.fits = icmp eq i8 %rank, DIMS
  %im2col.at = getelementptr i8, ptr %map, i64 {TENSOR_MAP.im2col}
  %im2col = load i8, ptr %im2col.at
  %im2col.fits = icmp eq i8 %im2col, IM2COL
  %fits.1 = and i1 %is.map, %rank.fits
  %fits = and i1 %fits.1, %im2col.fits
  br i1 %fits, label %fields, label %bad
bad:
  call void @fault(ptr %launch, i32 {BAD_TENSOR_MAP}, i32 %access, i32 %lane, i64 %map.address)
  br label %failed
fields:
  %base.at = getelementptr i8, ptr %map, i64 {TENSOR_MAP.address}
  %base = load i64, ptr %base.at, align 1
  %bytes.at = getelementptr i8, ptr %map, i64 {TENSOR_MAP.element_bytes}
  %bytes.8 = load i8, ptr %bytes.at
  %bytes = zext i8 %bytes.8 to i64
  %kind.at = getelementptr i8, ptr %map, i64 {TENSOR_MAP.kind}
  %kind = load i8, ptr %kind.at
  %fill.at = getelementptr i8, ptr %map, i64 {TENSOR_MAP.fill}
  %fill = load i8, ptr %fill.at
  %filling = call i64 @tensor.filling(i8 %kind, i8 %fill)
  %swizzle.at = getelementptr i8, ptr %map, i64 {TENSOR_MAP.swizzle}
  %swizzle.8 = load i8, ptr %swizzle.at
  %swizzle.64 = zext i8 %swizzle.8 to i64
  %pattern.1 = shl i64 1, %swizzle.64
  %pattern = sub i64 %pattern.1, 1
FIELDS
  ; Rows are as long as the swizzle's pattern where there is one. What is missing counts for no mbarrier.
  %whole.rows = mul i64 %rows, %inner
  %moved = mul i64 %whole.rows, %bytes
  store i64 %moved, ptr %size
  %inner.bytes = mul i64 %inner, %bytes
  %pattern.bytes = shl i64 %pattern.1, 4
  %plain = icmp eq i64 %pattern, 0
  %pitch = select i1 %plain, i64 %inner.bytes, i64 %pattern.bytes
  %total = mul i64 %rows, %pitch
  store i64 %total, ptr %size.whole
  %gaps = icmp ne i64 %total, %moved
  %gaps.64 = zext i1 %gaps to i64
  store i64 %gaps.64, ptr %size.cut
  %start.bytes = mul i64 %at.0, %bytes
  %start.odd = and i64 %start.bytes, 15
  %start.right = icmp eq i64 %start.odd, 0
  br i1 %start.right, label %checks, label %bad.start
bad.start:
  call void @fault(ptr %launch, i32 {BAD_COORDINATE}, i32 %access, i32 %lane, i64 %at.0)
  br label %failed
checks:
  ; All of the box in shared memory, 32 pieces of 16 bytes at a time.
  %c = phi i64 [ 0, %fields ], [ %c.next, %checked ]
  %c.more = icmp ult i64 %c, %total
  br i1 %c.more, label %check, label %rows.begin
check:
  %c.at = add i64 %shared, %c
  %c.1 = insertelement <32 x i64> poison, i64 %c.at, i32 0
  %c.all = shufflevector <32 x i64> %c.1, <32 x i64> poison, <32 x i32> zeroinitializer
  %c.spread = add <32 x i64> %c.all, STEPS
  store <32 x i64> %c.spread, ptr %pieces, align 64
  %c.left = sub i64 %total, %c
  %c.round = add i64 %c.left, 15
  %c.count = lshr i64 %c.round, 4
  %c.some = call i64 @llvm.umin.i64(i64 %c.count, i64 32)
  %c.bits = shl i64 1, %c.some
  %c.less = sub i64 %c.bits, 1
  %c.mask = trunc i64 %c.less to i32
  %c.wrong = call i1 RESOLVE(ptr %launch, ptr %block, ptr %warp, i32 %access, i32 %c.mask, i64 16, i1 SHARED_WRITTEN, ptr %pieces, ptr %hosts)
  br i1 %c.wrong, label %failed, label %checked
checked:
  %c.next = add i64 %c, 512
  br label %checks
rows.begin:
  br label %row.next
row.next:
  %r = load i64, ptr %row
  %r.more = icmp ult i64 %r, %rows
  br i1 %r.more, label %row.one, label %rows.end
row.one:
PLACE
  %line = add i64 %base, %offset.LAST
  ; The elements of the row that lie within the tensor: from low up to high.
  %below = sub i64 0, %g.0
  %below.round = add i64 %below, %step.less.0
  %below.count = sdiv i64 %below.round, %step.0
  %is.below = icmp slt i64 %g.0, 0
  %low.any = select i1 %is.below, i64 %below.count, i64 0
  %above = sub i64 %dim.0, %g.0
  %above.round = add i64 %above, %step.less.0
  %above.count = sdiv i64 %above.round, %step.0
  %has.above = icmp sgt i64 %above, 0
  %high.any = select i1 %has.above, i64 %above.count, i64 0
  %high.some = select i1 %inside.LAST, i64 %high.any, i64 0
  %high = call i64 @llvm.umin.i64(i64 %high.some, i64 %inner)
  %low = call i64 @llvm.umin.i64(i64 %low.any, i64 %high)
  %within = sub i64 %high, %low
  %is.cut = icmp ne i64 %within, %inner
  %cut.old = load i64, ptr %size.cut
  %cut.here = zext i1 %is.cut to i64
  %cut.new = or i64 %cut.old, %cut.here
  store i64 %cut.new, ptr %size.cut
  %none = icmp eq i64 %low, %high
  br i1 %none, label %row.moves, label %row.some
row.some:
  %low.step = mul i64 %low, %step.0
  %low.place = add i64 %g.0, %low.step
  %low.byte = mul i64 %low.place, %bytes
  %first = add i64 %line, %low.byte
  %high.less = sub i64 %high, 1
  %high.step = mul i64 %high.less, %step.0
  %high.place = add i64 %g.0, %high.step
  %high.byte = mul i64 %high.place, %bytes
  %last = add i64 %line, %high.byte
  %first.host = call i64 @locate(ptr %launch, ptr %block, ptr %warp, ptr %cache, i32 %access, i32 %lane, i64 %first, i64 %bytes, i1 GLOBAL_WRITTEN)
  %first.nowhere = icmp eq i64 %first.host, 0
  br i1 %first.nowhere, label %failed, label %row.first
row.first:
  %last.host = call i64 @locate(ptr %launch, ptr %block, ptr %warp, ptr %cache, i32 %access, i32 %lane, i64 %last, i64 %bytes, i1 GLOBAL_WRITTEN)
  %last.nowhere = icmp eq i64 %last.host, 0
  br i1 %last.nowhere, label %failed, label %row.last
row.last:
  %span = sub i64 %last, %first
  %host.span = sub i64 %last.host, %first.host
  %whole = icmp eq i64 %span, %host.span
  br i1 %whole, label %row.pieces, label %outside
outside:
  call void @fault(ptr %launch, i32 {OUT_OF_BOUNDS}, i32 %access, i32 %lane, i64 %last)
  br label %failed
row.pieces:
  ; What is recorded: the bytes of the row, in pieces of 16.
  %row.bytes = add i64 %span, %bytes
  %long = icmp ugt i64 %row.bytes, 16
  %end.less = sub i64 %row.bytes, 16
  %most = select i1 %long, i64 %end.less, i64 0
  br label %piece
piece:
  %p = phi i64 [ 0, %row.pieces ], [ %p.next, %piece.put ]
  %p.more = icmp ult i64 %p, %row.bytes
  br i1 %p.more, label %piece.put, label %row.moves.found
piece.put:
  %p.at = call i64 @llvm.umin.i64(i64 %p, i64 %most)
  %p.address = add i64 %first, %p.at
  call void @"tensor.note.WAY"(ptr %launch, ptr %warp, i32 %access, i32 %site, i32 %lane, i64 %p.address, ptr %pieces, ptr %filled, ptr %room)
  %p.next = add i64 %p, 16
  br label %piece
row.moves.found:
  br label %row.moves
row.moves:
  %host.low = phi i64 [ 0, %row.one ], [ %first.host, %row.moves.found ]
  %to.row = mul i64 %r, %pitch
  store i64 0, ptr %e
  br label %element.next
element.next:
  %n = load i64, ptr %e
  %n.more = icmp ult i64 %n, %inner
  br i1 %n.more, label %element, label %row.end
element:
  %n.byte = mul i64 %n, %bytes
  %s.offset = add i64 %to.row, %n.byte
  %s.plain = add i64 %shared, %s.offset
  %s.rows = lshr i64 %s.plain, 7
  %s.phase = and i64 %s.rows, %pattern
  %s.moved = shl i64 %s.phase, 4
  %s = xor i64 %s.plain, %s.moved
  %s.pointer = call i64 @tensor.shared(ptr %launch, ptr %block, i64 %s)
  %s.at = inttoptr i64 %s.pointer to ptr
  %from.low = icmp uge i64 %n, %low
  %to.high = icmp ult i64 %n, %high
  %is.in = and i1 %from.low, %to.high
  %n.beyond = sub i64 %n, %low
  %n.step = mul i64 %n.beyond, %step.0
  %n.offset = mul i64 %n.step, %bytes
  %g.pointer = add i64 %host.low, %n.offset
  %g.at = inttoptr i64 %g.pointer to ptr
  br i1 %is.in, label %element.in, label %element.out
MOVE
element.end:
  %n.next = add i64 %n, 1
  store i64 %n.next, ptr %e
  br label %element.next
row.end:
  %r.next = add i64 %r, 1
  store i64 %r.next, ptr %row
  br label %row.next
rows.end:
  call void @"tensor.flush.WAY"(ptr %launch, ptr %warp, i32 %access, i32 %site, i32 %lane, ptr %pieces, ptr %filled, ptr %room)
  ret i1 false
failed:
  ret i1 true
}
