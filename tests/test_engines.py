"""Engines where Ray is not needed, or is not there; `test_ray.py` runs real ones."""

import socket
import sys
from types import SimpleNamespace

import pytest

from numerate.engines import RayEngine
from numerate.errors import InputError


def test_a_ray_that_cannot_start_is_told_in_one_line(monkeypatch):
    def init(*_, **__):
        # What Ray raises after a time: no class of its own, and several lines.
        raise Exception("The current node timed out during startup.\nSee the logs of ...")

    fake = SimpleNamespace(init=init, is_initialized=lambda: False)
    monkeypatch.setitem(sys.modules, "ray", fake)
    wanted = r"ray: cannot start at 'local' \(The current node timed out during startup\.\)"
    with pytest.raises(InputError, match=wanted):
        next(RayEngine().map(str, [1]))


@pytest.mark.parametrize("address", ["localhost:{}", "ray://localhost:{}"])
def test_an_address_where_nobody_answers_is_told_at_once(monkeypatch, address):
    def init(*_, **__):
        raise AssertionError("Ray would try for five minutes")

    fake = SimpleNamespace(init=init, is_initialized=lambda: False)
    monkeypatch.setitem(sys.modules, "ray", fake)
    with socket.socket() as taken:  # bound and not listening: it refuses connections
        taken.bind(("localhost", 0))
        place = address.format(taken.getsockname()[1])
        with pytest.raises(InputError, match=rf"ray: cannot start at '{place}' \(.*refused"):
            next(RayEngine(place).map(str, [1]))
