"""What the pages of storage share."""

import json
from http import HTTPStatus
from typing import Any

from django.http import HttpResponse
from django.utils.functional import Promise

from apps.common.access import in_organisation
from apps.common.permissions import Permission

VIEW = in_organisation(Permission.STORAGE_VIEW)
USE = in_organisation(Permission.STORAGE_USE)


def carried_out(text: str | Promise = "", *, tone: str = "run", **events: Any) -> HttpResponse:
    """The answer to a dialog: it closes, the file manager looks again, a sentence says what happened."""
    told: dict[str, Any] = {"pl:close": "", "pl:files": "", **events}
    if text:
        told["pl:toast"] = {"text": str(text), "tone": tone}
    return HttpResponse(status=HTTPStatus.NO_CONTENT, headers={"HX-Trigger": json.dumps(told)})
