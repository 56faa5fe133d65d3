"""Add Kubernetes clusters as zones, and keep the rows of their nodes up to date."""

from collections.abc import Mapping
from typing import Any

import yaml
from django.utils.translation import gettext as _

from apps.clusters.models import KubernetesCluster, Node, Zone
from apps.clusters.services import kubernetes as rows
from apps.clusters.services.kubernetes import Found, NewCluster
from apps.common.actor import Actor
from apps.common.errors import Conflict, Invalid
from apps.common.permissions import Permission
from apps.workloads import nodes
from apps.workloads.drivers.base import CannotSee
from apps.workloads.drivers.said import dump
from apps.workloads.hardware import cluster_doctor
from apps.workloads.words import sentence

MOST_BYTES = 256 * 1024


def add(actor: Actor, *, name: str, kubeconfig: str, image: str, folder: str = "") -> Zone:
    """Ask the cluster what it is, then make a zone of it. Raises Invalid by field, Conflict; nothing is kept then.

    Its nodes take work once the check-up that is ordered with it has proved them.
    """
    actor.require(Permission.PLATFORM_NODES_MANAGE)
    if not nodes.has_kubernetes():
        raise Conflict(_("The package for clusters is missing."), hint=_("Install it: pip install kubernetes."))
    config = _parsed(kubeconfig)
    connection = nodes.cluster_connection(config, image.strip(), folder)
    try:
        facts = nodes.kubernetes_driver().inspect(connection)
    except CannotSee as error:
        raise Invalid.field("kubeconfig", sentence(error.said)) from error
    if facts.missing:
        text = _("The account of this kubeconfig may not do what the platform needs: %(missing)s.")
        raise Invalid.field("kubeconfig", text % {"missing": ", ".join(facts.missing)})
    new = NewCluster(
        name=name,
        uid=facts.uid,
        config=config,
        image=image.strip(),
        folder=folder,
        version=facts.version,
        claims_cards=facts.claims_cards,
        user_namespaces=False,
    )
    zone = rows.add_kubernetes_zone(actor, new=new)
    discover(KubernetesCluster.objects.get(pk=zone.pk))
    cluster_doctor.order_due(zone.pk)
    return zone


def discover_all() -> list[Node]:
    """One turn over all clusters; one that does not answer holds up nothing but itself."""
    found: list[Node] = []
    for row in KubernetesCluster.objects.select_related("zone"):
        found += discover(row)
        cluster_doctor.order_due(row.pk)
    return found


def discover(row: KubernetesCluster) -> list[Node]:
    driver = nodes.kubernetes_driver()
    try:
        found = driver.nodes_of(nodes.cluster_of(row))
    except CannotSee as error:
        rows.say_silent(row, dump([error.said]))
        return []
    told = [Found(each.key, each.machine, each.isolation.level.value, each.isolation.column) for each in found]
    return rows.write_nodes(row, driver.name, told)


def _parsed(text: str) -> Mapping[str, Any]:
    """A kubeconfig with everything in it: files of the machine it was written on, and commands to run, are refused."""
    if len(text) > MOST_BYTES:
        raise Invalid.field("kubeconfig", _("This is too long for a kubeconfig."))
    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError) as error:
        raise Invalid.field("kubeconfig", _("This is no YAML.")) from error
    if not isinstance(found, dict) or not all(isinstance(found.get(key), list) for key in ("clusters", "users")):
        raise Invalid.field("kubeconfig", _("This is no kubeconfig: it names no clusters and users."))
    for user in found["users"]:
        about = user.get("user") if isinstance(user, dict) else None
        if isinstance(about, dict) and about.keys() & {"exec", "auth-provider"}:
            raise Invalid.field("kubeconfig", _("It runs a command to sign in. Use one with a token."))
    if _names_files(found):
        text = _("It names files. Make one with everything in it: kubectl config view --flatten --raw.")
        raise Invalid.field("kubeconfig", text)
    return found


def _names_files(config: Mapping[str, Any]) -> bool:
    parts = [*(each.get("cluster") for each in config["clusters"]), *(each.get("user") for each in config["users"])]
    keys = {"certificate-authority", "client-certificate", "client-key", "tokenFile"}
    return any(isinstance(part, dict) and part.keys() & keys for part in parts)
