from django.db import migrations, models


def limit_simulated(apps, schema_editor):
    """Cards that do not exist keep every promise."""
    apps.get_model("clusters", "Accelerator").everything.filter(node__cluster__zone__simulated=True).update(
        limiter="simulated"
    )


class Migration(migrations.Migration):

    dependencies = [
        ("clusters", "0003_silence"),
    ]

    operations = [
        migrations.AddField("accelerator", "mig_profiles", models.JSONField(null=True)),
        migrations.AddField(
            "accelerator",
            "limiter",
            models.CharField(
                blank=True,
                choices=[
                    ("", "Nothing"),
                    ("hami", "HAMi-core"),
                    ("mps", "MPS"),
                    ("vendor", "The vendor's templates"),
                    ("simulated", "Nothing: simulated"),
                ],
                default="",
                max_length=10,
            ),
        ),
        migrations.AddField("accelerator", "share_milli", models.PositiveIntegerField(default=1000)),
        migrations.AddField("accelerator", "partition", models.CharField(blank=True, max_length=8)),
        migrations.RunPython(limit_simulated, migrations.RunPython.noop),
    ]
