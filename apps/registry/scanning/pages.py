"""Pages of scans: the findings of an image, having it scanned, the organisation's policy and its exceptions."""

from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.errors import DomainError, NotFound
from apps.common.files import as_attachment
from apps.common.forms import show_error
from apps.common.pages import REFUSED, Question, ask, done, paged, say_refusal
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.common.spreadsheets import BOM, csv_line
from apps.registry import selectors as images
from apps.registry.models import Image
from apps.registry.scanning import selectors, services, verdicts
from apps.registry.scanning.choices import PolicyAction, Severity
from apps.registry.scanning.forms import ExceptionForm, PolicyForm
from apps.registry.scanning.listing import (
    ExceptionFilter,
    ExceptionTable,
    FindingFilter,
    FindingRow,
    FindingTable,
    finding_rows,
)
from apps.registry.scanning.policy import Rule
from apps.registry.scanning.settings import ScanSettings
from apps.registry.scanning.verdicts import Known
from apps.tenants import settings as platform_settings

USE = in_organisation(Permission.IMAGES_USE)
MANAGE = in_organisation(Permission.IMAGES_MANAGE)
COLUMNS = (
    gettext_lazy("Finding"), gettext_lazy("Severity"), gettext_lazy("Package"), gettext_lazy("Version"),
    gettext_lazy("Fixed in"), gettext_lazy("Type"), gettext_lazy("Excepted"),
)  # fmt: skip
WORST = 5


def scanned(actor: Actor, image: Image) -> tuple[Known, list[FindingRow]]:
    """What is known of a container image, with its findings."""
    digest, organisation_id = verdicts.digest_of(image), actor.organisation()
    summary = verdicts.summaries([digest], findings=True)[digest]
    rules = verdicts.rules_of([organisation_id])[organisation_id]
    known = Known(summary, rules.verdict(summary.report))
    return known, finding_rows(summary.report.findings, rules.theirs) if summary.report else []


def card(actor: Actor, image: Image) -> dict[str, Any]:
    """What the image's page shows of its scan; nothing for a runtime."""
    if not image.reference or actor.organisation_id is None:
        return {}
    known, rows = scanned(actor, image)
    return {"known": known, "worst": rows[:WORST]}


def _container(actor: Actor, image_id: UUID) -> Image:
    image = images.get(actor, image_id)
    if not image.reference:
        raise NotFound
    return image


@requires(USE)
@require_GET
def findings(request: ActorRequest, image_id: UUID) -> HttpResponse:
    image = _container(request.actor, image_id)
    known, rows = scanned(request.actor, image)
    form = FindingFilter(request.GET)
    table = FindingTable(form.filtered(rows))
    table.may_except = request.actor.may(Permission.IMAGES_MANAGE)
    paged(request, table)
    context = {"image": image, "known": known, "form": form, "table": table}
    return render(request, "registry/scanning/findings.html", context)


@requires(USE)
@require_GET
def findings_file(request: ActorRequest, image_id: UUID) -> HttpResponse:
    """The findings that the filter leaves, as CSV."""
    image = _container(request.actor, image_id)
    _known, rows = scanned(request.actor, image)
    lines = [csv_line(map(str, COLUMNS))]
    for row in FindingFilter(request.GET).filtered(rows):
        excepted = _("yes") if row.exempt else ""
        lines.append(csv_line([row.id, row.severity_label, row.package, row.version, row.fixed, row.kind, excepted]))
    digest = verdicts.digest_of(image).removeprefix("sha256:")[:12]
    return as_attachment(HttpResponse(BOM + "".join(lines), content_type="text/csv"), f"findings-{digest}.csv")


@requires(USE)
@require_POST
def scan(request: ActorRequest, image_id: UUID) -> HttpResponse:
    try:
        image = services.ask_scan(request.actor, image_id)
    except DomainError as error:
        if isinstance(error, NotFound):
            raise
        say_refusal(request, error)
        return redirect("registry:detail", image_id)
    return done(request, _("%(name)s is scanned soon.") % {"name": image.name}, "registry:detail", image_id)


@requires(USE)
@require_http_methods(["GET", "POST"])
def policy(request: ActorRequest) -> HttpResponse:
    actor = request.actor
    may_manage, row = actor.may(Permission.IMAGES_MANAGE), selectors.policy_of(actor)
    rule = verdicts.own_rule(row) if row is not None else Rule()
    form = PolicyForm(request.POST or None, rule=rule, editable=may_manage)
    if request.method == "POST":
        actor.require(Permission.IMAGES_MANAGE)
        if form.is_valid() and _keep(actor, form):
            return done(request, _("The policy is saved."), "registry:image_policy")
    floor = platform_settings.get(ScanSettings).rule
    context = {
        "form": form,
        "may_manage": may_manage,
        "set_at": row.set_at if row else None,
        "floor_words": rule_words(floor),
        **exceptions_context(request, selectors.exceptions(actor), may_manage, "registry:exception_end"),
    }
    return render(request, "registry/scanning/policy.html", context, status=REFUSED if form.is_bound else 200)


def _keep(actor: Actor, form: PolicyForm) -> bool:
    try:
        services.set_policy(actor, form.rule())
    except DomainError as error:
        show_error(form, error)
        return False
    return True


def exceptions_context(request: Any, rows: Any, may_manage: bool, end_url: str) -> dict[str, Any]:
    """The list of exceptions, on the organisation's page and on the platform's."""
    filtered = ExceptionFilter(request.GET, queryset=rows, request=request)
    table = ExceptionTable(filtered.qs)
    table.may_manage, table.end_url, table.today = may_manage, end_url, verdicts.today()
    paged(request, table)
    return {"table": table, "filter": filtered}


def rule_words(rule: Rule) -> str:
    """A rule in a sentence or two."""
    severity = Severity(rule.severity).label
    if rule.action == PolicyAction.OFF:
        told = _("Findings change nothing.")
    elif rule.only_fixable and rule.action == PolicyAction.WARN:
        told = _(
            "A start in an image with findings of severity %(severity)s or worse "
            "that a newer package mends is warned of."
        )
    elif rule.only_fixable:
        told = _("An image with findings of severity %(severity)s or worse that a newer package mends does not start.")
    elif rule.action == PolicyAction.WARN:
        told = _("A start in an image with findings of severity %(severity)s or worse is warned of.")
    else:
        told = _("An image with findings of severity %(severity)s or worse does not start.")
    parts = [told % {"severity": severity}]
    if rule.block_unscanned:
        parts.append(_("An image that was never scanned does not start."))
    return " ".join(parts)


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def exception_new(request: ActorRequest) -> HttpResponse:
    """GET: the dialog's form, filled with `finding` and `package`. POST: add it."""
    return ask_exception(request, "registry:exception_new", "registry:image_policy", everybody=False)


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def exception_end(request: ActorRequest, exception_id: UUID) -> HttpResponse:
    rows = selectors.exceptions(request.actor)
    return ask_end(request, rows, exception_id, "registry:exception_end", "registry:image_policy", everybody=False)


def ask_exception(request: Any, here: str, back: str, *, everybody: bool) -> HttpResponse:
    filled = {name: request.GET[name][:200] for name in ("finding", "package") if name in request.GET}
    form = ExceptionForm(request.POST if request.method == "POST" else None, initial=filled)
    if request.method == "POST" and form.is_valid():
        try:
            services.add_exception(request.actor, **form.cleaned_data, everybody=everybody)
        except DomainError as error:
            show_error(form, error)
        else:
            told = _("%(finding)s is overlooked until %(day)s.")
            words = {"finding": form.cleaned_data["finding"], "day": form.cleaned_data["until"].isoformat()}
            return done(request, told % words, back)
    question = Question(
        title=_("Overlook a finding"),
        text=_("The policy acts as if it were not there, until the day that you choose. It stays in every list."),
        button=_("Overlook it"),
        action=reverse(here),
        back=_("Image policy"),
        back_url=reverse(back),
    )
    return ask(request, form, question)


def ask_end(request: Any, rows: Any, exception_id: UUID, here: str, back: str, *, everybody: bool) -> HttpResponse:
    """GET: the dialog's question. POST: end it."""
    row = rows.filter(pk=exception_id, ended_at__isnull=True).first()
    if row is None:
        raise NotFound
    if request.method == "POST":
        services.end_exception(request.actor, exception_id, everybody=everybody)
        return done(request, _("The exception for %(finding)s has ended.") % {"finding": row.finding}, back)
    context = {
        "title": _("End the exception for %(finding)s?") % {"finding": row.finding},
        "text": row.reason,
        "lost": _("The policy acts on the finding again, also for what waits in the queue"),
        "kept": _("What runs goes on"),
        "undo": _("Yes, by a new exception"),
        "action": reverse(here, args=[exception_id]),
        "button": _("End it"),
    }
    return render(request, "components/confirm_body.html", context)
