"""Static files by names with a digest, which browsers keep for good, compressed once by brotli and gzip."""

from typing import Any

import brotli
from whitenoise.compress import Compressor
from whitenoise.storage import CompressedManifestStaticFilesStorage

# The best, 11, makes the style sheet another seventh smaller and takes most of a minute of the first start.
QUALITY = 9


class QuickCompressor(Compressor):
    @staticmethod
    def compress_brotli(data: bytes) -> bytes:
        compressed: bytes = brotli.compress(data, quality=QUALITY)
        return compressed


class CompressedFiles(CompressedManifestStaticFilesStorage):
    def create_compressor(self, **kwargs: Any) -> Compressor:
        return QuickCompressor(**kwargs)
