from django.db import migrations

from apps.common.migration_operations import append_only


class Migration(migrations.Migration):
    dependencies = [("audit", "0001_initial"), ("common", "0001_initial")]

    operations = [append_only("audit_entry")]
