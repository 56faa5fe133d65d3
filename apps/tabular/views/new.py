"""Starting a search: the table first, then what its head says of the columns, and what the search would cost."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from apps.billing.models import Package
from apps.common.access import in_organisation, requires
from apps.common.actor import Actor
from apps.common.clock import one_moment
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.money import yuan
from apps.common.pages import REFUSED
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.storage import datasets
from apps.storage.choices import RootKind
from apps.storage.choosing import Chosen
from apps.storage.copy_quote import with_copies
from apps.storage.models import DatasetVersion
from apps.tabular import preview as heads
from apps.tabular import services
from apps.tabular.choices import METRICS, Learner, Warned
from apps.tabular.forms import TableSearchForm
from apps.tabular.preview import Preview
from apps.training.choices import KIND
from apps.workloads.launching.form import new_key, problems_of
from apps.workloads.launching.quote import check_field, quote_context
from apps.workloads.launching.submission import packages_on_offer
from apps.workloads.offers.picker import PackageChoice, package_choices

SUBMIT = in_organisation(Permission.TRAINING_SUBMIT)
OFFERED_VERSIONS = 100
LEAST_MEMORY_MIB = 1024
ANCHORS = {
    "package": "packages",
    "target": "s-columns",
    "left_out": "s-columns",
    "file": "s-table",
    "version": "s-table",
}


@requires(SUBMIT)
@require_http_methods(["GET", "POST"])
def new(request: ActorRequest) -> HttpResponse:
    """GET: `?version=` and `?file=` of which table, `?target=` of which column. POST: start it."""
    actor = request.actor
    if request.method != "POST":
        with one_moment():
            return render(request, "tabular/new.html", _first_page(actor, request))
    form = TableSearchForm(request.POST)
    if asked := request.headers.get("X-Validate"):
        return check_field(request, form, asked)
    if form.is_valid():
        try:
            return redirect("tabular:detail", services.start(actor, form.wanted()).pk)
        except DomainError as error:
            show_error(form, error)
    chosen, path = str(form["version"].value() or ""), str(form["file"].value() or "")
    table = _table(actor, chosen, path)
    return render(request, "tabular/new.html", _page(actor, form, table), status=REFUSED)


def _first_page(actor: Actor, request: ActorRequest) -> dict[str, Any]:
    table = _table(actor, request.GET.get("version", ""), request.GET.get("file", ""))
    packages = list(packages_on_offer(actor))
    form = TableSearchForm(initial=_initial(table, packages, request.GET.get("target", "")))
    return _page(actor, form, table, packages)


def _table(actor: Actor, chosen: str, path: str) -> dict[str, Any]:
    """The version, its files and the head of one; what is wrong with it in `table_problem`."""
    version = _version(actor, chosen)
    files = heads.table_files(version) if version is not None else []
    if files and path not in {each.path for each in files} and len(files) < heads.MOST_FILES:
        path = files[0].path  # of another version, where one was chosen before
    found: dict[str, Any] = {"version": version, "files": files, "path": path, "preview": None, "table_problem": ""}
    if version is not None and path:
        try:
            found["preview"] = heads.read(actor, version, path)
        except DomainError as error:
            found["table_problem"] = error.sentences
    return found


def _version(actor: Actor, text: str) -> DatasetVersion | None:
    try:
        return datasets.get_version(actor, UUID(text)) if text else None
    except (ValueError, DomainError):
        return None


def _initial(table: dict[str, Any], packages: Sequence[Package], target: str) -> dict[str, Any]:
    """`target`: chosen already; else a likely one."""
    preview: Preview | None = table["preview"]
    plain = [each for each in packages if not each.gpu_count and each.memory_mib >= LEAST_MEMORY_MIB]
    found = {
        "key": new_key(),
        "package": next((each.pk for each in (*plain, *packages)), None),
        "folds": 5,
        "holdout": 20,
        "test": 20,
        "minutes": 10,
        "seed": 0,
        "learners": [each.value for each in Learner],
    }
    if preview is None:
        return found
    target = target if preview.column(target) else heads.likely_target(preview)
    task = heads.guessed_task(preview, target)
    left_out = [each.name for each in preview.columns if Warned.ID_LIKE in each.warnings and each.name != target]
    return {
        **found,
        "version": table["version"].pk,
        "file": table["path"],
        "name": table["version"].dataset.name,
        "target": target,
        "task": task.value,
        "metric": METRICS[task][0].value,
        "left_out": left_out,
    }


def _page(
    actor: Actor, form: TableSearchForm, table: dict[str, Any], packages: Sequence[Package] | None = None
) -> dict[str, Any]:
    """Everything around the form."""
    packages = list(packages_on_offer(actor)) if packages is None else packages
    preview: Preview | None = table["preview"]
    choices = package_choices(actor, packages)
    if preview is not None:
        form.offer_columns([each.name for each in preview.columns])
    return {
        **table,
        **_quote(actor, form, packages, choices),
        "form": form,
        "versions": list(datasets.choosable(actor)[:OFFERED_VERSIONS]) if actor.may(Permission.STORAGE_VIEW) else [],
        "packages": choices,
        "hints": {},  # a search is no run that was made before
        "package": str(form["package"].value() or ""),
        "target": str(form["target"].value() or ""),
        "left_out": set(form["left_out"].value() or ()),
        "leaky": set(heads.leaky_columns(preview, str(form["target"].value() or ""))) if preview else set(),
        "leaky_words": Warned.LEAKY.label,
        "problems": problems_of(form, ANCHORS),
    }


@requires(SUBMIT)
@require_POST
def quote(request: ActorRequest) -> HttpResponse:
    """What the form as it stands would cost, complete or not."""
    form = TableSearchForm(request.POST)
    with one_moment():
        packages = list(packages_on_offer(request.actor))
        return render(request, "tabular/parts/quote.html", _quote(request.actor, form, packages))


def _quote(
    actor: Actor,
    form: TableSearchForm,
    packages: Sequence[Package],
    choices: Sequence[PackageChoice] | None = None,
) -> dict[str, Any]:
    """The price of an hour, and of the minutes that are searched."""
    context = quote_context(actor, form, KIND, packages, choices)
    version = _version(actor, str(form["version"].value() or ""))
    chosen = [Chosen(RootKind.VERSION, version.pk)] if version is not None else []
    card = with_copies(actor, context["quote"], chosen)
    found = choices if choices is not None else package_choices(actor, packages)
    return {**context, "quote": _with_minutes(form, card, found)}


def _with_minutes(form: TableSearchForm, card: dict[str, Any], choices: Sequence[PackageChoice]) -> dict[str, Any]:
    chosen, typed = str(form["package"].value() or ""), str(form["minutes"].value() or "")
    rate = next((each.rate_fen_per_hour for each in choices if str(each.package.pk) == chosen), None)
    if rate is None or not card.get("rows") or not (typed.isascii() and typed.isdigit() and len(typed) <= 4):
        return card
    row = {
        "label": _("Searching for %(minutes)s min") % {"minutes": int(typed)},
        "value": yuan(-(-int(rate * int(typed)) // 60)),
        "sub": _("and the minutes in which it reads the table and judges the best model"),
    }
    return {**card, "rows": [row, *card["rows"]]}
