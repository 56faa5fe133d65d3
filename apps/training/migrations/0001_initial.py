import django.db.models.deletion
import django.db.models.functions.datetime
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    # Earlier installations have these instead: see apps/common/management/commands/migrate.py.
    replaces = [
        ('training', '0002_initial'),
    ]

    dependencies = [
        ('registry', '0001_initial'),
        ('storage', '0001_initial'),
        ('tenants', '0001_initial'),
        ('workloads', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Run',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('name', models.CharField(max_length=80)),
                ('family', models.UUIDField()),
                ('version', models.PositiveIntegerField(default=1)),
                ('note', models.CharField(blank=True, max_length=200)),
                ('entry', models.CharField(choices=[('python', 'Python script'), ('shell', 'Shell script')], max_length=8)),
                ('script', models.CharField(max_length=200)),
                ('arguments', models.JSONField(default=list)),
                ('environment', models.JSONField(default=list)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('code', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='storage.folder')),
                ('image', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='registry.image')),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.organisation')),
                ('output', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='storage.folder')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('parent', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='children', to='training.run')),
                ('workload', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='training_run', to='workloads.workload')),
            ],
            options={
                'ordering': ['-created_at', '-pk'],
                'indexes': [models.Index(fields=['organisation', '-created_at'], name='run_newest')],
                'constraints': [models.UniqueConstraint(fields=('family', 'version'), name='run_version_once')],
            },
        ),
    ]
