"""Starting a run: the form, its quote while one types, the upload of code."""

from pathlib import Path
from typing import Any
from uuid import UUID

from django.core.exceptions import ValidationError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from apps.billing import selectors as funds
from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.errors import DomainError, Invalid
from apps.common.forms import show_error
from apps.common.permissions import Permission
from apps.registry import selectors as registry
from apps.storage import services as storage
from apps.storage.models import Folder, FolderKind
from apps.training import command, selectors, services
from apps.training.forms import RunForm, initial_of, initial_of_example
from apps.training.models import Entry, Run
from apps.training.quoting import offer, offers

SUBMIT = in_organisation(Permission.TRAINING_SUBMIT)
EXAMPLE = Path(__file__).resolve().parent.parent / "examples" / "digits.py"


@requires(SUBMIT)
@require_http_methods(["GET", "POST"])
def new(request: HttpRequest) -> HttpResponse:
    """`?from=<run>` continues that run as its next version; otherwise the last run's settings are the defaults."""
    actor = request.actor
    if request.method == "POST":
        form = RunForm(request.POST)
        if form.is_valid():
            try:
                return redirect("training:detail", services.submit(actor, form.as_request()).pk)
            except DomainError as error:
                show_error(form, error)
        return render(request, "training/new.html", _page(actor, form), status=400)
    parent = _parent(actor, request.GET.get("from"))
    return render(request, "training/new.html", _page(actor, RunForm(initial=_initial(actor, request, parent)), parent))


def _parent(actor: Actor, text: str | None) -> Run | None:
    if not text:
        return None
    try:
        return selectors.get(actor, UUID(text))
    except ValueError:
        return None


def _initial(actor: Actor, request: HttpRequest, parent: Run | None) -> dict[str, Any]:
    if parent is not None:
        return initial_of(parent, as_version=True)
    last = None if "example" in request.GET else selectors.latest(actor)
    if last is not None:
        return initial_of(last, as_version=False)
    image, package = registry.images(actor).first(), funds.packages(actor).first()
    return initial_of_example(
        EXAMPLE.read_text(), image=image.pk if image else None, package=package.pk if package else None
    )


def _page(actor: Actor, form: RunForm, parent: Run | None = None) -> dict[str, Any]:
    parent = parent or _parent(actor, str(form["parent"].value() or ""))
    code = _uploaded(actor, form["code"].value())
    return {
        "form": form,
        "parent": parent,
        "images": registry.images(actor),
        "offers": offers(actor, list(funds.packages(actor))),
        "code_files": storage.file_names(code) if code else [],
        "parent_files": storage.file_names(parent.code) if parent else [],
        "quote": quote_context(actor, form),
    }


def _uploaded(actor: Actor, value: Any) -> Folder | None:
    try:
        return storage.own_folder(actor, UUID(str(value)), FolderKind.CODE) if value else None
    except (ValueError, DomainError):
        return None


@requires(SUBMIT)
@require_POST
def quote(request: HttpRequest) -> HttpResponse:
    """The quote card and the command for the form as it stands, complete or not."""
    context = {"quote": quote_context(request.actor, RunForm(request.POST))}
    return render(request, "training/parts/quote.html", context)


def quote_context(actor: Actor, form: RunForm) -> dict[str, Any]:
    """`offer` (None until a package is chosen), `command` text, `command_error`."""
    package = _chosen(form["package"].value(), funds.packages(actor))
    image = _chosen(form["image"].value(), registry.images(actor))
    context: dict[str, Any] = {"offer": offer(actor, package, image) if package else None, "command": ""}
    try:
        entry = Entry(str(form["entry"].value() or Entry.PYTHON))
        pairs = command.clean_arguments(form.argument_rows())
        context["command"] = command.preview(command.argv(entry, str(form["script"].value() or ""), pairs))
    except (ValueError, Invalid) as error:
        context["command_error"] = str(error)
    return context


def _chosen(value: Any, rows: Any) -> Any:
    try:
        return rows.filter(pk=value).first() if value else None
    except (ValueError, TypeError, ValidationError):  # half-typed or made up: nothing is chosen yet
        return None


@requires(SUBMIT)
@require_POST
def upload(request: HttpRequest) -> JsonResponse:
    """Take files for a run's code: into a new folder, or, with `folder`, into one made before.

    Answers {"folder": id, "files": [paths]}; errors as {"error": words}.
    """
    actor = request.actor
    files = request.FILES.getlist("files")
    paths = request.POST.getlist("paths")
    try:
        if not files:
            raise Invalid.field("files", _("Choose at least one file."))
        folder = _uploaded(actor, request.POST.get("folder"))
        if folder is None or folder.sealed:
            folder = storage.create_folder(actor, kind=FolderKind.CODE)
        for number, file in enumerate(files):
            path = paths[number] if number < len(paths) and paths[number] else file.name or ""
            storage.add_file(actor, folder=folder, path=path, content=file)
    except DomainError as error:
        return JsonResponse({"error": str(error.message), "hint": str(error.hint)}, status=error.status)
    return JsonResponse({"folder": str(folder.pk), "files": storage.file_names(folder)})
