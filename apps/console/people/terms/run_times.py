"""How long one start of work may run in an organisation: the form on its page of quotas, and the endpoint."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django import forms
from django.http import HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_POST
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import on_platform, requires
from apps.common.api import ScopedView
from apps.common.durations import DurationField, duration_text
from apps.common.errors import DomainError
from apps.common.formatting import duration, sentences
from apps.common.forms import show_error
from apps.common.pages import done, refused
from apps.common.permissions import Permission as P
from apps.console.kit.quotas import LimitsForm
from apps.console.kit.requests import StaffRequest
from apps.console.kit.run_times import RunTimeOut
from apps.console.people.organisations import selectors as organisations
from apps.console.people.organisations.views import frame
from apps.console.people.terms.forms import capacity_form
from apps.workloads.choices import Kind
from apps.workloads.run_times import LEAST_S, MOST_S
from apps.workloads.time_limits import DEFAULT, Limit, LimitLine, limit_lines, set_limits

VIEW = on_platform(P.PLATFORM_TENANTS_VIEW)
MANAGE = on_platform(P.PLATFORM_TENANTS_MANAGE)
PAGE = "console/organisations/quotas.html"
AS_PLATFORM, AT_MOST, ANY = "default", "own", "any"


class RunTimesForm(forms.Form):
    """For each kind of work a rule and, beside it, the time that goes with `AT_MOST`."""

    def __init__(self, data: Any = None, *, lines: Sequence[LimitLine]) -> None:
        super().__init__(data)
        self.lines = list(lines)
        for line in lines:
            name, limit = line.rules.name, line.limit
            chosen = AS_PLATFORM if not limit.own else ANY if limit.longest_s is None else AT_MOST
            platform = duration(line.default_s) if line.default_s else _("without a limit")
            rule = forms.ChoiceField(
                label=str(line.rules.label),
                initial=chosen,
                choices=[
                    (AS_PLATFORM, _("As for the platform (%(time)s)") % {"time": platform}),
                    (AT_MOST, _("At most")),
                    (ANY, _("Without a limit")),
                ],
            )
            self.fields[f"{name}-rule"] = rule
            self.fields[name] = DurationField(
                label=gettext_lazy("Longest run time"),
                initial=duration_text(limit.longest_s) if limit.own else "",
                widget=forms.TextInput(attrs={"placeholder": _("such as 12 h")}),
            )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or self.cleaned_data
        for line in self.lines:
            name = line.rules.name
            if data.get(f"{name}-rule") == AT_MOST and name in data and data[name] is None:
                self.add_error(name, _("Give a time, such as 12 h or 2 d."))
        return data

    def limits(self) -> dict[Kind, Limit]:
        """The form must be valid."""
        found = {}
        for line in self.lines:
            name = line.rules.name
            rule = self.cleaned_data[f"{name}-rule"]
            own = Limit(self.cleaned_data[name] if rule == AT_MOST else None, own=True)
            found[name] = DEFAULT if rule == AS_PLATFORM else own
        return found

    def rows(self) -> list[dict[str, Any]]:
        return [
            {
                "line": line,
                "rule": self[f"{line.rules.name}-rule"],
                "time": self[line.rules.name],
                "at_most": AT_MOST,
            }
            for line in self.lines
        ]


@requires(MANAGE)
@require_POST
def run_times(request: StaffRequest, organisation_id: UUID) -> HttpResponse:
    """How long its work may run; refused, the page of its quotas shows why."""
    actor = request.actor
    organisation = organisations.get(actor, organisation_id)
    form = RunTimesForm(request.POST, lines=limit_lines(organisation_id))
    if form.is_valid():
        try:
            changed = set_limits(actor, organisation_id=organisation_id, limits=form.limits())
        except DomainError as error:
            show_error(form, error)
        else:
            return done(request, _said(organisation_id, changed), "console:organisation_quotas", organisation_id)
    limits = LimitsForm(None, lines=organisations.limits(actor, organisation_id))
    context = {**frame(actor, organisation, "quotas"), "form": limits, "rows": limits.rows(), "run_times": form}
    context["registry"] = capacity_form(organisation_id)
    return refused(request, PAGE, context)


def _said(organisation_id: UUID, changed: int) -> str:
    """How many limits were set, and what does not end with them."""
    words = ngettext("%(count)s limit was set.", "%(count)s limits were set.", changed) % {"count": changed}
    beyond = sum(line.beyond for line in limit_lines(organisation_id))
    kept = ngettext(
        "%(count)s that waits or runs may run for longer: it keeps the end that it has.",
        "%(count)s that wait or run may run for longer: they keep the end that they have.",
        beyond,
    )
    return sentences(words, kept % {"count": beyond} if beyond and changed else "")


class RunTimeIn(serializers.Serializer[Any]):
    """`own` false goes back to the platform's default."""

    kind = serializers.CharField(max_length=16)
    longest_s = serializers.IntegerField(min_value=LEAST_S, max_value=MOST_S, allow_null=True, default=None)
    own = serializers.BooleanField(default=True)


@extend_schema(tags=["console: organisations"])
class RunTimes(ScopedView):
    access = {"get": VIEW, "put": MANAGE}

    @extend_schema(responses=RunTimeOut(many=True))
    def get(self, request: Request, organisation_id: UUID) -> Response:
        """The longest run time of each kind of work."""
        organisations.get(self.actor, organisation_id)
        return Response(RunTimeOut(limit_lines(organisation_id), many=True).data)

    @extend_schema(request=RunTimeIn(many=True), responses=RunTimeOut(many=True))
    def put(self, request: Request, organisation_id: UUID) -> Response:
        """Set those of the kinds that are named. What waits or runs keeps the end that it has."""
        given = RunTimeIn(data=request.data, many=True)
        given.is_valid(raise_exception=True)
        organisations.get(self.actor, organisation_id)
        rows = given.validated_data
        limits = {row["kind"]: Limit(row["longest_s"], own=True) if row["own"] else DEFAULT for row in rows}
        set_limits(self.actor, organisation_id=organisation_id, limits=limits)
        return self.get(request, organisation_id)
