import django.db.models.deletion
import django.db.models.functions.datetime
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    initial = True

    # Earlier installations have these instead: see apps/common/management/commands/migrate.py.
    replaces = [
        ('registry', '0002_personal_images'),
        ('registry', '0003_offered_images'),
    ]

    dependencies = [
        ('tenants', '0001_initial'),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name='Image',
            fields=[
                ('id', models.UUIDField(default=uuid.uuid4, editable=False, primary_key=True, serialize=False)),
                ('key', models.SlugField(unique=True)),
                ('name', models.CharField(max_length=60)),
                ('description_en', models.CharField(max_length=200)),
                ('description_zh', models.CharField(max_length=200)),
                ('requirements', models.JSONField(default=list)),
                ('active', models.BooleanField(default=True)),
                ('organisation', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to='tenants.organisation')),
                ('owner', models.ForeignKey(null=True, on_delete=django.db.models.deletion.PROTECT, related_name='+', to=settings.AUTH_USER_MODEL)),
                ('shared', models.BooleanField(default=False)),
                ('base', models.ForeignKey(null=True, on_delete=django.db.models.deletion.SET_NULL, related_name='+', to='registry.image')),
                ('sort', models.PositiveSmallIntegerField(default=100)),
                ('restricted', models.BooleanField(default=False)),
                ('edited_at', models.DateTimeField(null=True)),
                ('created_at', models.DateTimeField(db_default=django.db.models.functions.datetime.Now())),
                ('allowed', models.ManyToManyField(related_name='+', to='tenants.organisation')),
            ],
            options={
                'ordering': ['sort', 'name'],
                'constraints': [models.CheckConstraint(condition=models.Q(models.Q(('organisation__isnull', True), ('owner__isnull', True), ('shared', False)), models.Q(('organisation__isnull', False), ('owner__isnull', False)), _connector='OR'), name='image_of_the_platform_or_of_a_person')],
            },
        ),
    ]
