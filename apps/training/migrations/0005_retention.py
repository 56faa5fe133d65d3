from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('training', '0004_launcher'),
    ]

    operations = [
        migrations.AddField(
            model_name='run',
            name='archived_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='run',
            name='clear_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddField(
            model_name='run',
            name='deleted_at',
            field=models.DateTimeField(null=True),
        ),
        migrations.AddIndex(
            model_name='run',
            index=models.Index(condition=models.Q(('clear_at__isnull', False)), fields=['clear_at'], name='run_to_clear'),
        ),
    ]
