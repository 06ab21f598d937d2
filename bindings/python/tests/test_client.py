"""The client against a running service."""

import asyncio
import os
import subprocess
import threading

import memoir
import pytest

PROGRAM = os.environ.get("MEMOIR_PROGRAM")
KEYS = "read page reader-key-0123456789\nteach anna teacher-key-0123456789\n"
TOPICS = {
    "printer": "toner paper jam",
    "network": "router cable offline",
    "billing": "invoice refund charged",
}

pytestmark = pytest.mark.skipif(PROGRAM is None, reason="MEMOIR_PROGRAM names the program to start")


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("service")
    words = [(topic, word) for topic, words in TOPICS.items() for word in words.split()]
    texts, labels = [], []
    for row in range(450):
        topic, word = words[row % len(words)]
        texts.append(f"{word} number{row % 5}")
        # Some labels are wrong, so that there is something to calibrate by.
        labels.append("network" if row % 11 == 0 else topic)
    model = memoir.MemoirTextClassifier(valid_fraction=0.25).fit(texts, labels)
    model.save(folder / "tickets.memoir")
    (folder / "keys.txt").write_text(KEYS)
    command = [PROGRAM, "serve", folder / "tickets.memoir", "--bind", "127.0.0.1:0"]
    command += ["--api-key-file", folder / "keys.txt", "--log", "warn"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as service:
        # A service that does not start is ended, so that reading its output ends too.
        watchdog = threading.Timer(60, service.kill)
        watchdog.start()
        line = service.stdout.readline()
        watchdog.cancel()
        assert line.startswith("Listening on http://"), line
        yield line.split()[2]
        service.terminate()
        assert service.wait(timeout=30) == 0


@pytest.fixture
def client(address):
    with memoir.Client(address, model="tickets", key="teacher-key-0123456789") as client:
        yield client


def test_one_text_and_several(client):
    best = client.predict("toner and paper", top_k=2)
    assert best[0].label == "printer" and 0 <= best[0].probability <= 1 and len(best) == 2
    assert [row[0].label for row in client.predict(["router", "invoice"])] == ["network", "billing"]


def test_models_classes_and_explanations(client):
    assert [model["name"] for model in client.models()] == ["tickets"]
    assert client.classes("net") == ["network"]
    assert client.explain("refund")["explanation"]["answer"]["class"] == "billing"


def test_feedback_counts_once(client):
    assert client.feedback("cable gone", "network", coder="anna", id="f1") == "f1"
    assert client.feedback("cable gone", ["network"], coder="anna", id="f1") == "f1"
    assert client.queue(["what is this", "what is this"]) == 1


def test_refusals_say_why(address, client):
    with pytest.raises(memoir.ServiceError, match="no model is called `other`") as refused:
        client.predict("x", model="other")
    assert refused.value.status == 404
    reader = memoir.Client(address, model="tickets", key="reader-key-0123456789")
    assert reader.predict("toner")[0].label == "printer"
    with pytest.raises(memoir.ServiceError, match="may read, but not teach"):
        reader.feedback("x", "printer")
    with pytest.raises(memoir.ServiceError, match="key"):
        memoir.Client(address).models()


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="expected an address"):
        memoir.Client("127.0.0.1:8080")
    with pytest.raises(ValueError, match="say which model"):
        memoir.Client().predict("x")


def test_many_at_once(address):
    client = memoir.AsyncClient(address, model="tickets", key="teacher-key-0123456789")

    async def ask():
        answers = await asyncio.gather(*(client.predict(word) for word in ["toner", "cable", "refund"] * 5))
        with pytest.raises(memoir.ServiceError):
            await client.predict("x", top_k=0)
        return answers

    assert [answer[0].label for answer in asyncio.run(ask())] == ["printer", "network", "billing"] * 5
