//! Sends chunks, and waits until the brokers have them.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use rskafka::client::error::{Error, ProtocolError};
use rskafka::client::partition::{Compression, PartitionClient};
use rskafka::client::ClientBuilder;
use rskafka::record::Record;
use rskafka::BackoffConfig;
use tokio::runtime::Runtime;
use tokio::task::JoinSet;
use trackway_recorder::{ArrivedChunk, Feed, FeedError, TraceFeed};

use crate::messages::{in_batches, Messages, Place};
use crate::sign_in::PASSWORD_VARIABLE;
use crate::topics::Topics;
use crate::Target;

/// How long a broker may take to answer at the start.
const START_TIMEOUT: Duration = Duration::from_secs(15);
/// The interval at which a thread that waits for a broker asks whether to go on.
const TICK: Duration = Duration::from_millis(200);
/// After that many of them without an answer the user hears of it.
const TICKS_OF_SILENCE: u32 = 25;
const LONGEST_BACKOFF: Duration = Duration::from_secs(2);

/// Why nothing can be sent.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("{target}: no broker answers within {} s; start one, or name another", START_TIMEOUT.as_secs())]
    NoBroker { target: Target },

    /// The client library doesn't tell which of both it is.
    #[error(
        "{target}: within {} s no broker let user {user} in: there is none, or it doesn't know the user with the password \
         of {PASSWORD_VARIABLE}",
        START_TIMEOUT.as_secs()
    )]
    NotLetIn { target: Target, user: String },

    #[error("{target}: {reason}")]
    Topics { target: Target, reason: String },

    #[error("cannot start the threads that send: {source}")]
    Threads { source: std::io::Error },
}

/// Tells the user something.
pub type Tell = Arc<dyn Fn(&str) + Send + Sync>;

/// Where a collector's traces go.
pub struct Producer {
    shared: Arc<Shared>,
}

struct Shared {
    target: Target,
    runtime: Runtime,
    topics: Topics,
    tell: Tell,
}

impl std::fmt::Debug for Producer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(formatter, "Producer({})", self.shared.target)
    }
}

impl Producer {
    /// Connects to the brokers, and creates the topics that are missing. `tell` gets what the user should know later on.
    pub fn start(target: Target, tell: Tell) -> Result<Producer, StartError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .map_err(|source| StartError::Threads { source })?;
        let opened = runtime.block_on(async { tokio::time::timeout(START_TIMEOUT, open(&target)).await });
        let topics = match opened {
            Ok(Ok(topics)) => topics,
            Ok(Err(reason)) => return Err(StartError::Topics { target, reason }),
            Err(_) => return Err(no_answer(target)),
        };
        let shared = Shared {
            target,
            runtime,
            topics,
            tell,
        };
        Ok(Producer {
            shared: Arc::new(shared),
        })
    }
}

fn no_answer(target: Target) -> StartError {
    match target.sign_in.as_ref().map(|sign_in| sign_in.user.clone()) {
        Some(user) => StartError::NotLetIn { target, user },
        None => StartError::NoBroker { target },
    }
}

async fn open(target: &Target) -> Result<Topics, String> {
    let backoff = BackoffConfig {
        max_backoff: LONGEST_BACKOFF,
        ..BackoffConfig::default()
    };
    let mut client = ClientBuilder::new(target.brokers.clone())
        .client_id("trackway")
        .backoff_config(backoff);
    if let Some(sign_in) = &target.sign_in {
        client = client.sasl_config(sign_in.config()?);
    }
    let client = client.build().await.map_err(|error| error.to_string())?;
    Topics::open(&client, target).await
}

impl Feed for Producer {
    fn begin(&self, identity: [u8; 16], program: &str) -> Box<dyn TraceFeed> {
        Box::new(TraceProducer {
            shared: Arc::clone(&self.shared),
            messages: Messages::new(identity, program),
        })
    }
}

struct TraceProducer {
    shared: Arc<Shared>,
    messages: Messages,
}

impl TraceFeed for TraceProducer {
    /// The index gets its entries once the chunks are where the entries say, so no reader looks for one in vain.
    fn deliver(&mut self, chunks: &[ArrivedChunk], goes_on: &dyn Fn() -> bool) -> Result<(), FeedError> {
        let places = self.wait(self.send_placed(chunks), goes_on)?;
        let entries = chunks
            .iter()
            .zip(&places)
            .map(|(chunk, places)| self.messages.entry(chunk, places));
        let entries = in_batches(entries.collect());
        let index = Arc::clone(&self.shared.topics.index);
        self.wait(send(index, entries), goes_on).map(drop)
    }
}

impl TraceProducer {
    /// Sends the chunks that the index only points to. Returns the places of each one's parts.
    async fn send_placed(&self, chunks: &[ArrivedChunk]) -> Result<Vec<Vec<Place>>, Error> {
        let partitions = &self.shared.topics.chunks;
        let mut outgoing: Vec<(Vec<usize>, Vec<Record>)> = vec![Default::default(); partitions.len()];
        let placed = chunks
            .iter()
            .enumerate()
            .filter(|(_, chunk)| Messages::is_placed(chunk));
        for (index, chunk) in placed {
            let partition = self.messages.partition(chunk, partitions.len() as i32);
            let (owners, records) = &mut outgoing[partition as usize];
            for part in self.messages.parts(chunk) {
                owners.push(index);
                records.push(part);
            }
        }
        let mut sending = JoinSet::new();
        for (client, (owners, records)) in partitions.iter().cloned().zip(outgoing) {
            if !records.is_empty() {
                let partition = client.partition();
                sending.spawn(async move { (partition, owners, send(client, in_batches(records)).await) });
            }
        }
        let mut places = vec![Vec::new(); chunks.len()];
        while let Some(sent) = sending.join_next().await {
            let (partition, owners, offsets) =
                sent.map_err(|error| Error::InvalidResponse(error.to_string()))?;
            for (owner, offset) in owners.into_iter().zip(offsets?) {
                places[owner].push(Place { partition, offset });
            }
        }
        Ok(places)
    }

    /// Waits for the brokers, for as long as a caller waits for us.
    fn wait<T>(
        &self,
        sending: impl Future<Output = Result<T, Error>>,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<T, FeedError> {
        let shared = &self.shared;
        shared.runtime.block_on(async {
            let mut sending = std::pin::pin!(sending);
            let mut ticks = 0;
            loop {
                match tokio::time::timeout(TICK, &mut sending).await {
                    Ok(Ok(sent)) => {
                        if ticks >= TICKS_OF_SILENCE {
                            (shared.tell)(&format!("{}: goes on", shared.target));
                        }
                        return Ok(sent);
                    }
                    Ok(Err(error)) => return Err(FeedError::Refused(refusal(&shared.target, &error))),
                    Err(_) if !goes_on() => return Err(FeedError::Stopped),
                    Err(_) => {}
                }
                ticks += 1;
                if ticks == TICKS_OF_SILENCE {
                    let waited = (TICK * TICKS_OF_SILENCE).as_secs();
                    (shared.tell)(&format!(
                        "{}: no answer for {waited} s; programs wait as long as their recorders do",
                        shared.target
                    ));
                }
            }
        })
    }
}

/// Sends batches one after the other, so that messages of a stream keep their order. Returns the messages' offsets.
async fn send(client: Arc<PartitionClient>, batches: Vec<Vec<Record>>) -> Result<Vec<i64>, Error> {
    let mut offsets = Vec::new();
    for batch in batches {
        offsets.extend(client.produce(batch, Compression::NoCompression).await?);
    }
    Ok(offsets)
}

/// Why brokers never take this, and what to do.
fn refusal(target: &Target, error: &Error) -> String {
    let advice = match error {
        Error::ServerError {
            protocol_error: ProtocolError::MessageTooLarge | ProtocolError::RecordListTooLarge,
            ..
        } => "; set max.message.bytes of both topics to 1048588 or more",
        Error::ServerError {
            protocol_error: ProtocolError::UnknownTopicOrPartition,
            ..
        } => "; was the topic deleted? Start the collector anew, which creates it",
        _ => "",
    };
    format!("{target} does not take the trace: {error}{advice}")
}
