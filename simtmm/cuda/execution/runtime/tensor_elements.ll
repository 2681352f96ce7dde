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
  %wide = icmp eq i8 %kind, 7
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
