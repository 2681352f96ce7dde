"""Scheduling rules: what a rule sees and may answer, and examples of rules, one a file (docs/schedulers.md)."""

from simtmm.rules.seen import Answer, CoreGroup, Idle, ReadyWarp, Rule, rule_name

__all__ = ["Answer", "CoreGroup", "Idle", "ReadyWarp", "Rule", "rule_name"]
