"""SHA-256 for short texts, without `hashlib`: that loads OpenSSL, which takes as long as a fifth of a bare interpreter.

For much data `hashlib` is several times as fast.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from hashlib import sha256
else:
    try:
        from _sha2 import sha256  # Python 3.12 and later
    except ImportError:
        try:
            from _sha256 import sha256
        except ImportError:  # an interpreter that was built without it
            from hashlib import sha256

__all__ = ["sha256"]
