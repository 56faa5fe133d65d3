"""Whether an image may be started, for what a scan found in it. Pure: no Django, no clock.

A rule acts on findings from a severity on, perhaps only on those with a fix. What is excepted is overlooked, one
finding at a time. Two rules are asked, the operator's and the organisation's, and the stricter answer counts: so no
organisation's rule or exception makes the operator's softer.
"""

from collections.abc import Collection
from dataclasses import dataclass
from enum import IntEnum, StrEnum

from apps.registry.scanning.report import SEVERITIES, Report


class Act(IntEnum):
    PASS = 0
    WARN = 1
    BLOCK = 2


class Cause(StrEnum):
    NOTHING = ""
    FINDINGS = "findings"
    UNSCANNED = "unscanned"


ACTS = {"off": Act.PASS, "warn": Act.WARN, "block": Act.BLOCK}


@dataclass(frozen=True, slots=True)
class Rule:
    """`severity`: from which on it acts. `block_unscanned`: what was never scanned does not start."""

    action: str = "off"
    severity: str = "critical"
    only_fixable: bool = False
    block_unscanned: bool = False

    @property
    def severities(self) -> tuple[str, ...]:
        return SEVERITIES[: SEVERITIES.index(self.severity) + 1]

    @property
    def is_idle(self) -> bool:
        return self.action == "off" and not self.block_unscanned


@dataclass(frozen=True, slots=True)
class Exempt:
    """A finding in one package, or, with "", in any."""

    finding: str
    package: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """`count`: findings that the rule acts on; `worst`: their worst severity. `by_operator`: whose rule it is."""

    act: Act = Act.PASS
    cause: Cause = Cause.NOTHING
    count: int = 0
    worst: str = ""
    severity: str = ""
    only_fixable: bool = False
    by_operator: bool = False

    @property
    def blocks(self) -> bool:
        return self.act is Act.BLOCK

    @property
    def warns(self) -> bool:
        return self.act is Act.WARN


def judge(rule: Rule, report: Report | None, exempt: Collection[Exempt], *, by_operator: bool = False) -> Verdict:
    """`report`: None for an image that no scan has succeeded for."""
    if report is None:
        blocked = rule.block_unscanned
        return Verdict(Act.BLOCK, Cause.UNSCANNED, by_operator=by_operator) if blocked else Verdict()
    act = ACTS[rule.action]
    if act is Act.PASS:
        return Verdict()
    left = _left(rule, report, exempt)
    count = sum(left.values())
    if not count:
        return Verdict()
    worst = next(name for name in SEVERITIES if left.get(name))
    return Verdict(act, Cause.FINDINGS, count, worst, rule.severity, rule.only_fixable, by_operator)


def stricter(operator: Verdict, own: Verdict) -> Verdict:
    """Of two that act alike the operator's, about which the organisation can do nothing."""
    return own if own.act > operator.act else operator


def _left(rule: Rule, report: Report, exempt: Collection[Exempt]) -> dict[str, int]:
    """By severity. Counted from the sums, so that what is not listed one by one is never overlooked."""
    column = 1 if rule.only_fixable else 0
    left = {name: report.counts.get(name, (0, 0))[column] for name in rule.severities}
    for each in report.findings if exempt else ():
        if (
            each.severity in left
            and (each.has_fix or not rule.only_fixable)
            and _is_exempt(each.id, each.package, exempt)
        ):
            left[each.severity] -= 1
    return left


def _is_exempt(finding: str, package: str, exempt: Collection[Exempt]) -> bool:
    return Exempt(finding) in exempt or Exempt(finding, package) in exempt
