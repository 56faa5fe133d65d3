"""Adding machines: a token, shown once, in the one command that the new machine runs."""

from django.http import HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_http_methods

from apps.common.access import on_platform, requires
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.pages import refused
from apps.common.permissions import Permission as P
from apps.console.forms.hardware import JoinForm
from apps.console.requests import StaffRequest
from apps.workloads.nodes import data_root, make_token

PAGE = "console/nodes/new.html"
# What stands for the place of the shared folder on the new machine, which only its operator knows.
DATA = "/mnt/plstack-data"


@requires(on_platform(P.PLATFORM_NODES_MANAGE))
@require_http_methods(["GET", "POST"])
def page(request: StaffRequest) -> HttpResponse:
    form = JoinForm(request.POST or None)
    context = {"form": form, "data_root": str(data_root()), "data": DATA}
    if request.method != "POST":
        return render(request, PAGE, context)
    if not form.is_valid():
        return refused(request, PAGE, context)
    try:
        token = make_token(request.actor, cluster_id=form.cleaned_data["cluster"].pk, uses=form.cleaned_data["uses"])
    except DomainError as error:
        show_error(form, error)
        return refused(request, PAGE, context)
    response = render(request, PAGE, {**context, "command": _command(request, token)})
    response["Cache-Control"] = "no-store"
    return response


def _command(request: StaffRequest, token: str) -> str:
    server = request.build_absolute_uri("/").rstrip("/")
    return f"python3 -m plstack.agent join --server {server} --token {token} --data {DATA}"
