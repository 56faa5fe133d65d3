"""Serves a person's inference script over HTTP: `server.py <script> <port> <name> <calls at a time>`.

The script defines `predict(model, inputs)`, and may define `load()`, whose answer is `model` from then on, and
`SIGNATURE`, which names the tensors: {"inputs": [{"name", "datatype", "shape"}], "outputs": […]}.

`POST /predict` calls it with the JSON that was sent and answers with what it returns; what it yields is streamed as
server-sent events. `/v2/…` is the Open Inference Protocol: there `inputs` is a dict of nested lists by tensor, and so
is the answer. A `ValueError` says that the request is wrong (400), anything else that the model failed (500).
"""

import asyncio
import contextlib
import importlib.util
import inspect
import json
import math
import os
import sys
import threading
import time
import traceback
from pathlib import Path

import anyio
import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import iterate_in_threadpool
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

LINGER_S = 2  # each process of the gateway reads once a second who may be asked
GRACE_S = 15  # the platform kills what has not ended 20 s after it was asked to


class BadRequest(Exception):
    """What was sent cannot be understood."""


class Service:
    """The script, once it is loaded. `ready` from then on."""

    def __init__(self, script, name, at_a_time):
        self.script, self.name = Path(script), name
        self.limiter = anyio.CapacityLimiter(at_a_time)
        self.ready = False
        self.predict = self.model = None
        self.signature = {}

    def load(self):
        """A script that cannot be loaded ends the program: its log says why."""
        try:
            spec = importlib.util.spec_from_file_location("service_script", self.script)
            module = importlib.util.module_from_spec(spec)
            sys.modules["service_script"] = module
            sys.path.insert(0, str(self.script.parent))
            spec.loader.exec_module(module)
            self.predict = module.predict
            self.signature = getattr(module, "SIGNATURE", {})
            self.model = module.load() if hasattr(module, "load") else None
        except BaseException:
            traceback.print_exc()
            print("The script cannot be loaded.", flush=True)
            os._exit(1)
        self.ready = True
        print(f"{self.name} is ready.", flush=True)

    async def call(self, inputs):
        return await anyio.to_thread.run_sync(self.predict, self.model, inputs, limiter=self.limiter)


def plain(value):
    """What JSON has no word for: arrays of numpy and the like become lists."""
    for convert in ("tolist", "item"):
        if hasattr(value, convert):
            return getattr(value, convert)()
    if isinstance(value, (set, frozenset, tuple)):
        return list(value)
    raise TypeError(f"predict returned a {type(value).__name__}, which JSON has no word for")


def answer(value, status=200):
    return Response(json.dumps(value, default=plain, ensure_ascii=False), status, media_type="application/json")


async def read_json(request):
    try:
        return json.loads(await request.body())
    except ValueError as error:
        raise BadRequest(f"The body is no JSON: {error}") from error


def routes(service):
    async def live(request):
        return answer({"live": True})

    async def ready(request):
        return answer({"ready": service.ready}, 200 if service.ready else 503)

    async def server(request):
        return answer({"name": "plstack", "version": "2", "extensions": []})

    return [
        Route("/v2/health/live", live),
        Route("/v2/health/ready", ready),
        Route("/v2", server),
        *model_routes(service),
        *calls(service),
    ]


def model_routes(service):
    async def model(request):
        known(service, request)
        told = {"name": service.name, "versions": [], "platform": "python", "inputs": [], "outputs": []}
        return answer({**told, **service.signature})

    async def model_ready(request):
        known(service, request)
        return answer({"name": service.name, "ready": service.ready}, 200 if service.ready else 503)

    return [Route("/v2/models/{name}", model), Route("/v2/models/{name}/ready", model_ready)]


def calls(service):
    async def predict(request):
        found = await service.call(await read_json(request))
        if not inspect.isgenerator(found):
            return answer(found)
        return StreamingResponse(events(found), media_type="text/event-stream")

    async def infer(request):
        known(service, request)
        asked = await read_json(request)
        found = await service.call(tensors_in(asked))
        if inspect.isgenerator(found):
            raise BadRequest("This script streams: ask it at /predict.")
        told = {"model_name": service.name, "outputs": tensors_out(found, service.signature)}
        return answer({**told, "id": asked["id"]} if "id" in asked else told)

    return [
        Route("/v2/models/{name}/infer", infer, methods=["POST"]),
        Route("/predict", predict, methods=["POST"]),
    ]


def known(service, request):
    if request.path_params["name"] != service.name:
        raise BadRequest(f"The model of this service is called {service.name}.")


async def events(found):
    async for each in iterate_in_threadpool(found):
        yield f"data: {json.dumps(each, default=plain, ensure_ascii=False)}\n\n"


def tensors_in(asked):
    """The request's tensors by name, as nested lists of their shape."""
    try:
        return {each["name"]: shaped(each["data"], [int(size) for size in each["shape"]]) for each in asked["inputs"]}
    except (KeyError, TypeError, ValueError) as error:
        raise BadRequest(f"`inputs` has to name each tensor with `shape`, `datatype` and `data`: {error}") from error


def shaped(data, shape):
    """Flat or nested data in its shape; raises ValueError where there is too much or too little of it."""
    flat = list(flattened(data))
    if any(size < 0 for size in shape) or len(flat) != math.prod(shape):
        raise ValueError(f"{len(flat)} values do not fill the shape {shape}")
    for size in reversed(shape[1:]):
        flat = [flat[start : start + size] for start in range(0, len(flat), size)] if size else []
    return flat if shape else flat[0]


def flattened(data):
    if isinstance(data, list):
        for each in data:
            yield from flattened(each)
    else:
        yield data


def tensors_out(found, signature):
    declared = {each["name"]: each.get("datatype") for each in signature.get("outputs", ())}
    named = found if isinstance(found, dict) else {next(iter(declared), "output"): found}
    return [tensor(name, value, declared.get(name)) for name, value in named.items()]


def tensor(name, value, datatype):
    nested = json.loads(json.dumps(value, default=plain))
    flat = list(flattened(nested))
    return {"name": name, "shape": shape_of(nested), "datatype": datatype or datatype_of(flat), "data": flat}


def shape_of(nested):
    if not isinstance(nested, list):
        return [1]
    if nested and isinstance(nested[0], list):
        return [len(nested), *shape_of(nested[0])]
    return [len(nested)]


def datatype_of(flat):
    kinds = {type(each) for each in flat}
    if kinds <= {bool}:
        return "BOOL"
    if kinds <= {int}:
        return "INT64"
    return "FP64" if kinds <= {int, float} else "BYTES"


class Told:
    """One line of the log for each request, with its id."""

    def __init__(self, app):
        self.app = app

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, seen = time.monotonic(), {"status": 0}
        number = dict(scope["headers"]).get(b"x-request-id", b"-").decode("latin-1")

        async def noted(message):
            if message["type"] == "http.response.start":
                seen["status"] = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, noted)
        except Exception:
            if seen["status"] != 500:  # an answer that breaks off must not look whole
                raise
            traceback.print_exc()  # told already: the connection serves on
        finally:
            if not scope["path"].startswith("/v2/health/"):
                took = (time.monotonic() - began) * 1000
                print(f"{number} {scope['method']} {scope['path']} {seen['status']} {took:.1f} ms", flush=True)


async def refused(request, error):
    return answer({"error": str(error)}, 400)


async def failed(request, error):
    """`Told` writes where it happened into the log."""
    return answer({"error": f"{type(error).__name__}: {error}"}, 500)


def application(service):
    @contextlib.asynccontextmanager
    async def life(app):
        threading.Thread(target=service.load, daemon=True).start()
        yield

    words = {BadRequest: refused, ValueError: refused, Exception: failed}
    return Told(Starlette(routes=routes(service), exception_handlers=words, lifespan=life))


class Server(uvicorn.Server):
    """Answers for a moment longer once it is asked to end, since requests are on their way; asked again, it ends."""

    asked = False

    def handle_exit(self, sig, frame):
        if self.asked:
            super().handle_exit(sig, frame)
            return
        self.asked = True
        loop = asyncio.get_running_loop()
        loop.call_soon_threadsafe(loop.call_later, LINGER_S, super().handle_exit, sig, frame)


async def main(script, port, name, at_a_time):
    config = uvicorn.Config(
        application(Service(script, name, int(at_a_time))),
        host="127.0.0.1",
        port=int(port),
        access_log=False,
        log_level="warning",
        timeout_graceful_shutdown=GRACE_S,
    )
    await Server(config).serve()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
