"""The form of a budget. It only translates: the rules stand in the service."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from apps.billing.budgets.services import THRESHOLDS, BudgetSpec
from apps.billing.choices import BudgetScope
from apps.billing.consumption.tag_costs import tag_spellings
from apps.billing.models import Budget
from apps.common.actor import Actor
from apps.common.money import FEN_PER_YUAN
from apps.common.money_fields import YuanField
from apps.tenants.models import Department, Membership
from apps.tenants.tree import paths

PLAIN = {"autocomplete": "off", "spellcheck": "false"}


class BudgetForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=80)
    limit = YuanField(label=_("Amount for each month"), max_length=20)
    scope = forms.ChoiceField(label=_("What it counts"), choices=BudgetScope.choices)
    department = forms.TypedChoiceField(
        label=_("Department"), required=False, coerce=UUID, empty_value=None, help_text=_("With all those below it.")
    )
    user = forms.CharField(
        label=_("Member"), required=False, max_length=150, help_text=_("Their username."), widget=forms.TextInput(PLAIN)
    )
    resource = forms.ChoiceField(label=_("Resource"), required=False)
    tag = forms.CharField(
        label=_("Tag"),
        required=False,
        max_length=80,
        help_text=_("Of runs that had it when their metering began. A run with several tags counts under each."),
        widget=forms.TextInput({**PLAIN, "list": "tags-in-use"}),
    )
    thresholds = forms.CharField(
        label=_("Alert at"),
        max_length=60,
        help_text=_("Percentages, separated by commas. Each alerts once a month."),
        widget=forms.TextInput(PLAIN),
    )

    def __init__(self, *args: Any, actor: Actor, resources: Iterable[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.actor = actor
        department: Any = self.fields["department"]
        department.choices = [("", "—"), *_departments(actor)]
        resource: Any = self.fields["resource"]
        resource.choices = [("", "—"), *((each, resource_label(each)) for each in resources)]

    def tags_in_use(self) -> list[str]:
        """Tags under which runs have been metered."""
        return sorted(tag_spellings(self.actor.organisation()).values())

    def clean_user(self) -> int | None:
        """The member's id; None where nobody is named."""
        name = self.cleaned_data["user"].strip()
        if not name:
            return None
        rows = Membership.objects.filter(organisation_id=self.actor.organisation(), user__username=name)
        found: int | None = rows.values_list("user_id", flat=True).first()
        if found is None:
            raise ValidationError(_("Nobody in the organisation has this username."))
        return found

    def clean_thresholds(self) -> tuple[int, ...]:
        try:
            return tuple(
                int(part) for part in self.cleaned_data["thresholds"].replace("%", "").split(",") if part.strip()
            )
        except ValueError as error:
            raise ValidationError(_("Give percentages separated by commas, as in 50, 80, 100.")) from error

    def spec(self) -> BudgetSpec:
        """The form must be valid."""
        data = self.cleaned_data
        return BudgetSpec(
            name=data["name"],
            scope=BudgetScope(data["scope"]),
            limit_fen=data["limit"],
            department_id=data["department"],
            user_id=data["user"],
            resource=data["resource"],
            tag=data["tag"],
            thresholds=data["thresholds"],
        )


def initial_of(budget: Budget | None) -> dict[str, Any]:
    """Initial values for an existing budget, or for a new one."""
    if budget is None:
        return {"scope": BudgetScope.ORGANISATION, "thresholds": _typed(THRESHOLDS)}
    return {
        "name": budget.name,
        "limit": f"{budget.limit_fen // FEN_PER_YUAN}.{budget.limit_fen % FEN_PER_YUAN:02d}",
        "scope": budget.scope,
        "department": budget.department_id or "",
        "user": budget.user.username if budget.user else "",
        "resource": budget.resource,
        "tag": budget.tag,
        "thresholds": _typed(budget.thresholds),
    }


def resource_label(name: str) -> str:
    words = {"cpu": _("Without a GPU"), "gpu": _("Any GPU"), "storage": _("Storage")}
    return str(words.get(name, name))


def _typed(thresholds: Iterable[int]) -> str:
    return ", ".join(str(each) for each in thresholds)


def _departments(actor: Actor) -> list[tuple[str, str]]:
    ids = list(Department.objects.filter(organisation_id=actor.organisation()).values_list("pk", flat=True))
    named = sorted((path, str(pk)) for pk, path in paths(ids).items())
    return [(pk, path) for path, pk in named]
