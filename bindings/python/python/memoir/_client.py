"""A client for `memoir serve`, blocking or asynchronous, with nothing but the standard library."""

from __future__ import annotations

import asyncio
import http.client
import io
import json
import ssl
import threading
import urllib.parse
import uuid
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple


class Answer(NamedTuple):
    """A class and how probable it is; the model's own score if it gives no probabilities."""

    label: str
    probability: float


class ServiceError(Exception):
    """The service refused a request. `status` is the HTTP status, `detail` says why."""

    def __init__(self, status: int, detail: str) -> None:
        super().__init__(f"{status}: {detail}")
        self.status = status
        self.detail = detail


class _Calls:
    """What can be asked. Subclasses decide how `_call` sends: at once, or as a coroutine."""

    def __init__(
        self,
        url: str = "http://127.0.0.1:8080",
        *,
        model: str | None = None,
        key: str | None = None,
        timeout: float = 30.0,
    ) -> None:
        parts = urllib.parse.urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"expected an address such as http://127.0.0.1:8080, found {url!r}")
        self._secure = parts.scheme == "https"
        self._host = parts.hostname
        self._port = parts.port or (443 if self._secure else 80)
        self._base = parts.path.rstrip("/")
        self._headers = {"Accept": "application/json"}
        if key is not None:
            self._headers["Authorization"] = f"Bearer {key}"
        self._model = model
        self._timeout = timeout

    def models(self) -> Any:
        """The models of the service, with their versions."""
        return self._call("GET", "/v1/models", None, lambda reply: reply["models"])

    def predict(
        self,
        texts: str | Sequence[str],
        *,
        top_k: int = 5,
        min_probability: float | None = None,
        model: str | None = None,
    ) -> Any:
        """The best classes of a text, or of each of several texts."""
        single = isinstance(texts, str)
        body: dict[str, Any] = {"texts": [texts] if single else list(texts), "top_k": top_k}
        if min_probability is not None:
            body["min_probability"] = min_probability

        def pick(reply: Any) -> Any:
            rows = [[_answer(answer) for answer in row["answers"]] for row in reply["rows"]]
            return rows[0] if single else rows

        return self._call("POST", self._path("predict", model), body, pick)

    def explain(self, text: str, *, model: str | None = None) -> Any:
        """Why a text gets its answer: the service's JSON as a dictionary."""
        return self._call("POST", self._path("explain", model), {"text": text}, _whole)

    def classes(self, search: str, *, limit: int = 20, model: str | None = None) -> Any:
        """Names of classes that hold all words of `search`, best fits first."""
        query = urllib.parse.urlencode({"search": search, "limit": limit})
        path = f"{self._path('classes', model)}?{query}"
        return self._call("GET", path, None, lambda reply: [found["class"] for found in reply["classes"]])

    def feedback(
        self,
        text: str,
        labels: str | Sequence[str],
        *,
        coder: str | None = None,
        reason: str | None = None,
        id: str | None = None,
        model: str | None = None,
    ) -> Any:
        """Keeps a decision and gives its id.

        It is on disk when this returns. Sent again with the same id, it counts once.
        """
        item: dict[str, Any] = {"id": id or str(uuid.uuid4()), "text": text}
        item["labels"] = [labels] if isinstance(labels, str) else list(labels)
        item |= {name: value for name, value in (("coder", coder), ("reason", reason)) if value is not None}
        path = self._path("feedback", model)
        return self._call("POST", path, {"items": [item]}, lambda reply: reply["ids"][0])

    def queue(self, texts: Sequence[str], *, model: str | None = None) -> Any:
        """Adds texts for review and gives how many of them are new."""
        body = {"texts": list(texts)}
        return self._call("POST", self._path("queue", model), body, lambda reply: reply["added"])

    def _path(self, what: str, model: str | None) -> str:
        name = model if model is not None else self._model
        if name is None:
            raise ValueError("say which model: Client(..., model='NAME'), or model='NAME' in the call")
        return f"/v1/models/{urllib.parse.quote(name, safe='')}/{what}"

    def _request(self, body: Any) -> tuple[bytes | None, dict[str, str]]:
        if body is None:
            return None, self._headers
        return json.dumps(body).encode(), {**self._headers, "Content-Type": "application/json"}

    def _call(self, method: str, path: str, body: Any, pick: Callable[[Any], Any]) -> Any:
        raise NotImplementedError


class Client(_Calls):
    """Asks a running `memoir serve`, and waits for the answer. May be shared by threads, which take turns.

    >>> client = Client("http://127.0.0.1:8080", model="tickets")  # doctest: +SKIP
    >>> client.predict("printer out of toner", top_k=1)  # doctest: +SKIP
    [Answer(label='printer', probability=0.97)]
    """

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        kind = http.client.HTTPSConnection if self._secure else http.client.HTTPConnection
        self._connection = kind(self._host, self._port, timeout=self._timeout)
        self._turn = threading.Lock()

    def close(self) -> None:
        """Closes the connection; a later call opens it again."""
        self._connection.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _call(self, method: str, path: str, body: Any, pick: Callable[[Any], Any]) -> Any:
        content, headers = self._request(body)
        with self._turn:
            kept_open = self._connection.sock is not None
            try:
                status, answer = self._exchange(method, path, content, headers)
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
                self._connection.close()
                # The service closes connections that were idle for long. Only then is it worth another try.
                if not kept_open:
                    raise
                status, answer = self._exchange(method, path, content, headers)
            except BaseException:
                self._connection.close()
                raise
        return pick(_reply(status, answer))

    def _exchange(
        self, method: str, path: str, content: bytes | None, headers: dict[str, str]
    ) -> tuple[int, bytes]:
        self._connection.request(method, self._base + path, content, headers)
        response = self._connection.getresponse()
        return response.status, response.read()


class AsyncClient(_Calls):
    """As `Client`, with coroutines: `await client.predict(...)`. Each call has a connection of its own."""

    async def _call(self, method: str, path: str, body: Any, pick: Callable[[Any], Any]) -> Any:
        content, headers = self._request(body)
        async with asyncio.timeout(self._timeout):
            status, answer = await self._exchange(method, path, content, headers)
        return pick(_reply(status, answer))

    async def _exchange(
        self, method: str, path: str, content: bytes | None, headers: dict[str, str]
    ) -> tuple[int, bytes]:
        security = ssl.create_default_context() if self._secure else None
        reader, writer = await asyncio.open_connection(self._host, self._port, ssl=security)
        host = f"[{self._host}]" if ":" in self._host else self._host
        head = {"Host": f"{host}:{self._port}", "Connection": "close", **headers}
        head["Content-Length"] = str(len(content or b""))
        fields = [f"{name}: {value}" for name, value in head.items()]
        lines = [f"{method} {self._base}{path} HTTP/1.1", *fields]
        try:
            writer.write("\r\n".join([*lines, "", ""]).encode("latin-1") + (content or b""))
            await writer.drain()
            raw = await reader.read()
        finally:
            writer.close()
        response = http.client.HTTPResponse(_Received(raw), method=method)
        response.begin()
        return response.status, response.read()


class _Received:
    """Bytes that `http.client` reads as if from a socket."""

    def __init__(self, raw: bytes) -> None:
        self._raw = raw

    def makefile(self, *_: object) -> io.BytesIO:
        return io.BytesIO(self._raw)


def _answer(answer: dict[str, Any]) -> Answer:
    return Answer(answer["class"], answer.get("probability", answer.get("score", 0.0)))


def _whole(reply: Any) -> Any:
    return reply


def _reply(status: int, answer: bytes) -> Any:
    if 200 <= status < 300:
        return json.loads(answer) if answer else None
    try:
        detail = json.loads(answer)["detail"]
    except (ValueError, KeyError, TypeError):
        detail = http.client.responses.get(status, "the service gave no reason")
    raise ServiceError(status, detail)
