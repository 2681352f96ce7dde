"""The forms of what moves between registers, memory and lanes, and of what waits. Their notation is isa's."""


def _hinted(modifiers: str, operands: str) -> str:
    """A form, and the same with the policy of a cache behind its operands."""
    return f"{modifiers} : {operands}; {modifiers} L2::cache_hint : {operands} s=b64"


def _loads() -> str:
    of = "$vector? $element"
    return "; ".join(
        (
            _hinted(f"weak? $space? $cache? $evict? $evict_l2? $fetch? {of}", "D~ m"),
            _hinted(f"weak? global $cache? nc $evict? $evict_l2? $fetch? {of}", "D~ m"),
            _hinted(f"relaxed/acquire $scope $space? $evict? $evict_l2? $fetch? {of}", "D~ m"),
            f"volatile $space? $fetch? {of} : D~ m",
            f"mmio relaxed sys global? {of} : D~ m",
        )
    )


def _stores() -> str:
    of = "$vector? $element"
    return "; ".join(
        (
            _hinted(f"weak? $store_space? $write_cache? $evict? $evict_l2? {of}", "m S~"),
            _hinted(f"relaxed/release $scope $store_space? $evict? $evict_l2? {of}", "m S~"),
            f"volatile $store_space? {of} : m S~",
            f"mmio relaxed sys global? {of} : m S~",
            # What tells an mbarrier of another block of the cluster
            "async weak? mbarrier::complete_tx::bytes shared::cluster? $vector? $element : m S m",
            "bulk ~ : m s s",
        )
    )


def _atomics(destination: str) -> str:
    """The forms of atom, and without a destination of red."""
    order = f"relaxed/release{'/acquire/acq_rel' if destination else ''}? $scope? $atomic_space?"
    found = [
        _hinted(f"{order} {operation}", f"{destination}m S")
        for operation in (
            "and/or/xor b32/b64",
            "add u32/s32/u64/f32/f64",
            "min/max u32/s32/u64/s64",
            "inc/dec u32",
            "add noftz f16/f16x2/bf16/bf16x2",
            "add $vector f32",
            "add/min/max noftz $vector f16/f16x2/bf16/bf16x2",
        )
    ]
    if destination:
        found.append(_hinted(f"{order} exch b32/b64/b128", "D m S"))
        found.append(_hinted(f"{order} cas b16/b32/b64/b128", "D m S S"))
    return "; ".join(found)


def _barriers(cta: str, aligned: str) -> str:
    return "; ".join(
        (
            f"{cta}sync {aligned}: s=u32|s=u32 s=u32",
            f"{cta}arrive {aligned}: s=u32 s=u32",
            f"{cta}red popc {aligned}u32 : d s=u32 s=pred|d s=u32 s=u32 s=pred",
            f"{cta}red and/or {aligned}pred : d s=u32 s|d s=u32 s=u32 s",
            "warp sync : s=u32",
            "cluster arrive release/relaxed? aligned? : ",
            "cluster wait acquire? aligned? : ",
        )
    )


_WAITING = "acquire/relaxed? cta/cluster? $shared? b64"
_ARRIVING = "release/relaxed? cta/cluster? $shared? b64"
_MBARRIER = "; ".join(
    (
        "init $shared? b64 : m s=u32",
        "inval $shared? b64 : m",
        "expect_tx/complete_tx relaxed? cta/cluster? $shared? b64 : m s=u32",
        f"arrive/arrive_drop {_ARRIVING} : d m|d m s=u32|m|m s=u32",
        f"arrive/arrive_drop expect_tx {_ARRIVING} : d m s=u32|m s=u32",
        f"arrive/arrive_drop noComplete {_ARRIVING} : d m s=u32",
        f"test_wait {_WAITING} : d=pred m s",
        f"test_wait parity {_WAITING} : d=pred m s=u32",
        f"try_wait {_WAITING} : d=pred m s|d=pred m s s=u32",
        f"try_wait parity {_WAITING} : d=pred m s=u32|d=pred m s=u32 s=u32",
        "pending_count b64 : d=u32 s",
    )
)


MEMORY: dict[str, str] = {
    # Moves between registers, spaces of memory, and lanes
    "mov": "v2/v4? $bits/b128/$integers/f32/f64/pred : D S",
    "ld": _loads(),
    "ldu": "global? $vector? $element : D~ m",
    "st": _stores(),
    "prefetch": "global/local? L1/L2 : m; global L2::evict_last/L2::evict_normal : m; const/param? tensormap : m",
    "prefetchu": "L1 : m",
    "applypriority": "global? L2::evict_normal : m n",
    "discard": "global? L2 : m n",
    "createpolicy": "~ : d=b64 *",
    "isspacep": "$space : d=pred s=u64",
    "mapa": "shared::cluster? u32/u64 : d s s=u32",
    "getctarank": "shared::cluster? u32/u64 : d=u32 s",
    "atom": _atomics("D "),
    "red": _atomics("") + "; async ~ : m S m",
    "membar": "cta/gl/sys : ; proxy alias : ",
    "fence": "sc/acq_rel/acquire/release? $scope : ; proxy alias : ; "
    "proxy async global/shared::cta/shared::cluster? : ; mbarrier_init release cluster : ; "
    "proxy tensormap::generic release $scope : ; proxy tensormap::generic acquire $scope : m n; "
    + "; ".join(
        f"{proxy}{order} cluster : "
        for proxy in ("", "proxy async::generic ")
        for order in ("acquire sync_restrict::shared::cluster", "release sync_restrict::shared::cta")
    ),
    "shfl": "sync up/down/bfly/idx b32 : p s s=u32 s=u32 s=u32; up/down/bfly/idx b32 : p s s=u32 s=u32",
    "vote": "sync all/any/uni pred : d s s=u32; sync ballot b32 : d s=pred s=u32; "
    "all/any/uni pred : d s; ballot b32 : d s=pred",
    "match": "sync any b32/b64 : d=u32 s s=u32; sync all b32/b64 : p=u32 s s=u32",
    "activemask": "b32 : d",
    "elect": "sync : p=u32 s=u32",
    "redux": "sync add/min/max u32/s32 : d s s=u32; sync and/or/xor b32 : d=u32 s=u32 s=u32; "
    "sync min/max abs? NaN? f32 : d s s=u32",
    # Barriers, and what waits for copies
    "bar": _barriers("cta? ", ""),
    "barrier": _barriers("cta? ", "aligned? "),
    "barrier_result": "~ : d *",
    "mbarrier": _MBARRIER,
    "cp": "async wait_group : n; async commit_group : ; async wait_all : ; "
    + "; ".join(
        (
            "async ca/cg shared/shared::cta global $fetch? : m m n|m m n s=u32|m m n s=pred",
            "async ca/cg shared/shared::cta global $fetch? L2::cache_hint : "
            "m m n s=b64|m m n s=u32 s=b64|m m n s=pred s=b64",
            "async mbarrier arrive noinc? $shared? b64 : m",
            "async bulk ~ : *",
            "reduce async bulk ~ : *",
        )
    ),
    "griddepcontrol": "launch_dependents/wait : ",
    "nanosleep": "u32 : s",
    "pmevent": "mask? : n",
    "setmaxnreg": "inc/dec sync aligned u32 : n",
    "trap": " : ",
    "brkpt": " : ",
}
