"""What needs the person: failures not yet tried again, runs that can never start, money, unread notices."""

from datetime import timedelta
from typing import Any

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.billing.choices import ArrearsStatus
from apps.billing.selectors import Wallet
from apps.common.actor import Actor
from apps.common.clock import db_now
from apps.common.formatting import moment
from apps.common.permissions import Permission
from apps.console.portal.runs import scope
from apps.notifications.models import Notice
from apps.notifications.selectors import unread
from apps.notifications.words import words
from apps.training.models import Run
from apps.workloads import faults
from apps.workloads.choices import NOT_STARTED, Status
from apps.workloads.waiting import explain

LATELY = timedelta(days=3)
SHOWN_OF_EACH = 4
# Waiting does not help against these.
NEVER = ("never_fits", "no_such_model", "no_such_mode")


def items(actor: Actor, wallet: Wallet) -> dict[str, Any]:
    """`items` for components/todo.html, `count` of all of them, `summary` by kind in words."""
    failed, failed_count = _some(failures(actor))
    stuck, stuck_count = _some(impossible(actor))
    news, news_count = _some(_other_than_money(unread(actor), wallet))
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


def _some(rows: "QuerySet[Any]") -> tuple[list[Any], int]:
    """The first few, and how many there are in all: counted only where these are not all."""
    first = list(rows[:SHOWN_OF_EACH])
    return first, len(first) if len(first) < SHOWN_OF_EACH else rows.count()


def failures(actor: Actor) -> QuerySet[Run]:
    """One's own runs of the last days that failed, or lacked money or a right to go on, and have no later version."""
    later = Run.objects.filter(family=OuterRef("family"), version__gt=OuterRef("version"))
    ended = Q(workload__status=Status.FAILED) | Q(
        workload__status=Status.STOPPED, workload__reason__in=faults.FOR_MONEY | NOT_STARTED
    )
    recent = scope(actor, everyones=False).filter(ended, workload__ended_at__gte=db_now() - LATELY)
    return recent.filter(~Exists(later)).order_by("-workload__ended_at")


def impossible(actor: Actor) -> QuerySet[Run]:
    """One's own waiting runs that no machine could ever take."""
    waiting = scope(actor, everyones=False).filter(workload__status=Status.QUEUED)
    return waiting.filter(workload__explanation__cause__in=NEVER)


def _failure(run: Run) -> dict[str, Any]:
    advice = faults.advise(run.workload)
    said = " ".join(filter(None, (advice.verdict, *advice.fixes[:1])))
    return {
        "icon": "circle-x",
        "tone": "fail",
        "text": _("%(name)s: %(what)s") % {"name": run.name, "what": advice.title},
        "sub": " · ".join(filter(None, (moment(run.workload.ended_at), said))),
        "url": reverse("training:detail", args=[run.pk]),
        "action": _("See why"),
    }


def _impossible(run: Run) -> dict[str, Any]:
    wait = explain(run.workload.explanation, gpu=run.workload.frozen_spec.gpu)
    return {
        "icon": "clock",
        "tone": "warn",
        "text": _("%(name)s: %(what)s") % {"name": run.name, "what": wait.title},
        "sub": wait.text,
        "url": reverse("training:detail", args=[run.pk]),
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


def _other_than_money(notices: QuerySet[Notice], wallet: Wallet) -> QuerySet[Notice]:
    """A notice of the state that the wallet is in, or of a run that failed, would repeat the item above it."""
    return notices.exclude(kind=f"billing.{wallet.status.value}").exclude(kind__startswith="run.")


def _money(actor: Actor, wallet: Wallet) -> list[dict[str, Any]]:
    said = _arrears(wallet)
    if said is None:
        return []
    link = {"url": reverse("billing:wallet"), "action": _("Wallet")} if actor.may(Permission.BILLING_VIEW) else {}
    return [{**said, **link}]


def _arrears(wallet: Wallet) -> dict[str, Any] | None:
    if wallet.status is ArrearsStatus.NORMAL:
        return None
    if wallet.status is ArrearsStatus.LOW:
        sub = _("At what runs now it lasts until %(time)s.") % {"time": moment(wallet.runs_until)}
        return {"icon": "alert-triangle", "tone": "warn", "text": _("The balance is running low"), "sub": sub}
    if wallet.status is ArrearsStatus.GRACE:
        sub = _("Running work is stopped at %(time)s unless the wallet is topped up.") % {
            "time": moment(wallet.grace_until)
        }
        return {"icon": "alert-triangle", "tone": "fail", "text": _("The balance is used up"), "sub": sub}
    sub = _("Nothing starts until the wallet is topped up; all outputs are kept.")
    return {"icon": "circle-x", "tone": "fail", "text": _("Work was stopped for want of money"), "sub": sub}
