"""/api/v1/training/runs/<id>/terminals/: where a run's owner gets a shell beside each running member."""

from typing import Any
from uuid import UUID

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from apps.common.api import ScopedView
from apps.training import selectors
from apps.training.api import SUBMIT
from apps.workloads import selectors as workloads
from apps.workloads.permissions import may_use_terminal
from apps.workloads.programs import ranks_of
from apps.workloads.terminal.places import terminal_place


class MemberTerminalSerializer(serializers.Serializer[Any]):
    """`socket`: path of a WebSocket for browsers, with the session's cookie and this site as origin. `ssh`: the command
    for who has a key in the account; empty where SSH is switched off.

    The socket's binary frames are bytes of the terminal, both ways. In, as text: {"resize": [columns, rows]} and
    {"drawn": bytes shown since the beginning}, without which output stops after 256 KiB. Out: {"open": rank}, {"taken":
    bytes typed that the shell has got}, of which no more than 64 KiB should lie ahead, and {"exit": the shell's code}.
    It is closed with 1000 once the shell has ended; 4401 signed out, 4403 or 4404 not allowed, 4408 not used for two
    hours, 4409 not running, 4410 the program has ended, 4429 ten terminals are open, 4503 its machine does not answer.
    """

    rank = serializers.IntegerField()
    socket = serializers.CharField()
    ssh = serializers.CharField(allow_blank=True)


class RunTerminalsSerializer(serializers.Serializer[Any]):
    """Of the members that run now, by rank."""

    members = MemberTerminalSerializer(many=True)


class RunTerminals(ScopedView):
    access = {"get": SUBMIT}

    @extend_schema(responses=RunTerminalsSerializer)
    def get(self, request: Request, run_id: UUID) -> Response:
        """How to open a terminal beside each running member. 404 for anybody but the run's owner."""
        workload = selectors.get(self.actor, run_id).workload
        may_use_terminal(self.actor, workload)
        attempt, host = workloads.current_attempt(workload), request.get_host()
        places = [terminal_place(self.actor, workload, attempt, rank, host) for rank in ranks_of(workload, attempt)]
        return Response(RunTerminalsSerializer({"members": [place for place in places if place is not None]}).data)
