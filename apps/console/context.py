"""The context of the frame around every page."""

from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.functional import SimpleLazyObject
from django.utils.translation import gettext as _

from apps.billing import selectors as funds
from apps.billing.choices import ArrearsStatus
from apps.billing.wallet.shortage import shortage
from apps.common.access import Realm
from apps.common.actor import Actor
from apps.common.clock import db_now, one_moment
from apps.common.formatting import estimated_moment
from apps.common.live import person_group
from apps.common.money import yuan, yuan_rate
from apps.common.permissions import Permission
from apps.common.scoping import acting
from apps.console.navigation import CONSOLE, entries, portal
from apps.notifications import selectors as notices
from apps.tenants.actors import pick_current, platform_permissions
from apps.tenants.choices import Role
from apps.tenants.models import User
from apps.workloads.selectors import scheduler_is_alive


def shell(request: HttpRequest) -> dict[str, Any]:
    """`shell` for signed-in people; nothing on pages that stand alone.

    Cached on the request, because every table cell with its own template asks again. Built lazily, because fragments
    that htmx fetches have no frame.
    """
    kept: dict[str, Any] | None = getattr(request, "shell_context", None)
    if kept is None:
        kept = request.shell_context = _context(request)  # type: ignore[attr-defined]
    return kept


def _context(request: HttpRequest) -> dict[str, Any]:
    user = getattr(request, "user", None)
    if user is None or not user.is_authenticated:
        return {}
    actor = getattr(request, "actor", None) or request.actors.get(Realm.SELF)  # type: ignore[attr-defined]
    return {"shell": SimpleLazyObject(lambda: _frame(request, user, actor)), "actor": actor}


def _frame(request: HttpRequest, user: User, actor: Actor) -> dict[str, Any]:
    console = request.path.startswith("/console/")
    with acting(actor), one_moment():
        frame = _console(request, actor) if console and actor.platform else _portal(request, actor)
        common = {
            "user_name": user.display_name,
            "person_group": person_group(user.pk),
            "user_initial": user.display_name[:1].upper(),
            "healthy": scheduler_is_alive(),
            "checked_at": db_now(),
        }
    return common | frame


def _current(request: HttpRequest) -> str:
    return request.resolver_match.view_name if request.resolver_match else ""


def _portal(request: HttpRequest, actor: Actor) -> dict[str, Any]:
    user = request.user
    mine = request.actors.memberships()  # type: ignore[attr-defined]
    member = pick_current(mine, user)  # type: ignore[arg-type]
    rights = request.actors.get(Realm.ORGANISATION) if member else actor  # type: ignore[attr-defined]
    unread = notices.unread(actor).count() if member else 0
    staff = bool(platform_permissions(user))  # type: ignore[arg-type]
    return {
        "portal": "portal",
        # Nobody without an organisation may listen here: they would be told for ever that live updates are lost.
        "person_group": person_group(user.pk) if member else "",  # type: ignore[arg-type]
        "organisation": member.organisation.name if member else "",
        "organisations": [
            {"id": m.organisation_id, "name": m.organisation.name, "current": member and m.pk == member.pk}
            for m in mine
        ],
        "role_label": Role(member.role).label if member else "",
        "department": member.department.name if member and member.department else "",
        "nav": entries(portal(), rights, _current(request)),
        "other_portal": {"label": _("Go to the console"), "url": reverse("console:overview")} if staff else None,
        "wallet": _wallet(rights) if member else None,
        "unread": unread,
        "notifications_url": reverse("notifications:list"),
        "bell_url": reverse("notifications:bell"),
    }


def _console(request: HttpRequest, actor: Actor) -> dict[str, Any]:
    return {
        "portal": "console",
        "nav": entries(CONSOLE, actor, _current(request)),
        "other_portal": {"label": _("Go to the portal"), "url": reverse("portal:overview")}
        if request.actors.memberships()  # type: ignore[attr-defined]
        else None,
        "wallet": None,
        "unread": notices.unread(actor).count(),
        "notifications_url": reverse("console:notices"),
        "bell_url": reverse("console:bell"),
    }


def _until_words(now: funds.Wallet) -> str:
    """Until when it lasts; of what is used up already, no moment says more than that."""
    if now.used_up:
        return _("nothing is left")
    return _("until %(when)s") % {"when": estimated_moment(now.runs_until)} if now.runs_until else ""


def _wallet(actor: Actor) -> dict[str, Any] | None:
    """Balance, burn and how long it lasts, for the top bar; empty for people without the right."""
    if not actor.may(Permission.BILLING_VIEW_OWN):
        return None
    now = funds.wallet(actor)
    tone = {ArrearsStatus.NORMAL: "", ArrearsStatus.LOW: "warn"}.get(now.status, "fail")
    return {
        "url": reverse("billing:wallet" if actor.may(Permission.BILLING_VIEW) else "billing:consumption"),
        "balance_text": yuan(now.available_fen),
        "vouchers_text": _("+ %(amount)s in vouchers") % {"amount": yuan(now.vouchers_fen)} if now.vouchers_fen else "",
        "rate_text": yuan_rate(now.burn_fen_per_hour) if now.burn_fen_per_hour else "",
        "until_text": _until_words(now),
        "state": tone,
        "shortage": shortage(now),
        "may_top_up": actor.may(Permission.BILLING_TOP_UP),
    }
