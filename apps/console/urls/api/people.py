"""The API of people, departments, quotas and package requests."""

from django.urls import path

from apps.console.api import departments, guarantees, members, people, requests

organisation = [
    path("members/", members.OrganisationMembers.as_view()),
    path("members/<int:user_id>/", members.OrganisationMember.as_view()),
    path("invitations/", members.Invitations.as_view()),
    path("invitations/<uuid:invitation_id>/revoke/", members.InvitationRevoke.as_view()),
    path("roles/", members.Roles.as_view()),
    path("roles/<uuid:role_id>/", members.RoleDetail.as_view()),
    path("departments/", departments.Departments.as_view()),
    path("departments/<uuid:department_id>/", departments.DepartmentDetail.as_view()),
    path("quotas/", departments.OrganisationQuotas.as_view()),
]

package_requests = [
    path("", requests.PackageRequests.as_view()),
    path("<uuid:request_id>/withdraw/", requests.PackageRequestWithdraw.as_view()),
    path("<uuid:request_id>/approve/", requests.PackageRequestApprove.as_view()),
    path("<uuid:request_id>/deny/", requests.PackageRequestDeny.as_view()),
]

console = [
    path("people/", people.People.as_view()),
    path("people/<int:user_id>/", people.PersonDetail.as_view()),
    path("people/<int:user_id>/disable/", people.Disable.as_view()),
    path("people/<int:user_id>/enable/", people.Enable.as_view()),
    path("organisations/<uuid:organisation_id>/packages/", people.OrganisationPackages.as_view()),
    path("organisations/<uuid:organisation_id>/guarantees/", guarantees.Guarantees.as_view()),
    path("organisations/<uuid:organisation_id>/weight/", people.OrganisationWeight.as_view()),
    path("package-requests/", requests.ConsoleRequests.as_view()),
    path("package-requests/<uuid:request_id>/approve/", requests.ConsoleApprove.as_view()),
    path("package-requests/<uuid:request_id>/deny/", requests.ConsoleDeny.as_view()),
]
