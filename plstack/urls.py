"""Every page and API of the site."""

from django.conf import settings
from django.urls import include, path

from apps.common.styleguide import views as styleguide
from apps.common.views import health, live, set_theme
from apps.console.search.views import of_portal
from apps.notifications.views.brand import picture
from apps.tenants.views import connected, profile, security
from apps.tenants.views.organisations import switch_organisation
from apps.workloads import kinds
from plstack import api_urls

handler500 = "plstack.unavailable.server_error"

urlpatterns = [
    path("", include("apps.console.portal.urls")),
    path("search/", of_portal, name="search"),
    path("console/what-if/", include("apps.whatif.urls")),
    path("console/", include("apps.console.urls")),
    *(path(rules.routes.prefix, include(rules.routes.pages)) for rules in kinds.every()),
    path("tuning/", include("apps.automl.urls")),
    path("models/", include("apps.modelhub.urls")),
    path("pipelines/", include("apps.pipelines.urls")),
    path("tabular/", include("apps.tabular.urls")),
    path("images/", include("apps.registry.urls")),
    path("v2/", include("apps.registry.distribution.urls")),
    path("data/", include("apps.storage.urls")),
    path("billing/", include("apps.billing.urls")),
    path("account/", include("apps.tenants.urls")),
    path("notifications/", include("apps.notifications.urls")),
    path("webhooks/", include("apps.notifications.hook_urls")),
    path("schedules/", include("apps.schedules.urls")),
    path("secrets/", include("apps.secrets.urls")),
    path("brand/<str:name>", picture, name="brand_picture"),
    # One address for each account, changed in the profile: the library's own page of several is not offered.
    path("accounts/email/", profile.to_profile, name="account_email"),
    path("accounts/", include("allauth.account.urls")),
    # The library's own overview of second factors is a part of the security page here.
    path("accounts/2fa/", security.to_security, name="mfa_index"),
    path("accounts/2fa/", include("allauth.mfa.urls")),
    # The library's own list of connected accounts is a page of the account here.
    path("accounts/3rdparty/", connected.to_connected, name="socialaccount_connections"),
    path("accounts/3rdparty/", include("allauth.socialaccount.urls")),
    path("accounts/", include("apps.tenants.social.urls")),
    path("i18n/", include("django.conf.urls.i18n")),
    path("open/", include("apps.workloads.gateway.urls")),
    path("organisation/", switch_organisation, name="switch_organisation"),
    path("organisation/", include("apps.console.organisation.urls")),
    path("join/", include("apps.console.organisation.joining.urls")),
    path("theme/", set_theme, name="theme"),
    path("healthz", health, name="health"),
    path("livez", live, name="live"),
    path("api/", include(api_urls)),
]

if settings.DEBUG:
    urlpatterns += [
        path("styleguide/", styleguide.page, name="styleguide"),
        path("styleguide/series/", styleguide.series, name="styleguide-series"),
    ]
