//! Serves the page, and nothing else.
//!
//! One fixed answer to GET and HEAD of one address needs no HTTP library: a request's head is read up to a limit and until a
//! point in time, its first line and its Host looked at, and the connection closed after the answer. No path leads to a file.
//!
//! The address holds a token that was drawn for this server: other users of the machine can connect, but don't know it.

use std::collections::VecDeque;
use std::io::{self, BufReader, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

use trackway_answers::failure::Failure;
use trackway_answers::output;
use trackway_trace::random_identity;

use crate::html::served_policy;
use crate::request::{read_request, Hurried, Request};

/// Bytes of a request's head.
const MAX_HEAD_BYTES: u64 = 16 << 10;
/// Browsers open a few connections ahead of need.
const MAX_CONNECTIONS: usize = 32;
/// Time for the whole head of a request.
const PATIENCE: Duration = Duration::from_secs(10);
/// A reader that is slower than this is cut off.
const SLOWEST_BYTES_PER_SECOND: u64 = 64 << 10;

/// Listens on the loopback interface; elsewhere only if that was asked for.
pub fn listen(address: SocketAddr, allow_remote: bool) -> Result<TcpListener, Failure> {
    if !address.ip().is_loopback() && !allow_remote {
        return Err(Failure::new(format!(
            "{address}: the page would cross the network there without encryption; say --allow-remote if it may"
        )));
    }
    TcpListener::bind(address).map_err(|error| {
        Failure::new(format!(
            "{address}: {error}; choose another port, or 0 for any that is free"
        ))
    })
}

/// Answers until the process is interrupted.
pub fn serve(listener: &TcpListener, page: &str, allow_remote: bool) -> Result<(), Failure> {
    let failed = |error: io::Error| Failure::new(error.to_string());
    let address = listener.local_addr().map_err(failed)?;
    let site = Site {
        page,
        token: random_token().map_err(failed)?,
        allow_remote,
    };
    output::print(&format!("http://{address}{}\n", site.path()))?;
    let open = OpenConnections::default();
    thread::scope(|scope| {
        for stream in listener.incoming() {
            // A connection that broke before it was taken.
            let Ok(stream) = stream else { continue };
            let Ok(number) = open.admit(&stream) else { continue };
            let (open, site) = (&open, &site);
            scope.spawn(move || {
                // The browser shows what went wrong with its connection.
                let _ = converse(&stream, site);
                open.leave(number);
            });
        }
    });
    Ok(())
}

fn random_token() -> io::Result<String> {
    Ok(trackway_trace::hexadecimal(&random_identity()?))
}

/// Connections by their age. If there are too many, the oldest one is closed, so that held connections lock no client
/// out.
#[derive(Default)]
struct OpenConnections {
    connections: Mutex<(u64, VecDeque<(u64, TcpStream)>)>,
}

impl OpenConnections {
    fn lock(&self) -> MutexGuard<'_, (u64, VecDeque<(u64, TcpStream)>)> {
        self.connections
            .lock()
            .unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn admit(&self, stream: &TcpStream) -> io::Result<u64> {
        let stream = stream.try_clone()?;
        let mut guard = self.lock();
        let (next, connections) = &mut *guard;
        if connections.len() >= MAX_CONNECTIONS {
            if let Some((_, oldest)) = connections.pop_front() {
                // Its thread notices, and ends.
                let _ = oldest.shutdown(Shutdown::Both);
            }
        }
        *next += 1;
        connections.push_back((*next, stream));
        Ok(*next)
    }

    fn leave(&self, number: u64) {
        self.lock().1.retain(|(other, _)| *other != number);
    }
}

fn converse(stream: &TcpStream, site: &Site) -> io::Result<()> {
    let hurried = |patience| Hurried {
        stream,
        until: Instant::now() + patience,
    };
    let request = read_request(&mut BufReader::new(hurried(PATIENCE).take(MAX_HEAD_BYTES)))?;
    let answer = site.answer(request.as_ref());
    let transfer = Duration::from_secs(answer.len() as u64 / SLOWEST_BYTES_PER_SECOND);
    let mut output = hurried(PATIENCE + transfer);
    output.write_all(answer.as_bytes())?;
    output.flush()
}

struct Site<'p> {
    page: &'p str,
    token: String,
    allow_remote: bool,
}

impl Site<'_> {
    /// Path of the page. The token is a folder in it, so that relative links of the page would keep the token.
    fn path(&self) -> String {
        format!("/{}/", self.token)
    }

    fn answer(&self, request: Option<&Request>) -> String {
        let Some(request) = request else {
            return failed("400 Bad Request", "", true);
        };
        let body = request.method != "HEAD";
        if !matches!(request.method.as_str(), "GET" | "HEAD") {
            return failed("405 Method Not Allowed", "Allow: GET, HEAD\r\n", body);
        }
        if !self.allow_remote && !names_loopback(request.host.as_deref()) {
            return failed("421 Misdirected Request", "", body);
        }
        let path = request.path.split('?').next().unwrap_or_default();
        match is_equal(path.as_bytes(), self.path().as_bytes()) {
            true => response("200 OK", &page_headers(), self.page, body),
            false => failed("404 Not Found", "", body),
        }
    }
}

/// Compares in constant time wherever they differ, so that a token can't be guessed byte by byte.
fn is_equal(one: &[u8], other: &[u8]) -> bool {
    let differences = one.iter().zip(other).fold(0, |sum, (a, b)| sum | (a ^ b));
    one.len() == other.len() && std::hint::black_box(differences) == 0
}

/// Whether the request names the loopback interface. A page of another site whose name was made to point here asks with
/// that name, and must not read this one.
fn names_loopback(host: Option<&str>) -> bool {
    let Some(host) = host else { return true };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    let name = name.trim_start_matches('[').trim_end_matches(']');
    let address = name.parse::<IpAddr>();
    name.eq_ignore_ascii_case("localhost") || address.is_ok_and(|address| address.is_loopback())
}

fn page_headers() -> String {
    format!(
        "Content-Type: text/html; charset=utf-8\r\nContent-Security-Policy: {}\r\n",
        served_policy()
    )
}

fn failed(status: &str, headers: &str, body: bool) -> String {
    let headers = format!("Content-Type: text/plain; charset=utf-8\r\n{headers}");
    response(status, &headers, &format!("{status}\n"), body)
}

fn response(status: &str, headers: &str, text: &str, body: bool) -> String {
    format!(
        "HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\nConnection: close\r\nCache-Control: no-store\r\n\
         Referrer-Policy: no-referrer\r\nX-Content-Type-Options: nosniff\r\nCross-Origin-Resource-Policy: same-origin\r\n\r\n{}",
        text.len(),
        if body { text } else { "" }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(head: &str) -> String {
        let site = Site {
            page: "the page",
            token: "5ecret".into(),
            allow_remote: false,
        };
        let request = read_request(&mut head.as_bytes()).unwrap();
        site.answer(request.as_ref())
    }

    fn status(head: &str) -> String {
        ask(head)["HTTP/1.1 ".len()..][..3].to_owned()
    }

    #[test]
    fn the_page_is_at_the_token() {
        let answer = ask("GET /5ecret/ HTTP/1.1\r\nHost: 127.0.0.1:8000\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(answer.contains("\r\nContent-Length: 8\r\n"));
        assert!(answer.contains("frame-ancestors 'none'"));
        assert!(answer.ends_with("\r\n\r\nthe page"));
        let head = ask("HEAD /5ecret/?x HTTP/1.1\nhost: localhost\n\n");
        assert!(head.contains("\r\nContent-Length: 8\r\n") && head.ends_with("\r\n\r\n"));
    }

    #[test]
    fn nothing_else_is_anywhere() {
        for path in [
            "/",
            "/5ecret",
            "/5ecre7/",
            "/5ecret//",
            "/?5ecret",
            "/etc/passwd",
            "/5ecret/../../etc/passwd",
            "/../../etc/passwd",
            "/..%2f",
            "//",
            "/index.html",
            "http://x/5ecret/",
            "*",
        ] {
            assert_eq!(status(&format!("GET {path} HTTP/1.1\r\n\r\n")), "404", "{path}");
        }
        assert_eq!(status("POST /5ecret/ HTTP/1.1\r\n\r\n"), "405");
        assert_eq!(status("GET /5ecret/ HTTP/2\r\n\r\n"), "400");
        assert_eq!(status("\r\n"), "400");
    }

    #[test]
    fn tokens_are_long_and_drawn_anew() {
        let tokens = [random_token().unwrap(), random_token().unwrap()];
        assert_ne!(tokens[0], tokens[1]);
        assert_eq!(tokens[0].len(), 32);
    }

    #[test]
    fn names_of_other_sites_are_turned_away() {
        for (host, expected) in [
            ("evil.example", "421"),
            ("127.0.0.1.evil.example:80", "421"),
            ("10.0.0.1", "421"),
            ("LOCALHOST:1", "200"),
            ("[::1]:8080", "200"),
            ("127.0.0.1", "200"),
        ] {
            assert_eq!(
                status(&format!("GET /5ecret/ HTTP/1.1\r\nHost: {host}\r\n\r\n")),
                expected,
                "{host}"
            );
        }
    }

    #[test]
    fn the_oldest_connection_makes_room() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let open = OpenConnections::default();
        let mut peers: Vec<(TcpStream, TcpStream)> = Vec::new();
        for _ in 0..=MAX_CONNECTIONS {
            let peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
            let (stream, _) = listener.accept().unwrap();
            open.admit(&stream).unwrap();
            peers.push((peer, stream));
        }
        assert_eq!(open.lock().1.len(), MAX_CONNECTIONS);
        let mut bytes = [0];
        assert_eq!(
            peers[0].0.read(&mut bytes).unwrap(),
            0,
            "the first one was closed"
        );
        peers[1].0.set_nonblocking(true).unwrap();
        let second = peers[1].0.read(&mut bytes).unwrap_err();
        assert_eq!(second.kind(), io::ErrorKind::WouldBlock, "the second one was not");
        open.leave(MAX_CONNECTIONS as u64);
        assert_eq!(open.lock().1.len(), MAX_CONNECTIONS - 1);
    }

    #[test]
    fn other_machines_only_on_request() {
        let everywhere: SocketAddr = "0.0.0.0:0".parse().unwrap();
        assert!(listen(everywhere, false)
            .unwrap_err()
            .to_string()
            .contains("--allow-remote"));
        listen(everywhere, true).unwrap();
        assert!(listen("127.0.0.1:0".parse().unwrap(), false)
            .unwrap()
            .local_addr()
            .unwrap()
            .ip()
            .is_loopback());
    }
}
