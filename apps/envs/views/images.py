"""Saving an environment as an image in the registry: what the dialog posts."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from apps.common.access import in_organisation, requires
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.pages import REFUSED
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.envs import selectors
from apps.envs.services import images
from apps.envs.views import questions
from apps.registry.saving.forms import SavingForm


@requires(in_organisation(Permission.ENVIRONMENTS_USE))
@require_POST
def save_image(request: ActorRequest, environment_id: UUID) -> HttpResponse:
    """The dialog again with what is wrong beside its fields, or on to the page of the environment."""
    environment = selectors.get(request.actor, environment_id)
    form = SavingForm(request.POST, actor=request.actor)
    if form.is_valid():
        try:
            saving = images.save_in_registry(request.actor, environment, form.new())
        except DomainError as error:
            show_error(form, error)
        else:
            messages.success(request, _("It is being saved as %(image)s.") % {"image": saving})
            page = reverse("envs:detail", args=[environment.pk])
            if "HX-Request" in request.headers:
                return HttpResponse(status=204, headers={"HX-Redirect": page})
            return redirect(page)
    context = questions.registry_image(environment, form)
    return render(request, context.pop("template"), context, status=REFUSED)
