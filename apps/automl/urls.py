"""Pages of experiments."""

from django.urls import path

from apps.automl.views import acts, analysis, detail, exchange, lists, new

app_name = "tuning"

urlpatterns = [
    path("", lists.experiment_list, name="list"),
    path("new/", new.new, name="new"),
    path("quote/", new.quote, name="quote"),
    path("katib/", exchange.read_katib, name="read_katib"),
    path("<uuid:experiment_id>/", detail.detail, name="detail"),
    path("<uuid:experiment_id>/importance/", analysis.importance, name="importance"),
    path("<uuid:experiment_id>/outlook/", analysis.outlook, name="outlook"),
    path("<uuid:experiment_id>/contour/", analysis.contour, name="contour"),
    path("<uuid:experiment_id>/experiment.yaml", exchange.katib, name="katib"),
    path("<uuid:experiment_id>/study.db", exchange.study, name="study"),
    path("<uuid:experiment_id>/ask/<str:name>/", acts.ask, name="ask"),
    path("<uuid:experiment_id>/change/", acts.change, name="change"),
    path("<uuid:experiment_id>/go-on/", acts.go_on, name="go_on"),
    path("<uuid:experiment_id>/<str:name>/", acts.act, name="act"),
    path("<uuid:experiment_id>/trials/<int:number>/ask/<str:name>/", acts.ask_trial, name="ask_trial"),
    path("<uuid:experiment_id>/trials/<int:number>/<str:name>/", acts.act_trial, name="act_trial"),
]
