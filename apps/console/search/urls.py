"""Routes of the search: the portal's is listed with the portal's pages."""

from django.urls import path

from apps.console.search import views

pages = [path("search/", views.of_console, name="search")]
