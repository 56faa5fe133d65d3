"""Making a model's next version, of a volume or of what is uploaded here."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from apps.common.access import in_organisation, requires
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.modelhub import selectors, services
from apps.modelhub.choices import Source
from apps.modelhub.forms import AddVersionForm
from apps.modelhub.services import Lineage
from apps.storage import browser, drafts
from apps.storage.choices import RootKind
from apps.storage.roots import resolve, root_of_folder
from apps.storage.views import things

NEW = "models/add_version.html"


@requires(in_organisation(Permission.MODELS_USE))
@require_http_methods(["GET", "POST"])
def add_version(request: ActorRequest, model_id: UUID) -> HttpResponse:
    """Upload here and make a version of that, or choose a folder or file of a volume (`?volume=`)."""
    actor = request.actor
    model = selectors.get_writable(actor, model_id)
    draft = root_of_folder(drafts.draft_of(actor, model))
    context = {"model": model, "files": browser.context(actor, draft, request.GET)}
    if request.method != "POST":
        form = AddVersionForm(actor=actor, initial={"volume": request.GET.get("volume"), "path": request.GET.get("at")})
        return render(request, NEW, {**context, "form": form, "source": "volume" if "volume" in request.GET else ""})
    form = AddVersionForm(request.POST, actor=actor)
    from_volume = request.POST.get("source") == "volume"
    form.fields["volume"].required = from_volume

    def do() -> HttpResponse:
        data = form.cleaned_data
        if from_volume:
            source = resolve(actor, RootKind.VOLUME, UUID(data["volume"]))
            lineage = Lineage(Source.VOLUME, source.title)
        else:
            source, lineage = draft, Lineage(Source.UPLOAD)
        path = data["path"] if from_volume else ""
        version = services.add_version(actor, model, source, path, lineage=lineage, note=data["note"])
        messages.success(request, _("The version is being copied; this page shows when it is ready."))
        return redirect("models:version", version.pk)

    return things.submit_or_rerender(request, form, NEW, {**context, "source": "volume" if from_volume else ""}, do)
