//! Serves one broker of crabka until it is told to stop; it is its own controller and votes.
//!
//!     crabka --node 1 --listen 127.0.0.1:9092 --controller 127.0.0.1:9093 \
//!         --voters 1@127.0.0.1:9093 --data DIR --rack a --set replica.lag.time.max.ms=2000
//!
//! The crate's own command has the port 9093 of every address for its controller, so that one
//! machine can have one broker, and it reads none of these settings.

mod settings;

use std::path::PathBuf;

use crabka_broker::{BootstrapMode, Broker, BrokerConfig};
use tokio::signal::unix::{SignalKind, signal};
use uuid::Uuid;

type Failure = Box<dyn std::error::Error>;

fn wanted(mut words: impl Iterator<Item = String>) -> Result<BrokerConfig, Failure> {
    let mut config = BrokerConfig {
        incarnation_id: Uuid::new_v4(),
        ..BrokerConfig::default()
    };
    while let Some(flag) = words.next() {
        let value = words
            .next()
            .ok_or_else(|| format!("{flag} wants a value"))?;
        match flag.as_str() {
            "--node" => {
                config.broker_id = value.parse()?;
                config.node_id = value.parse()?;
                config.directory_id = Uuid::from_u128(u128::from(config.node_id) + 1);
            }
            "--listen" => {
                config.listen_addr = value.parse()?;
                config.advertised_listener = value;
            }
            "--controller" => config.controller_listen_addr = value.parse()?,
            "--voters" => {
                config.controller_quorum_voters = value
                    .split(',')
                    .filter_map(|voter| voter.split_once('@'))
                    .map(|(node, address)| Ok((node.parse()?, address.to_owned())))
                    .collect::<Result<_, std::num::ParseIntError>>()?;
            }
            "--data" => config.log_dir = PathBuf::from(value),
            "--rack" => config.rack = Some(value),
            "--set" => {
                let (name, text) = value.split_once('=').ok_or("--set wants NAME=VALUE")?;
                settings::set(&mut config, name, text)?;
            }
            _ => return Err(format!("{flag} is not an option").into()),
        }
    }
    // As its own command decides it.
    if crabka_raft::metadata_log_nonempty(&config.log_dir.join("__cluster_metadata")) {
        config.bootstrap_mode = BootstrapMode::Rejoin;
    }
    Ok(config)
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let config = wanted(std::env::args().skip(1))?;
    let (mut ended, mut interrupted) = (
        signal(SignalKind::terminate())?,
        signal(SignalKind::interrupt())?,
    );
    let broker = Broker::start(config).await?;
    println!("ready {}", broker.listen_addr());
    tokio::select! { _ = ended.recv() => {} _ = interrupted.recv() => {} }
    broker
        .controlled_shutdown(std::time::Duration::from_secs(20))
        .await?;
    Ok(())
}
