"""Pages of the console, room by room."""

from apps.console.audit import urls as audit
from apps.console.finance import urls as finance
from apps.console.hardware import urls as hardware
from apps.console.notices import urls as notices
from apps.console.overview import urls as overview
from apps.console.people import urls as people
from apps.console.queue import urls as queue
from apps.console.search import urls as search
from apps.console.settings import urls as settings
from apps.console.work import urls as work

app_name = "console"

urlpatterns = [
    *audit.pages,
    *finance.pages,
    *hardware.pages,
    *notices.pages,
    *overview.pages,
    *people.pages,
    *queue.pages,
    *search.pages,
    *settings.pages,
    *work.pages,
]
