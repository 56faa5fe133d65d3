"""Routes of settings: pages and endpoints."""

from django.urls import path

from apps.console.settings import (
    branding,
    image_sharing,
    nodes,
    notifications,
    options,
    payment,
    queue,
    review,
    run_times,
    scanning,
    sign_in,
    sources,
)

pages = [
    path("settings/", options.first, name="settings"),
    path("settings/registration/", options.registration, name="settings_registration"),
    path("settings/sign-in/", sign_in.sign_in, name="settings_sign_in"),
    path("settings/review/", review.review, name="settings_review"),
    path("settings/payment/", payment.payment, name="settings_payment"),
    path("settings/options/", options.options, name="settings_options"),
    path("settings/queue/", queue.queue, name="settings_queue"),
    path("settings/run-times/", run_times.run_times, name="settings_run_times"),
    path("settings/nodes/", nodes.nodes, name="settings_nodes"),
    path("settings/software-sources/", sources.software_sources, name="settings_sources"),
    path("settings/image-scans/", scanning.image_scans, name="settings_image_scans"),
    path("settings/image-scans/exceptions/new/", scanning.exception_new, name="image_exception_new"),
    path(
        "settings/image-scans/exceptions/<uuid:exception_id>/end/", scanning.exception_end, name="image_exception_end"
    ),
    path("settings/image-sharing/", image_sharing.image_sharing, name="settings_image_sharing"),
    path("settings/notifications/", notifications.notifications, name="settings_notifications"),
    path("settings/branding/", branding.branding, name="settings_branding"),
]

endpoints = [
    path("settings/mail/", notifications.Mail.as_view()),
    path("settings/mail/test/", notifications.MailTest.as_view()),
    path("settings/sms/", notifications.Sms.as_view()),
    path("settings/sms/test/", notifications.SmsTest.as_view()),
    path("settings/branding/", branding.Branding.as_view()),
    path("settings/registration/", options.Registration.as_view()),
    path("settings/environments/", options.Environments.as_view()),
    path("settings/queue/", queue.Queue.as_view()),
    path("settings/run-times/", run_times.RunTimes.as_view()),
    path("settings/nodes/", nodes.Nodes.as_view()),
    path("settings/software-sources/", sources.SoftwareSources.as_view()),
    path("settings/image-scans/", scanning.ImageScans.as_view()),
    path("settings/image-scans/scanner/", scanning.ImageScanner.as_view()),
    path("settings/image-scans/exceptions/", scanning.ImageExceptions.as_view()),
    path("settings/image-scans/exceptions/<uuid:exception_id>/", scanning.ImageException.as_view()),
    path("settings/image-sharing/", image_sharing.ImageSharing.as_view()),
    path("settings/review/", review.Review.as_view()),
    path("settings/payment/", payment.Payment.as_view()),
]
