"""The images that come with the platform."""

from dataclasses import dataclass

from apps.registry.models import Image


@dataclass(frozen=True, slots=True)
class PlatformImage:
    key: str
    name: str
    description_en: str
    description_zh: str
    requirements: tuple[str, ...]
    sort: int


PLATFORM_IMAGES = (
    PlatformImage(
        "sklearn",
        "scikit-learn 1.7",
        "Python with NumPy, scikit-learn and Matplotlib",
        "Python，含 NumPy、scikit-learn 和 Matplotlib",
        ("numpy==2.3.5", "scikit-learn==1.7.2", "joblib==1.5.2", "matplotlib==3.10.7"),
        10,
    ),
    PlatformImage(
        "pytorch",
        "PyTorch 2.9",
        "PyTorch with NumPy; several gigabytes, installed on first use",
        "PyTorch 与 NumPy；有数 GB，首次使用时安装",
        ("torch==2.9.1", "numpy==2.3.5"),
        20,
    ),
    PlatformImage("python", "Python", "Python alone, nothing else", "只有 Python，不含其他库", (), 30),
)


def ensure_platform_images() -> None:
    """Create or update the platform's images as this version ships them; idempotent.

    Images that administrators have changed (`edited_at`) are theirs: a new version does not touch them.
    """
    for image in PLATFORM_IMAGES:
        shipped = {
            "name": image.name,
            "description_en": image.description_en,
            "description_zh": image.description_zh,
            "requirements": list(image.requirements),
            "sort": image.sort,
        }
        Image.objects.get_or_create(key=image.key, defaults=shipped)
        Image.objects.filter(key=image.key, edited_at__isnull=True).update(**shipped)
