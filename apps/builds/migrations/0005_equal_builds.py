import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('builds', '0004_stages'),
    ]

    operations = [
        migrations.AddField(
            model_name='build',
            name='waits_for',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='builds.build'),
        ),
    ]
