"""One act on many rows of a list: chosen by hand or all that the filter shows, asked about once, done row by row.

A room declares a `BulkList`; the list's page passes `offered(...)` to its table, and one view answers with `answer`.
Rows come from the room's own selector as the actor, and each goes through the room's own service, which asks for the
right again: a row that is refused is named with its reason and does not stop the others.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any
from uuid import uuid4

from django.core.exceptions import ValidationError
from django.db import transaction
from django.db.models import QuerySet
from django.http import HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django_filters import FilterSet

from apps.common.actor import Actor
from apps.common.errors import Conflict, DomainError, NotFound
from apps.common.idempotency import MAX_KEY, Replayed, RequestIdentity, answer_once
from apps.common.pages import say_refusal
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.common.tables import BulkOffer

# More rows than this keep a browser, and their locks, waiting for too long.
MOST = 500
NAMED = 10
ASK, DONE = "components/bulk_ask.html", "components/bulk_done.html"

Words = str | Promise


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkAct:
    """`title`: the question, and `done`: the answer; both count by `%(count)s` (`ngettext_lazy(…, "count")`).

    `lost`, `kept`, `undo`: what becomes of the rows, for the question.
    """

    name: str
    label: Words
    icon: str
    permission: Permission
    title: Any
    done: Any
    do: Callable[[Actor, Any], object]
    lost: Words = ""
    kept: Words = ""
    undo: Words = ""
    dangerous: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkPage:
    """A page about what was chosen: the ids are sent to `url`, which answers in a tab of its own."""

    name: str
    label: Words
    icon: str
    permission: Permission
    url: Words


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkList:
    """`route`: the view that calls `answer`; `back`: the list. `rows`: of the actor and what its address asks for."""

    route: str
    back: str
    acts: Sequence[BulkAct]
    rows: Callable[[Actor, QueryDict], QuerySet[Any]]
    filters: type[FilterSet] | None = None
    named: Callable[[Any], str] = str
    pages: Sequence[BulkPage] = ()

    def narrowed(self, actor: Actor, asked: QueryDict) -> QuerySet[Any]:
        rows = self.rows(actor, asked)
        if self.filters is None:
            return rows
        found: QuerySet[Any] = self.filters(asked, queryset=rows, request=SimpleNamespace(actor=actor, GET=asked)).qs
        return found


def offered(request: ActorRequest, listed: BulkList) -> BulkOffer | None:
    """The acts that the reader may carry out; None without any, so that the list has no boxes to tick."""
    offers: Sequence[BulkAct | BulkPage] = (*listed.pages, *listed.acts)
    acts = [each for each in offers if request.actor.may(each.permission)]
    return BulkOffer(reverse(listed.route), acts, request.GET.urlencode()) if acts else None


def answer(request: ActorRequest, listed: BulkList) -> HttpResponse:
    """`act` on the rows `id`, or on all of `query` where `all` is set: first the question, then, with `once`, the act.

    `once` names one confirmation: however often it is sent, its rows are dealt with once, with the same answer.
    """
    act = next((each for each in listed.acts if each.name == request.POST.get("act")), None)
    if act is None:
        raise NotFound
    request.actor.require(act.permission)
    once = request.POST.get("once", "")
    try:
        if once:
            return _carried_out(request, listed, act, once[:MAX_KEY])
        rows, _missing = _chosen(request, listed)
        return _question(request, listed, act, rows)
    except Conflict as error:
        say_refusal(request, error)
        return redirect(listed.back)


def _chosen(request: ActorRequest, listed: BulkList) -> tuple[list[Any], int]:
    """The rows, in a fixed order so that two people's acts do not wait for each other, and how many are not there."""
    if request.POST.get("all") and not request.POST.get("once"):
        query = QueryDict(request.POST.get("query", ""))
        rows = list(listed.narrowed(request.actor, query).order_by("pk")[: MOST + 1])
        if len(rows) > MOST:
            raise Conflict(
                _("These are more than %(most)s rows, the most at a time.") % {"most": MOST},
                hint=_("Narrow the list by its filters."),
            )
        return rows, 0
    ids = _ids(request, listed)
    found = list(listed.rows(request.actor, QueryDict(request.POST.get("query", ""))).filter(pk__in=ids).order_by("pk"))
    if not ids:
        raise Conflict(_("Nothing is selected."), hint=_("Tick rows in the list first."))
    return found, len(ids) - len(found)


def _ids(request: ActorRequest, listed: BulkList) -> set[Any]:
    key = listed.rows(request.actor, QueryDict()).model._meta.pk
    found = set()
    for text in request.POST.getlist("id")[:MOST]:
        try:
            found.add(key.to_python(text))
        except ValidationError as error:
            raise NotFound from error
    return found


def _question(request: ActorRequest, listed: BulkList, act: BulkAct, rows: list[Any]) -> HttpResponse:
    if not rows:
        raise Conflict(_("Nothing of what was selected is there any more."))
    context = {
        "act": act,
        "title": act.title % {"count": len(rows)},
        "names": [listed.named(row) for row in rows[:NAMED]],
        "more": max(0, len(rows) - NAMED),
        "ids": [row.pk for row in rows],
        "query": request.POST.get("query", ""),
        "once": uuid4().hex,
        "action": reverse(listed.route),
        "back": reverse(listed.back),
    }
    return render(request, ASK, context)


def _carried_out(request: ActorRequest, listed: BulkList, act: BulkAct, once: str) -> HttpResponse:
    actor = request.actor
    told = hashlib.sha256(f"{act.name} {sorted(request.POST.getlist('id'))}".encode()).hexdigest()
    path = hashlib.sha256(f"POST {reverse(listed.route)}".encode()).hexdigest()
    try:
        with answer_once(RequestIdentity(actor.person(), actor.organisation_id, once, path, told)) as first:
            rows, missing = _chosen(request, listed)  # as they are now, whoever was first
            count, refusals = _each(actor, listed, act, rows)
            context = {
                "act": act,
                "told": act.done % {"count": count} if count else "",
                "refusals": refusals,
                "missing": missing,
                "back": reverse(listed.back),
            }
            response = render(request, DONE, context)
            first.remember(response)
            return response
    except Replayed as replay:
        return replay.response


def _each(actor: Actor, listed: BulkList, act: BulkAct, rows: list[Any]) -> tuple[int, list[tuple[str, str]]]:
    """How many were dealt with, and the names of the others with the reasons."""
    count, refusals = 0, []
    for row in rows:
        try:
            with transaction.atomic():
                act.do(actor, row)
            count += 1
        except DomainError as error:
            refusals.append((listed.named(row), str(error.sentences)))
    return count, refusals
