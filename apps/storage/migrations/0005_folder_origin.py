from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("storage", "0004_dataset_copies")]

    operations = [migrations.AddField("folder", "origin", models.JSONField(null=True))]
