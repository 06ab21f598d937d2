//! The service as its clients meet it, in process and over a real connection.

mod answers;
mod limits;
mod names;
mod others;
mod replacing;
mod sockets;
mod teaching;
mod world;
