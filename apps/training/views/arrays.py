"""Arrays: what would start while one types, the page of one, and what can be done with all of its runs."""

from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_GET, require_POST

from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.errors import DomainError, Invalid
from apps.common.pages import say_refusal
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.training.arrays import selectors, services
from apps.training.arrays.lines import FIELD, MOST_TEXT, Line, Shape, read_lines
from apps.training.arrays.quote import ArrayQuote, quote_of
from apps.training.forms import RunForm
from apps.training.models import RunArray
from apps.training.selectors import last_event_id
from apps.workloads.launching.quote import members_of
from apps.workloads.launching.submission import packages_on_offer

VIEW = in_organisation(Permission.TRAINING_VIEW)
SUBMIT = in_organisation(Permission.TRAINING_SUBMIT)


@requires(SUBMIT)
@require_POST
def preview(request: ActorRequest) -> HttpResponse:
    """What the lines of the form would start and cost; of a file, `lines_file`, its text comes along for the field."""
    data, context = request.POST.copy(), {}
    upload = request.FILES.get("lines_file")
    try:
        if upload is not None:
            data[FIELD], data["line_shape"] = _text_of(upload), _shape_of(upload)
            context = {"text": data[FIELD], "shape": data["line_shape"]}
        form = RunForm(data)
        context |= _previewed(request.actor, form, str(data.get(FIELD, "")))
    except Invalid as error:
        context["problem"] = str(error.message)
    return render(request, "training/parts/lines_preview.html", context)


def _text_of(upload: "UploadedFile[bytes]") -> str:
    if (upload.size or 0) > MOST_TEXT:
        raise Invalid.field(FIELD, _("This is more than 256 KiB of text."))
    try:
        return str(upload.read().decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        raise Invalid.field(FIELD, _("The file is not text in UTF-8. Save it so, or paste the lines.")) from error


def _shape_of(upload: "UploadedFile[bytes]") -> Shape:
    return Shape.CSV if str(upload.name or "").lower().endswith((".csv", ".tsv")) else Shape.WORDS


def _previewed(actor: Actor, form: RunForm, text: str) -> dict[str, Any]:
    if not text.strip():
        return {}
    lines = read_lines(text, form.chosen_shape(), form.argument_rows())
    return {"lines": lines, "quote": _quote(actor, form, lines)}


def _quote(actor: Actor, form: RunForm, lines: list[Line]) -> ArrayQuote | None:
    """None while no package is chosen that has a price."""
    chosen, at_once = str(form["package"].value() or ""), str(form["at_once"].value() or "")
    package = next((each for each in packages_on_offer(actor) if str(each.pk) == chosen), None)
    if package is None:
        return None
    most = int(at_once) if at_once.isascii() and at_once.isdigit() and len(at_once) < 4 else None
    try:
        return quote_of(actor, package, len(lines), members=members_of(form), at_once=most or None)
    except DomainError:
        return None


@requires(VIEW)
@require_GET
def detail(request: ActorRequest, array_id: UUID) -> HttpResponse:
    actor, array = request.actor, selectors.get(request.actor, array_id)
    lines = selectors.lines(array)
    context = {
        "array": array,
        "lines": lines,
        "progress": selectors.progress_of(lines),
        "may_act": actor.may(Permission.TRAINING_SUBMIT),
        "last_event_id": last_event_id(actor),
    }
    return render(request, "training/array.html", context)


@requires(SUBMIT)
@require_GET
def ask(request: ActorRequest, array_id: UUID, name: str) -> HttpResponse:
    """The question before `stop` or `rerun`, for the page's dialog."""
    array = selectors.get(request.actor, array_id)
    progress = selectors.progress_of(selectors.lines(array))
    if name == "stop":
        return render(request, "components/confirm_body.html", _stop_question(array, progress))
    if name == "rerun":
        return render(request, "components/confirm_body.html", _rerun_question(array, progress))
    raise Http404


def _stop_question(array: RunArray, progress: selectors.Progress) -> dict[str, Any]:
    live = progress.running + progress.queued
    counts = {"live": live, "waiting": progress.waiting}
    return {
        "title": _("Stop all runs of %(name)s?") % {"name": array.name},
        "text": _("%(live)s that run or are queued are asked to stop; %(waiting)s that wait do not start.") % counts,
        "lost": _("What they have not saved"),
        "kept": _("Their output, logs and checkpoints"),
        "undo": _("No; they can be run again from the start"),
        "action": reverse("training:array_stop", args=[array.pk]),
        "button": _("Stop all"),
        "cancel": _("Keep training"),
    }


def _rerun_question(array: RunArray, progress: selectors.Progress) -> dict[str, Any]:
    title = ngettext("Run %(count)s failed line again?", "Run %(count)s failed lines again?", progress.failed)
    return {
        "title": title % {"count": progress.failed},
        "text": _("Each becomes a new version with the same arguments, at today's price."),
        "kept": _("The failed runs with their logs"),
        "action": reverse("training:array_rerun", args=[array.pk]),
        "button": _("Run again"),
        "plain": True,
    }


@requires(SUBMIT)
@require_POST
def stop(request: ActorRequest, array_id: UUID) -> HttpResponse:
    array = selectors.get(request.actor, array_id)
    try:
        services.stop(request.actor, array)
    except DomainError as error:
        say_refusal(request, error)
    else:
        messages.success(request, _("Asked to stop; they end within seconds."))
    return redirect("training:array", array.pk)


@requires(SUBMIT)
@require_POST
def rerun_failed(request: ActorRequest, array_id: UUID) -> HttpResponse:
    array = selectors.get(request.actor, array_id)
    try:
        count = services.rerun_failed(request.actor, array)
    except DomainError as error:
        say_refusal(request, error)
    else:
        told = ngettext("%(count)s line starts again.", "%(count)s lines start again.", count)
        messages.success(request, told % {"count": count})
    return redirect("training:array", array.pk)
