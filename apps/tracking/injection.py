"""What the program of a run is given to log with: an address that it can reach, its run's id, and a token for it alone.

On the platform's own machine a sandbox has a door to this one address (`workloads.gateway.tracking_door`). Joined
machines and clusters have no way there yet, so their programs are given nothing; what they print or write is collected.
"""

from django.conf import settings

from apps.clusters.models import Node
from apps.tracking.run_tokens import token_of
from apps.workloads.drivers.base import Secret
from apps.workloads.drivers.capabilities import EgressMixin
from apps.workloads.drivers.request import TRACKING_ADDRESS, TRACKING_PORT
from apps.workloads.models import Attempt
from apps.workloads.nodes import driver_named
from apps.workloads.reconcile.launch import TrackingAccess

TRACKING_URI, TRACKING_TOKEN, RUN_ID = "MLFLOW_TRACKING_URI", "MLFLOW_TRACKING_TOKEN", "MLFLOW_RUN_ID"
OWN_TOKEN = "PLSTACK_TRACKING_TOKEN"  # noqa: S105 - a name


def access(attempt: Attempt, node: Node) -> TrackingAccess:
    """Nothing of MLflow's for who has named a server of their own."""
    if not isinstance(driver_named(node.driver), EgressMixin):
        return TrackingAccess()
    spec = attempt.workload.frozen_spec
    needs_door = node.isolation == "L1" and not spec.network and not spec.egress
    address = f"http://127.0.0.1:{TRACKING_PORT}" if needs_door else settings.PORTAL_ORIGIN
    token = token_of(attempt.pk)
    env = {TRACKING_ADDRESS: address}
    secrets = [Secret(OWN_TOKEN, OWN_TOKEN, value=token)]
    named = {*spec.env, *(each.variable for each in spec.secrets)}
    if not named & {TRACKING_URI, TRACKING_TOKEN, RUN_ID}:
        env |= {TRACKING_URI: address, RUN_ID: attempt.workload_id.hex}
        secrets.append(Secret(TRACKING_TOKEN, TRACKING_TOKEN, value=token))
    return TrackingAccess(env, tuple(secrets), needs_door)
