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
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.organisation')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('workload', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='training_run', to='workloads.workload')),
                ('name', models.CharField(max_length=80)),
                ('family', models.UUIDField()),
                ('version', models.PositiveIntegerField(default=1)),
                ('parent', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='children', to='training.run')),
                ('note', models.CharField(blank=True, max_length=200)),
                ('image', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='registry.image')),
                ('entry', models.CharField(choices=[('python', 'Python script'), ('shell', 'Shell script')], max_length=8)),
                ('script', models.CharField(max_length=200)),
                ('arguments', models.JSONField(default=list)),
                ('environment', models.JSONField(default=list)),
                ('code', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='storage.folder')),
                ('output', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='storage.folder')),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'ordering': ['-created_at', '-pk'],
                'indexes': [models.Index(fields=['organisation', '-created_at'], name='run_newest')],
                'constraints': [models.UniqueConstraint(fields=('family', 'version'), name='run_version_once')],
            },
        ),
    ]
