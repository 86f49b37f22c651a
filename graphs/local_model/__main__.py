"""`make local-model`: serve a small model on the loopback interface until it is told to stop."""

import importlib
import json
import os
import signal
import sys
import threading
from pathlib import Path
from typing import Annotated, Any

import typer

from graphs.errors import UsageError
from graphs.local_model import MODELS, LocalModelError, check_file, find_model

_HERE = Path(__file__).parent
_PARENT_CHECK = 1.0
"""Seconds between two looks whether whoever started the server is still there."""


def serve(
    *,
    model: Annotated[str, typer.Option(help=f"One of: {', '.join(MODELS)}.")] = "smollm2",
    gguf: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A model file of your own.")
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65_535, help="0: any free one.")] = 0,
    context: Annotated[int, typer.Option(min=256, help="Tokens a conversation may have.")] = 4096,
    parallel: Annotated[int, typer.Option(min=1, help="Conversations at the same time.")] = 2,
    max_tokens: Annotated[int, typer.Option(min=1, help="Tokens of a reply, at most.")] = 1024,
    temperature: Annotated[
        float, typer.Option(min=0, help="Where a request names none; 0: always the likeliest word.")
    ] = 0.8,
    api_key: Annotated[
        str, typer.Option(envvar="RUNGS_LOCAL_KEY", help="Refuse requests without this key.")
    ] = "",
    with_parent: Annotated[
        bool, typer.Option("--with-parent", help="End when the process that started it ends.")
    ] = False,
) -> None:
    """Serve a model; a line of JSON on stdout says where, once it takes requests."""
    template = None if gguf else MODELS[model].template if model in MODELS else None
    file = gguf.expanduser() if gguf else find_model(model)
    check_file(file)
    given = _parameters(file, template)
    given.port = port
    given.api_keys = [api_key] if api_key else []
    given.n_predict, given.sampling.temp = max_tokens, temperature
    given.n_parallel, given.n_ctx = parallel, context * parallel
    server = _start(given)
    base_url = f"{server.listening_address}/v1"
    ready = {"base_url": base_url, "model": "local", "pid": os.getpid()}
    print(json.dumps(ready), flush=True)  # noqa: T201 - what a caller reads
    _tell(base_url)
    _wait(with_parent=with_parent)
    # The native server would wait for the requests that are under way.
    os._exit(0)


def _parameters(file: Path, template: str | None) -> Any:
    # libgomp waits for its threads by spinning unless told before it is loaded: on two cores that
    # is eight times slower.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    xllamacpp = _llama_cpp()
    given = xllamacpp.CommonParams()
    given.model.path = str(file)
    given.model_alias = {"local"}
    given.hostnames = ["127.0.0.1"]
    given.n_batch = given.n_ubatch = 256  # a request that was dropped stops after a batch
    threads = os.cpu_count() or 2
    given.cpuparams.n_threads = given.cpuparams_batch.n_threads = threads
    given.use_jinja = True
    given.ctx_shift = False
    given.cache_ram_mib = 0
    given.ui = given.endpoint_slots = False
    given.cors_origins = ""
    given.offline = True
    given.verbosity = 1
    if template:
        given.chat_template = (_HERE / template).read_text(encoding="utf-8")
    return given


def _llama_cpp() -> Any:
    try:
        return importlib.import_module("xllamacpp")
    except ImportError:
        raise LocalModelError(
            "the package xllamacpp is not installed: `make local-model` does it"
        ) from None


def _start(parameters: Any) -> Any:
    try:
        return _llama_cpp().Server(parameters)
    except (RuntimeError, OSError) as error:
        reason = " ".join(str(error).split()) or "it could not be loaded"
        raise LocalModelError(f"{parameters.model.path} can't be served: {reason}") from None


def _tell(base_url: str) -> None:
    if sys.stdout.isatty():
        print(  # noqa: T201 - what a person reads
            f"In another terminal: OPENAI_BASE_URL={base_url} rungs ask --model openai:local ...\n"
            "Ctrl-C stops the server.",
            file=sys.stderr,
        )


def _wait(*, with_parent: bool) -> None:
    stop = threading.Event()
    for name in (signal.SIGTERM, signal.SIGINT):
        signal.signal(name, lambda *_: stop.set())
    parent = os.getppid()
    while not stop.wait(_PARENT_CHECK):
        if with_parent and os.getppid() != parent:
            return


def main() -> None:
    """Serve, and say in one line what is in the way."""
    try:
        typer.run(serve)
    except UsageError as error:
        print(f"rungs: {error}", file=sys.stderr)  # noqa: T201 - what a person reads
        sys.exit(2)


if __name__ == "__main__":
    main()
