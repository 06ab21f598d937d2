//! Shards that are processes, on one machine or on several, linked by plain TCP.
//!
//! Shard 0 listens at an address that all know. The others report to it, each with the port that it listens
//! at, and learn where the others are. Then every pair has a connection, and a message goes straight to
//! each shard: eight bytes for its length, then the message. A thread for each connection reads, so that
//! shards can send to each other at the same time, however long the messages are.
//!
//! Whoever connects must show the token of the run, or is hung up on. Nothing is encrypted: shards belong
//! into a network that is trusted.

use std::io::{self, Read, Write};
use std::net::{
    IpAddr, Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream, ToSocketAddrs, UdpSocket,
};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::mesh::{Link, Mesh};
use super::{Exchange, MOST_SHARDS, Shard};
use crate::{Cancel, Error, Result};

/// What both sides say first; the number is that of this protocol.
const HELLO: &[u8; 16] = b"memoir shards 1\n";

/// Greeting, token, number of the shard and of shards, and the port that it listens at.
const HELLO_BYTES: usize = HELLO.len() + 32 + 4 + 4 + 2;

/// The answer to a stranger's hello never comes; to a shard's, this.
const WELCOME: u8 = b'+';

/// Longest message. Training cuts what is larger.
const MOST_BYTES: u64 = 1 << 31;

/// Memory for a message is asked for in pieces of this size, as its bytes come.
const PIECE: usize = 1 << 20;

/// How long one who has connected may take to say who it is.
const HELLO_TIME: Duration = Duration::from_secs(5);

/// How often is looked for somebody who connects.
const LOOK: Duration = Duration::from_millis(10);

/// What the shards of one run know and nobody else.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Token([u8; 32]);

impl Token {
    /// The token that 64 hexadecimal digits say.
    pub fn from_hex(digits: &str) -> Result<Self> {
        let invalid = || Error::Parameter("a token has 64 hexadecimal digits".to_owned());
        if digits.len() != 64 || !digits.is_ascii() {
            return Err(invalid());
        }
        let mut token = [0; 32];
        for (number, byte) in token.iter_mut().enumerate() {
            *byte = u8::from_str_radix(&digits[2 * number..2 * number + 2], 16).map_err(|_| invalid())?;
        }
        Ok(Self(token))
    }

    /// Whether `shown` is this token. Takes as long for a token that is nearly right as for any other.
    fn fits(&self, shown: &[u8]) -> bool {
        let differences = self.0.iter().zip(shown).fold(0, |sum, (a, b)| sum | (a ^ b));
        shown.len() == self.0.len() && differences == 0
    }
}

impl std::fmt::Debug for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Token(..)")
    }
}

/// Which shard of how many, what they know each other by, and how long they wait.
#[derive(Debug, Clone, Copy)]
pub struct ShardAddress {
    /// The number of the shard, from 0.
    pub index: usize,
    /// Number of shards.
    pub shards: usize,
    /// The token of the run.
    pub token: Token,
    /// How long another shard may be silent before it counts as gone. Reading the data, which some do
    /// faster than others, is silence too.
    pub patience: Duration,
}

/// A shard that talks to others by TCP.
pub struct TcpExchange {
    mesh: Mesh,
    /// To be shut down at the end, which ends the threads that read.
    connections: Vec<TcpStream>,
}

impl TcpExchange {
    /// Shard 0, which the others report to at `listener`.
    pub fn host(listener: &TcpListener, own: ShardAddress, cancel: &Cancel) -> Result<Self> {
        own.check()?;
        let mut streams: Vec<Option<TcpStream>> = (0..own.shards).map(|_| None).collect();
        let mut addresses = vec![None; own.shards];
        own.accept(listener, 1..own.shards, cancel, |shard, port, stream| {
            let ip = stream.peer_addr()?.ip();
            addresses[shard] = Some(SocketAddr::new(ip, port));
            streams[shard] = Some(stream);
            Ok(())
        })?;
        let mut book = String::new();
        for address in &addresses {
            book += &address.map_or_else(|| "-".to_owned(), |address: SocketAddr| address.to_string());
            book.push('\n');
        }
        for (shard, stream) in streams.iter_mut().enumerate() {
            if let Some(stream) = stream {
                send(stream, book.as_bytes()).map_err(|reason| lost(shard, &reason))?;
            }
        }
        own.mesh(streams)
    }

    /// Another shard, which reports to shard 0 at `host`.
    pub fn join(host: impl ToSocketAddrs, own: ShardAddress, cancel: &Cancel) -> Result<Self> {
        own.check()?;
        let unreachable = |reason: io::Error| lost(0, &reason);
        let mut found = host.to_socket_addrs().map_err(unreachable)?;
        let host = found
            .next()
            .ok_or_else(|| unreachable(io::ErrorKind::AddrNotAvailable.into()))?;
        let listener = listen_towards(host).map_err(unreachable)?;
        let port = listener.local_addr().map_err(unreachable)?.port();
        let mut to_host = own.connect(0, host, port, cancel)?;
        to_host
            .set_read_timeout(Some(own.patience))
            .map_err(unreachable)?;
        let book = receive(&mut to_host).map_err(unreachable)?;
        let book = String::from_utf8_lossy(&book).into_owned();
        let mut streams: Vec<Option<TcpStream>> = (0..own.shards).map(|_| None).collect();
        streams[0] = Some(to_host);
        for (shard, line) in book.lines().enumerate().take(own.index).skip(1) {
            let address = line.parse().map_err(|_| Shard::misfit(0))?;
            streams[shard] = Some(own.connect(shard, address, 0, cancel)?);
        }
        own.accept(
            &listener,
            own.index + 1..own.shards,
            cancel,
            |shard, _, stream| {
                streams[shard] = Some(stream);
                Ok(())
            },
        )?;
        own.mesh(streams)
    }
}

impl ShardAddress {
    fn check(&self) -> Result<()> {
        if self.index < self.shards && self.shards <= MOST_SHARDS {
            return Ok(());
        }
        Err(Error::Parameter(format!(
            "expected a shard below the number of shards, and at most {MOST_SHARDS} of these; found shard {} of {}",
            self.index, self.shards
        )))
    }

    /// Says who this shard is.
    fn hello(&self, port: u16) -> Vec<u8> {
        let mut hello = HELLO.to_vec();
        hello.extend(self.token.0);
        hello.extend((self.index as u32).to_le_bytes());
        hello.extend((self.shards as u32).to_le_bytes());
        hello.extend(port.to_le_bytes());
        hello
    }

    /// The number and the port of a shard that says hello; nothing for a stranger.
    fn known(&self, hello: &[u8; HELLO_BYTES]) -> Option<(usize, u16)> {
        let (greeting, rest) = hello.split_at(HELLO.len());
        let (token, rest) = rest.split_at(self.token.0.len());
        let number = |at: usize| u32::from_le_bytes([rest[at], rest[at + 1], rest[at + 2], rest[at + 3]]);
        let (index, shards) = (number(0) as usize, number(4) as usize);
        let is_known = self.token.fits(token) && greeting == HELLO && shards == self.shards;
        is_known.then(|| (index, u16::from_le_bytes([rest[8], rest[9]])))
    }

    /// Waits until all of `expected` have said hello, and hands them to `take`. Strangers are hung up on.
    fn accept(
        &self,
        listener: &TcpListener,
        expected: std::ops::Range<usize>,
        cancel: &Cancel,
        mut take: impl FnMut(usize, u16, TcpStream) -> io::Result<()>,
    ) -> Result<()> {
        let failed = |reason: io::Error| Error::Exchange(format!("cannot wait for other shards: {reason}"));
        listener.set_nonblocking(true).map_err(failed)?;
        let mut missing: Vec<usize> = expected.collect();
        let start = Instant::now();
        while !missing.is_empty() {
            if cancel.is_raised() {
                return Err(Error::Cancelled);
            }
            if start.elapsed() >= self.patience {
                return Err(Error::Exchange(format!(
                    "shard {} has not reported within {} s",
                    missing[0],
                    self.patience.as_secs()
                )));
            }
            let mut stream = match listener.accept() {
                Ok((stream, _)) => stream,
                Err(reason) if reason.kind() == io::ErrorKind::WouldBlock => {
                    std::thread::sleep(LOOK);
                    continue;
                }
                Err(reason) => return Err(failed(reason)),
            };
            let Ok(hello) = read_hello(&mut stream) else {
                continue;
            };
            let Some((shard, port)) = self.known(&hello) else {
                continue;
            };
            let is_missing = missing.iter().position(|&other| other == shard);
            // One that comes a second time has been told that it was lost: the first is what counts.
            if let Some(position) = is_missing
                && stream.write_all(&[WELCOME]).is_ok()
            {
                take(shard, port, stream).map_err(failed)?;
                missing.remove(position);
            }
        }
        Ok(())
    }

    /// Connects to a shard and says hello. It may not listen yet.
    fn connect(&self, shard: usize, address: SocketAddr, port: u16, cancel: &Cancel) -> Result<TcpStream> {
        let start = Instant::now();
        let mut stream = loop {
            match TcpStream::connect_timeout(&address, HELLO_TIME) {
                Ok(stream) => break stream,
                Err(_) if cancel.is_raised() => return Err(Error::Cancelled),
                Err(reason) if start.elapsed() >= self.patience => return Err(lost(shard, &reason)),
                Err(_) => std::thread::sleep(LOOK),
            }
        };
        let mut greet = || {
            stream.set_read_timeout(Some(self.patience))?;
            stream.write_all(&self.hello(port))?;
            let mut answer = [0];
            stream.read_exact(&mut answer)?;
            Ok(answer[0] == WELCOME)
        };
        match greet() {
            Ok(true) => Ok(stream),
            Ok(false) => Err(Shard::misfit(shard)),
            Err(reason) => Err(lost(shard, &reason)),
        }
    }

    /// Starts to read from all `streams`.
    fn mesh(&self, streams: Vec<Option<TcpStream>>) -> Result<TcpExchange> {
        let mut connections = Vec::new();
        let mut links = Vec::with_capacity(streams.len());
        for (shard, stream) in streams.into_iter().enumerate() {
            let mut link = || match &stream {
                Some(stream) => {
                    connections.push(stream.try_clone()?);
                    self.link(stream.try_clone()?).map(Some)
                }
                None => Ok(None),
            };
            links.push(link().map_err(|reason| lost(shard, &reason))?);
        }
        Ok(TcpExchange {
            mesh: Mesh {
                index: self.index,
                links,
                patience: self.patience,
            },
            connections,
        })
    }

    fn link(&self, mut writing: TcpStream) -> io::Result<Link> {
        writing.set_nodelay(true)?;
        writing.set_nonblocking(false)?;
        writing.set_write_timeout(Some(self.patience))?;
        let mut reading = writing.try_clone()?;
        // Silence is noticed by the one who waits.
        reading.set_read_timeout(None)?;
        let (sender, received) = mpsc::channel();
        std::thread::Builder::new()
            .name("memoir-link".to_owned())
            .spawn(move || {
                loop {
                    let message = receive(&mut reading).map_err(|reason| reason.to_string());
                    let is_last = message.is_err();
                    if sender.send(message).is_err() || is_last {
                        return;
                    }
                }
            })?;
        Ok(Link {
            send: Box::new(move |message| send(&mut writing, message).map_err(|reason| reason.to_string())),
            received,
        })
    }
}

impl Drop for TcpExchange {
    fn drop(&mut self) {
        for connection in &self.connections {
            // It may be closed already.
            let _ = connection.shutdown(Shutdown::Both);
        }
    }
}

/// Listens where `host`, and whoever else is in its network, can connect.
fn listen_towards(host: SocketAddr) -> io::Result<TcpListener> {
    let any: IpAddr = match host {
        SocketAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        SocketAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    // Sends nothing, but makes the system choose the interface.
    let probe = UdpSocket::bind((any, 0))?;
    probe.connect(host)?;
    TcpListener::bind((probe.local_addr()?.ip(), 0))
}

fn read_hello(stream: &mut TcpStream) -> io::Result<[u8; HELLO_BYTES]> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(HELLO_TIME))?;
    let mut hello = [0; HELLO_BYTES];
    stream.read_exact(&mut hello)?;
    Ok(hello)
}

fn send(stream: &mut TcpStream, message: &[u8]) -> io::Result<()> {
    // One write for short messages: the other side would be woken twice.
    let mut bytes = Vec::with_capacity(8 + message.len().min(PIECE));
    bytes.extend((message.len() as u64).to_le_bytes());
    let (first, rest) = message.split_at(message.len().min(PIECE));
    bytes.extend(first);
    stream.write_all(&bytes)?;
    stream.write_all(rest)
}

fn receive(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut length = [0; 8];
    stream
        .read_exact(&mut length)
        .map_err(|reason| match reason.kind() {
            io::ErrorKind::UnexpectedEof => io::Error::new(reason.kind(), "the connection was closed"),
            _ => reason,
        })?;
    let length = u64::from_le_bytes(length);
    if length > MOST_BYTES {
        return Err(io::Error::other(format!(
            "a message of {length} bytes was announced"
        )));
    }
    let mut message = Vec::new();
    while message.len() < length as usize {
        let start = message.len();
        message.resize(start + PIECE.min(length as usize - start), 0);
        stream.read_exact(&mut message[start..])?;
    }
    Ok(message)
}

fn lost(shard: usize, reason: &io::Error) -> Error {
    Error::Exchange(format!("shard {shard} cannot be reached: {reason}"))
}

impl Exchange for TcpExchange {
    fn index(&self) -> usize {
        self.mesh.index
    }

    fn shards(&self) -> usize {
        self.mesh.links.len()
    }

    fn all_gather(&mut self, mine: &[u8], cancel: &Cancel) -> Result<Vec<Vec<u8>>> {
        self.mesh.all_gather(mine, cancel)
    }

    fn gather(&mut self, mine: &[u8], cancel: &Cancel) -> Result<Option<Vec<Vec<u8>>>> {
        self.mesh.gather(mine, cancel)
    }
}
