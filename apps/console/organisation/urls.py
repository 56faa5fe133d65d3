"""The organisation's pages in the portal."""

from apps.console.organisation.departments import urls as departments
from apps.console.organisation.invitations import urls as invitations
from apps.console.organisation.members import urls as members
from apps.console.organisation.quotas import urls as quotas
from apps.console.organisation.requests import urls as requests
from apps.console.organisation.roles import urls as roles

app_name = "organisation"

urlpatterns = [
    *departments.pages,
    *invitations.pages,
    *members.pages,
    *quotas.pages,
    *requests.pages,
    *roles.pages,
]
