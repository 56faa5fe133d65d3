"""The Celery application. Messages are nudges: every task finds its work in the database."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "plstack.settings.dev")

# Named as strings: they need the models, which are imported after this module.
app = Celery("plstack", task_cls="plstack.heartbeats:HeartbeatTask")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.conf.beat_scheduler = "plstack.heartbeats:HeartbeatScheduler"
app.conf.worker_consumer = "plstack.consumer:Consumer"
app.steps["worker"].add("plstack.heartbeats:HeartStep")
app.autodiscover_tasks()


def every(seconds: float, task: str, queue: str) -> dict[str, object]:
    """A beat entry that expires before its next turn, so that a stopped worker finds no backlog of nudges."""
    return {"task": task, "schedule": seconds, "options": {"queue": queue, "expires": seconds}}


app.conf.beat_schedule = {
    "schedule": every(3, "workloads.schedule", "scheduler"),
    "reconcile": every(2, "workloads.reconcile", "reconcile"),
    "discover": every(20, "workloads.discover", "default"),
    "discover-clusters": every(20, "workloads.discover_clusters", "default"),
    "examine-clusters": every(10, "workloads.examine_clusters", "default"),
    "simulate": every(20, "workloads.simulate", "default"),
    "software-sources": every(60, "workloads.probe_sources", "default"),
    "image-platforms": every(300, "registry.read_platforms", "default"),
    "watch": every(5, "workloads.watch", "default"),
    "rate": every(30, "billing.rate", "default"),
    "close-months": every(3600, "billing.close_months", "default"),
    "prepaid": every(60, "billing.prepaid", "default"),
    "alipay": every(30, "billing.ask_alipay", "default"),
    "payments-told": every(3, "billing.tell_payments", "default"),
    "alipay-bills": every(20, "billing.reconcile_alipay", "default"),
    "environments": every(3, "envs.advance", "default"),
    "builds": every(2, "builds.save", "default"),
    "build-cache": every(5, "builds.keep_steps", "default"),
    "boards": every(10, "boards.end_unused", "default"),
    "pipelines": every(2, "pipelines.advance", "default"),
    "services": every(2, "serving.advance", "default"),
    "service-checks": every(2, "serving.check", "default"),
    "services-by-load": every(3, "serving.follow_load", "default"),
    "smoke-requests": every(2, "serving.smoke", "default"),
    "experiments": every(2, "automl.advance", "default"),
    "metrics": every(2, "tracking.collect", "default"),
    "points": every(5, "tracking.merge", "default"),
    "run-arrays": every(3, "training.start_arrays", "default"),
    "schedules": every(5, "schedules.start", "default"),
    "deleted-runs": every(30, "training.clear", "default"),
    "idle": every(20, "envs.watch", "default"),
    "environments-sweep": every(60, "envs.sweep", "default"),
    "arrears": every(30, "workloads.enforce_arrears", "default"),
    "release-data": every(3600, "console.release_data", "default"),
    "own-data": every(5, "console.copy_own_data", "default"),
    "replacements-told": every(10, "console.tell_replacements", "default"),
    "budgets": every(300, "billing.budgets", "default"),
    "caps": every(15, "workloads.enforce_caps", "default"),
    "run-times": every(10, "workloads.enforce_run_times", "default"),
    "exports": every(5, "billing.export", "default"),
    "mail": every(5, "notifications.send_mail", "default"),
    "sms": every(5, "notifications.send_sms", "default"),
    "webhooks": every(5, "notifications.send_webhooks", "default"),
    "notices-follow": every(30, "notifications.follow_log", "default"),
    "notices-sweep": every(3600, "notifications.sweep", "default"),
    "storage-meter": every(60, "storage.meter", "default"),
    "registry-read": every(600, "registry.read", "default"),
    "registry-save": every(2, "registry.save", "default"),
    "saved-images": every(60, "registry.sweep_saved", "default"),
    "registry-scan": every(10, "registry.scan", "default"),
    "scanner-database": every(3600, "registry.update_scanner", "default"),
    "registry-collect": every(5, "registry.collect", "default"),
    "vouchers": every(300, "billing.vouchers", "default"),
    "check-books": every(86400, "billing.check_books", "default"),
    "what-if": every(5, "whatif.work", "default"),
    "forget": every(3600, "common.forget", "default"),
    "service-usage": every(3600, "serving.forget", "default"),
    "sign-ins": every(3600, "tenants.forget", "default"),
    "account-deletions": every(300, "tenants.delete_accounts", "default"),
}
