"""Starting a build: the form, its files, and its quote while one types."""

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from apps.billing.models import Package
from apps.builds import adaptation, selectors, services
from apps.builds.choices import KIND
from apps.builds.forms import BuildForm, Source
from apps.builds.models import Build
from apps.builds.recipes import base_for
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
from apps.registry.distribution.client import is_configured
from apps.registry.models import Image
from apps.registry.recipes.catalogue import find
from apps.storage import services as storage
from apps.storage.models import Folder, FolderKind
from apps.workloads.launching.form import new_key, problems_of
from apps.workloads.launching.quote import check_field, quote_context
from apps.workloads.launching.submission import packages_on_offer
from apps.workloads.offers.option_picker import also_context
from apps.workloads.offers.picker import PackageChoice, package_choices

USE = in_organisation(Permission.IMAGES_USE)
ANCHORS = {"package": "s-package"}


@says_beside("containerfile", "commands", "pip")
@requires(USE)
@require_http_methods(["GET", "POST"])
def new(request: ActorRequest) -> HttpResponse:
    """`?from=<build>` begins with the Containerfile of that one, as the next version of its image.

    `?adapt=<image>` begins with one that adds what an environment needs, `?recipe=` with the Containerfile of one of
    the platform's recipes, or, where it names an image, with the packages of that runtime.
    """
    actor = request.actor
    if request.method != "POST":
        with one_moment():
            form = _form(actor, initial=_initial(actor, request.GET))
            return render(request, "builds/new.html", _page(actor, form))
    form = _form(actor, request.POST)
    if asked := request.headers.get("X-Validate"):
        return check_field(request, form, asked)
    if form.is_valid():
        try:
            return redirect("builds:detail", services.submit(actor, form.as_order(), form.as_launch()).pk)
        except DomainError as error:
            show_error(form, error)
    return render(request, "builds/new.html", _page(actor, form), status=REFUSED)


def _form(actor: Actor, *args: Any, **kwargs: Any) -> BuildForm:
    return BuildForm(*args, bases=selectors.bases(actor), **kwargs)


def _initial(actor: Actor, asked: Mapping[str, str]) -> dict[str, Any]:
    package = next((each.pk for each in packages_on_offer(actor)[:1]), None)
    found: dict[str, Any] = {"key": new_key(), "source": Source.FORM, "package": package}
    before, image = _build(actor, asked.get("from")), _image(actor, asked.get("adapt"))
    if image is not None:
        text = adaptation.containerfile(image)
        found |= {"name": adaptation.name_for(image), "source": Source.CONTAINERFILE, "containerfile": text,
                  "adapts": image}  # fmt: skip
    runtime = _runtime(actor, asked.get("recipe"))
    if runtime is not None:
        found |= {"name": adaptation.name_for(runtime, "image"), "pip": "\n".join(runtime.requirements)}
    recipe = find(asked.get("recipe", ""))
    if recipe is not None:
        base = base_for(recipe, selectors.bases(actor))
        found |= {"name": recipe.key, "source": Source.CONTAINERFILE, "containerfile": recipe.containerfile(base or ""),
                  "lacks_base": "" if base else recipe.base}  # fmt: skip
    if before is not None:
        found |= {
            "name": before.name,
            "source": Source.CONTAINERFILE,
            "containerfile": before.containerfile,
            "target": before.target,
            "without_cache": before.without_cache,
            "folder": before.files_id if before.owner_id == actor.user_id else None,
            "package": before.workload.package_id,
        }
    return found


def _build(actor: Actor, text: str | None) -> Build | None:
    try:
        return selectors.get(actor, UUID(text)) if text else None
    except (ValueError, DomainError):
        return None


def _image(actor: Actor, text: str | None) -> Image | None:
    try:
        return selectors.bases(actor).filter(pk=UUID(text)).first() if text else None
    except ValueError:
        return None


def _runtime(actor: Actor, text: str | None) -> Image | None:
    try:
        return registry.images(actor).filter(pk=UUID(text)).first() if text else None
    except ValueError:
        return None


def _page(actor: Actor, form: BuildForm) -> dict[str, Any]:
    packages = list(packages_on_offer(actor))
    choices = package_choices(actor, packages)
    return {
        "form": form,
        "adapts": form.initial.get("adapts"),
        "lacks_base": form.initial.get("lacks_base"),
        "has_registry": is_configured(),
        "has_cache": bool(settings.BUILD_CACHE_BYTES),
        "manages_images": actor.may(Permission.IMAGES_MANAGE),
        "has_bases": selectors.bases(actor).exists(),
        "packages": choices,
        "package": str(form["package"].value() or ""),
        "source": form["source"].value() or Source.FORM,
        "hints": {},
        "errors": problems_of(form, ANCHORS),
        **also_context(actor, form, packages),
        **_box(_uploaded(actor, form["folder"].value())),
        **_quote(actor, form, packages, choices),
    }


def _quote(
    actor: Actor, form: BuildForm, packages: Sequence[Package], choices: Sequence[PackageChoice] | None = None
) -> dict[str, Any]:
    return quote_context(actor, form, KIND, packages, choices)


@says_beside("containerfile", "commands", "pip")
@requires(USE)
@require_POST
def quote(request: ActorRequest) -> HttpResponse:
    """The quote card for the form as it stands, complete or not."""
    actor, form = request.actor, _form(request.actor, request.POST)
    with one_moment():
        packages = list(packages_on_offer(actor))
        context = _quote(actor, form, packages) | also_context(actor, form, packages)
        return render(request, "builds/parts/quote.html", context)


@requires(USE)
@require_POST
def preview(request: ActorRequest) -> HttpResponse:
    """The stages of the Containerfile as it stands, or what is wrong with it; nothing while none is written."""
    actor, asked = request.actor, request.POST
    text = asked.get("containerfile", "") if asked.get("source") == Source.CONTAINERFILE else ""
    context: dict[str, Any] = {}
    if text.strip():
        folder = _uploaded(actor, asked.get("folder"))
        order = services.Order(text, folder.pk if folder else None, target=asked.get("target", "").strip())
        try:
            context["stages"] = services.preview(actor, order)
        except Invalid as error:
            context["problem"] = error.sentences
    return render(request, "builds/parts/preview.html", context)


@requires(USE)
@require_POST
def upload(request: ActorRequest) -> HttpResponse:
    """Add `uploads` to the folder named by `folder`, or to a new one; `clear=1` starts over. Responds with the box.

    422 with the reason if a file is refused; earlier files stay.
    """
    actor = request.actor
    folder = None if "clear" in request.POST else _uploaded(actor, request.POST.get("folder"))
    try:
        if "clear" not in request.POST:
            folder = _add(actor, request, folder)
    except DomainError as error:
        context = _box(folder) | {"upload_error": error.message, "upload_hint": error.hint}
        return render(request, "builds/parts/files.html", context, status=REFUSED)
    return render(request, "builds/parts/files.html", _box(folder))


def _add(actor: Actor, request: ActorRequest, folder: Folder | None) -> Folder:
    files = request.FILES.getlist("uploads")
    if not files:
        raise Invalid.field("files", _("Choose at least one file."))
    return storage.add_code(actor, None if folder is None or folder.sealed else folder, files)


def _uploaded(actor: Actor, value: Any) -> Folder | None:
    """The actor's own folder of that id; None for anything else."""
    try:
        return storage.own_folder(actor, UUID(str(value)), FolderKind.CODE) if value else None
    except (ValueError, DomainError):
        return None


def _box(folder: Folder | None) -> dict[str, Any]:
    return {"files_folder": folder, "file_names": storage.file_names(folder) if folder else []}
