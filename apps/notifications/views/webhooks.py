"""An organisation's webhooks: the list, one with its log, making and changing it."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.common.access import in_organisation, requires
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.pages import REFUSED, paged, say_refusal
from apps.common.permissions import Permission as P
from apps.common.requests import ActorRequest
from apps.notifications import hook_selectors as reads
from apps.notifications.choices import DeliveryState
from apps.notifications.forms.webhooks import HookForm, initial_of
from apps.notifications.hook_tables import DeliveryTable, HookTable
from apps.notifications.models import Webhook
from apps.notifications.services import webhooks as services

MANAGE = in_organisation(P.WEBHOOKS_MANAGE)
NEW, SECRET = "notifications/webhooks/edit.html", "notifications/webhooks/secret.html"


@requires(MANAGE)
@require_GET
def hook_list(request: ActorRequest) -> HttpResponse:
    table = HookTable(reads.with_waiting(reads.hooks(request.actor)), request=request)
    paged(request, table)
    return render(request, "notifications/webhooks/list.html", {"table": table})


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def new(request: ActorRequest) -> HttpResponse:
    form = HookForm(request.POST or None)
    if request.method != "POST":
        return render(request, NEW, {"form": form})
    if form.is_valid():
        try:
            hook, secret = services.create(request.actor, form.spec())
        except DomainError as error:
            show_error(form, error)
        else:
            return _secret(request, hook, secret)
    return render(request, NEW, {"form": form}, status=REFUSED)


@requires(MANAGE)
@require_GET
def detail(request: ActorRequest, webhook_id: UUID) -> HttpResponse:
    """`?state=` shows only deliveries of one state."""
    hook = services.find(request.actor, webhook_id)
    rows = reads.deliveries(request.actor, hook).prefetch_related("attempts")
    state = request.GET.get("state", "")
    if state in DeliveryState.values:
        rows = rows.filter(state=state)
    table = DeliveryTable(rows, request=request)
    paged(request, table)
    states = [DeliveryState.QUEUED, DeliveryState.SENT, DeliveryState.GIVEN_UP]
    waiting = any(row.record.state == DeliveryState.QUEUED for row in table.paginated_rows)
    context = {"hook": hook, "table": table, "state": state, "states": states, "waiting": waiting}
    return render(request, "notifications/webhooks/detail.html", context)


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def edit(request: ActorRequest, webhook_id: UUID) -> HttpResponse:
    hook = services.find(request.actor, webhook_id)
    if request.method != "POST":
        return render(request, NEW, {"form": HookForm(initial=initial_of(hook)), "hook": hook})
    form = HookForm(request.POST)
    if form.is_valid():
        try:
            services.change(request.actor, webhook_id, form.spec())
        except DomainError as error:
            show_error(form, error)
        else:
            return _done(request, hook, _("The webhook has been saved."))
    return render(request, NEW, {"form": form, "hook": hook}, status=REFUSED)


@requires(MANAGE)
@require_POST
def rotate(request: ActorRequest, webhook_id: UUID) -> HttpResponse:
    hook, secret = services.rotate(request.actor, webhook_id)
    return _secret(request, hook, secret)


@requires(MANAGE)
@require_POST
def switch(request: ActorRequest, webhook_id: UUID) -> HttpResponse:
    """On with `on=1`, off without."""
    hook = services.switch(request.actor, webhook_id, on=request.POST.get("on") == "1")
    return _done(request, hook, _("The webhook is on.") if hook.active else _("The webhook is off."))


@requires(MANAGE)
@require_POST
def test(request: ActorRequest, webhook_id: UUID) -> HttpResponse:
    hook = services.find(request.actor, webhook_id)
    try:
        services.send_test(request.actor, webhook_id)
    except DomainError as error:
        return _refused(request, hook, error)
    return _done(request, hook, _("A test is on its way; the answer appears below within seconds."))


@requires(MANAGE)
@require_POST
def redeliver(request: ActorRequest, delivery_id: UUID) -> HttpResponse:
    try:
        delivery = services.redeliver(request.actor, delivery_id)
    except services.HookOff as error:
        return _refused(request, error.hook, error)
    return _done(request, delivery.webhook, _("The event is sent again."))


@requires(MANAGE)
@require_POST
def delete(request: ActorRequest, webhook_id: UUID) -> HttpResponse:
    services.delete(request.actor, webhook_id)
    messages.success(request, _("The webhook has been deleted."))
    return redirect("webhooks:list")


def _secret(request: ActorRequest, hook: Webhook, secret: str) -> HttpResponse:
    """The secret is in this one answer only."""
    response = render(request, SECRET, {"hook": hook, "secret": secret})
    response.headers["Cache-Control"] = "no-store"
    return response


def _done(request: ActorRequest, hook: Webhook, words: str) -> HttpResponse:
    messages.success(request, words)
    return redirect("webhooks:detail", hook.pk)


def _refused(request: ActorRequest, hook: Webhook, error: DomainError) -> HttpResponse:
    say_refusal(request, error)
    return redirect("webhooks:detail", hook.pk)
