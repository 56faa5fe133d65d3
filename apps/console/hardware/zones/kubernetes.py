"""Zones that are Kubernetes clusters: the form that adds one, and the card on its page."""

from typing import Any

from django import forms
from django.http import HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from apps.clusters.models import KubernetesCluster, Zone
from apps.common.access import on_platform, requires
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.pages import done, refused
from apps.common.permissions import Permission as P
from apps.console.hardware.zones.doctor import doctor_card
from apps.console.kit.requests import StaffRequest
from apps.workloads import nodes
from apps.workloads.drivers.said import load
from apps.workloads.hardware import kubernetes_zones, node_proofs
from apps.workloads.words import sentences

MANAGE = on_platform(P.PLATFORM_NODES_MANAGE)
FORM = "console/zones/kubernetes_form.html"


class ClusterForm(forms.Form):
    name = forms.CharField(
        label=gettext_lazy("Name"), max_length=60, widget=forms.TextInput(attrs={"autocomplete": "off"})
    )
    kubeconfig = forms.CharField(
        label=gettext_lazy("Kubeconfig"),
        max_length=kubernetes_zones.MOST_BYTES,
        help_text=gettext_lazy(
            "With everything in it, as kubectl config view --flatten --raw prints it. It is stored sealed and not "
            "shown again."
        ),
        widget=forms.Textarea(attrs={"rows": 10, "autocomplete": "off", "spellcheck": "false", "class": "pl-code"}),
    )
    image = forms.CharField(
        label=gettext_lazy("Image with Python"),
        max_length=300,
        help_text=gettext_lazy(
            "Python 3.11 or later with pip and venv. Each run has a small container of it, and runtimes are built with "
            "it."
        ),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false", "placeholder": "python:3.11-slim"}),
    )
    folder = forms.CharField(
        label=gettext_lazy("Folder with the platform's files"),
        required=False,
        max_length=300,
        help_text=gettext_lazy(
            "Where every node of the cluster has mounted them; empty: at the same path as here. For NFS, say so in the "
            "zone's storage instead."
        ),
        widget=forms.TextInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )


@requires(MANAGE)
@require_http_methods(["GET", "POST"])
def add(request: StaffRequest) -> HttpResponse:
    form = ClusterForm(request.POST or None)
    context = {"form": form, "available": nodes.has_kubernetes()}
    if request.method != "POST":
        return render(request, FORM, context)
    if form.is_valid():
        try:
            zone = kubernetes_zones.add(request.actor, **form.cleaned_data)
        except DomainError as error:
            show_error(form, error)
        else:
            return done(
                request, _("The cluster is the zone %(name)s now.") % {"name": zone.name}, "console:zone", zone.pk
            )
    return refused(request, FORM, context)


def cluster_card(zone: Zone) -> dict[str, Any]:
    """For the zone's page; nothing for a zone of machines that joined."""
    row = KubernetesCluster.objects.filter(zone=zone).first()
    if row is None:
        return {}
    told = {"kubernetes": row, "kubernetes_trouble": sentences(load(row.trouble))} | doctor_card(zone)
    told |= {"unproved": node_proofs.unproved_count(zone.pk)}
    return told | {"storage_rows": [], "storage_summary": ""}  # its nodes have no agent that would tell
