"""What needs the person: failures not yet tried again, runs that can never start, money, unread notices."""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.billing.choices import ArrearsStatus
from apps.billing.selectors import Wallet
from apps.billing.wallet.shortage import shortage
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.formatting import moment
from apps.common.permissions import Permission
from apps.common.prepared import prepared
from apps.notifications.models import Notice
from apps.notifications.selectors import unread
from apps.notifications.words import words
from apps.workloads import faults, kinds
from apps.workloads.choices import NOT_STARTED, Status
from apps.workloads.models import Workload
from apps.workloads.selectors import bare
from apps.workloads.waiting import explain

LATELY = timedelta(days=3)
SHOWN_OF_EACH = 4
# Waiting does not help against these.
NEVER = ("never_fits", "no_such_model", "no_such_mode")


def items(actor: Actor, wallet: Wallet) -> dict[str, Any]:
    """`items` for components/todo.html, `count` of all of them, `summary` by kind in words."""
    since = db_now() - LATELY
    failed, failed_count = _some(_first_failures(actor, since=since), lambda: failures(actor, since))
    stuck, stuck_count = _some(_first_impossible(actor), lambda: impossible(actor))
    news, news_count = _some(_first_news(actor, wallet.status), lambda: _news(actor, wallet.status))
    money = _money(actor, wallet)
    parts = [
        (failed_count, ngettext("%(count)s failed", "%(count)s failed", failed_count)),
        (stuck_count, ngettext("%(count)s cannot start", "%(count)s cannot start", stuck_count)),
        (len(money), _("money")),
        (news_count, ngettext("%(count)s notice", "%(count)s notices", news_count)),
    ]
    return {
        "items": [*money, *map(_failure, failed), *map(_impossible, stuck), *map(_notice, news)],
        "count": sum(count for count, _words in parts),
        "summary": " · ".join(said % {"count": count} for count, said in parts if count),
    }


def _some(first: list[Any], rows: Callable[[], QuerySet[Any]]) -> tuple[list[Any], int]:
    """The first few, and how many there are in all: composed and counted only where these are not all."""
    return first, len(first) if len(first) < SHOWN_OF_EACH else rows().count()


@prepared
def _first_failures(actor: Actor, /, *, since: datetime) -> QuerySet[Workload]:
    return failures(actor, since)[:SHOWN_OF_EACH]


@prepared
def _first_impossible(actor: Actor, /) -> QuerySet[Workload]:
    return impossible(actor)[:SHOWN_OF_EACH]


@prepared
def _first_news(actor: Actor, status: ArrearsStatus, /) -> QuerySet[Notice]:
    return _news(actor, status)[:SHOWN_OF_EACH]


def failures(actor: Actor, since: datetime) -> QuerySet[Workload]:
    """One's own work of the last days that failed, or lacked money or a right to go on, and was not tried again."""
    ended = Q(status=Status.FAILED) | Q(status=Status.STOPPED, reason__in=faults.FOR_MONEY | NOT_STARTED)
    recent = _of(actor).filter(ended, ended_at__gte=since)
    open_ones = Q()
    for rules in kinds.every():
        if rules.not_retried is not None:
            mine = rules.not_retried(Workload.objects.filter(kind=rules.name, owner_id=actor.user_id))
            open_ones |= Q(pk__in=mine.values("pk"))
    return recent.filter(open_ones).order_by("-ended_at")


def impossible(actor: Actor) -> QuerySet[Workload]:
    """One's own waiting work that no machine could ever take."""
    return _of(actor).filter(status=Status.QUEUED, explanation__cause__in=NEVER)


def _of(actor: Actor) -> QuerySet[Workload]:
    """One's own, of the kinds whose failures are listed here."""
    listed = [rules.name for rules in kinds.every() if rules.not_retried is not None]
    return bare(actor).filter(owner_id=actor.user_id, kind__in=listed).order_by("-created_at", "-pk")


def _page(workload: Workload) -> str:
    return reverse(kinds.kind_of(workload).page, args=[workload.pk])


def _failure(workload: Workload) -> dict[str, Any]:
    advice = faults.advise(workload)
    said = " ".join(filter(None, (advice.verdict, *advice.fixes[:1])))
    return {
        "icon": "circle-x",
        "tone": "fail",
        "text": _("%(name)s: %(what)s") % {"name": workload.name, "what": advice.title},
        "sub": " · ".join(filter(None, (moment(workload.ended_at), said))),
        "url": _page(workload),
        "action": _("See why"),
    }


def _impossible(workload: Workload) -> dict[str, Any]:
    wait = explain(workload.explanation, gpu=workload.frozen_spec.gpu)
    return {
        "icon": "clock",
        "tone": "warn",
        "text": _("%(name)s: %(what)s") % {"name": workload.name, "what": wait.title},
        "sub": wait.text,
        "url": _page(workload),
        "action": _("Open"),
    }


def _notice(notice: Notice) -> dict[str, Any]:
    said = words(notice)
    return {
        "icon": said.icon,
        "tone": said.tone,
        "text": said.title,
        "sub": said.text,
        "url": reverse("notifications:list"),
        "action": _("Read"),
    }


def _news(actor: Actor, status: ArrearsStatus) -> QuerySet[Notice]:
    """Unread, but not of the state that the wallet is in, or of work that failed: that would repeat the item above."""
    others = unread(actor).exclude(kind=f"billing.{status.value}")
    for rules in kinds.every():
        if rules.not_retried is not None:
            others = others.exclude(kind__startswith=f"{rules.notices.subject}.")
    return others


def _money(actor: Actor, wallet: Wallet) -> list[dict[str, Any]]:
    said = shortage(wallet)
    if said is None:
        return []
    link = {"url": reverse("billing:wallet"), "action": _("Wallet")} if actor.may(Permission.BILLING_VIEW) else {}
    return [{**said, **link}]
