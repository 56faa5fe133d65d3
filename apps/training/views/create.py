"""Starting a run: the form, and its quote while one types."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from apps.billing import selectors as funds
from apps.billing.models import Package
from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.clock import one_moment
from apps.common.errors import DomainError, Invalid
from apps.common.forms import show_error
from apps.common.middleware import says_beside
from apps.common.pages import REFUSED
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.registry import selectors as registry
from apps.registry.models import Image
from apps.registry.picker import image_choices
from apps.storage import choosing
from apps.storage import services as storage
from apps.training import command, selectors, services
from apps.training.choices import KIND
from apps.training.forms import RunForm, Source, initial_of, initial_of_example, initial_of_nothing
from apps.training.models import Entry, Run
from apps.training.views.code import box_context, uploaded
from apps.workloads import selectors as workloads
from apps.workloads.fit.hints import hints
from apps.workloads.launching.form import problems_of
from apps.workloads.launching.quote import checked, quote_context
from apps.workloads.models import Workload
from apps.workloads.offers.option_picker import also_context
from apps.workloads.offers.picker import PackageChoice, package_choices
from apps.workloads.services import highest_priority

SUBMIT = in_organisation(Permission.TRAINING_SUBMIT)
EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "digits.py"


@says_beside("text", "arguments_value", "environment_value")
@requires(SUBMIT)
@require_http_methods(["GET", "POST"])
def new(request: ActorRequest) -> HttpResponse:
    """What the form starts with: `?from=<run>` that run, as its next version (on `?package=`); `?example=1` a run that
    works as it stands; `?blank=1` nothing; otherwise the last run's settings."""
    actor = request.actor
    if request.method != "POST":
        with one_moment():
            offered = _offered(actor)
            form = RunForm(initial=_initial(actor, request, offered))
            return render(request, "training/new.html", _page(actor, form, offered))
    form = RunForm(request.POST)
    if asked := request.headers.get("X-Validate"):
        return checked(request, form, asked)
    if form.is_valid():
        try:
            return redirect("training:detail", services.submit(actor, form.as_request()).pk)
        except DomainError as error:
            show_error(form, error)
    return render(request, "training/new.html", _page(actor, form, _offered(actor)), status=REFUSED)


@dataclass(frozen=True, slots=True)
class Offered:
    """What a run can be made of."""

    images: Sequence[Image]
    packages: Sequence[Package]


def _offered(actor: Actor) -> Offered:
    return Offered(list(registry.images(actor)), list(funds.packages(actor)))


def _run(actor: Actor, text: str | None) -> Run | None:
    if not text:
        return None
    try:
        return selectors.get(actor, UUID(text))
    except (ValueError, DomainError):
        return None


def _initial(actor: Actor, request: ActorRequest, offered: Offered) -> dict[str, Any]:
    """Where the form begins; a package named in the URL wins over the one used last."""
    chosen = {"package": request.GET["package"]} if "package" in request.GET else {}
    return _beginning(actor, request, offered) | chosen


def _beginning(actor: Actor, request: ActorRequest, offered: Offered) -> dict[str, Any]:
    parent = _run(actor, request.GET.get("from"))
    if parent is not None:
        return initial_of(parent, as_version=True)
    fresh = {"example", "blank"} & set(request.GET)
    last = None if fresh else selectors.latest(actor)
    if last is not None:
        return {**initial_of(last, as_version=False), "last": last}
    image = next((each.pk for each in offered.images), None)
    package = next((each.pk for each in offered.packages), None)
    if "blank" in request.GET:
        source = Source.UPLOAD if request.GET.get("source") == Source.UPLOAD else Source.WRITE
        return initial_of_nothing(image=image, package=package, source=source)
    return initial_of_example(EXAMPLE.read_text(), image=image, package=package)


def _page(actor: Actor, form: RunForm, offered: Offered) -> dict[str, Any]:
    parent = _run(actor, str(form["parent"].value() or ""))
    before = parent or form.initial.get("last")
    packages = offered.packages
    choices = package_choices(actor, packages)
    form.offer_priorities(highest_priority(actor))
    return {
        "form": form,
        "parent": parent,
        "next_version": selectors.newest_version(parent) + 1 if parent else 1,
        "last": form.initial.get("last"),
        "images": image_choices(offered.images),
        "image": str(form["image"].value() or ""),
        "packages": choices,
        **also_context(actor, form, packages),
        "hints": _hints(before.workload, choices) if before else {},
        "package": str(form["package"].value() or ""),
        "source": form["source"].value() or "write",
        "mountable": choosing.rows(actor, form.chosen()),
        "parent_files": storage.file_names(parent.code) if parent else [],
        "errors": problems_of(form, ANCHORS),
        **box_context(uploaded(actor, form["code"].value()), script=str(form["script"].value() or "")),
        **_quote(actor, form, packages, choices),
    }


def _hints(before: Workload, choices: list[PackageChoice]) -> dict[int, str]:
    """What the run before says about each package."""
    return hints(before, workloads.attempts(before), [choice.package for choice in choices])


# Where a problem can be mended: the fields that have an element of their own on the page.
ANCHORS = {"image": "s-image", "package": "s-package", "code": "code-box", "source": "s-code"}


@says_beside("text", "arguments_value", "environment_value")
@requires(SUBMIT)
@require_POST
def quote(request: ActorRequest) -> HttpResponse:
    """The quote card and the command for the form as it stands, complete or not."""
    form = RunForm(request.POST)
    with one_moment():
        packages = list(funds.packages(request.actor))
        context = _quote(request.actor, form, packages) | also_context(request.actor, form, packages)
        return render(request, "training/parts/quote.html", context)


def _quote(
    actor: Actor, form: RunForm, packages: Sequence[Package], choices: Sequence[PackageChoice] | None = None
) -> dict[str, Any]:
    """With `command` as text, or what is still missing for one."""
    return {**quote_context(actor, form, KIND, packages, choices), **_command(form)}


def _command(form: RunForm) -> dict[str, str]:
    try:
        entry = Entry(str(form["entry"].value() or Entry.PYTHON))
        pairs = command.clean_arguments(form.argument_rows())
        return {"command": command.preview(command.argv(entry, str(form["script"].value() or ""), pairs))}
    except Invalid as error:
        return {"command": str(error.message)}
    except ValueError:
        return {"command": _("Choose the kind of entry.")}
