"""The settings page of package review."""

from django.http import HttpResponse
from django.views.decorators.http import require_http_methods

from apps.common.access import requires
from apps.console.forms.settings.review import ReviewForm
from apps.console.requests import StaffRequest
from apps.console.settings.editing import VIEW, edit


@requires(VIEW)
@require_http_methods(["GET", "POST"])
def review(request: StaffRequest) -> HttpResponse:
    return edit(request, "settings_review", ReviewForm, template="console/settings/review.html")
