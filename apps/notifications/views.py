"""The page of notices."""

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST
from django_tables2 import RequestConfig

from apps.common.access import SELF, requires
from apps.common.errors import NotFound
from apps.common.requests import ActorRequest
from apps.notifications import selectors, services
from apps.notifications.tables import NoticeTable

PER_PAGE = 25


@requires(SELF)
@require_GET
def notice_list(request: ActorRequest) -> HttpResponse:
    """`?show=unread` leaves out what has been read."""
    only_unread = request.GET.get("show") == "unread"
    rows = selectors.unread(request.actor) if only_unread else selectors.notices(request.actor)
    table = NoticeTable(rows, request=request)
    RequestConfig(request, paginate={"per_page": PER_PAGE, "silent": True}).configure(table)
    context = {"table": table, "unread": selectors.unread(request.actor).count(), "only_unread": only_unread}
    return render(request, "notifications/list.html", context)


@requires(SELF)
@require_POST
def read(request: ActorRequest, notice_id: int) -> HttpResponse:
    """Mark one notice read; marking it again changes nothing."""
    if not selectors.notices(request.actor).filter(pk=notice_id).exists():
        raise NotFound
    services.mark_read(request.actor, notice_ids=[notice_id])
    return redirect("notifications:list")


@requires(SELF)
@require_POST
def read_all(request: ActorRequest) -> HttpResponse:
    count = services.mark_read(request.actor)
    text = ngettext("%(count)s notice marked as read.", "%(count)s notices marked as read.", count)
    messages.success(request, text % {"count": count})
    return redirect("notifications:list")
