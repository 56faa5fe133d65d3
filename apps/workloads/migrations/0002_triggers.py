from django.db import migrations

from apps.common.migration_operations import LoadSQL, append_only


class Migration(migrations.Migration):
    replaces = [("workloads", "0002_guards")]  # any but the last: see apps/common/management/commands/migrate.py

    dependencies = [("workloads", "0001_initial"), ("common", "0001_initial")]

    operations = [
        append_only("workloads_event"),
        LoadSQL("workloads", "freeze_spec", "6f09871f"),
    ]
