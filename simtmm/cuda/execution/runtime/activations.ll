; Where functions are called: lanes of other activations of a function have registers of their own, and run apart.
  %same.bits = bitcast <32 x i1> %same to i32
  %leader = call i32 @llvm.cttz.i32(i32 %same.bits, i1 true)
  %activations.at = getelementptr i8, ptr %warp, i64 {WARP.activation}
  %activations = load <32 x i64>, ptr %activations.at, align 64
  %leader.at = getelementptr i64, ptr %activations.at, i32 %leader
  %chosen.activation = load i64, ptr %leader.at
  %chosen.1 = insertelement <32 x i64> poison, i64 %chosen.activation, i32 0
  %chosen.all = shufflevector <32 x i64> %chosen.1, <32 x i64> poison, <32 x i32> zeroinitializer
  %same.activation = icmp eq <32 x i64> %activations, %chosen.all
  %both = and <32 x i1> %same, %same.activation
  %group = bitcast <32 x i1> %both to i32
  %chosen.frame = inttoptr i64 %chosen.activation to ptr
  store ptr %chosen.frame, ptr %frame
