//! One contract for every way that bytes are carried, and strangers at the door.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use super::*;

fn address(index: usize, shards: usize, token: Token) -> ShardAddress {
    ShardAddress {
        index,
        shards,
        token,
        patience: Duration::from_secs(20),
    }
}

fn token(digit: char) -> Token {
    Token::from_hex(&digit.to_string().repeat(64)).unwrap()
}

/// Starts a thread for each shard of a group that TCP links, and returns what each returns.
fn over_tcp<R: Send>(shards: usize, work: impl Fn(Shard) -> R + Sync) -> Vec<R> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap();
    let (listener, work) = (&listener, &work);
    thread::scope(|scope| {
        let start = |index| {
            scope.spawn(move || {
                let own = address(index, shards, token('a'));
                let cancel = Cancel::default();
                let exchange = if index == 0 {
                    TcpExchange::host(listener, own, &cancel)
                } else {
                    TcpExchange::join(host, own, &cancel)
                };
                work(Shard::new(exchange.unwrap()))
            })
        };
        let threads: Vec<_> = (0..shards).map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

fn in_threads<R: Send>(shards: usize, work: impl Fn(Shard) -> R + Sync) -> Vec<R> {
    let work = &work;
    thread::scope(|scope| {
        let start = |exchange| scope.spawn(move || work(Shard::new(exchange)));
        let threads: Vec<_> = local_group(shards).into_iter().map(start).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    })
}

/// Long messages and empty ones, to all and to shard 0.
fn talk(shard: Shard) -> Traffic {
    let cancel = Cancel::default();
    for round in 0..5 {
        let message = |of: usize| vec![(of * 7 + round) as u8; of * round * 400_000];
        let all = shard.all_gather(&message(shard.index()), &cancel).unwrap();
        assert!(all == (0..shard.shards()).map(message).collect::<Vec<_>>());
        let gathered = shard.gather(&message(shard.index()), &cancel).unwrap();
        let expected = (shard.index() == 0).then_some(all);
        assert!(gathered == expected);
    }
    shard.traffic()
}

#[test]
fn all_get_what_all_hand_out() {
    for shards in [1, 2, 4] {
        let local = in_threads(shards, talk);
        let remote = over_tcp(shards, talk);
        for (local, remote) in local.iter().zip(&remote) {
            assert_eq!(
                (local.rounds, local.sent, local.received),
                (remote.rounds, remote.sent, remote.received)
            );
        }
        let sum = |of: fn(&Traffic) -> u64| local.iter().map(of).sum::<u64>();
        assert_eq!(sum(|traffic| traffic.sent), sum(|traffic| traffic.received));
    }
}

/// One leaves after the first round: the others are told which.
fn leave(shard: Shard) -> Option<String> {
    let cancel = Cancel::default();
    shard.all_gather(b"here", &cancel).unwrap();
    if shard.index() == 1 {
        return None;
    }
    let mut gone = None;
    while gone.is_none() {
        gone = shard.all_gather(b"still here", &cancel).err();
    }
    gone.map(|gone| gone.to_string())
}

#[test]
fn a_shard_that_is_gone_is_named() {
    for complaints in [in_threads(3, leave), over_tcp(3, leave)] {
        assert_eq!(complaints[1], None);
        for complaint in complaints.into_iter().flatten() {
            // Who noticed has left, too, so either may be told of.
            assert!(
                complaint.starts_with("shard ") && complaint.contains(" is gone: "),
                "{complaint}"
            );
        }
    }
}

#[test]
fn strangers_are_hung_up_on() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap();
    thread::scope(|scope| {
        let first =
            scope.spawn(|| TcpExchange::host(&listener, address(0, 2, token('a')), &Cancel::default()));
        for noise in [&b"GET / HTTP/1.1\r\n\r\n"[..], &[0xff; 5000], b""] {
            let mut stranger = TcpStream::connect(host).unwrap();
            stranger.write_all(noise).unwrap();
            stranger.shutdown(std::net::Shutdown::Write).unwrap();
            let mut answer = Vec::new();
            // Closed or reset, but nothing is told.
            let _ = stranger.read_to_end(&mut answer);
            assert!(answer.is_empty());
        }
        for wrong in [address(1, 2, token('b')), address(1, 3, token('a'))] {
            let refused = TcpExchange::join(host, wrong, &Cancel::default()).err().unwrap();
            assert!(
                refused.to_string().starts_with("shard 0 cannot be reached"),
                "{refused}"
            );
        }
        let second = TcpExchange::join(host, address(1, 2, token('a')), &Cancel::default());
        assert!(second.is_ok() && first.join().unwrap().is_ok());
    });
    assert!(Token::from_hex("12").is_err() && Token::from_hex(&"x".repeat(64)).is_err());
    assert_eq!(format!("{:?}", token('a')), "Token(..)");
}

#[test]
fn a_long_message_that_never_comes_takes_no_memory() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let host = listener.local_addr().unwrap();
    thread::scope(|scope| {
        let first = scope.spawn(|| {
            let own = address(0, 2, token('a'));
            let shard = Shard::new(TcpExchange::host(&listener, own, &Cancel::default()).unwrap());
            shard
                .all_gather(b"", &Cancel::default())
                .err()
                .unwrap()
                .to_string()
        });
        let mut liar = TcpStream::connect(host).unwrap();
        let mut hello = b"memoir shards 1\n".to_vec();
        hello.extend([0xaa; 32]);
        hello.extend([1, 0, 0, 0, 2, 0, 0, 0, 0, 0]);
        liar.write_all(&hello).unwrap();
        liar.write_all(&u64::MAX.to_le_bytes()).unwrap();
        assert_eq!(
            first.join().unwrap(),
            "shard 1 is gone: a message of 18446744073709551615 bytes was announced"
        );
    });
}

#[test]
fn silence_and_the_cancel_flag_end_the_waiting() {
    let mut group = local_group(2).into_iter();
    let (first, _second) = (group.next().unwrap(), group.next().unwrap());
    let cancel = Cancel::default();
    cancel.raise();
    let stopped = Shard::new(first).all_gather(b"", &cancel);
    assert!(matches!(stopped, Err(Error::Cancelled)));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let hasty = ShardAddress {
        patience: Duration::from_millis(30),
        ..address(0, 2, token('a'))
    };
    let complaint = TcpExchange::host(&listener, hasty, &Cancel::default())
        .err()
        .unwrap();
    assert!(
        complaint
            .to_string()
            .starts_with("shard 1 has not reported within"),
        "{complaint}"
    );
}
