"""Who may ask devices: tasks are signed with Ed25519 over the exact bytes of their
document, and a device accepts only those of the key it was built with.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import NoReturn

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import (
    Ed25519PrivateKey,
    Ed25519PublicKey,
)

from dither.errors import ArgumentError
from dither.noise import secret_bytes

__all__ = ["SigningKey", "public_key", "verify"]

SIZE = 32


@dataclass(frozen=True)
class SigningKey:
    """A developer's secret key. `public` is what apps are built with."""

    secret: bytes = field(repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.secret, bytes) or len(self.secret) != SIZE:
            raise ArgumentError(
                "key", "must be 32 bytes; make a key with SigningKey.new()"
            )

    @classmethod
    def new(cls) -> SigningKey:
        return cls(secret_bytes(SIZE))

    @property
    def _key(self) -> Ed25519PrivateKey:
        return Ed25519PrivateKey.from_private_bytes(self.secret)

    @property
    def public(self) -> str:
        """The public key as hexadecimal text."""
        return self._key.public_key().public_bytes_raw().hex()

    def sign(self, document: bytes) -> bytes:
        return self._key.sign(document)

    def save(self, path: str | Path) -> Path:
        """Write the key to a new file that only its owner can read."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        try:
            handle = os.open(path, flags, 0o600)
        except FileExistsError:
            raise ArgumentError(
                "path", f"the file '{path}' already exists; choose another path"
            ) from None
        with os.fdopen(handle, "w", encoding="ascii") as file:
            file.write(self.secret.hex() + "\n")
        return Path(path)

    @classmethod
    def load(cls, path: str | Path) -> SigningKey:
        if not Path(path).is_file():
            raise ArgumentError(
                "key", f"the file '{path}' does not exist; pass the path of a saved key"
            )
        try:
            return cls(bytes.fromhex(Path(path).read_text(encoding="ascii")))
        except (OSError, ValueError) as problem:
            if isinstance(problem, ArgumentError):
                raise
            raise ArgumentError(
                "key",
                f"the file '{path}' does not contain a signing key; pass the path of a "
                "saved key",
            ) from None

    def __reduce__(self) -> NoReturn:
        raise TypeError("a signing key cannot be copied or pickled; save it")


def public_key(text: str) -> Ed25519PublicKey:
    """A public key from its hexadecimal text."""
    try:
        return Ed25519PublicKey.from_public_bytes(bytes.fromhex(text))
    except (ValueError, TypeError):
        raise ArgumentError(
            "trust", "must be a public key; pass key.public, 64 hexadecimal digits"
        ) from None


def verify(document: bytes, signature: bytes, trusted: Ed25519PublicKey) -> None:
    """Refuse a document that this key did not sign."""
    if not signature:
        raise ArgumentError("task", "is not signed; sign it: task.sign(key)")
    try:
        trusted.verify(signature, document)
    except InvalidSignature:
        raise ArgumentError(
            "task",
            "was signed by another key, or changed after it was signed; sign it with "
            "the trusted key: task.sign(key)",
        ) from None
