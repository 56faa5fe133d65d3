"""Pages and endpoints of organisations, people and staff."""

from apps.console.people.accounts import urls as accounts
from apps.console.people.departments import urls as departments
from apps.console.people.guarantees import urls as guarantees
from apps.console.people.members import urls as members
from apps.console.people.organisations import urls as organisations
from apps.console.people.own_roles import urls as own_roles
from apps.console.people.requests import urls as requests
from apps.console.people.roles import urls as roles
from apps.console.people.terms import urls as terms

pages = [
    *accounts.pages,
    *departments.pages,
    *members.pages,
    *organisations.pages,
    *own_roles.pages,
    *requests.pages,
    *roles.pages,
    *terms.pages,
]

endpoints = [
    *accounts.endpoints,
    *departments.endpoints,
    *guarantees.endpoints,
    *members.endpoints,
    *organisations.endpoints,
    *own_roles.endpoints,
    *requests.endpoints,
    *terms.endpoints,
]
