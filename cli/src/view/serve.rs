//! Serves the page, and nothing else.
//!
//! One fixed answer to GET and HEAD of `/` needs no HTTP library: a request's head is read up to a limit, its first line and its
//! Host looked at, and the connection closed after the answer. No path leads to a file.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use trackway_view::served_policy;

use crate::failure::Failure;
use crate::output;

/// Bytes of a request's head.
const MAX_HEAD_BYTES: u64 = 16 << 10;
/// Browsers open a few connections ahead of need.
const MAX_CONNECTIONS: usize = 32;
const PATIENCE: Duration = Duration::from_secs(10);

/// Listens on the loopback interface; elsewhere only if that was asked for.
pub fn listen(address: SocketAddr, allow_remote: bool) -> Result<TcpListener, Failure> {
    if !address.ip().is_loopback() && !allow_remote {
        return Err(Failure::new(format!(
            "{address}: other machines could read the page there, without authentication; say --allow-remote if they may"
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
    let address = listener
        .local_addr()
        .map_err(|error| Failure::new(error.to_string()))?;
    output::print(&format!("http://{address}/\n"))?;
    let open = AtomicUsize::new(0);
    thread::scope(|scope| {
        for stream in listener.incoming() {
            // A connection that broke before it was taken.
            let Ok(stream) = stream else { continue };
            if open.fetch_add(1, Ordering::Relaxed) >= MAX_CONNECTIONS {
                open.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let open = &open;
            scope.spawn(move || {
                // What went wrong with a connection is the browser's affair, which shows it.
                let _ = converse(&stream, page, allow_remote);
                open.fetch_sub(1, Ordering::Relaxed);
            });
        }
    });
    Ok(())
}

fn converse(stream: &TcpStream, page: &str, allow_remote: bool) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let request = read_request(&mut BufReader::new(stream.take(MAX_HEAD_BYTES)))?;
    let mut stream = stream;
    stream.write_all(answer(request.as_ref(), page, allow_remote).as_bytes())?;
    stream.flush()
}

/// The head of a request, as far as it matters.
#[derive(Debug, PartialEq, Eq)]
struct Request {
    method: String,
    path: String,
    host: Option<String>,
}

/// None if it is no request of HTTP/1.
fn read_request(input: &mut impl BufRead) -> io::Result<Option<Request>> {
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

/// Without its end. A head that ends before its empty line, or is too long, is an error.
fn read_line(input: &mut impl BufRead) -> io::Result<String> {
    let mut line = Vec::new();
    input.read_until(b'\n', &mut line)?;
    let Some(line) = line.strip_suffix(b"\n") else {
        return Err(io::ErrorKind::UnexpectedEof.into());
    };
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    Ok(String::from_utf8_lossy(line).into_owned())
}

fn answer(request: Option<&Request>, page: &str, allow_remote: bool) -> String {
    let Some(request) = request else {
        return failed("400 Bad Request", "", true);
    };
    let body = request.method != "HEAD";
    if !matches!(request.method.as_str(), "GET" | "HEAD") {
        return failed("405 Method Not Allowed", "Allow: GET, HEAD\r\n", body);
    }
    if !allow_remote && !names_loopback(request.host.as_deref()) {
        return failed("421 Misdirected Request", "", body);
    }
    match request.path.split('?').next() {
        Some("/") => response("200 OK", &page_headers(), page, body),
        _ => failed("404 Not Found", "", body),
    }
}

/// A page of another site, whose name was made to point here, asks with that name: it must not read this one.
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
        let request = read_request(&mut head.as_bytes()).unwrap();
        answer(request.as_ref(), "the page", false)
    }

    fn status(head: &str) -> String {
        ask(head)["HTTP/1.1 ".len()..][..3].to_owned()
    }

    #[test]
    fn the_page_is_at_the_root() {
        let answer = ask("GET / HTTP/1.1\r\nHost: 127.0.0.1:8000\r\n\r\n");
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
        assert!(answer.contains("\r\nContent-Length: 8\r\n"));
        assert!(answer.contains("frame-ancestors 'none'"));
        assert!(answer.ends_with("\r\n\r\nthe page"));
        let head = ask("HEAD /?x HTTP/1.1\nhost: localhost\n\n");
        assert!(head.contains("\r\nContent-Length: 8\r\n") && head.ends_with("\r\n\r\n"));
    }

    #[test]
    fn nothing_else_is_anywhere() {
        for path in [
            "/etc/passwd",
            "/../../etc/passwd",
            "/..%2f",
            "//",
            "/index.html",
            "http://x/",
            "*",
        ] {
            assert_eq!(status(&format!("GET {path} HTTP/1.1\r\n\r\n")), "404", "{path}");
        }
        assert_eq!(status("POST / HTTP/1.1\r\n\r\n"), "405");
        assert_eq!(status("GET / HTTP/2\r\n\r\n"), "400");
        assert_eq!(status("\r\n"), "400");
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
                status(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n")),
                expected,
                "{host}"
            );
        }
    }

    #[test]
    fn heads_end() {
        let read = |head: &str| read_request(&mut head.as_bytes().take(100));
        assert!(read("GET / HTTP/1.1\r\nHost: x").is_err());
        assert!(read(&format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(100))).is_err());
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
