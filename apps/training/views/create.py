"""Starting a run: the form, and its quote while one types."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

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
from apps.registry.picker import architectures_of, image_choices, image_groups
from apps.secrets.choosing import fold as secrets_fold
from apps.storage import choosing
from apps.storage import services as storage
from apps.storage.copy_quote import with_copies
from apps.training import command, forking, selectors, services
from apps.training.arrays import services as arrays
from apps.training.choices import KIND
from apps.training.continuing import Start, start_options
from apps.training.forms import (
    RunForm,
    Source,
    initial_of_clone,
    initial_of_example,
    initial_of_fork,
    initial_of_last,
    initial_of_nothing,
)
from apps.training.git.forms import GitForm, require_fetched
from apps.training.git.origin import origin_of
from apps.training.launchers.base import Team
from apps.training.launchers.starting import preview
from apps.training.models import Entry, Run
from apps.training.views.code import box_context, uploaded
from apps.training.views.git import box_later, git_context
from apps.workloads.fit.hints import hints_after
from apps.workloads.launching.form import problems_of
from apps.workloads.launching.quote import check_field, quote_context
from apps.workloads.launching.submission import packages_on_offer
from apps.workloads.offers.option_picker import also_context
from apps.workloads.offers.picker import PackageChoice, package_choices
from apps.workloads.offers.quoting import resources_of
from apps.workloads.services import highest_priority

SUBMIT = in_organisation(Permission.TRAINING_SUBMIT)
EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "digits.py"


@says_beside("text", "arguments_value", "environment_value")
@requires(SUBMIT)
@require_http_methods(["GET", "POST"])
def new(request: ActorRequest) -> HttpResponse:
    """What the form starts with: `?from=<run>` that run, as its next version (on `?package=`, from `?checkpoint=`);
    `?fork=<run>` what the passport of a colleague's run shows; `?example=1` a run that works as it stands; `?blank=1`
    nothing; otherwise the last run's settings.
    """
    actor = request.actor
    if request.method != "POST":
        with one_moment():
            offered = _offered(actor)
            form = RunForm(initial=_initial(actor, request, offered))
            return render(request, "training/new.html", _page(actor, form, offered))
    form = RunForm(request.POST)
    if asked := request.headers.get("X-Validate"):
        return check_field(request, form, asked)
    if form.is_valid():
        try:
            if form.cleaned_data["source"] == Source.GIT:
                require_fetched(GitForm(request.POST, actor=actor), uploaded(actor, form.cleaned_data["git_code"]))
            return _submitted(actor, form)
        except DomainError as error:
            show_error(form, error)
    return render(request, "training/new.html", _page(actor, form, _offered(actor)), status=REFUSED)


def _submitted(actor: Actor, form: RunForm) -> HttpResponse:
    """One run, or an array of them; on to its page."""
    request, lines = _request_of(actor, form), form.array_lines()
    if lines:
        array = arrays.start(actor, request, lines, at_once=form.cleaned_data["at_once"])
        return redirect("training:array", array.pk)
    return redirect("training:detail", services.submit(actor, request).pk)


def _request_of(actor: Actor, form: RunForm) -> services.Request:
    """With the checkpoint that it goes on from. Raises as `continuing.Start.resume` does."""
    request, start = form.as_request(), form.cleaned_data["checkpoint"]
    parent = _run(actor, str(request.parent_id or "")) if start else None
    return request if parent is None else replace(request, resume=Start(start).resume(parent))


@dataclass(frozen=True, slots=True)
class Offered:
    """What a run can be made of."""

    images: Sequence[Image]
    packages: Sequence[Package]


def _offered(actor: Actor) -> Offered:
    return Offered(list(registry.images(actor, containers=True)), list(packages_on_offer(actor)))


def _run(actor: Actor, text: str | None) -> Run | None:
    if not text:
        return None
    try:
        return selectors.get(actor, UUID(text))
    except (ValueError, DomainError):
        return None


def _forked(actor: Actor, text: str | None) -> Run | None:
    try:
        return forking.forked(actor, UUID(text)) if text else None
    except (ValueError, DomainError):
        return None


def _initial(actor: Actor, request: ActorRequest, offered: Offered) -> dict[str, Any]:
    """Where the form begins; a package named in the URL wins over the one used last."""
    chosen = {"package": request.GET["package"]} if "package" in request.GET else {}
    return _beginning(actor, request, offered) | chosen


def _beginning(actor: Actor, request: ActorRequest, offered: Offered) -> dict[str, Any]:
    parent = _run(actor, request.GET.get("from"))
    if parent is not None:
        return initial_of_clone(actor, parent) | _start(request, parent) | _newest(request, parent)
    origin = _forked(actor, request.GET.get("fork"))
    if origin is not None:
        return initial_of_fork(actor, origin)
    fresh = {"example", "blank"} & set(request.GET)
    last = None if fresh else selectors.latest(actor)
    if last is not None:
        return {**initial_of_last(actor, last), "last": last}
    image = next((each.pk for each in offered.images), None)
    package = next((each.pk for each in offered.packages), None)
    if "blank" in request.GET:
        source = Source.UPLOAD if request.GET.get("source") == Source.UPLOAD else Source.WRITE
        return initial_of_nothing(image=image, package=package, source=source)
    return initial_of_example(EXAMPLE.read_text(), image=image, package=package)


def _start(request: ActorRequest, parent: Run) -> dict[str, str]:
    """`?checkpoint=` as `Start` has it, chosen on the page of the run."""
    return {"checkpoint": request.GET["checkpoint"][:300]} if "checkpoint" in request.GET else {}


def _newest(request: ActorRequest, parent: Run) -> dict[str, str]:
    """`?source=git`: to fetch what the branch of its commit is now."""
    wanted = request.GET.get("source") == Source.GIT and origin_of(parent.code) is not None
    return {"source": Source.GIT} if wanted else {}


def _page(actor: Actor, form: RunForm, offered: Offered) -> dict[str, Any]:
    parent, origin = _run(actor, str(form["parent"].value() or "")), _forked(actor, str(form["fork"].value() or ""))
    unchanged = parent or (origin if origin is not None and forking.takes_code(actor, origin) else None)
    before = parent or form.initial.get("last")
    packages = offered.packages
    image = str(form["image"].value() or "")
    archs = architectures_of(offered.images, image)
    choices = package_choices(actor, packages, archs=archs)
    form.offer_priorities(highest_priority(actor))
    return {
        "form": form,
        "parent": parent,
        "next_version": selectors.newest_version(parent) + 1 if parent else 1,
        "last": form.initial.get("last"),
        "images": image_groups(image_choices(actor, offered.images), actor.user_id, image),
        "image": image,
        "packages": choices,
        **also_context(actor, form, packages),
        "hints": hints_after(before.workload if before else None, packages),
        "package": str(form["package"].value() or ""),
        "source": form["source"].value() or "write",
        "mountable": choosing.mount_choices(actor, form.chosen()),
        "secrets": secrets_fold(actor, form.chosen_secrets(), form.initial.get("secrets_anew", ())),
        "secrets_anew": form.initial.get("secrets_anew", ()),
        "starts": start_options(parent) if parent else [],
        "start": str(form["checkpoint"].value() or ""),
        "origin": origin,
        **_git(actor, form, parent or origin),
        "missing": _missing(actor, origin, offered) if origin else [],
        "unchanged": unchanged,
        "unchanged_files": storage.file_names(unchanged.code) if unchanged else [],
        "errors": problems_of(form, ANCHORS),
        **box_context(uploaded(actor, form["code"].value()), script=str(form["script"].value() or "")),
        **_quote(actor, form, packages, archs, choices),
    }


def _git(actor: Actor, form: RunForm, before: Run | None) -> dict[str, Any]:
    """The box of the repository: as typed, else what was fetched, else of which commit the run `before` is made.

    In a form in which nothing speaks of one, the page asks for the box when somebody wants to see it.
    """
    folder = uploaded(actor, form["git_code"].value())
    data = form.data if form.is_bound else None
    origin = origin_of(folder or (before.code if before else None))
    if data is None and origin is None and form["source"].value() != Source.GIT:
        return box_later()
    named = GitForm(data, actor=actor, origin=origin, newest=not form["fork"].value())
    return {
        **git_context(named, folder, script=str(form["script"].value() or "")),
        "unchanged_origin": origin_of(before.code) if before else None,
    }


def _missing(actor: Actor, origin: Run, offered: Offered) -> list[str]:
    images, packages = [each.pk for each in offered.images], [each.pk for each in offered.packages]
    return forking.missing(actor, origin, image_ids=images, package_ids=packages)


# Where a problem can be mended: the fields that have an element of their own on the page.
ANCHORS = {
    "image": "s-image",
    "package": "s-package",
    "code": "code-box",
    "git_code": "git-box",
    "source": "s-code",
}


@says_beside("text", "arguments_value", "environment_value")
@requires(SUBMIT)
@require_POST
def quote(request: ActorRequest) -> HttpResponse:
    """The quote card and the command for the form as it stands, complete or not."""
    form = RunForm(request.POST)
    with one_moment():
        packages = list(packages_on_offer(request.actor))
        archs = architectures_of(registry.images(request.actor, containers=True), form["image"].value())
        context = _quote(request.actor, form, packages, archs) | also_context(request.actor, form, packages)
        return render(request, "training/parts/quote.html", context)


def _quote(
    actor: Actor,
    form: RunForm,
    packages: Sequence[Package],
    archs: tuple[str, ...],
    choices: Sequence[PackageChoice] | None = None,
) -> dict[str, Any]:
    """With `command` as text, or what is still missing for one."""
    context = quote_context(actor, form, KIND, packages, choices, archs=archs)
    quote = with_copies(actor, context["quote"], form.chosen())
    return {**context, "quote": quote, **_command(form, packages)}


def _command(form: RunForm, packages: Sequence[Package]) -> dict[str, str]:
    try:
        entry = Entry(str(form["entry"].value() or Entry.PYTHON))
        pairs = command.clean_arguments(form.argument_rows())
        words = command.argv(entry, str(form["script"].value() or ""), pairs)
        return {"command": preview(form.chosen_launcher(), _team(form, packages), words)}
    except Invalid as error:
        return {"command": str(error.message)}
    except ValueError:
        return {"command": _("Choose the kind of entry.")}


def _team(form: RunForm, packages: Sequence[Package]) -> Team:
    """As far as it is typed: what is no number of members yet counts as one."""
    chosen = str(form["package"].value() or "")
    package = next((each for each in packages if str(each.pk) == chosen), None)
    members, least = _typed(form, "members") or 1, _typed(form, "least_members") if form.may_be_fewer() else None
    if package is None:
        return Team(1)
    return Team.of(replace(resources_of(package), members=members, least_members=least))


def _typed(form: RunForm, name: str) -> int | None:
    try:
        number: int | None = form.fields[name].clean(form[name].value())
    except ValidationError:
        return None
    return number
