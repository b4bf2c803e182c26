//! Any bytes from the other end of a socket: a hello, or a reply. What is understood is what would be sent.

#![no_main]

#[path = "../../collectors/recorder/src/streaming/protocol.rs"]
#[allow(dead_code)]
mod protocol;

use libfuzzer_sys::fuzz_target;
use protocol::{Hello, Reply};
use xxhash_rust::xxh3::xxh3_64;

fuzz_target!(|input: &[u8]| {
    read(input);
    // A peer computes checksums, too.
    let mut bytes = input.to_vec();
    bytes.extend(xxh3_64(input).to_le_bytes());
    read(&bytes);
});

fn read(bytes: &[u8]) {
    if let Ok(hello) = Hello::read(&mut &bytes[..]) {
        assert_eq!(Hello::read(&mut &hello.to_bytes()[..]).expect("it was understood"), hello);
    }
    let Some((first, rest)) = bytes.split_first() else { return };
    if let Ok(Reply::Refusal(text)) = Reply::read_after(*first, &mut &rest[..]) {
        assert!(!text.contains(char::is_control));
    }
}
