"""Only the key that an app was built with may ask its devices."""

from __future__ import annotations

import pickle
import stat
from pathlib import Path

import pytest

from dither.errors import ArgumentError
from dither.local.signing import SigningKey, public_key, verify


def test_a_signature_holds_for_its_bytes_and_its_key() -> None:
    key, other = SigningKey.new(), SigningKey.new()
    signed = key.sign(b"document")
    verify(b"document", signed, public_key(key.public))
    for document, signature, trusted in (
        (b"documenT", signed, key),
        (b"document", signed[:-1] + bytes([signed[-1] ^ 1]), key),
        (b"document", signed, other),
        (b"document", b"short", key),
    ):
        with pytest.raises(ArgumentError, match="another key, or changed"):
            verify(document, signature, public_key(trusted.public))
    with pytest.raises(ArgumentError, match="is not signed"):
        verify(b"document", b"", public_key(key.public))


def test_a_key_is_kept_in_a_file_of_its_owner(tmp_path: Path) -> None:
    key = SigningKey.new()
    place = key.save(tmp_path / "key")
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    assert SigningKey.load(place) == key
    with pytest.raises(ArgumentError, match="already exists"):
        key.save(place)
    assert key.secret.hex() not in repr(key)
    with pytest.raises(TypeError, match="pickled"):
        pickle.dumps(key)


@pytest.mark.parametrize("text", ["", "ab", "not hex", "00" * 31])
def test_what_is_no_key(tmp_path: Path, text: str) -> None:
    (tmp_path / "key").write_text(text)
    with pytest.raises(ArgumentError):
        SigningKey.load(tmp_path / "key")
    with pytest.raises(ArgumentError, match="public key"):
        public_key(text)
    with pytest.raises(ArgumentError, match="does not exist"):
        SigningKey.load(tmp_path / "nothing")
