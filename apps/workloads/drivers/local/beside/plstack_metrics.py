"""Log metrics from a program on PLStack: `from plstack_metrics import log`, then `log(loss=0.3, step=7)`.

One file, standard library only. `log` puts the numbers in a queue and returns; a thread sends them every second. What
cannot be sent is kept and tried again, each parcel under a number, so that nothing is stored twice. Nothing here ever
raises into the program or waits for the platform, except at a clean exit: then what is left is sent, for up to 30 s.
Elsewhere than on the platform `log` does nothing.
"""

import atexit
import json
import math
import os
import sys
import threading
import time
import urllib.error
import urllib.request
import uuid
from collections import deque

__all__ = ["flush", "log"]

_EVERY_S = 1.0
_AT_ONCE = 1000
_MOST = 1_000_000  # points that wait; the oldest go if the platform stays away for longer than that takes
_EXIT_S = 30.0
_REFUSED = (400, 404, 409, 413, 422)  # trying again would change nothing


class _Sender:
    def __init__(self, address, token, run):
        self.url = f"{address.rstrip('/')}/api/v1/tracking/runs/{run}/log/"
        self.token = token
        self.begin()

    def begin(self):
        """Also after a fork: the child has a name of its own and sends nothing of its parent's."""
        self.name, self.number = uuid.uuid4().hex, 1
        self.points = deque(maxlen=_MOST)
        self.parcel = []
        self.lock, self.wake = threading.Lock(), threading.Event()
        self.thread = None
        self.is_told = False

    def add(self, points):
        self.points.extend(points)
        if self.thread is None:
            with self.lock:
                if self.thread is None:
                    self.thread = threading.Thread(target=self.work, name="plstack-metrics", daemon=True)
                    self.thread.start()

    def work(self):
        while True:
            self.wake.wait(_EVERY_S)
            self.wake.clear()
            try:
                self.send_all(time.monotonic() + _EXIT_S)
            except Exception as error:
                self.tell(error)

    def send_all(self, until):
        """Whether nothing is left. A parcel stays as it is until it was taken or refused."""
        with self.lock:
            while time.monotonic() < until:
                if not self.parcel:
                    while self.points and len(self.parcel) < _AT_ONCE:
                        self.parcel.append(self.points.popleft())
                if not self.parcel:
                    return True
                if not self.send(max(1.0, min(10.0, until - time.monotonic()))):
                    return False
                self.parcel, self.number = [], self.number + 1
        return False

    def send(self, timeout):
        body = json.dumps({"sender": self.name, "number": self.number, "points": self.parcel}).encode()
        head = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # to the loopback
        try:
            request = urllib.request.Request(self.url, body, head)  # noqa: S310 - the address is the platform's
            opener.open(request, timeout=timeout).close()
        except urllib.error.HTTPError as error:
            self.tell(error, error.read(2000).decode(errors="replace"))
            return error.code in _REFUSED
        except (OSError, ValueError) as error:
            self.tell(error)
            return False
        return True

    def tell(self, error, words=""):
        if not self.is_told:
            self.is_told = True
            sys.stderr.write(f"plstack_metrics: {error} {words}\n")


def _sender():
    address, token = os.environ.get("PLSTACK_TRACKING_URI"), os.environ.get("PLSTACK_TRACKING_TOKEN")
    run = os.environ.get("PLSTACK_WORKLOAD")
    return _Sender(address, token, run) if address and token and run else None


_sends = _sender()


def log(metrics=None, *, step=None, **more):
    """Log numbers under their names, at a step: by default one after the last. Also `log({"train/loss": 0.3})`."""
    try:
        if _sends is not None:
            now = time.time()
            found = {**(metrics or {}), **more}
            _sends.add([_point(name, value, step, now) for name, value in found.items()])
    except Exception as error:
        _sends.tell(error)


def flush(timeout=_EXIT_S):
    """Send what waits; whether all of it went."""
    try:
        return _sends is None or _sends.send_all(time.monotonic() + timeout)
    except Exception as error:
        _sends.tell(error)
        return False


def _point(name, value, step, now):
    number = float(value)
    if not math.isfinite(number):
        number = "NaN" if math.isnan(number) else ("Infinity" if number > 0 else "-Infinity")
    return {"name": str(name), "value": number, "step": None if step is None else int(step), "at": now}


def _at_exit():
    until = time.monotonic() + _EXIT_S
    while not flush(max(0.0, until - time.monotonic())) and time.monotonic() < until:
        time.sleep(0.5)


if _sends is not None:
    atexit.register(_at_exit)
    os.register_at_fork(after_in_child=_sends.begin)
