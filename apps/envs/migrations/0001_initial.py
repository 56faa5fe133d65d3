import django.contrib.postgres.fields
import django.contrib.postgres.indexes
import django.db.models.deletion
import django.db.models.functions.datetime
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    # Earlier installations have these instead: see apps/common/management/commands/migrate.py.
    replaces = [
        ('envs', '0002_snapshots_and_operations'),
        ('envs', '0003_preemptible'),
        ('envs', '0004_spending_cap'),
        ('envs', '0005_cluster_and_alternatives'),
        ('envs', '0006_tags'),
    ]

    dependencies = [
        ('billing', '0001_initial'),
        ('clusters', '0001_initial'),
        ('registry', '0001_initial'),
        ('storage', '0001_initial'),
        ('tenants', '0001_initial'),
        ('workloads', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Environment',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.organisation')),
                ('owner', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('department_id', models.UUIDField(null=True)),
                ('code', models.CharField(max_length=16, unique=True)),
                ('name', models.CharField(max_length=60)),
                ('note', models.CharField(blank=True, max_length=200)),
                ('tags', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=40), db_default=[], default=list, size=None)),
                ('tag_keys', django.contrib.postgres.fields.ArrayField(base_field=models.CharField(max_length=120), db_default=[], default=list, size=None)),
                ('image', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='registry.image')),
                ('package', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='billing.package')),
                ('cpu_package', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='billing.package')),
                ('without_gpu', models.BooleanField(default=False)),
                ('home', models.OneToOneField(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='storage.folder')),
                ('mounts', models.JSONField(default=list)),
                ('vscode', models.BooleanField(default=False)),
                ('idle_minutes', models.PositiveIntegerField(null=True)),
                ('snapshot_minutes', models.PositiveIntegerField(null=True)),
                ('keep_until', models.DateTimeField(null=True)),
                ('expires_at', models.DateTimeField(null=True)),
                ('preemptible', models.BooleanField(default=True)),
                ('cluster', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='clusters.logicalcluster')),
                ('also_packages', models.JSONField(default=list)),
                ('cap_fen', models.BigIntegerField(null=True)),
                ('workload', models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='environment', to='workloads.workload')),
                ('starts', models.PositiveIntegerField(default=0)),
                ('submit_key', models.CharField(max_length=64)),
                ('deleted_at', models.DateTimeField(null=True)),
                ('purge_at', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
            ],
            options={
                'ordering': ['-created_at', '-pk'],
                'indexes': [models.Index(fields=['organisation', '-created_at'], name='environment_newest'), models.Index(fields=['-created_at', '-id'], name='environment_newest_of_all'), models.Index(condition=models.Q(('expires_at__isnull', False)), fields=['expires_at'], name='environment_expires'), models.Index(condition=models.Q(('purge_at__isnull', False)), fields=['purge_at'], name='environment_purge'), django.contrib.postgres.indexes.GinIndex(fields=['tag_keys'], name='environment_tagged')],
                'constraints': [models.UniqueConstraint(fields=('organisation', 'owner', 'submit_key'), name='environment_submitted_once'), models.CheckConstraint(condition=models.Q(models.Q(('deleted_at__isnull', True), ('purge_at__isnull', True)), models.Q(('deleted_at__isnull', False), ('purge_at__isnull', False)), _connector='OR'), name='environment_bin_has_an_end'), models.CheckConstraint(condition=models.Q(('without_gpu', False), ('cpu_package__isnull', False), _connector='OR'), name='environment_without_gpu_has_a_package'), models.CheckConstraint(condition=models.Q(('cap_fen__isnull', True), ('cap_fen__gt', 0), _connector='OR'), name='environment_cap_positive'), models.CheckConstraint(condition=models.Q(('tag_keys__len', models.F('tags__len')), ('tags__len__lte', 10)), name='environment_tags_few')],
            },
        ),
        migrations.CreateModel(
            name='Snapshot',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.organisation')),
                ('environment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='snapshots', to='envs.environment')),
                ('kind', models.CharField(choices=[('manual', 'Manual'), ('automatic', 'Automatic'), ('before_release', 'Before release'), ('before_change', 'Before a change'), ('at_stop', 'When stopped')], max_length=16)),
                ('note', models.CharField(blank=True, max_length=200)),
                ('manifest', models.OneToOneField(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='storage.manifest')),
                ('size_bytes', models.BigIntegerField(default=0)),
                ('file_count', models.PositiveIntegerField(default=0)),
                ('made_by', models.CharField(max_length=200)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('ready_at', models.DateTimeField(null=True)),
            ],
            options={
                'ordering': ['-created_at'],
                'indexes': [models.Index(fields=['environment', '-created_at'], name='snapshot_newest')],
            },
        ),
        migrations.CreateModel(
            name='Operation',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.organisation')),
                ('environment', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='operations', to='envs.environment')),
                ('step', models.CharField(choices=[('snapshot', 'Taking a snapshot'), ('stop', 'Saving, then stopping'), ('release', 'Saving, then releasing'), ('restore', 'Restoring files'), ('restart', 'Restarting with the new settings')], max_length=8)),
                ('status', models.CharField(choices=[('waiting', 'Waiting'), ('done', 'Done'), ('failed', 'Failed')], default='waiting', max_length=8)),
                ('by', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('safety', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='envs.snapshot')),
                ('source', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='envs.snapshot')),
                ('from_image', models.BooleanField(default=False)),
                ('start_after', models.BooleanField(default=False)),
                ('note', models.CharField(blank=True, max_length=200)),
                ('tries', models.PositiveSmallIntegerField(default=0)),
                ('error', models.CharField(blank=True, max_length=500)),
                ('fence', models.PositiveIntegerField(default=0)),
                ('due_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('ended_at', models.DateTimeField(null=True)),
            ],
            options={
                'indexes': [models.Index(condition=models.Q(('status', 'waiting')), fields=['due_at'], name='operation_due'), models.Index(fields=['environment', '-created_at'], name='operation_newest')],
                'constraints': [models.UniqueConstraint(condition=models.Q(('status', 'waiting')), fields=('environment',), name='one_operation_at_a_time')],
            },
        ),
        migrations.CreateModel(
            name='Watch',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('organisation', models.ForeignKey(on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.organisation')),
                ('environment', models.OneToOneField(on_delete=django.db.models.deletion.CASCADE, related_name='watch', to='envs.environment')),
                ('workload_id', models.UUIDField()),
                ('measured_at', models.DateTimeField()),
                ('busy_at', models.DateTimeField()),
                ('cause', models.CharField(blank=True, choices=[('started', 'it has just started'), ('kept', 'somebody asked to keep it'), ('kernel', 'a notebook is computing'), ('terminal', 'a terminal is in use'), ('input', 'somebody is working in it'), ('cpu', 'a program is computing'), ('gpu', 'the GPU is in use'), ('unseen', 'nobody can see whether it is in use')], max_length=16)),
                ('warned_at', models.DateTimeField(null=True)),
                ('save_failed_at', models.DateTimeField(null=True)),
                ('facts', models.JSONField(default=dict)),
            ],
            options={
                'abstract': False,
            },
        ),
    ]
