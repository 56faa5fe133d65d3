"""Whether an image starts: never where a rule blocks it, whatever is scanned, excepted or set beside it."""

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.registry.scanning import report
from apps.registry.scanning.choices import THRESHOLDS, PolicyAction, Severity
from apps.registry.scanning.policy import ACTS, Act, Cause, Exempt, Rule, Verdict, judge, stricter
from apps.registry.scanning.report import SEVERITIES, Finding, Report, summed

IDS, PACKAGES = ("CVE-2025-1", "CVE-2025-2", "GHSA-3"), ("urllib3", "openssl")
findings = st.builds(
    Finding,
    id=st.sampled_from(IDS),
    package=st.sampled_from(PACKAGES),
    version=st.sampled_from(("1", "2")),
    fixed=st.sampled_from(("", "3")),
    severity=st.sampled_from(SEVERITIES),
    kind=st.just("python"),
)
many = st.lists(findings, max_size=12)
rules = st.builds(
    Rule,
    action=st.sampled_from(PolicyAction.values),
    severity=st.sampled_from([each.value for each in THRESHOLDS]),
    only_fixable=st.booleans(),
    block_unscanned=st.booleans(),
)
exempt = st.frozensets(st.builds(Exempt, st.sampled_from(IDS), st.sampled_from(("", *PACKAGES))), max_size=4)
BLOCK = Rule("block", "high")
HIGH = Finding("CVE-2025-66418", "urllib3", "2.5.0", "2.6.0", "high", "python")


def meets(rule: Rule, each: Finding, excepted: frozenset[Exempt]) -> bool:
    """What the rule says of a finding, written another way."""
    if SEVERITIES.index(each.severity) > SEVERITIES.index(rule.severity) or (rule.only_fixable and not each.fixed):
        return False
    return not any(one.finding == each.id and one.package in ("", each.package) for one in excepted)


@given(rule=rules, found=many, excepted=exempt, order=st.randoms(use_true_random=False))
def test_a_verdict_is_what_the_rule_says_in_any_order(
    rule: Rule, found: Sequence[Finding], excepted: frozenset[Exempt], order: random.Random
) -> None:
    left = [each for each in set(found) if meets(rule, each, excepted)]
    shuffled = order.sample(list(found), len(found))
    verdict = judge(rule, summed(shuffled), excepted)
    assert verdict == judge(rule, summed(found), excepted)
    if left and rule.action != PolicyAction.OFF:
        assert (verdict.act, verdict.cause, verdict.count) == (ACTS[rule.action], Cause.FINDINGS, len(left))
        assert verdict.worst == min((each.severity for each in left), key=SEVERITIES.index)
    else:
        assert verdict == Verdict()


@given(floor=rules, own=rules, found=many, everybody=exempt, theirs=exempt)
def test_nothing_of_an_organisation_makes_the_floor_softer(
    floor: Rule, own: Rule, found: Sequence[Finding], everybody: frozenset[Exempt], theirs: frozenset[Exempt]
) -> None:
    for seen in (None, summed(found)):
        least = judge(floor, seen, everybody, by_operator=True)
        verdict = stricter(least, judge(own, seen, everybody | theirs))
        assert verdict.act >= least.act
        assert verdict.act >= judge(own, seen, everybody | theirs).act
        assert verdict.by_operator or verdict.act > least.act or not verdict.act


@given(rule=rules, found=many, more=many, excepted=exempt, others=exempt)
def test_a_newer_scan_that_finds_more_and_an_exception_that_ends_never_let_more_pass(
    rule: Rule,
    found: Sequence[Finding],
    more: Sequence[Finding],
    excepted: frozenset[Exempt],
    others: frozenset[Exempt],
) -> None:
    before, after = judge(rule, summed(found), excepted | others), judge(rule, summed([*found, *more]), excepted)
    assert after.act >= before.act
    assert after.count >= before.count


@given(rule=rules, found=many, excepted=exempt, kept=st.integers(0, 5))
def test_what_is_counted_but_not_listed_is_never_overlooked(
    rule: Rule, found: Sequence[Finding], excepted: frozenset[Exempt], kept: int
) -> None:
    whole = summed(found)
    cut = replace(whole, findings=whole.findings[:kept])
    assert judge(rule, cut, excepted).count >= judge(rule, whole, excepted).count
    assert cut.unlisted == len(set(found)) - len(cut.findings)


def test_an_image_that_was_never_scanned_is_refused_only_where_the_rule_says_so() -> None:
    assert judge(BLOCK, None, ()) == Verdict()
    verdict = judge(Rule(block_unscanned=True), None, (), by_operator=True)
    assert (verdict.act, verdict.cause, verdict.by_operator) == (Act.BLOCK, Cause.UNSCANNED, True)
    assert judge(Rule(block_unscanned=True), Report({}), ()) == Verdict()


@pytest.mark.parametrize(
    ("severity", "fixed", "rule", "act"),
    [
        ("high", "2.6.0", BLOCK, Act.BLOCK),
        ("critical", "", BLOCK, Act.BLOCK),
        ("medium", "2.6.0", BLOCK, Act.PASS),
        ("unknown", "2.6.0", Rule("block", "low"), Act.PASS),
        ("high", "", replace(BLOCK, only_fixable=True), Act.PASS),
        ("high", "2.6.0", replace(BLOCK, only_fixable=True), Act.BLOCK),
        ("high", "2.6.0", Rule("warn", "high"), Act.WARN),
        ("critical", "2.6.0", Rule("off", "low"), Act.PASS),
    ],
)
def test_a_rule_acts_from_its_severity_on(severity: str, fixed: str, rule: Rule, act: Act) -> None:
    assert judge(rule, summed([replace(HIGH, severity=severity, fixed=fixed)]), ()).act is act


@pytest.mark.parametrize(
    ("one", "act"),
    [
        (Exempt("CVE-2025-66418", "urllib3"), Act.PASS),
        (Exempt("CVE-2025-66418"), Act.PASS),
        (Exempt("CVE-2025-66418", "openssl"), Act.BLOCK),
        (Exempt("CVE-2025-66419"), Act.BLOCK),
    ],
)
def test_an_exception_is_for_one_finding(one: Exempt, act: Act) -> None:
    assert judge(BLOCK, summed([HIGH]), {one}).act is act


def test_of_two_that_act_alike_the_operators_is_told() -> None:
    operators, own = judge(BLOCK, summed([HIGH]), (), by_operator=True), judge(BLOCK, summed([HIGH]), ())
    assert stricter(operators, own) is operators
    assert stricter(Verdict(), own) is own


def test_severities_are_ranked_as_the_scanner_names_them() -> None:
    assert tuple(Severity.values) == SEVERITIES
    assert [each.rank for each in Severity] == [6, 5, 4, 3, 2, 1]
    assert report.unpacked(*report.packed(summed([HIGH]))) == summed([HIGH])
