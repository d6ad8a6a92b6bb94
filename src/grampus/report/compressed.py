"""Data of a page in the zlib format (RFC 1950) and base 64, compressed by several threads."""

import base64
import zlib

from .._parallel import results_in_threads

PIECE = 1 << 20  # bytes that are compressed at a time, whatever the number of threads
WINDOW = 1 << 15  # bytes before a piece that it may refer to
LEVEL, HEADER = 4, b"\x78\x5e"


def compressed(data: bytes) -> str:
    """Return compressed data in base 64; the same for any number of threads.

    The pieces are deflated on their own, each with the end of the one before as its dictionary, and together are one
    stream.

    Examples
    --------
    >>> import base64, zlib
    >>> from grampus.report.compressed import compressed
    >>> zlib.decompress(base64.b64decode(compressed(b"whale " * 3)))
    b'whale whale whale '
    """
    starts = range(0, max(len(data), 1), PIECE)

    def deflated(number: int) -> bytes:
        start = starts[number]
        before = data[max(start - WINDOW, 0) : start]
        packer = zlib.compressobj(LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS, zdict=before)
        end = zlib.Z_FINISH if number == len(starts) - 1 else zlib.Z_SYNC_FLUSH
        return packer.compress(data[start : start + PIECE]) + packer.flush(end)

    stream = b"".join(results_in_threads(deflated, len(starts)))
    return base64.b64encode(HEADER + stream + zlib.adler32(data).to_bytes(4, "big")).decode("ascii")
