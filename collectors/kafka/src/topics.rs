//! The two topics of a target, created where they are missing.

use std::sync::Arc;

use rskafka::client::error::{Error, ProtocolError};
use rskafka::client::partition::{PartitionClient, UnknownTopicHandling};
use rskafka::client::Client;

use crate::Target;

const CREATION_TIMEOUT_MS: i32 = 10_000;

/// A client for each partition.
#[derive(Debug)]
pub struct Topics {
    pub chunks: Vec<Arc<PartitionClient>>,
    pub index: Arc<PartitionClient>,
}

impl Topics {
    pub async fn open(client: &Client, target: &Target) -> Result<Topics, String> {
        let index_topic = target.index_topic();
        let partitions = ready(client, &target.topic, target.partitions, target).await?;
        if ready(client, &index_topic, 1, target).await? != 1 {
            return Err(format!(
                "the topic {index_topic} must have 1 partition, since it keeps the order of traces; delete it, or choose \
                 another name"
            ));
        }
        let mut chunks = Vec::new();
        for partition in 0..partitions {
            chunks.push(open_partition(client, &target.topic, partition).await?);
        }
        let index = open_partition(client, &index_topic, 0).await?;
        Ok(Topics { chunks, index })
    }
}

async fn open_partition(
    client: &Client,
    topic: &str,
    partition: i32,
) -> Result<Arc<PartitionClient>, String> {
    let opened = client.partition_client(topic, partition, UnknownTopicHandling::Retry);
    opened
        .await
        .map(Arc::new)
        .map_err(|error| format!("cannot use partition {partition} of the topic {topic}: {error}"))
}

/// How many partitions the topic has; it is created if it isn't there.
async fn ready(client: &Client, topic: &str, partitions: i32, target: &Target) -> Result<i32, String> {
    let known = client.list_topics().await;
    let known = known.map_err(|error| format!("cannot list the topics: {error}"))?;
    if let Some(found) = known.iter().find(|found| found.name == topic) {
        return Ok(found.partitions.len() as i32);
    }
    let controller = client
        .controller_client()
        .map_err(|error| format!("cannot reach the controller: {error}"))?;
    let created = controller.create_topic(topic, partitions, target.replication, CREATION_TIMEOUT_MS);
    match created.await {
        Ok(()) => Ok(partitions),
        // By another collector just now; then it has what that one asked for.
        Err(Error::ServerError {
            protocol_error: ProtocolError::TopicAlreadyExists,
            ..
        }) => Ok(partitions),
        Err(error) => Err(format!(
            "the topic {topic} is not there and cannot be created: {error}"
        )),
    }
}
