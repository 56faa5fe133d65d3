"""One's own SSH keys."""

from uuid import UUID

from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

from apps.common.access import IN_PERSON, requires
from apps.common.errors import DomainError
from apps.common.forms import show_error
from apps.common.requests import ActorRequest
from apps.tenants import ssh_keys
from apps.tenants.forms.credentials import SshKeyForm
from apps.tenants.ssh_format import PrivateKeyPasted
from apps.tenants.views.shared import page


@requires(IN_PERSON)
@require_http_methods(["GET", "POST"])
def key_list(request: ActorRequest) -> HttpResponse:
    """The keys and, beside them, the form for one more."""
    form = SshKeyForm(request.POST or None)
    if request.method == "POST" and form.is_valid() and _added(request, form):
        return redirect("account:ssh_keys")
    rows = [{"id": str(key.pk), "key": key, "kind": ssh_keys.kind_of(key)} for key in ssh_keys.own_keys(request.actor)]
    status = 422 if request.method == "POST" else 200
    return render(request, "tenants/ssh_keys.html", page("ssh_keys", rows=rows, form=form), status=status)


def _added(request: ActorRequest, form: SshKeyForm) -> bool:
    try:
        key = ssh_keys.add(request.actor, **form.cleaned_data)
    except DomainError as error:
        if isinstance(error, PrivateKeyPasted):
            form.forget_key()
            form.add_error(None, str(error.hint))
        show_error(form, error)
        return False
    messages.success(request, _("The key “%(name)s” has been added.") % {"name": key.name})
    return True


@requires(IN_PERSON)
@require_POST
def key_remove(request: ActorRequest, ssh_key_id: UUID) -> HttpResponse:
    key = ssh_keys.remove(request.actor, key_id=ssh_key_id)
    messages.success(request, _("The key “%(name)s” has been removed.") % {"name": key.name})
    return redirect("account:ssh_keys")
