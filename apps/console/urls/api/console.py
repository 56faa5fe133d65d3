"""The console's API."""

from django.urls import URLPattern, URLResolver, include, path

from apps.console.api import (
    arrears,
    audit,
    cards,
    catalogue,
    environments,
    finance,
    hardware,
    images,
    nodes,
    organisations,
    processes,
    recharge_requests,
    settings,
    units,
    workloads,
)
from apps.console.urls.api import documents as documents_urls
from apps.console.urls.api import people as people_urls
from apps.console.urls.api import prepaid as prepaid_urls
from apps.console.urls.api import queue as queue_urls
from apps.console.urls.api import reconciliation as reconciliation_urls
from apps.console.urls.api import statements as statements_urls
from apps.console.urls.api import vouchers as vouchers_urls

_organisation = [
    path("", organisations.OrganisationDetail.as_view()),
    path("freeze/", organisations.Freeze.as_view()),
    path("unfreeze/", organisations.Unfreeze.as_view()),
    path("members/", organisations.Members.as_view()),
    path("quotas/", organisations.Quotas.as_view()),
    path("consumption/", finance.WorkloadTotals.as_view()),
    path("arrears/", arrears.OrganisationArrears.as_view()),
    path("release/", arrears.ReleaseData.as_view()),
]

_node = [
    path("", nodes.NodeDetail.as_view()),
    path("samples/", nodes.NodeSamples.as_view()),
    path("cordon/", nodes.NodeCordon.as_view()),
    path("uncordon/", nodes.NodeUncordon.as_view()),
    path("drain/", hardware.NodeDrain.as_view()),
    path("lost/", hardware.NodeLost.as_view()),
    path("switch-off/", hardware.NodeSwitchOff.as_view()),
    path("switch-on/", hardware.NodeSwitchOn.as_view()),
    path("remove/", hardware.NodeRemove.as_view()),
    path("labels/", hardware.NodeLabels.as_view()),
]

_workload = [
    path("", workloads.WorkloadDetail.as_view()),
    path("events/", workloads.WorkloadEvents.as_view()),
    path("stop/", workloads.WorkloadStop.as_view()),
]

_environment = [
    path("stop/", environments.EnvironmentStop.as_view()),
    path("recycle/", environments.EnvironmentRecycle.as_view()),
    path("restore/", environments.EnvironmentRestore.as_view()),
    path("purge/", environments.EnvironmentPurge.as_view()),
]

_package = [
    path("", catalogue.PackageDetail.as_view()),
    path("withdraw/", catalogue.PackageWithdraw.as_view()),
    path("offer/", catalogue.PackageOffer.as_view()),
    path("prices/", catalogue.Prices.as_view()),
    path("follow/", units.PackageFollow.as_view()),
]

_settings = [
    path("mail/", settings.Mail.as_view()),
    path("mail/test/", settings.MailTest.as_view()),
    path("sms/", settings.Sms.as_view()),
    path("sms/test/", settings.SmsTest.as_view()),
    path("branding/", settings.Branding.as_view()),
    path("registration/", settings.Registration.as_view()),
    path("environments/", settings.Environments.as_view()),
    path("queue/", settings.Queue.as_view()),
    path("nodes/", settings.Nodes.as_view()),
    path("review/", settings.Review.as_view()),
    path("payment/", settings.Payment.as_view()),
]

_console: list[URLPattern | URLResolver] = [
    path("overview/", audit.Overview.as_view()),
    path("organisations/", organisations.Organisations.as_view()),
    path("organisations/<uuid:organisation_id>/", include(_organisation)),
    path("processes/", processes.Processes.as_view()),
    path("processes/replacements/", processes.Replacements.as_view()),
    path("nodes/", nodes.Nodes.as_view()),
    path("nodes/tokens/", hardware.NodeTokens.as_view()),
    path("nodes/<uuid:node_id>/", include(_node)),
    path("accelerators/", hardware.Accelerators.as_view()),
    path("accelerators/<uuid:card_id>/", cards.AcceleratorDetail.as_view()),
    path("accelerators/<uuid:card_id>/mode/", hardware.AcceleratorSwitch.as_view()),
    path("zones/", hardware.Zones.as_view()),
    path("zones/simulated/", hardware.SimulatedZone.as_view()),
    path("zones/<uuid:zone_id>/", hardware.ZoneDetail.as_view()),
    path("zones/<uuid:zone_id>/clusters/", hardware.ZoneClusters.as_view()),
    path("workloads/", workloads.Workloads.as_view()),
    path("workloads/<uuid:workload_id>/", include(_workload)),
    path("environments/", environments.Environments.as_view()),
    path("environments/<uuid:environment_id>/", include(_environment)),
    path("images/", images.Images.as_view()),
    path("images/<uuid:image_id>/", images.ImageDetail.as_view()),
    path("images/<uuid:image_id>/withdraw/", images.ImageWithdraw.as_view()),
    path("prices/", units.UnitPrices.as_view()),
    path("prices/<int:price_id>/end/", units.UnitPriceEnd.as_view()),
    path("packages/", catalogue.Packages.as_view()),
    path("packages/<int:package_id>/", include(_package)),
    path("arrears/", arrears.ArrearsList.as_view()),
    *statements_urls.urlpatterns,
    path("recharges/", finance.Recharges.as_view()),
    path("recharges/<int:transfer_id>/", finance.RechargeDetail.as_view()),
    path("recharges/<int:transfer_id>/reversal/", recharge_requests.Reverse.as_view()),
    path("recharge-requests/", recharge_requests.RechargeRequests.as_view()),
    path("recharge-requests/<uuid:recharge_request_id>/", recharge_requests.RechargeRequestDetail.as_view()),
    path("recharge-requests/<uuid:recharge_request_id>/approve/", recharge_requests.Approve.as_view()),
    path("recharge-requests/<uuid:recharge_request_id>/deny/", recharge_requests.Deny.as_view()),
    path("recharge-requests/<uuid:recharge_request_id>/withdraw/", recharge_requests.Withdraw.as_view()),
    path("consumption/", finance.OrganisationTotals.as_view()),
    path("charges/", finance.Charges.as_view()),
    path("audit/", audit.Entries.as_view()),
    path("settings/", include(_settings)),
]

urlpatterns = [
    path(
        "console/",
        include(
            [
                *_console,
                *vouchers_urls.urlpatterns,
                *documents_urls.urlpatterns,
                *prepaid_urls.urlpatterns,
                *people_urls.console,
                *queue_urls.urlpatterns,
                *reconciliation_urls.urlpatterns,
            ]
        ),
    ),
    path("organisation/", include(people_urls.organisation)),
    path("package-requests/", include(people_urls.package_requests)),
]
