"""Other accounts that a person signs in with."""

from typing import Any

from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.internal.flows.connect import validate_disconnect
from allauth.socialaccount.models import SocialAccount
from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from apps.common.access import IN_PERSON, requires
from apps.common.errors import NotFound
from apps.common.requests import ActorRequest
from apps.tenants.social.providers import PROVIDERS
from apps.tenants.views.shared import page


@requires(IN_PERSON)
@require_GET
def connected(request: ActorRequest) -> HttpResponse:
    """Accounts that are connected, also those of a provider that is off now, and providers that could be."""
    mine = SocialAccount.objects.filter(user_id=request.actor.person()).order_by("provider", "pk")
    rows = [_row(each) for each in mine]
    taken = {each.provider for each in mine}
    offered = [each for each in get_adapter().list_providers(request) if each.id not in taken]
    return render(request, "tenants/connected.html", page("connected", rows=rows, offered=offered))


def _row(account: SocialAccount) -> dict[str, Any]:
    """By name and icon: a template would call the provider's class."""
    told, provider = account.extra_data, PROVIDERS[account.provider]
    words = told.get("account") or told.get("name") or told.get("nickname") or account.uid
    return {"account": account, "name": provider.name, "icon": provider.icon, "words": words}


@requires(IN_PERSON)
@require_POST
def disconnect_account(request: ActorRequest, account_id: int) -> HttpResponse:
    """Disconnect one, as long as another way to sign in remains."""
    account = SocialAccount.objects.filter(user_id=request.actor.person(), pk=account_id).first()
    if account is None:
        raise NotFound
    try:
        validate_disconnect(request, account)
    except ValidationError as error:
        messages.error(request, " ".join(error.messages))
    else:
        name = PROVIDERS[account.provider].name
        account.delete()
        get_adapter().send_notification_mail("socialaccount/email/account_disconnected", request.user)
        messages.success(request, _("%(name)s does not let you in any more.") % {"name": name})
    return redirect("account:connected")


@requires(IN_PERSON)
@require_GET
def to_connected(request: HttpRequest) -> HttpResponse:
    """Where allauth goes after connecting."""
    return redirect("account:connected")
