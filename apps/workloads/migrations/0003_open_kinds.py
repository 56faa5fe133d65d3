from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('workloads', '0002_triggers'),
    ]

    operations = [
        migrations.AlterField(
            model_name='workload',
            name='kind',
            field=models.CharField(max_length=16),
        ),
    ]
