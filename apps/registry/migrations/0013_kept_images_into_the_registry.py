import django.db.models.deletion
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('registry', '0012_image_savings'),
        ('workloads', '0013_elastic_gangs'),
    ]

    operations = [
        migrations.AlterField(
            model_name='imagesaving',
            name='workload',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='image_savings', to='workloads.workload'),
        ),
        migrations.AlterField(
            model_name='imagesaving',
            name='attempt',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='workloads.attempt'),
        ),
        migrations.AddField(
            model_name='imagesaving',
            name='kept',
            field=models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='registry.image'),
        ),
        migrations.AddConstraint(
            model_name='imagesaving',
            constraint=models.UniqueConstraint(condition=models.Q(('status__in', ['queued', 'sending'])), fields=('kept',), name='one_sending_of_a_kept_image'),
        ),
        migrations.AddConstraint(
            model_name='imagesaving',
            constraint=models.CheckConstraint(condition=models.Q(models.Q(('attempt__isnull', False), ('kept__isnull', True), ('workload__isnull', False)), models.Q(('attempt__isnull', True), ('kept__isnull', False), ('workload__isnull', True)), _connector='OR'), name='image_saving_of_work_or_of_an_image'),
        ),
    ]
