//! Requests of HTTP/1, as far as one page needs them: read within a time, and bounded.

use std::io::{self, BufRead, Read};
use std::net::TcpStream;
use std::time::Instant;

/// The head of a request, as far as it matters.
#[derive(Debug, PartialEq, Eq)]
pub struct Request {
    pub method: String,
    pub path: String,
    pub host: Option<String>,
}

/// None if it is no request of HTTP/1.
pub fn read_request(input: &mut impl BufRead) -> io::Result<Option<Request>> {
    let first = read_line(input)?;
    let words: Vec<&str> = first.split(' ').collect();
    let [method, path, "HTTP/1.1" | "HTTP/1.0"] = words[..] else {
        return Ok(None);
    };
    let mut request = Request {
        method: method.to_owned(),
        path: path.to_owned(),
        host: None,
    };
    loop {
        let line = read_line(input)?;
        if line.is_empty() {
            return Ok(Some(request));
        }
        match line.split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("host") => {
                request.host = Some(value.trim().to_owned());
            }
            _ => {}
        }
    }
}

/// Reads a line, without its end. A head that ends before its empty line, or is too long, is an error.
fn read_line(input: &mut impl BufRead) -> io::Result<String> {
    let mut line = Vec::new();
    input.read_until(b'\n', &mut line)?;
    let Some(line) = line.strip_suffix(b"\n") else {
        return Err(io::ErrorKind::UnexpectedEof.into());
    };
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    Ok(String::from_utf8_lossy(line).into_owned())
}

/// A connection that is read until a point in time, however slowly its bytes arrive.
pub struct Hurried<'s> {
    pub stream: &'s TcpStream,
    pub until: Instant,
}

impl Read for Hurried<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_read_timeout(Some(left))?;
        let mut stream = self.stream;
        stream.read(bytes)
    }
}

impl io::Write for Hurried<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.stream.set_write_timeout(Some(left))?;
        let mut stream = self.stream;
        stream.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        let mut stream = self.stream;
        stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::net::TcpListener;
    use std::time::Duration;

    #[test]
    fn heads_end() {
        let read = |head: &str| read_request(&mut head.as_bytes().take(100));
        assert!(read("GET / HTTP/1.1\r\nHost: x").is_err());
        assert!(read(&format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(100))).is_err());
    }

    #[test]
    fn bytes_that_came_in_time_are_read_and_later_ones_are_not() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (stream, _) = listener.accept().unwrap();
        peer.write_all(b"early").unwrap();
        let hurried = |until| Hurried {
            stream: &stream,
            until,
        };
        let mut bytes = [0; 5];
        let far = Instant::now() + Duration::from_secs(600);
        hurried(far).read_exact(&mut bytes).unwrap();
        assert_eq!(&bytes, b"early");
        // The peer goes on to send: only the time is over.
        peer.write_all(b"late").unwrap();
        let past = Instant::now();
        assert_eq!(
            hurried(past).read(&mut bytes).unwrap_err().kind(),
            io::ErrorKind::TimedOut
        );
        assert_eq!(
            hurried(past).write(b"x").unwrap_err().kind(),
            io::ErrorKind::TimedOut
        );
    }
}
