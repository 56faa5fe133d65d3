"""Routes of scans and of the policy about them: pages and endpoints."""

from django.urls import path

from apps.registry.scanning import api, pages

routes = [
    path("policy/", pages.policy, name="image_policy"),
    path("policy/exceptions/new/", pages.exception_new, name="exception_new"),
    path("policy/exceptions/<uuid:exception_id>/end/", pages.exception_end, name="exception_end"),
    path("<uuid:image_id>/scan/", pages.scan, name="scan"),
    path("<uuid:image_id>/findings/", pages.findings, name="findings"),
    path("<uuid:image_id>/findings.csv", pages.findings_file, name="findings_file"),
]

endpoints = [
    path("images/policy/", api.Policy.as_view(), name="api-image-policy"),
    path("images/policy/exceptions/", api.Exceptions.as_view(), name="api-image-exceptions"),
    path("images/policy/exceptions/<uuid:exception_id>/", api.ImageException.as_view(), name="api-image-exception"),
    path("images/<uuid:image_id>/scan/", api.ImageScanView.as_view(), name="api-image-scan"),
    path("images/<uuid:image_id>/findings/", api.Findings.as_view(), name="api-image-findings"),
]
