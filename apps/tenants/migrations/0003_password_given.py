from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("tenants", "0002_last_language")]

    operations = [
        migrations.AddField("user", "password_given", models.BooleanField(db_default=False, default=False)),
    ]
