"""/api/v1/agents/: where machines join with a token, and tell that they are alive. Not for people."""

import json
from ipaddress import ip_address
from typing import Any
from uuid import UUID

from django.core.cache import cache
from django.utils.translation import gettext as _
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from apps.clusters import dataset_caches
from apps.clusters import services as clusters
from apps.clusters.discovery import Machine
from apps.clusters.models import Node
from apps.clusters.node_storage import NodeStorage, StorageProbe
from apps.clusters.services.joining import DRIVER, Refusal
from apps.common.access import PUBLIC
from apps.common.actor import Channel, system_actor
from apps.common.api import ScopedView
from apps.common.errors import Conflict, Invalid
from apps.common.scoping import acting
from apps.workloads.drivers.overlay import Ability
from apps.workloads.drivers.remote import signing
from apps.workloads.drivers.said import Said, dump
from apps.workloads.hardware import lost, strays
from apps.workloads.nodes import data_root, marker, marker_seen

LEVELS = ("L0", "L1")
BEAT_S = 10


@extend_schema(exclude=True)
class Join(ScopedView):
    access = PUBLIC
    authentication_classes = ()

    def post(self, request: Request) -> Response:
        """A token is what lets a machine in; the secret in the answer is what it is known by from then on."""
        data = request.data if isinstance(request.data, dict) else {}
        asked = _joining(request, data)
        if data.get("marker") != marker():
            raise Conflict(
                _("The machine's data folder is not this platform's."),
                hint=_("Mount the platform's data folder there, by NFS for example, and name it with --data."),
            )
        with acting(system_actor(Channel.API)) as actor:
            node, secret = clusters.join(actor, asked=asked)
        found = {"node_id": str(node.pk), "name": node.name, "secret": secret.hex(), "data_root": str(data_root())}
        return Response({**found, "interval": BEAT_S})


def _joining(request: Request, data: dict[str, Any]) -> clusters.JoinRequest:
    try:
        machine = Machine.from_json(data["machine"])
        level = data["isolation"]
        if level not in LEVELS:
            raise ValueError("isolation")
        return clusters.JoinRequest(
            token=str(data["token"]),
            name=str(data.get("name", "")),
            machine_id=str(UUID(str(data["machine_id"]))),
            address=str(data.get("address") or "") or _address(request, data),
            certificate=str(data.get("certificate", "")),
            machine=machine,
            isolation=level,
            isolation_reason=_isolation_reason(data),
            gang_network=_gang_network(data),
            storage=_storage(data),
            storage_probe=_probe(data),
            dataset_cache=dataset_caches.reported(data.get("dataset_cache")),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise Invalid(_("This is not what an agent sends.")) from error


def _isolation_reason(data: dict[str, Any]) -> str:
    """What the machine says of its isolation, for the column; one of before codes sends only its English."""
    said = data.get("isolation_said")
    told = said if isinstance(said, list) else [str(data.get("isolation_reason", ""))]
    return dump([Said.from_json(one) for one in told])


def _gang_network(data: dict[str, Any]) -> dict[str, Any]:
    """What the machine can do for gangs over several machines, for the column; one of before tells nothing."""
    found = Ability.from_json(data.get("gang_network"))
    return found.as_json() if found != Ability() else {}


def _storage(data: dict[str, Any]) -> dict[str, Any]:
    """How the machine sees the platform's files, for the column; nothing while the platform sees none."""
    own, found = marker_seen(), NodeStorage.reported(data.get("storage"))
    probe = StorageProbe.reported(data.get("storage"))
    usable = probe is None or probe.problem is None
    return {} if found is None or not own else found.judged(own, usable=usable).as_json()


def _probe(data: dict[str, Any]) -> dict[str, Any]:
    """What came of trying them, for the column; an agent of before tries nothing."""
    found = StorageProbe.reported(data.get("storage"))
    return {} if found is None else found.as_json()


def _address(request: Request, data: dict[str, Any]) -> str:
    """Where the machine asks from, at the port that it names. Raises ValueError."""
    host = ip_address(request.META["REMOTE_ADDR"])
    scheme = "https" if data.get("certificate") else "http"
    return f"{scheme}://{f'[{host}]' if host.version == 6 else host}:{int(data['port'])}"


@extend_schema(exclude=True)
class Beat(ScopedView):
    """Signed with the node's secret; machines behind one address beat together, so they are not throttled."""

    access = PUBLIC
    authentication_classes = ()
    throttle_classes = ()

    def post(self, request: Request) -> Response:
        body = request._request.body
        with acting(system_actor(Channel.API)):
            node = _known(request, body)
            try:
                data = json.loads(body)
                machine = Machine.from_json(data["machine"])
                living = {UUID(ref) for ref in data["refs"]}
                level = data["isolation"] if data["isolation"] in LEVELS else "L0"
            except (KeyError, TypeError, ValueError) as error:
                raise Invalid(_("This is not what an agent sends.")) from error
            clusters.record_heartbeat(
                node,
                machine,
                isolation=level,
                isolation_reason=_isolation_reason(data),
                gang_network=_gang_network(data),
                storage=_storage(data),
                storage_probe=_probe(data),
                dataset_cache=dataset_caches.reported(data.get("dataset_cache")),
            )
            lost.record_heartbeat(node, living)
            stop = lost.programs_to_end(living)
            count = strays.record_strays(node, living - stop)
            keeps = dataset_caches.cache_mib(node)
        answer = {"interval": BEAT_S, "strays": count, "stop": sorted(map(str, stop)), "dataset_cache_mib": keeps}
        return Response(answer)


def _known(request: Request, body: bytes) -> Node:
    """The node that signed this. A secret of before its last join, or of a removed node, signs nothing."""
    try:
        node = Node.objects.filter(pk=UUID(request.headers.get(signing.NODE, "")), driver=DRIVER).first()
        secret = clusters.secret_of(node) if node else None
        if node is None or secret is None:
            raise signing.Forged("unknown")
        nonce = signing.check_request(secret, request.headers, "POST", request.path, body)
        if not cache.add(f"agent:{node.pk}:{nonce}", 1, timeout=2 * signing.SKEW_S):
            raise signing.Forged("said before")
    except (signing.Forged, ValueError) as error:
        raise Refusal(
            _("The platform does not know this machine."), hint=_("Join it again, with a new token.")
        ) from error
    return node
