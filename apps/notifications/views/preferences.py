"""Account → Notifications: what is sent to oneself, and the phone that SMS go to."""

from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from apps.common.access import SELF, requires
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.pages import REFUSED
from apps.common.requests import ActorRequest
from apps.notifications import selectors
from apps.notifications.choices import Channel, Topic
from apps.notifications.forms.personal import CodeForm, NumberForm
from apps.notifications.kinds import all_kinds
from apps.notifications.services import phones
from apps.notifications.services.preferences import Choice, set_preferences
from apps.notifications.settings import SmsSettings
from apps.tenants import settings
from apps.tenants.views.shared import page, user_of

TEMPLATE = "notifications/preferences.html"
HERE = "notifications:preferences"


@requires(SELF)
@require_http_methods(["GET", "POST"])
def preferences(request: ActorRequest) -> HttpResponse:
    """Ticked boxes are `on=<topic>.<channel>`; what is not ticked is switched off."""
    if request.method != "POST":
        return _shown(request)
    set_preferences(request.actor, _ticked(request.POST.getlist("on")))
    messages.success(request, _("Your choice has been saved."))
    return redirect(HERE)


def _ticked(values: list[str]) -> list[Choice]:
    """What is not among the choices is passed over."""
    known = {f"{topic}.{channel}": (topic, channel) for topic in Topic for channel in Channel}
    return [known[value] for value in values if value in known]


@requires(SELF)
@require_POST
def phone_code(request: ActorRequest) -> HttpResponse:
    form = NumberForm(request.POST)
    if form.is_valid():
        try:
            phone = phones.send_code(request.actor, number=form.cleaned_data["number"])
        except DomainError as error:
            show_error(form, error)
        else:
            messages.success(request, _("A code was sent to %(number)s.") % {"number": phone.wanted})
            return redirect(HERE)
    return _shown(request, number_form=form, status=REFUSED)


@requires(SELF)
@require_POST
def phone_confirm(request: ActorRequest) -> HttpResponse:
    form = CodeForm(request.POST)
    if form.is_valid():
        try:
            phones.confirm(request.actor, code=form.cleaned_data["code"])
        except DomainError as error:
            show_error(form, error)
        else:
            messages.success(request, _("The number is confirmed. Choose what is sent there."))
            return redirect(HERE)
    return _shown(request, code_form=form, status=REFUSED)


@requires(SELF)
@require_POST
def phone_remove(request: ActorRequest) -> HttpResponse:
    phones.remove(request.actor)
    messages.success(request, _("The number was removed. No SMS are sent any more."))
    return redirect(HERE)


def _shown(
    request: ActorRequest,
    *,
    number_form: forms.Form | None = None,
    code_form: forms.Form | None = None,
    status: int = 200,
) -> HttpResponse:
    user = user_of(request)
    phone = selectors.phone_of(user.pk)
    sms_on = settings.get(SmsSettings).on
    context = {
        "rows": _rows(user.pk, has_phone=bool(sms_on and phone and phone.verified_at)),
        "email": user.email,
        "sms_on": sms_on,
        "phone": phone,
        "number_form": number_form or NumberForm(),
        "code_form": code_form or CodeForm(),
    }
    return render(request, TEMPLATE, page(HERE, **context), status=status)


def _rows(user_id: int, *, has_phone: bool) -> list[dict[str, Any]]:
    wanted, fixed = selectors.choices_of(user_id), selectors.fixed_choices(user_id)
    return [
        {
            "topic": topic,
            "label": topic.label,
            "examples": [kind.label for kind in all_kinds() if kind.topic is topic and kind.name != "test"],
            "email": wanted[topic, Channel.EMAIL],
            "email_fixed": (topic, Channel.EMAIL) in fixed,
            "sms": wanted[topic, Channel.SMS],
            "sms_possible": has_phone,
        }
        for topic in selectors.offered_topics(user_id)
    ]
