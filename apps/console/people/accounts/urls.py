"""Routes of accounts: pages and endpoints."""

from django.urls import path

from apps.console.people.accounts import api, deletion, views

pages = [
    path("people/bulk/", views.bulk_act, name="people_bulk"),
    path("people/", views.people, name="people"),
    path("people/<int:user_id>/", views.detail, name="people_detail"),
    path("people/<int:user_id>/edit/", views.edit, name="people_edit"),
    path("people/<int:user_id>/disable/", views.disable, name="people_disable"),
    path("people/<int:user_id>/enable/", views.enable, name="people_enable"),
    path("people/<int:user_id>/delete/", deletion.delete, name="people_delete"),
    path("people/<int:user_id>/keep/", deletion.keep, name="people_keep"),
    path("people/<int:user_id>/password/", views.reset_password, name="people_password"),
    path("people/<int:user_id>/second-factor/", views.reset_second_factor, name="people_second_factor"),
    path("people/<int:user_id>/sign-out/", views.sign_out, name="people_sign_out"),
    path("people/<int:user_id>/roles/", views.give_role, name="people_give_role"),
    path("staff/", views.staff, name="staff"),
    path("staff/new/", views.staff_new, name="staff_new"),
    path("staff/roles/<int:assignment_id>/take/", views.take_role, name="staff_take_role"),
]

endpoints = [
    path("people/", api.People.as_view()),
    path("people/<int:user_id>/", api.PersonDetail.as_view()),
    path("people/<int:user_id>/disable/", api.Disable.as_view()),
    path("people/<int:user_id>/enable/", api.Enable.as_view()),
    path("people/<int:user_id>/deletion/", api.Deletion.as_view()),
]
