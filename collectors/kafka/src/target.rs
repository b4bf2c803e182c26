//! Which topic of which brokers.

use std::fmt;
use std::str::FromStr;

use crate::sign_in::{Mechanism, SignIn};

/// Partitions of a topic that is created.
const USUAL_PARTITIONS: i32 = 4;
const LONGEST_NAME: usize = 240;

/// `kafka://HOST:PORT[,HOST:PORT]/TOPIC[?partitions=N&replication=N&user=NAME&mechanism=NAME]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// `HOST:PORT` of brokers that know the others.
    pub brokers: Vec<String>,
    pub topic: String,
    /// How many partitions the topic gets if it must be created.
    pub partitions: i32,
    /// How many brokers keep each message of a topic that must be created.
    pub replication: i16,
    /// The identity for brokers that ask for one.
    pub sign_in: Option<SignIn>,
}

impl Target {
    /// What the addresses of topics begin with.
    pub const SCHEME: &'static str = "kafka://";

    /// Name of the topic in which each trace is in its order.
    pub fn index_topic(&self) -> String {
        format!("{}.index", self.topic)
    }

    fn set(&mut self, option: &str) -> Result<(), String> {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let number: u16 = value.parse().unwrap_or(0);
        let is_possible = (1..=10_000).contains(&number);
        match name {
            "user" if !value.is_empty() => self.sign_in_as(value),
            "mechanism" => match &mut self.sign_in {
                Some(sign_in) => sign_in.mechanism = Mechanism::parse(value)?,
                None => return Err("mechanism needs user before it".into()),
            },
            "partitions" if is_possible => self.partitions = number.into(),
            "replication" if is_possible && number <= 100 => self.replication = number as i16,
            "partitions" | "replication" => {
                return Err(format!("{name} must be a positive number, not {value:?}"))
            }
            _ => {
                return Err(format!(
                    "there is no option {name:?}, only partitions, replication, user and mechanism"
                ))
            }
        }
        Ok(())
    }

    fn sign_in_as(&mut self, user: &str) {
        self.sign_in = Some(SignIn {
            user: user.to_owned(),
            mechanism: Mechanism::ScramSha256,
        });
    }
}

impl FromStr for Target {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || {
            "expected kafka://HOST:PORT[,HOST:PORT]/TOPIC[?partitions=N&replication=N&user=NAME]".to_owned()
        };
        let rest = text.strip_prefix(Self::SCHEME).ok_or_else(expected)?;
        let (brokers, rest) = rest.split_once('/').ok_or_else(expected)?;
        let (topic, options) = rest.split_once('?').unwrap_or((rest, ""));
        let is_broker = |broker: &str| match broker.rsplit_once(':') {
            Some((host, port)) => !host.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0),
            None => false,
        };
        if !brokers.split(',').all(is_broker) {
            return Err(expected());
        }
        let is_allowed = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
        let is_topic = (1..=LONGEST_NAME).contains(&topic.len()) && topic.chars().all(is_allowed);
        if !is_topic || topic == "." || topic == ".." {
            return Err(format!(
                "a topic's name has 1 to {LONGEST_NAME} letters, digits, dots, underscores and hyphens, unlike {topic:?}"
            ));
        }
        let mut target = Target {
            brokers: brokers.split(',').map(str::to_owned).collect(),
            topic: topic.to_owned(),
            partitions: USUAL_PARTITIONS,
            replication: 1,
            sign_in: None,
        };
        let mut options = options.split('&').filter(|option| !option.is_empty());
        options.try_for_each(|option| target.set(option))?;
        Ok(target)
    }
}

/// Without the options, which are for the creation and for signing in.
impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(
            formatter,
            "{}{}/{}",
            Self::SCHEME,
            self.brokers.join(","),
            self.topic
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn brokers_topic_and_options_are_read() {
        let target: Target = "kafka://a:9092,[::1]:9093/t.race?partitions=7&replication=3"
            .parse()
            .unwrap();
        assert_eq!(target.brokers, ["a:9092", "[::1]:9093"]);
        assert_eq!(
            (target.topic.as_str(), target.partitions, target.replication),
            ("t.race", 7, 3)
        );
        assert_eq!(target.to_string(), "kafka://a:9092,[::1]:9093/t.race");
        assert_eq!(target.index_topic(), "t.race.index");
        assert_eq!(target.sign_in, None);
        let target: Target = "kafka://a:9092/t?user=me&mechanism=plain".parse().unwrap();
        let sign_in = target.sign_in.unwrap();
        assert_eq!(
            (sign_in.user.as_str(), sign_in.mechanism),
            ("me", Mechanism::Plain)
        );
    }

    #[test]
    fn others_are_refused_with_the_reason() {
        for (text, reason) in [
            ("127.0.0.1:9092/t", "expected kafka://"),
            ("kafka://127.0.0.1/t", "expected kafka://"),
            ("kafka://:1/t", "expected kafka://"),
            ("kafka://h:9092", "expected kafka://"),
            ("kafka://h:9092/", "a topic's name"),
            ("kafka://h:9092/a/b", "a topic's name"),
            ("kafka://h:9092/t?partitions=0", "must be a positive number"),
            ("kafka://h:9092/t?retention=1", "no option"),
            ("kafka://h:9092/t?mechanism=plain", "needs user"),
            ("kafka://h:9092/t?user=me&mechanism=md5", "must be scram-sha-256"),
        ] {
            let refused = text.parse::<Target>().unwrap_err();
            assert!(refused.contains(reason), "{text}: {refused}");
        }
    }
}
