"""The console's API, room by room, and what organisations' own pages ask."""

from django.urls import include, path

from apps.console.audit import urls as audit
from apps.console.finance import urls as finance
from apps.console.hardware import urls as hardware
from apps.console.overview import urls as overview
from apps.console.people import urls as people
from apps.console.people.requests import urls as requests
from apps.console.queue import urls as queue
from apps.console.settings import urls as settings
from apps.console.work import urls as work

_console = [
    *audit.endpoints,
    *finance.endpoints,
    *hardware.endpoints,
    *overview.endpoints,
    *people.endpoints,
    *queue.endpoints,
    *settings.endpoints,
    *work.endpoints,
]

urlpatterns = [
    path("console/", include(_console)),
    path("organisation/", include("apps.console.organisation.api_urls")),
    path("package-requests/", include(requests.organisation_endpoints)),
]
