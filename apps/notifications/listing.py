"""The list of notices, shown in both portals."""

from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import ngettext

from apps.common.errors import NotFound
from apps.common.pages import paged
from apps.common.requests import ActorRequest
from apps.notifications import selectors, services
from apps.notifications.tables import NoticeTable


@dataclass(frozen=True, slots=True)
class Place:
    """Names of the URLs of one portal's list."""

    list: str
    read: str
    read_all: str
    choose: str = ""


def page(request: ActorRequest, place: Place) -> HttpResponse:
    """`?show=unread` leaves out what has been read."""
    only_unread = request.GET.get("show") == "unread"
    rows = selectors.unread(request.actor) if only_unread else selectors.notices(request.actor)
    table = NoticeTable(rows, request=request)
    table.read_url = place.read
    paged(request, table)
    unread = selectors.unread(request.actor).count()
    context = {"table": table, "unread": unread, "only_unread": only_unread, "place": place}
    return render(request, "notifications/list.html", context)


def read(request: ActorRequest, place: Place, notice_id: int) -> HttpResponse:
    """Mark one notice read; marking it again changes nothing."""
    if not selectors.own_notices(request.actor).filter(pk=notice_id).exists():
        raise NotFound
    services.mark_read(request.actor, notice_ids=[notice_id])
    return redirect(place.list)


def read_all(request: ActorRequest, place: Place) -> HttpResponse:
    count = services.mark_read(request.actor)
    text = ngettext("%(count)s notice marked as read.", "%(count)s notices marked as read.", count)
    messages.success(request, text % {"count": count})
    return redirect(place.list)


def bell(request: ActorRequest) -> HttpResponse:
    """The bell of the top bar, asked for again whenever a notice comes in; the shell's context counts."""
    return render(request, "components/shell/bell.html")
