//! Real connections: keep-alive, hostile clients, a graceful stop.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use memoir::Catalogue;
use memoir_serve::{Service, Settings};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::world::World;

struct Running {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    task: JoinHandle<()>,
}

async fn start(world: &World, change: impl FnOnce(&mut Settings)) -> Running {
    let mut settings = world.settings();
    settings.bind = ([127, 0, 0, 1], 0).into();
    change(&mut settings);
    let service = Service::open(&settings, Catalogue::new()).await.unwrap();
    let address = service.address().unwrap();
    let (stop, stopped) = oneshot::channel::<()>();
    let task = tokio::spawn(service.run(async {
        let _ = stopped.await;
    }));
    Running { address, stop, task }
}

fn predict(text: &str) -> String {
    let body = format!("{{\"text\": \"{text}\"}}");
    format!(
        "POST /v1/models/tickets/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
}

/// Reads one answer of a connection that stays open.
async fn read(stream: &mut TcpStream) -> String {
    let mut bytes = vec![0; 65_536];
    let length = stream.read(&mut bytes).await.unwrap_or(0);
    String::from_utf8_lossy(&bytes[..length]).into_owned()
}

async fn ask(stream: &mut TcpStream, request: &str) -> String {
    stream.write_all(request.as_bytes()).await.unwrap();
    read(stream).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_answers_many_requests() {
    let running = start(&World::new(), |_| ()).await;
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    for _ in 0..100 {
        let answer = ask(&mut stream, &predict("toner")).await;
        assert!(
            answer.starts_with("HTTP/1.1 200") && answer.contains("printer"),
            "{answer}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_clients_do_not_hurt_others() {
    let world = World::new();
    let running = start(&world, |settings| {
        settings.limits.head_time = Duration::from_millis(100);
        settings.limits.request_time = Duration::from_millis(100);
    })
    .await;
    let connect = || TcpStream::connect(running.address);
    // A head that never ends is cut off.
    let mut slow = connect().await.unwrap();
    slow.write_all(b"GET / HTTP/1.1\r\nHost: loc").await.unwrap();
    // A body that never comes is refused.
    let mut lazy = connect().await.unwrap();
    let head = predict("x").replace("Content-Length: 13", "Content-Length: 500");
    lazy.write_all(head.as_bytes()).await.unwrap();
    // Heads without end, no HTTP at all, half a connection.
    let mut huge = connect().await.unwrap();
    let header = format!(
        "GET / HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n",
        "y".repeat(1_000_000)
    );
    let _ = huge.write_all(header.as_bytes()).await;
    let mut noise = connect().await.unwrap();
    let _ = noise.write_all(&[0x16, 0x03, 0x01, 0x00, 0xff]).await;
    let mut half = connect().await.unwrap();
    half.write_all(b"POST /v1/mod").await.unwrap();
    half.shutdown().await.unwrap();
    // Good requests go on meanwhile.
    let mut good = connect().await.unwrap();
    let answer = ask(&mut good, &predict("router cable")).await;
    assert!(answer.contains("network"), "{answer}");
    assert!(read(&mut lazy).await.starts_with("HTTP/1.1 408"));
    // Or nothing: what the client goes on sending may cut its own reading off.
    let told = read(&mut huge).await;
    assert!(told.is_empty() || told.starts_with("HTTP/1.1 431"), "{told}");
    let start = Instant::now();
    while !read(&mut slow).await.is_empty() {}
    assert!(start.elapsed() < Duration::from_secs(5), "a slow client was kept");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_lets_requests_finish() {
    let running = start(&World::new(), |_| ()).await;
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    let request = predict("charged twice");
    let (head, body) = request.split_at(request.len() - 5);
    stream.write_all(head.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    running.stop.send(()).unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(
        TcpStream::connect(running.address).await.is_err(),
        "new connections are taken"
    );
    let answer = ask(&mut stream, body).await;
    assert!(
        answer.starts_with("HTTP/1.1 200") && answer.contains("billing"),
        "{answer}"
    );
    tokio::time::timeout(Duration::from_secs(5), running.task)
        .await
        .unwrap()
        .unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stop_does_not_wait_for_ever() {
    let running = start(&World::new(), |settings| {
        settings.limits.stop_time = Duration::from_millis(200);
    })
    .await;
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    let request = predict("never finished");
    stream
        .write_all(&request.as_bytes()[..request.len() - 1])
        .await
        .unwrap();
    tokio::time::sleep(Duration::from_millis(50)).await;
    running.stop.send(()).unwrap();
    tokio::time::timeout(Duration::from_secs(5), running.task)
        .await
        .unwrap()
        .unwrap();
}
