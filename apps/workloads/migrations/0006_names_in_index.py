"""The index of all workloads by age holds their names, so that a search over them reads no rows."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("workloads", "0005_machine_facts")]

    operations = [
        migrations.RemoveIndex(model_name="workload", name="workload_newest_of_all"),
        migrations.AddIndex(
            model_name="workload",
            index=models.Index(fields=["-created_at", "-id"], include=("name",), name="workload_newest_of_all"),
        ),
    ]
