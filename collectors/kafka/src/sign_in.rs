//! The collector's identity, for brokers that ask for one (SASL).

use rskafka::client::{Credentials, SaslConfig};

/// Where the password is: not in arguments, which other users of the machine see.
pub const PASSWORD_VARIABLE: &str = "TRACKWAY_KAFKA_PASSWORD";

/// How a user proves to be the one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mechanism {
    /// RFC 7677; the password isn't sent.
    ScramSha256,
    /// The same with a longer hash.
    ScramSha512,
    /// RFC 4616; the password is sent as it is.
    Plain,
}

/// A user of the brokers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignIn {
    pub user: String,
    pub mechanism: Mechanism,
}

impl Mechanism {
    /// By its name in small letters.
    pub fn parse(name: &str) -> Result<Mechanism, String> {
        match name {
            "scram-sha-256" => Ok(Mechanism::ScramSha256),
            "scram-sha-512" => Ok(Mechanism::ScramSha512),
            "plain" => Ok(Mechanism::Plain),
            _ => Err(format!(
                "mechanism must be scram-sha-256, scram-sha-512 or plain, not {name:?}"
            )),
        }
    }
}

impl SignIn {
    /// With the password of the environment.
    pub(crate) fn config(&self) -> Result<SaslConfig, String> {
        let password = std::env::var(PASSWORD_VARIABLE).map_err(|_| {
            format!(
                "the password of user {} is missing: set {PASSWORD_VARIABLE}",
                self.user
            )
        })?;
        let credentials = Credentials::new(self.user.clone(), password);
        Ok(match self.mechanism {
            Mechanism::ScramSha256 => SaslConfig::ScramSha256(credentials),
            Mechanism::ScramSha512 => SaslConfig::ScramSha512(credentials),
            Mechanism::Plain => SaslConfig::Plain(credentials),
        })
    }
}
