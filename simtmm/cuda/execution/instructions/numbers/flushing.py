"""Results that rounding brings up to the least normal number, with .ftz: a GPU looks at them before it rounds them.

An H100 makes a product of 2^-126 (1 - 2^-24) a zero, though the nearest number is 2^-126. Sums of two numbers are exact
there; what is a product, a quotient or both is compared with what it was rounded to, in f64, where that is exact.
"""

from simtmm.cuda.execution.translation.context import Context
from simtmm.cuda.execution.translation.emit import Value

_OF = "<32 x float>"
_LEAST = 0x00800000


def least_flushed(context: Context, operation: str, result: Value, values: list[Value]) -> Value:
    """The result of "fmul", "fma" or "fdiv", or 0 of its sign where it is the least normal number but was less."""
    name = f"least.flushed.{operation}"
    program = context.code.program
    program.declared["llvm.fabs.v32f32"] = f"declare {_OF} @llvm.fabs.v32f32({_OF})"
    program.declared["llvm.copysign.v32f32"] = f"declare {_OF} @llvm.copysign.v32f32({_OF}, {_OF})"
    program.helper(name, lambda: _function(name, operation, len(values)))
    return context.emit.call(name, _OF, result, *values)


def _function(name: str, operation: str, count: int) -> str:
    """Where a lane has the least normal number, which is rare, by another function."""
    given = ", ".join(f"{_OF} %{letter}" for letter in "rabc"[: count + 1])
    return f"""
define internal {_OF} @{name}.rare({given}) noinline {{
{_signs(operation)}
  %below = fcmp olt <32 x double> %sign, zeroinitializer
  %size = call {_OF} @llvm.fabs.v32f32({_OF} %r)
  %is.least = fcmp oeq {_OF} %size, splat (float 0x3810000000000000)
  %gone = and <32 x i1> %below, %is.least
  %zero = call {_OF} @llvm.copysign.v32f32({_OF} zeroinitializer, {_OF} %r)
  %found = select <32 x i1> %gone, {_OF} %zero, {_OF} %r
  ret {_OF} %found
}}
define internal {_OF} @{name}({given}) alwaysinline {{
entry:
  %raw = bitcast {_OF} %r to <32 x i32>
  %twice = shl <32 x i32> %raw, splat (i32 1)
  %least = icmp eq <32 x i32> %twice, splat (i32 {2 * _LEAST})
  %lanes = bitcast <32 x i1> %least to i32
  %any = icmp ne i32 %lanes, 0
  br i1 %any, label %rare, label %end
rare:
  %found = call {_OF} @{name}.rare({given})
  br label %end
end:
  %result = phi {_OF} [ %r, %entry ], [ %found, %rare ]
  ret {_OF} %result
}}
"""


def _signs(operation: str) -> str:
    """Lines that make %sign, less than 0 where the exact result is nearer to 0 than what it was rounded to."""
    letters = "rabc" if operation == "fma" else "rab"
    lines = [f"  %{each}.w = fpext {_OF} %{each} to <32 x double>" for each in letters]

    def do(name: str, what: str, one: str, other: str) -> None:
        lines.append(f"  %{name} = {what} <32 x double> %{one}, %{other}")

    if operation == "fdiv":  # a - r b, of the divisor's sign
        do("near", "fmul", "r.w", "b.w")
        do("rest", "fsub", "a.w", "near")
        do("off", "fmul", "rest", "b.w")
    else:  # a b - r, and c
        do("product", "fmul", "a.w", "b.w")
        if operation == "fma":
            do("rest", "fsub", "c.w", "r.w")
            do("off", "fadd", "product", "rest")
        else:
            do("off", "fsub", "product", "r.w")
    do("sign", "fmul", "off", "r.w")
    return "\n".join(lines)
