define internal i64 @tensor.shared(ptr %launch, ptr %block, i64 %offset) alwaysinline {
  %rank = lshr i64 %offset, {PEER_BIT}
  %base = call i64 @peer.shared(ptr %block, i64 %rank)
  %own = and i64 %offset, {PEER_OFFSETS}
  %host = add i64 %base, %own
  ret i64 %host
}
; What stands for numbers outside a tensor: 0, or where the map says so a NaN. An H100 has 0x7ff7 for those of bf16.
define internal i64 @tensor.filling(i8 %kind, i8 %fill) alwaysinline {
  %zero = icmp eq i8 %fill, 0
  %is.float = icmp eq i8 %kind, 7
  %is.converted = icmp uge i8 %kind, {TENSOR_CONVERTED}
  %wide = or i1 %is.float, %is.converted
  %widest = icmp eq i8 %kind, 8
  %short = select i1 %wide, i64 2147483639, i64 32759
  %nan = select i1 %widest, i64 9223372036854775799, i64 %short
  %found = select i1 %zero, i64 0, i64 %nan
  ret i64 %found
}
define internal void @tensor.fill(ptr %to, i64 %value, i64 %bytes) noinline {
  switch i64 %bytes, label %eight [ i64 1, label %one
                                    i64 2, label %two
                                    i64 4, label %four ]
one:
  %v1 = trunc i64 %value to i8
  store i8 %v1, ptr %to, align 1
  ret void
two:
  %v2 = trunc i64 %value to i16
  store i16 %v2, ptr %to, align 1
  ret void
four:
  %v4 = trunc i64 %value to i32
  store i32 %v4, ptr %to, align 1
  ret void
eight:
  store i64 %value, ptr %to, align 1
  ret void
}
define internal void @tensor.move(ptr %to, ptr %from, i64 %bytes) noinline {
  switch i64 %bytes, label %eight [ i64 1, label %one
                                    i64 2, label %two
                                    i64 4, label %four ]
one:
  %v1 = load i8, ptr %from, align 1
  store i8 %v1, ptr %to, align 1
  ret void
two:
  %v2 = load i16, ptr %from, align 1
  store i16 %v2, ptr %to, align 1
  ret void
four:
  %v4 = load i32, ptr %from, align 1
  store i32 %v4, ptr %to, align 1
  ret void
eight:
  %v8 = load i64, ptr %from, align 1
  store i64 %v8, ptr %to, align 1
  ret void
}
; A number moved; of types that a copy converts, whose numbers are those of the driver: FLOAT32_FTZ, TFLOAT32,
; TFLOAT32_FTZ. tf32 is rounded to the nearest, ties to even, and a NaN is the one that conversions give.
define internal void @tensor.convert(i8 %kind, ptr %to, ptr %from, i64 %bytes) alwaysinline {
  %converts = icmp uge i8 %kind, {TENSOR_CONVERTED}
  br i1 %converts, label %convert, label %move
move:
  call void @tensor.move(ptr %to, ptr %from, i64 %bytes)
  ret void
convert:
  %bits = load i32, ptr %from, align 1
  %magnitude = and i32 %bits, 2147483647
  %sign = and i32 %bits, -2147483648
  %is.nan = icmp ugt i32 %magnitude, 2139095040
  %small = icmp ult i32 %magnitude, 8388608
  %flushes = icmp ne i8 %kind, 11
  %flushed = and i1 %small, %flushes
  %whole = select i1 %flushed, i32 %sign, i32 %bits
  %last.down = lshr i32 %whole, 13
  %last = and i32 %last.down, 1
  %half = add i32 %last, 4095
  %up = add i32 %whole, %half
  %cut = and i32 %up, -8192
  %rounds = icmp ne i8 %kind, {TENSOR_CONVERTED}
  %rounded = select i1 %rounds, i32 %cut, i32 %whole
  %keeps.nan = icmp eq i8 %kind, {TENSOR_CONVERTED}
  %nan = select i1 %keeps.nan, i32 %bits, i32 2147483647
  %found = select i1 %is.nan, i32 %nan, i32 %rounded
  store i32 %found, ptr %to, align 1
  ret void
}
