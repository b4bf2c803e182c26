//! Where a collector listens.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// `tcp://HOST:PORT` or `unix:PATH`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Address {
    Tcp {
        /// A name or a number; an IPv6 number without its brackets.
        host: String,
        port: u16,
    },
    Unix(PathBuf),
}

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || "expected tcp://HOST:PORT or unix:PATH".to_owned();
        if let Some(path) = text.strip_prefix("unix:") {
            return match path {
                "" => Err(expected()),
                path => Ok(Self::Unix(path.into())),
            };
        }
        let rest = text.strip_prefix("tcp://").ok_or_else(expected)?;
        let (host, port) = rest.rsplit_once(':').ok_or_else(expected)?;
        let bare = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'))
            .unwrap_or(host);
        let is_ambiguous = bare.len() == host.len() && host.contains(':');
        if bare.is_empty() || is_ambiguous {
            return Err(expected());
        }
        let port = port
            .parse()
            .map_err(|_| format!("the port must be a number from 0 to 65,535, not {port:?}"))?;
        Ok(Self::Tcp {
            host: bare.to_owned(),
            port,
        })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Tcp { host, port } if host.contains(':') => write!(formatter, "tcp://[{host}]:{port}"),
            Self::Tcp { host, port } => write!(formatter, "tcp://{host}:{port}"),
            Self::Unix(path) => write!(formatter, "unix:{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_survive_a_round_trip() {
        for text in [
            "tcp://127.0.0.1:0",
            "tcp://[::1]:7000",
            "tcp://host:1",
            "unix:/run/a b",
        ] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn others_are_refused() {
        for text in [
            "",
            "unix:",
            "tcp://",
            "tcp://:1",
            "tcp://h",
            "tcp://h:x",
            "tcp://::1:1",
            "h:1",
            "tcp://h:65536",
        ] {
            assert!(text.parse::<Address>().is_err(), "{text}");
        }
    }
}
