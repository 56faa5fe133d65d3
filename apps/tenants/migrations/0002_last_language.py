from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tenants", "0001_initial")]

    operations = [
        migrations.AddField("user", "last_language", models.CharField(blank=True, default="", max_length=10)),
    ]
