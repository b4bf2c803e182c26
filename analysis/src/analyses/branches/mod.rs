//! Branch predictors, replayed over a program's control flow.
//!
//! [`BranchEvent`](crate::model::control_flow::BranchEvent)s of a thread in program order drive [`Predictor`]s.
//! `docs/verbs/branches.md` defines every number.

mod bimodal;
mod choice;
mod corrector;
mod counter;
mod gshare;
mod history;
mod llbp;
mod loop_predictor;
#[cfg(test)]
mod made_up;
mod perceptron;
mod predictor;
mod replay;
mod tables;
mod tage;
mod tage_sc_l;
mod whole;

pub use bimodal::Bimodal;
pub use choice::PredictorChoice;
pub use corrector::Corrector;
pub use gshare::Gshare;
pub use history::{Fold, GlobalHistory};
pub use llbp::{Llbp, LlbpConfig};
pub use loop_predictor::LoopPredictor;
pub use perceptron::Perceptron;
pub use predictor::Predictor;
pub use replay::{
    standard_predictors, BranchTotals, ConditionalBranch, DifferentPredictors, PredictorTotals, Replay,
};
pub use tables::{BranchPlace, BranchTables};
pub use tage::{Banks, Entry, FiniteBanks, Sureness, Tage, TageConfig, TaggedTable, UnlimitedBanks};
pub use tage_sc_l::TageScL;
pub use whole::{replay_trace, TraceReplay};
