"""The pages of such a kind: its list, one row while it lives, its log and its end."""

from http import HTTPStatus
from typing import Any, ClassVar, Generic, TypeVar
from uuid import UUID

from django.contrib import messages
from django.db.models import QuerySet
from django.http import HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import URLPattern, path, reverse
from django.views.decorators.http import require_GET, require_http_methods

from apps.common.access import Access, requires
from apps.common.actor import Actor
from apps.common.errors import Conflict
from apps.common.pages import paged
from apps.common.requests import ActorRequest
from apps.workloads import selectors as workloads
from apps.workloads.logs.files import log_file
from apps.workloads.single_workload.selectors import one, present_state
from apps.workloads.single_workload.tables import WorkFilter, WorkTable

Row = TypeVar("Row", bound=Any)  # a model with `workload`; no protocol describes its descriptors
STOP_POLLING = 286  # htmx: swap this response and stop polling


class WorkPages(Generic[Row]):
    """`room`: namespace of the URLs and folder of the templates. `called`: what templates call the row.

    Templates: `list.html`, `detail.html`, `parts/now.html` with what changes. `asked`: said once its end is asked for.
    """

    room: ClassVar[str]
    called: ClassVar[str]
    view: ClassVar[Access]
    use: ClassVar[Access]
    table: ClassVar[type[WorkTable]]
    filters: ClassVar[type[WorkFilter]]

    def rows(self, actor: Actor) -> QuerySet[Any]:
        """Those that the actor may see, with what the pages need of them."""
        raise NotImplementedError

    def stop(self, actor: Actor, row: Row) -> None:
        """Raises `Conflict` once it has ended."""
        raise NotImplementedError

    def about(self, request: ActorRequest, row: Row) -> dict[str, Any]:
        """What the page shows beyond what every kind's does."""
        return {}

    def beside_list(self, actor: Actor) -> dict[str, Any]:
        """What the list shows beyond its table."""
        return {}

    def leads_to(self, row: Row, context: dict[str, Any]) -> str:
        """Where the page goes on to by itself; empty to stay."""
        return ""

    def end_question(self, row: Row) -> dict[str, Any]:
        """Words of the dialog, as `components/confirm_body.html` takes them, and `asked`."""
        raise NotImplementedError

    def log_name(self, row: Row) -> str:
        """Of its log as a file."""
        raise NotImplementedError

    def urls(self) -> list[URLPattern]:
        reads, acts = requires(self.view), requires(self.use)
        row = f"<uuid:{self.called}_id>/"
        return [
            path("", reads(require_GET(self._list)), name="list"),
            path("of-workload/<uuid:workload_id>/", reads(require_GET(self._of_workload)), name="of_workload"),
            path(row, reads(require_GET(self._detail)), name="detail"),
            path(f"{row}now/", reads(require_GET(self._now)), name="now"),
            path(f"{row}stop/", acts(require_http_methods(["GET", "POST"])(self._stop)), name="stop"),
            path(f"{row}log/", reads(require_GET(self._log)), name="log"),
        ]

    def _row(self, actor: Actor, **ids: UUID) -> Row:
        found: Row = one(self.rows(actor), pk=ids[f"{self.called}_id"])
        return found

    def _context(self, request: ActorRequest, row: Row) -> dict[str, Any]:
        return {self.called: row, **present_state(request.actor, row.workload), **self.about(request, row)}

    def _list(self, request: ActorRequest) -> HttpResponse:
        filtered = self.filters(request.GET, queryset=self.rows(request.actor), request=request)
        table = self.table(filtered.qs, request=request)
        paged(request, table)
        nothing_yet = not filtered.form.has_changed() and not table.rows
        context = {"table": table, "filter": filtered, "nothing_yet": nothing_yet, **self.beside_list(request.actor)}
        return render(request, f"{self.room}/list.html", context)

    def _of_workload(self, request: ActorRequest, workload_id: UUID) -> HttpResponse:
        """The page of the row that a workload belongs to, for links that know the workload alone."""
        return redirect(f"{self.room}:detail", one(self.rows(request.actor), workload_id=workload_id).pk)

    def _detail(self, request: ActorRequest, **ids: UUID) -> HttpResponse:
        row = self._row(request.actor, **ids)
        context = self._context(request, row)
        if further := self.leads_to(row, context):
            return redirect(further)
        return render(request, f"{self.room}/detail.html", context)

    def _now(self, request: ActorRequest, **ids: UUID) -> HttpResponse:
        """What changes of the page while the row lives; the log only once there is one, where `?log=0` says there is
        none."""
        row = self._row(request.actor, **ids)
        context = self._context(request, row)
        if further := self.leads_to(row, context):
            return HttpResponse(headers={"HX-Redirect": further})
        context["brings_log"] = request.GET.get("log") == "0" and context["has_log"]
        status = HTTPStatus.OK if row.workload.is_live else STOP_POLLING
        return render(request, f"{self.room}/parts/now.html", context, status=status)

    def _stop(self, request: ActorRequest, **ids: UUID) -> HttpResponse:
        """GET: the dialog's question. POST: stop it."""
        row = self._row(request.actor, **ids)
        words = self.end_question(row)
        if request.method != "POST":
            action = {"action": reverse(f"{self.room}:stop", args=[row.pk])}
            return render(request, "components/confirm_body.html", words | action)
        try:
            self.stop(request.actor, row)
        except Conflict as error:
            messages.warning(request, str(error.message))
        else:
            messages.success(request, words["asked"])
        return redirect(f"{self.room}:detail", row.pk)

    def _log(self, request: ActorRequest, **ids: UUID) -> HttpResponseBase:
        """The whole log."""
        row = self._row(request.actor, **ids)
        program = workloads.program(workloads.current_attempt(row.workload), 0)
        return log_file(program, name=self.log_name(row), visible=lambda actor: self._row(actor, **ids))
