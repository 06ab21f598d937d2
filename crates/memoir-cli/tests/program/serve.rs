//! `memoir serve` as a process: feedback survives SIGKILL at any moment, SIGTERM ends it in good order, the
//! examples of its guide work.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::Workplace;

/// How often the service is killed. `MEMOIR_KILLS` asks for more.
const KILLS: u64 = 8;

struct Service {
    process: Child,
    address: String,
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

fn start(place: &Workplace) -> Service {
    let mut command = place.memoir("serve tickets.memoir --bind 127.0.0.1:0 --watch 0 --log warn");
    let mut process = command.stderr(Stdio::inherit()).spawn().expect("started");
    let mut line = String::new();
    let output = process.stdout.as_mut().expect("piped");
    BufReader::new(output).read_line(&mut line).expect("a line");
    let address = line
        .split("http://")
        .nth(1)
        .and_then(|rest| rest.split(' ').next());
    let address = address
        .unwrap_or_else(|| panic!("no address in {line:?}"))
        .to_owned();
    Service { process, address }
}

/// Sends one request on a connection that stays open. None if the service is gone.
fn ask(stream: &mut TcpStream, method: &str, path: &str, body: &str) -> Option<(u16, String)> {
    let length = body.len();
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\n\r\n"
    );
    stream.write_all((head + body).as_bytes()).ok()?;
    let mut bytes = Vec::new();
    let mut part = vec![0; 65_536];
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, rest)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length: "));
            if rest.len() >= length?.parse().ok()? {
                return Some((head.split(' ').nth(1)?.parse().ok()?, rest.to_owned()));
            }
        }
        match stream.read(&mut part) {
            Ok(count) if count > 0 => bytes.extend_from_slice(&part[..count]),
            _ => return None,
        }
    }
}

/// Sends decisions until the service is gone; gives the ids that were acknowledged.
fn decide(address: &str, from: u64) -> Vec<String> {
    let mut acknowledged = Vec::new();
    let mut stream = TcpStream::connect(address).expect("connected");
    for number in from.. {
        let id = format!("id{number}");
        let body = format!(
            "{{\"items\": [{{\"id\": \"{id}\", \"text\": \"text {number} {}\", \"labels\": [\"billing\"]}}]}}",
            "long ".repeat((number % 50) as usize)
        );
        // Every other request is sent twice, as by a client that has missed the answer.
        for _ in 0..=number % 2 {
            match ask(&mut stream, "POST", "/v1/models/tickets/feedback", &body) {
                Some((200, _)) => acknowledged.push(id.clone()),
                Some(other) => panic!("{other:?}"),
                None => return acknowledged,
            }
        }
    }
    acknowledged
}

fn place() -> Workplace {
    let place = Workplace::new();
    let fixture = include_bytes!("../../../memoir/tests/fixtures/softmax-text-v1.memoir");
    place.file("tickets.memoir", fixture);
    place
}

#[test]
fn acknowledged_feedback_survives_being_killed() {
    let place = place();
    let kills = std::env::var("MEMOIR_KILLS").map_or(KILLS, |kills| kills.parse().expect("a number"));
    let mut acknowledged: Vec<String> = Vec::new();
    for round in 0..kills {
        let mut service = start(&place);
        let address = service.address.clone();
        let clients: Vec<_> = (0..3)
            .map(|client| {
                let address = address.clone();
                std::thread::spawn(move || decide(&address, (round * 3 + client) * 1_000_000))
            })
            .collect();
        // Some rounds end before the first answer, others after hundreds.
        std::thread::sleep(Duration::from_millis(1 + (round * 37) % 120));
        service.process.kill().expect("killed");
        for client in clients {
            acknowledged.extend(client.join().expect("no client fails"));
        }
    }
    assert!(!acknowledged.is_empty(), "nothing was acknowledged");
    let service = start(&place);
    let mut stream = TcpStream::connect(&service.address).expect("connected");
    let mut kept: Vec<String> = Vec::new();
    loop {
        let path = format!("/v1/models/tickets/feedback?limit=1000&offset={}", kept.len());
        let (status, body) = ask(&mut stream, "GET", &path, "").expect("answered");
        assert_eq!(status, 200, "{body}");
        let list: Value = serde_json::from_str(&body).expect("JSON");
        let items = list["items"].as_array().expect("a list");
        if items.is_empty() {
            break;
        }
        kept.extend(
            items
                .iter()
                .map(|item| item["id"].as_str().expect("an id").to_owned()),
        );
    }
    let all = kept.len();
    kept.sort_unstable();
    kept.dedup();
    assert_eq!(kept.len(), all, "a decision is there twice");
    for id in acknowledged {
        assert!(
            kept.binary_search(&id).is_ok(),
            "{id} was acknowledged, but is lost"
        );
    }
}

#[test]
fn a_signal_ends_the_service_in_good_order() {
    let place = place();
    let mut service = start(&place);
    let mut stream = TcpStream::connect(&service.address).expect("connected");
    let body = "{\"text\": \"invoice\"}";
    let (status, _) = ask(&mut stream, "POST", "/v1/models/tickets/predict", body).expect("answered");
    assert_eq!(status, 200);
    let signalled = Instant::now();
    let number = service.process.id().to_string();
    Command::new("kill")
        .args(["-TERM", &number])
        .status()
        .expect("kill runs");
    let ended = service.process.wait().expect("it ends");
    assert_eq!(ended.code(), Some(0));
    assert!(
        signalled.elapsed() < Duration::from_secs(9),
        "an idle connection held it up"
    );
}

/// The words of a command, as a shell splits it; quotes are single ones.
fn words(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (index, part) in command.split('\'').enumerate() {
        if index % 2 == 1 {
            words.push(part.to_owned());
        } else {
            words.extend(part.split_whitespace().map(str::to_owned));
        }
    }
    words
}

#[test]
fn the_curl_examples_of_the_guide_work() {
    let guide = include_str!("../../../../docs/guide/serve.md");
    let examples: Vec<_> = guide.lines().filter(|line| line.starts_with("curl ")).collect();
    assert!(examples.len() >= 5, "{examples:?}");
    let place = place();
    let service = start(&place);
    let mut stream = TcpStream::connect(&service.address).expect("connected");
    for example in examples {
        let words = words(example);
        let path = words
            .iter()
            .find_map(|word| word.strip_prefix("http://127.0.0.1:8080"))
            .unwrap_or_else(|| panic!("no address in {example}"));
        let body = words.iter().skip_while(|word| *word != "--json").nth(1);
        let method = if body.is_some() { "POST" } else { "GET" };
        let body = body.map_or("", String::as_str);
        let (status, answer) = ask(&mut stream, method, path, body).expect("answered");
        assert_eq!(status, 200, "{example}: {answer}");
    }
}

#[test]
fn bad_arguments_are_explained() {
    let place = place();
    place.file("keys.txt", "read page short\n");
    for (arguments, words) in [
        ("serve missing.memoir", "missing.memoir: cannot open"),
        (
            "serve tickets.memoir tickets.memoir",
            "two models are called `tickets`",
        ),
        ("serve tickets.memoir --bind 0.0.0.0:0", "--insecure"),
        (
            "serve tickets.memoir --api-key-file keys.txt",
            "keys.txt: line 1: a key has 16 to 128 bytes",
        ),
        (
            "serve tickets.memoir --held-out other=x.csv",
            "no model is called so",
        ),
    ] {
        let output = place.run(arguments);
        let error = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {error}");
        assert!(
            error.lines().count() == 1 && error.contains(words),
            "{arguments}: {error}"
        );
    }
}
