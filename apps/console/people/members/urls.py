"""Routes of members: pages and endpoints."""

from django.urls import path

from apps.console.people.members import api, views

pages = [
    path("organisations/<uuid:organisation_id>/members/", views.member_list, name="organisation_members"),
    path("organisations/<uuid:organisation_id>/members/new/", views.member_new, name="organisation_member_new"),
    path(
        "organisations/<uuid:organisation_id>/members/<int:user_id>/", views.member_detail, name="organisation_member"
    ),
    path(
        "organisations/<uuid:organisation_id>/members/<int:user_id>/remove/",
        views.member_remove,
        name="organisation_member_remove",
    ),
]

endpoints = [
    path("organisations/<uuid:organisation_id>/members/", api.Members.as_view()),
    path("organisations/<uuid:organisation_id>/members/<int:user_id>/", api.MemberDetail.as_view()),
]
