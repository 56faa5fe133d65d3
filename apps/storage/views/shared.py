"""What the pages of storage share."""

import json
from http import HTTPStatus
from typing import Any

from django.http import HttpResponse
from django.utils.functional import Promise
from django_tables2 import RequestConfig

from apps.common.access import in_organisation
from apps.common.permissions import Permission
from apps.common.requests import ActorRequest
from apps.common.tables import Table

VIEW = in_organisation(Permission.STORAGE_VIEW)
USE = in_organisation(Permission.STORAGE_USE)
PER_PAGE = 25


def paged(request: ActorRequest, table: Table) -> Table:
    RequestConfig(request, paginate={"per_page": PER_PAGE, "silent": True}).configure(table)
    return table


def carried_out(text: str | Promise = "", *, tone: str = "run", **events: Any) -> HttpResponse:
    """The answer to a dialog: it closes, the file manager looks again, a sentence says what happened."""
    told: dict[str, Any] = {"pl:close": "", "pl:files": "", **events}
    if text:
        told["pl:toast"] = {"text": str(text), "tone": tone}
    return HttpResponse(status=HTTPStatus.NO_CONTENT, headers={"HX-Trigger": json.dumps(told)})
