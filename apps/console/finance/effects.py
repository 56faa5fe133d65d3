"""A change of prices in two steps: what it does is shown first, and made once that has been confirmed. Page and API."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response

from apps.billing.changes.api_fields import ChangeRequestRef
from apps.billing.changes.effects import Effect, Touched
from apps.billing.changes.period_effects import PeriodEffect
from apps.billing.changes.proposals import Proposal
from apps.billing.changes.services import Outcome, submit, try_out, why_second
from apps.billing.models import ChangeRequest
from apps.billing.payments.alone import Why
from apps.common.actor import Actor
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.pages import done
from apps.common.permissions import Permission
from apps.console.finance.price_versions import PriceIn, PriceOut, status_of
from apps.console.kit.requests import StaffRequest
from apps.console.kit.second_person import nobody_else, why_words

REVIEW = "console/changes/review.html"
CONFIRMED, EDIT = "confirmed", "edit"


@dataclass(frozen=True, slots=True)
class Review:
    """The second page: its title, the address of the form, the list that it belongs to, and what the change does."""

    title: str
    action: str
    back: str | Promise
    back_url: str
    effect: Callable[[], Effect | PeriodEffect]


def typed_again(request: HttpRequest) -> dict[str, Any] | None:
    """What was typed, for whoever came back from the second page to change it."""
    return request.POST.dict() if EDIT in request.POST else None


def submit_reviewed(
    request: StaffRequest, form: forms.Form, proposal: Proposal, review: Review
) -> HttpResponse | Outcome | None:
    """First the page that shows what a valid form would do, then the deed; None: refused, and the form says why."""
    try:
        if CONFIRMED in request.POST:
            return submit(request.actor, proposal)
        tried = try_out(request.actor, proposal)
        if getattr(tried, "new", True) is False:  # it has this price already: there is nothing to confirm
            return Outcome(result=tried)
        return render(
            request, REVIEW, {"form": form, "review": review, **effect_context(request, proposal, review.effect())}
        )
    except DomainError as error:
        show_error(form, error)
        return None


def effect_context(request: StaffRequest, proposal: Proposal, effect: Effect | PeriodEffect) -> dict[str, Any]:
    why = why_second(request.actor, proposal)
    return {
        "effect": effect,
        "proposal": proposal,
        "why": why_words(why, request.actor) if why else "",
        "nobody_else": why is not None and nobody_else(request.actor, proposal.PERMISSION),
        "may_see_staff": request.actor.may(Permission.PLATFORM_SECURITY_VIEW),
    }


def asked(request: StaffRequest, waits: ChangeRequest, otherwise: str, *args: object) -> HttpResponse:
    """To the request that waits, for whoever may see it."""
    words = _("Asked for: a second person has to approve it.")
    if request.actor.may(Permission.PLATFORM_FINANCE_VIEW):
        return done(request, words, "console:change_request", waits.pk)
    return done(request, words, otherwise, *args)


class StepOut(serializers.Serializer[Any]):
    """The price of one package, fen per hour; `old` null: it has none now."""

    package_id = serializers.IntegerField(source="label.pk", allow_null=True)
    old = serializers.DecimalField(max_digits=30, decimal_places=10, allow_null=True)
    new = serializers.DecimalField(max_digits=30, decimal_places=10)


class TouchedOut(serializers.Serializer[Any]):
    organisation_id = serializers.UUIDField()
    name = serializers.CharField()
    running = serializers.IntegerField()
    stored_gib = serializers.IntegerField()
    used_fen = serializers.SerializerMethodField()
    now_fen = serializers.SerializerMethodField()

    def get_used_fen(self, touched: Touched) -> int:
        return round(touched.used_fen)

    def get_now_fen(self, touched: Touched) -> int:
        return round(touched.now_fen)


class EffectOut(serializers.Serializer[Any]):
    """What the change would do; nothing is changed.

    `old` and `new` are fen per hour, of a discount shares of 1. `used_fen` and `now_fen`: about how much more (below
    zero: less) comes in within 30 days, by what was used in the last 30 days and by what runs or is stored now.
    `keeps`: what runs keeps its price. `effective_from` null: at once. `top`: up to five organisations, touched most.
    `second_person`: the rule by which it waits for a second person; null: it is made at once.
    """

    old = serializers.DecimalField(max_digits=30, decimal_places=10, allow_null=True)
    new = serializers.DecimalField(max_digits=30, decimal_places=10)
    organisations = serializers.IntegerField()
    running = serializers.IntegerField()
    stored_gib = serializers.IntegerField()
    used_fen = serializers.IntegerField()
    now_fen = serializers.IntegerField()
    steps = StepOut(many=True)
    top = TouchedOut(many=True)
    keeps = serializers.BooleanField()
    effective_from = serializers.DateTimeField(source="starts", allow_null=True)
    unused = serializers.BooleanField()
    second_person = serializers.SerializerMethodField()

    @extend_schema_field(serializers.ChoiceField(choices=[(each.value, each.value) for each in Why], allow_null=True))
    def get_second_person(self, effect: Effect) -> str | None:
        why: Why | None = self.context["why"]
        return why.value if why else None


def effect_data(actor: Actor, proposal: Proposal, effect: Callable[[], Effect]) -> dict[str, Any]:
    """The API's answer to a preview; raises what making the change would raise."""
    try_out(actor, proposal)
    found = effect()
    return dict(EffectOut(found, context={"why": why_second(actor, proposal)}).data)


def price_in(request: Request) -> dict[str, Any]:
    """`rate_fen_per_hour` and `effective_from` of a request's body."""
    given = PriceIn(data=request.data)
    given.is_valid(raise_exception=True)
    return dict(given.validated_data)


def answer_price(made: Outcome, shown: type[serializers.Serializer[Any]] = PriceOut) -> Response:
    """202 with the request that waits; 201 with the new version, 200 where it has this rate already."""
    if made.request is not None:
        return Response(ChangeRequestRef(made.request).data, status=status.HTTP_202_ACCEPTED)
    return Response(shown(made.result.version).data, status=status_of(made.result))
