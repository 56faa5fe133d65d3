"""Reports: listed, written beside a preview, read, taken along as a file, deleted."""

from typing import Any
from uuid import UUID

from django import forms
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.common.access import in_organisation, requires
from apps.common.errors import DomainError
from apps.common.files import attachment
from apps.common.forms import show_error
from apps.common.pages import REFUSED, Question, ask, done, paged, say_refusal
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.tracking import selectors as tracking
from apps.tracking.collecting.reading.names import is_result
from apps.training.metric_pages import chosen_runs
from apps.training.models import Report, Run
from apps.training.reports import selectors, services
from apps.training.reports.blocks import parse
from apps.training.reports.forms import ReportForm
from apps.training.reports.showing import shown
from apps.training.reports.table import ReportTable
from apps.training.views.curves import ids

VIEW = in_organisation(Permission.TRAINING_VIEW)
SUBMIT = in_organisation(Permission.TRAINING_SUBMIT)
FIRST_CHARTS = 3


@requires(VIEW)
@require_GET
def report_list(request: ActorRequest) -> HttpResponse:
    """`?q=` looks in the names."""
    looked_for = request.GET.get("q", "").strip()[:80].replace("\0", "")
    rows = selectors.reports(request.actor)
    table = ReportTable(rows.filter(name__icontains=looked_for), request=request, actor=request.actor)
    context = {"table": paged(request, table), "has_any": rows.exists(), "looked_for": looked_for}
    return render(request, "training/reports/list.html", context)


@requires(VIEW)
@require_GET
def read(request: ActorRequest, report_id: UUID) -> HttpResponse:
    return render(request, "training/reports/detail.html", _page(request, selectors.report(request.actor, report_id)))


@requires(VIEW)
@require_GET
def download(request: ActorRequest, report_id: UUID) -> HttpResponse:
    """One file that needs nothing else."""
    row = selectors.report(request.actor, report_id)
    content = render_to_string("training/reports/file.html", _page(request, row), request)
    return attachment(content.encode(), f"{row.name}.html", "text/html; charset=utf-8")


def _page(request: ActorRequest, row: Report) -> dict[str, Any]:
    runs = selectors.runs_of(request.actor, row)
    return {
        "row": row,
        "report": shown(request.actor, parse(row.text), runs),
        "lost": len(row.runs) - len(runs),
        "may_change": selectors.may_change(request.actor, row),
    }


@requires(SUBMIT)
@require_http_methods(["GET", "POST"])
def new_report(request: ActorRequest) -> HttpResponse:
    """`?run=` or `run` once for each of its runs."""
    asked = request.POST if request.method == "POST" else request.GET
    try:
        chosen = chosen_runs(request.actor, ids(asked.getlist("run")))
    except DomainError as error:
        say_refusal(request, error)
        return redirect("training:reports")
    if not chosen:
        return redirect("training:list")
    if request.method != "POST":
        return _edit(request, ReportForm(initial={"text": _first_text(request, chosen)}), chosen)
    form = ReportForm(request.POST)
    if form.is_valid():
        try:
            row = services.create(request.actor, **form.asked([run.pk for run in chosen]))  # type: ignore[arg-type]
        except DomainError as error:
            show_error(form, error)
        else:
            return done(request, _("The report was saved."), "training:report", row.pk)
    return _edit(request, form, chosen)


@requires(SUBMIT)
@require_http_methods(["GET", "POST"])
def edit_report(request: ActorRequest, report_id: UUID) -> HttpResponse:
    row = selectors.changeable(request.actor, report_id)
    runs = selectors.runs_of(request.actor, row)
    if request.method != "POST":
        form = ReportForm(initial={"name": row.name, "text": row.text, "shared": row.shared})
        return _edit(request, form, runs, row)
    form = ReportForm(request.POST)
    if form.is_valid():
        try:
            services.change(request.actor, report_id, **form.cleaned_data)
        except DomainError as error:
            show_error(form, error)
        else:
            return done(request, _("The report was saved."), "training:report", row.pk)
    return _edit(request, form, runs, row)


def _edit(request: ActorRequest, form: ReportForm, runs: list[Run], row: Report | None = None) -> HttpResponse:
    text = str(form["text"].value() or "")
    page = {"form": form, "runs": runs, "row": row, "preview": _preview(request, text, runs), "names": _names(runs)}
    return render(request, "training/reports/edit.html", page, status=REFUSED if form.errors else 200)


@requires(SUBMIT)
@require_POST
def preview_report(request: ActorRequest) -> HttpResponse:
    """The text as it stands, with what is wrong in it."""
    chosen = chosen_runs(request.actor, ids(request.POST.getlist("run")))
    text = request.POST.get("text", "")[: services.LONGEST_TEXT]
    return render(request, "training/reports/preview.html", _preview(request, text, chosen))


def _preview(request: ActorRequest, text: str, runs: list[Run]) -> dict[str, Any]:
    parsed = parse(text)
    return {"report": shown(request.actor, parsed, runs), "mistakes": parsed.mistakes}


def _names(runs: list[Run]) -> list[str]:
    known = tracking.latest([run.workload_id for run in runs])
    return sorted({name for values in known.values() for name in values})


def _first_text(request: ActorRequest, runs: list[Run]) -> str:
    """What a report begins with: its results as charts, and the table of them."""
    results = [name for name in _names(runs) if is_result(name)][:FIRST_CHARTS]
    charts = "".join(f"\n```chart\nmetrics: {name}\n```\n" for name in results)
    beginning = _("What was tried, and what came of it.")
    return f"{beginning}\n{charts}\n```table\nshow: metrics\n```\n"


@requires(SUBMIT)
@require_http_methods(["GET", "POST"])
def delete_report(request: ActorRequest, report_id: UUID) -> HttpResponse:
    row = selectors.changeable(request.actor, report_id)
    if request.method == "POST":
        services.delete(request.actor, report_id)
        return done(request, _("%(name)s was deleted.") % {"name": row.name}, "training:reports")
    question = Question(
        title=_("Delete %(name)s?") % {"name": row.name},
        text=_("Its link stops working, for colleagues too. The runs stay as they are."),
        button=_("Delete"),
        action=reverse("training:delete_report", args=[row.pk]),
        back=_("Reports"),
        back_url=reverse("training:reports"),
    )
    return ask(request, forms.Form(), question)
