"""The settings page of the queue."""

from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from apps.common.access import requires
from apps.console.forms.settings.queue import QueueForm
from apps.console.requests import StaffRequest
from apps.console.settings.editing import VIEW, edit


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def queue(request: StaffRequest) -> HttpResponse:
    return edit(request, "settings_queue", QueueForm, template="console/settings/queue.html")
