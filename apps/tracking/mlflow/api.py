"""`/api/2.0/mlflow/…`: one view, since the protocol's calls are one list (`calls`)."""

from typing import Any

from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.access import in_organisation
from apps.common.api import ScopedView
from apps.common.errors import Invalid
from apps.common.permissions import Permission
from apps.tenants.bearer import BearerToken
from apps.tracking.bearer import RunToken
from apps.tracking.mlflow import models
from apps.tracking.mlflow.asked import Asked
from apps.tracking.mlflow.calls import CALLS
from apps.tracking.mlflow.errors import NotSupported, mlflow_error
from apps.tracking.reach import Reach
from apps.tracking.run_tokens import RunGrant

SEVERAL = frozenset({"run_id", "experiment_ids", "order_by"})


@extend_schema(exclude=True)
class Mlflow(ScopedView):
    """Only by tokens: of a run, or of a person."""

    access = in_organisation(Permission.ORGANISATION_VIEW)
    authentication_classes = (RunToken, BearerToken)

    def get(self, request: Request, call: str) -> Response:
        query = request.query_params
        fields: dict[str, Any] = {name: query[name] for name in query}
        fields |= {name: query.getlist(name) for name in SEVERAL & query.keys() if len(query.getlist(name)) > 1}
        return self._answer(call, Asked(fields))

    def post(self, request: Request, call: str) -> Response:
        if not isinstance(request.data, dict):
            raise Invalid(_("An object is needed."))
        return self._answer(call, Asked(request.data))

    def patch(self, request: Request, call: str) -> Response:
        return self.post(request, call)

    def delete(self, request: Request, call: str) -> Response:
        return self._answer(call, Asked({}))

    def _answer(self, name: str, asked: Asked) -> Response:
        call = CALLS.get((str(self.request.method), name))
        found = models.found(str(self.request.method), name)
        if found is not None:
            call, asked = found[0], Asked({**asked.fields, **found[1]})
        if call is None:
            raise NotSupported(_("This part of MLflow is not supported here: %(call)s.") % {"call": name[:80]})
        grant = self.request.auth if isinstance(self.request.auth, RunGrant) else None
        return Response(call(Reach(self.actor, grant), asked))

    def get_exception_handler(self) -> Any:
        return mlflow_error
