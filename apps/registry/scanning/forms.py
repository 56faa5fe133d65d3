"""Forms of the policy and of exceptions."""

from datetime import timedelta
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.common.forms import day_field
from apps.registry.scanning.choices import THRESHOLDS, PolicyAction, Severity
from apps.registry.scanning.models import MAX_ID, MAX_PACKAGE
from apps.registry.scanning.policy import Rule
from apps.registry.scanning.verdicts import today

FROM_SEVERITY = [(each.value, each.label) for each in THRESHOLDS]
USUAL = timedelta(days=30)


def action_field() -> forms.ChoiceField:
    return forms.ChoiceField(
        label=_("With findings"), choices=PolicyAction.choices, help_text=_("Of the severity chosen, or worse.")
    )


def severity_field() -> forms.ChoiceField:
    return forms.ChoiceField(label=_("From severity"), choices=FROM_SEVERITY, initial=Severity.CRITICAL)


def fixable_field() -> forms.BooleanField:
    return forms.BooleanField(
        label=_("Only findings with a fix"), required=False, help_text=_("What no newer package mends is overlooked.")
    )


def unscanned_field() -> forms.BooleanField:
    return forms.BooleanField(
        label=_("Do not start images that were never scanned"),
        required=False,
        help_text=_("While the platform has no scanner that works, these are all container images."),
    )


class PolicyForm(forms.Form):
    action = action_field()
    severity = severity_field()
    only_fixable = fixable_field()
    block_unscanned = unscanned_field()

    def __init__(self, data: Any = None, *, rule: Rule, editable: bool = True) -> None:
        now = {
            "action": rule.action, "severity": rule.severity, "only_fixable": rule.only_fixable,
            "block_unscanned": rule.block_unscanned,
        }  # fmt: skip
        super().__init__(data, initial=now)
        for field in self.fields.values():
            field.disabled = not editable

    def rule(self) -> Rule:
        return Rule(**self.cleaned_data)


class ExceptionForm(forms.Form):
    finding = forms.CharField(label=_("Finding"), max_length=MAX_ID, help_text=_("As in CVE-2025-66418."))
    package = forms.CharField(
        label=_("In the package"), max_length=MAX_PACKAGE, required=False, help_text=_("Empty: in any package.")
    )
    reason = forms.CharField(label=_("Why it does no harm here"), max_length=300)
    until = day_field(_("Until"), help_text=_("The last day on which it counts, within a year."))

    def __init__(self, data: Any = None, *, initial: dict[str, Any] | None = None) -> None:
        super().__init__(data, initial={"until": today() + USUAL, **(initial or {})})
