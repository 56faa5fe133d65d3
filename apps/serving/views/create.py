"""A new service and a new version of one: the form, and its quote while one types."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from apps.billing.models import Package
from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.clock import one_moment
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.middleware import says_beside
from apps.common.pages import REFUSED
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.modelhub import selectors as models
from apps.modelhub.models import ModelVersion
from apps.registry import selectors as registry
from apps.registry.models import Image
from apps.registry.picker import architectures_of, image_choices, image_groups
from apps.serving import selectors, services, suited
from apps.serving.choices import KIND, LONGEST_NAME, Runtime
from apps.serving.forms import EXAMPLE, ServiceForm, initial_of
from apps.serving.models import Service
from apps.serving.starters import script_for
from apps.storage.choosing import mount_choices
from apps.workloads.launching.form import new_key, problems_of
from apps.workloads.launching.quote import check_field, quote_context
from apps.workloads.launching.submission import packages_on_offer
from apps.workloads.offers.picker import PackageChoice, package_choices

OFFERED_MODELS = 200
USE = in_organisation(Permission.SERVICES_USE)
ANCHORS = {"image": "s-image", "package": "s-package", "mounts": "field-id_mounts"}


@says_beside("script", "command", "smoke_body")
@requires(USE)
@require_http_methods(["GET", "POST"])
def new(request: ActorRequest) -> HttpResponse:
    """`?image=` begins with that image, `?model=` with that version of a model."""
    actor = request.actor
    if request.method != "POST":
        return render(request, "serving/new.html", _page(actor, ServiceForm(initial=_initial(actor, request))))
    form = ServiceForm(request.POST)
    if asked := request.headers.get("X-Validate"):
        return check_field(request, form, asked)
    if form.is_valid():
        try:
            made = services.create(actor, form.as_draft(), form.as_launch(), form.cleaned_data["members"])
            return redirect("serving:detail", made.pk)
        except DomainError as error:
            show_error(form, error)
    return render(request, "serving/new.html", _page(actor, form), status=REFUSED)


@says_beside("script", "command", "smoke_body")
@requires(USE)
@require_http_methods(["GET", "POST"])
def update(request: ActorRequest, service_id: UUID) -> HttpResponse:
    """The next version; it begins with the newest one, or with `?from=<version>`."""
    actor, service = request.actor, selectors.get(request.actor, service_id)
    if request.method != "POST":
        form = ServiceForm(initial=_from(service, request.GET.get("from", "")))
        return render(request, "serving/new.html", _page(actor, form, service))
    form = ServiceForm(request.POST)  # its name is posted along, and stays what it is
    if asked := request.headers.get("X-Validate"):
        return check_field(request, form, asked)
    if form.is_valid():
        try:
            services.update(actor, service.pk, form.as_draft(), form.as_launch(), form.cleaned_data["members"])
            return redirect("serving:detail", service.pk)
        except DomainError as error:
            show_error(form, error)
    return render(request, "serving/new.html", _page(actor, form, service), status=REFUSED)


def _initial(actor: Actor, request: ActorRequest) -> dict[str, Any]:
    images, package = registry.images(actor), packages_on_offer(actor).first()
    version = _asked_model(actor, request.GET.get("model", ""))
    image = (suited.best(images, version) if version else None) or images.first()
    return {
        "runtime": Runtime.SCRIPT,
        "name": version.model.name[:LONGEST_NAME] if version else "",
        "model": version.pk if version else None,
        "script": script_for(version) if version else EXAMPLE,
        "image": request.GET.get("image") or (image.pk if image else None),
        "package": package.pk if package else None,
        "members": 1,
        "key": new_key(),
    }


def _asked_model(actor: Actor, text: str) -> ModelVersion | None:
    try:
        return models.choosable(actor).filter(pk=UUID(text)).select_related("model").first() if text else None
    except ValueError:
        return None


def _from(service: Service, text: str) -> dict[str, Any]:
    found = selectors.versions(service)
    try:
        chosen = found.filter(pk=UUID(text)).first() if text else None
    except ValueError:
        chosen = None
    return initial_of(service, chosen or found[0])


def _page(actor: Actor, form: ServiceForm, service: Service | None = None) -> dict[str, Any]:
    packages, image = list(packages_on_offer(actor)), str(form["image"].value() or "")
    offered = list(registry.images(actor, containers=True))
    archs = architectures_of(offered, image)
    form.offer(models.choosable(actor).select_related("model")[:OFFERED_MODELS])
    choices = package_choices(actor, packages, archs=archs)
    return {
        "form": form,
        "service": service,
        "action": reverse("serving:update", args=[service.pk]) if service else reverse("serving:new"),
        "runtime": form["runtime"].value() or Runtime.SCRIPT,
        "packages": choices,
        "hints": {},
        "package": str(form["package"].value() or ""),
        "images": image_groups(image_choices(actor, offered), actor.user_id, image),
        "image": image,
        "mountable": mount_choices(actor, form.chosen()),
        "errors": problems_of(form, ANCHORS),
        **_quote(actor, form, packages, archs, choices),
        **_suited(actor, form, offered),
    }


@says_beside("script", "command", "smoke_body")
@requires(USE)
@require_POST
def quote(request: ActorRequest) -> HttpResponse:
    """The quote card for the form as it stands, complete or not."""
    actor, form = request.actor, ServiceForm(request.POST)
    with one_moment():
        packages = list(packages_on_offer(actor))
        images = list(registry.images(actor, containers=True))
        archs = architectures_of(images, form["image"].value())
        context = {**_quote(actor, form, packages, archs), **_suited(actor, form, images)}
        return render(request, "serving/parts/quote.html", context)


def _suited(actor: Actor, form: ServiceForm, images: Sequence[Image]) -> dict[str, Any]:
    """What the image lacks that the chosen model's script needs, and the image that has it."""
    version = _asked_model(actor, str(form["model"].value() or ""))
    image = next((each for each in images if str(each.pk) == str(form["image"].value() or "")), None)
    if version is None or image is None or form["runtime"].value() != Runtime.SCRIPT:
        return {}
    lacking = suited.lacking(image, version)
    return {"lacking": lacking, "suited": suited.best(images, version)} if lacking else {}


def _quote(
    actor: Actor,
    form: ServiceForm,
    packages: Sequence[Package],
    archs: tuple[str, ...],
    choices: Sequence[PackageChoice] | None = None,
) -> dict[str, Any]:
    return quote_context(actor, form, KIND, packages, choices, archs=archs)
