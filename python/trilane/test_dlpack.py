"""DLPack capsules themselves: what is written is read, and what they keep lives as long as needed.

The memory's address is never followed, so this needs no device.
"""

from __future__ import annotations

import gc
import weakref

import pytest

from trilane import _core


class _Owner:
    pass


def _capsule(owner, versioned, shape=(2, 3), strides=(3, 1), address=0x1000):
    return _core.dlpack_export(owner, address, shape, strides, 2, 32, 2, 1, versioned)


@pytest.mark.parametrize("versioned", [False, True])
@pytest.mark.parametrize(
    "shape, strides", [((2, 3), (3, 1)), ((), ()), ((4,), (-1,)), ((0, 3), (3, 1))]
)
def test_a_capsule_tells_what_was_put_in(versioned, shape, strides):
    *told, _keeper = _core.dlpack_take(_capsule(_Owner(), versioned, shape, strides))
    assert told == [0x1000, shape, strides or None, 2, 32, 2, 1, False]


@pytest.mark.parametrize("versioned", [False, True])
def test_the_owner_lives_until_the_taker_lets_go(versioned):
    owner = _Owner()
    alive = weakref.ref(owner)
    capsule = _capsule(owner, versioned)
    del owner
    gc.collect()
    assert alive() is not None
    keeper = _core.dlpack_take(capsule)[-1]
    del capsule
    gc.collect()
    assert alive() is not None
    del keeper
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("versioned", [False, True])
def test_a_capsule_that_nobody_takes_lets_the_owner_go(versioned):
    owner = _Owner()
    alive = weakref.ref(owner)
    capsule = _capsule(owner, versioned)
    del owner, capsule
    gc.collect()
    assert alive() is None


@pytest.mark.parametrize("versioned", [False, True])
def test_a_capsule_is_taken_once(versioned):
    capsule = _capsule(_Owner(), versioned)
    keeper = _core.dlpack_take(capsule)[-1]
    with pytest.raises(ValueError, match="taken once"):
        _core.dlpack_take(capsule)
    del keeper


@pytest.mark.parametrize("wrong", [None, 3, b"dltensor"])
def test_what_is_no_capsule_is_refused(wrong):
    with pytest.raises((ValueError, TypeError)):
        _core.dlpack_take(wrong)
