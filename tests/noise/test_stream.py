"""The byte stream: fresh words for every thread, process and key; no copy, no seed."""

import ast
import copy
import inspect
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

import dither
from dither import noise
from dither.noise import secret_bytes, stream
from dither.noise.exact import Uniform
from dither.noise.stream import BLOCK, CHUNK, KEY, POOL, SMALL, SPARE, Stream, current
from tests.chance import chance
from tests.noise.support import LEVEL, p_value

pytestmark = pytest.mark.filterwarnings(
    "ignore:This process .* is multi-threaded:DeprecationWarning"
)


def keystream(key, count):
    """The next key, and so many words under this one."""
    data = (
        Cipher(algorithms.AES(bytes(key)), modes.CTR(bytes(16)))
        .encryptor()
        .update(bytes(KEY + 8 * count))
    )
    return data[:KEY], np.frombuffer(data[KEY:], np.uint64)


@pytest.mark.tame
def test_words_are_the_keystream_and_each_is_used_once(monkeypatch):
    """Arrays of any size, and single words, are AES-256-CTR keystreams; each begins
    with the key of the next.
    """
    monkeypatch.setattr(os, "urandom", lambda count: bytes(range(count)))
    s, key = Stream(), bytes(range(KEY))
    for size in (SMALL + 1, CHUNK // 8, BLOCK // 8, BLOCK // 8 + CHUNK // 8 + 3):
        found, expected = np.empty(size, np.uint64), []
        s.fill(found)
        for start in range(0, size, BLOCK // 8):
            key, words = keystream(key, min(BLOCK // 8, size - start))
            expected.append(words)
        np.testing.assert_array_equal(found, np.concatenate(expected))
    key, words = keystream(key, SPARE)
    small = [np.empty(size, np.uint64) for size in (1, 3, 0, SMALL, SMALL - 1)]
    for part in small:
        s.fill(part)
    np.testing.assert_array_equal(
        np.concatenate(small), words[: sum(part.size for part in small)]
    )
    singles = [s.word() for _ in range(POOL + 1)]
    key, first = keystream(key, POOL)
    key, second = keystream(key, POOL)
    assert singles == [*first[::-1].tolist(), second[-1]]
    assert bytes(s._key) == key


def test_small_arrays_of_any_shape_are_filled(monkeypatch):
    monkeypatch.setattr(os, "urandom", lambda count: bytes(range(count)))
    flat, square = Stream(), Stream()
    one, other = np.empty(36, np.uint64), np.empty((6, 6), np.uint64)
    flat.fill(one)
    square.fill(other)
    np.testing.assert_array_equal(one.reshape(6, 6), other)


def drawn(s):
    """Draws of every kind, more than all that is prepared."""
    for size in (5, SMALL, SMALL + 1, BLOCK // 8 + 5, *[200] * 50):
        array = np.empty(size, np.uint64)
        s.fill(array)
        yield from array.tolist()
    for _ in range(POOL + 20):
        yield s.word()


def in_memory(s):
    """Every word that a stream holds, and those that its key leads to, a gigabyte or
    the next keys long.
    """
    held = [
        *s._pool,
        *s._spare.tolist(),
        *np.frombuffer(bytes(s._key), np.uint64).tolist(),
    ]
    key = bytes(s._key)
    for _ in range(5):
        key, words = keystream(key, BLOCK // 8)
        held += words.tolist()
    return set(held)


@chance(2e-8)
def test_what_was_drawn_cannot_be_found_in_memory(monkeypatch):
    """Whoever reads the state after a draw learns what comes next, but nothing of what
    came before.
    """
    keys = []
    monkeypatch.setattr(
        os, "urandom", lambda count: keys.append(os.getrandom(count)) or keys[-1]
    )
    s = Stream()
    past = set(drawn(s))
    assert len(past) > BLOCK // 8
    held = in_memory(s)
    assert not past & held
    assert bytes(s._key) != keys[-1]
    future = set(drawn(s))
    assert future & held, "the state is what later draws come from"
    assert not past & in_memory(s)


@chance(1e-15)
def test_consumed_words_are_overwritten_at_once():
    s = Stream()
    for size in (3, 40, 7):
        array = np.empty(size, np.uint64)
        s.fill(array)
    assert not s._spare[:50].any()
    assert s._spare[50:].all()
    word = s.word()
    assert word not in s._pool
    assert len(s._pool) == POOL - 1


def test_no_cipher_is_kept():
    """A cipher's context holds the expanded key in memory that only dropping it clears."""
    s = current()
    s.word()
    kinds = {
        type(getattr(s, name)) for name in Stream.__slots__ if name != "__weakref__"
    }
    assert kinds == {bytearray, int, list, np.ndarray}


@chance(5e-8)
def test_bytes_are_uniform():
    values = np.empty(1 << 20, np.uint64)
    current().fill(values)
    assert (
        p_value(
            np.bincount(values.view(np.uint8), minlength=256), np.full(256, 1 / 256)
        )
        > LEVEL
    )
    assert np.unique(values).size == values.size


@chance(5e-8)
def test_the_operating_system_is_asked_again_in_time(monkeypatch):
    assert stream.RESEED == 1 << 30
    monkeypatch.setattr(stream, "RESEED", 4 * BLOCK)
    asked = []
    monkeypatch.setattr(
        os, "urandom", lambda count: asked.append(count) or os.getrandom(count)
    )
    s = Stream()
    assert asked == []
    words = np.empty(BLOCK, np.uint64)  # eight blocks of bytes
    s.fill(words)
    assert asked == [KEY] * 2
    for _ in range(10_000):
        s.word()
    assert asked == [KEY] * 3
    assert np.unique(words).size == words.size


@chance(1e-12)
def test_threads_have_streams_of_their_own():
    seen, streams = [], []

    def draw():
        streams.append(current())
        seen.append([current().word() for _ in range(600)])

    threads = [threading.Thread(target=draw) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    draw()
    assert len({id(s) for s in streams}) == 9
    assert len({word for words in seen for word in words}) == 9 * 600
    assert current() is current()


def forked_words():
    """What a child draws: single words from the pool, and an array's."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            assert stream._threads.stream is None
            assert not any(
                any(s._key) or s._pool or s._spare.any() for s in stream._streams
            )
            os.write(
                writer,
                b"".join(current().word().to_bytes(8) for _ in range(20))
                + secret_bytes(160),
            )
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        data = pipe.read()
    os.waitpid(pid, 0)
    assert len(data) == 320
    return [data[i : i + 8] for i in range(0, 320, 8)]


@chance(1e-15)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_forgets_the_stream_and_its_pool():
    current().word()  # a filled pool is there to be inherited
    children = [forked_words() for _ in range(3)]
    mine = [current().word().to_bytes(8) for _ in range(20)] + [
        secret_bytes(8) for _ in range(20)
    ]
    assert len({word for words in [*children, mine] for word in words}) == 160


@chance(1e-15)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_inside_a_thread():
    seen = []

    def work():
        current().word()
        seen.append(forked_words())
        seen.append([current().word().to_bytes(8) for _ in range(40)])

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert len({word for words in seen for word in words}) == 80


def test_a_fork_by_foreign_code_is_noticed(monkeypatch):
    """Such a fork runs none of Python's hooks: the process id tells."""
    before = current()
    pid = os.getpid()
    monkeypatch.setattr(os, "getpid", lambda: pid + 1)
    assert current() is not before


def test_streams_cannot_be_copied():
    s = current()
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="cannot be copied"):
            pickle.dumps(s, protocol)
    for copier in (copy.copy, copy.deepcopy, lambda x: copy.deepcopy([x])):
        with pytest.raises(TypeError, match="cannot be copied"):
            copier(s)
    with pytest.raises(TypeError):
        pickle.dumps(Uniform(1, 64, s))


def test_no_argument_selects_a_source():
    seeds = {"seed", "rng", "random_state", "generator"}
    for module, forbidden in (
        (dither, seeds),
        (noise, seeds | {"source", "words", "bits", "stream"}),
    ):
        for name in module.__all__:
            thing = getattr(module, name)
            if inspect.isfunction(thing) or (
                inspect.isclass(thing) and not issubclass(thing, Exception)
            ):
                assert not set(inspect.signature(thing).parameters) & forbidden, name


def test_no_environment_and_no_second_source():
    """The room reads no environment, makes no other randomness and knows nothing of
    tests.
    """
    for path in Path(stream.__file__).parent.glob("*.py"):
        tree = ast.parse(path.read_text())
        names = {
            node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)
        }
        names |= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        imports = {
            alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.Import)
            for alias in node.names
        }
        imports |= {
            node.module or ""
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
        }
        assert not names & {
            "environ",
            "getenv",
            "environb",
            "default_rng",
            "Replay",
            "seed",
        }, path
        assert not imports & {"random", "secrets", "numpy.random", "tests"}, path
        assert path.name == "stream.py" or "urandom" not in names, path


def test_environment_variables_do_not_repeat_a_run():
    command = [sys.executable, "-c", "from dither.noise import token; print(token())"]
    fixed = {
        "PYTHONHASHSEED": "0",
        "DITHER_SEED": "1",
        "DITHER_SOURCE": "zeros",
        "SEED": "1",
        "NUMPY_SEED": "1",
    }
    env = {**os.environ, **fixed, "PYTHONPATH": str(Path(stream.__file__).parents[2])}
    runs = {
        subprocess.run(command, env=env, check=True, capture_output=True).stdout
        for _ in range(2)
    }
    assert len(runs) == 2
