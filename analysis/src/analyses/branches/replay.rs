//! Replays a thread's branches through predictors, and sums up the outcomes of each branch.

use indexmap::IndexMap;

use super::predictor::Predictor;
use super::{Bimodal, Gshare, Llbp, Perceptron, TageConfig, TageScL};
use crate::model::control_flow::{BranchEvent, BranchSource};

/// Predictors of one thread, fed with its branches. Other threads need their own, because a core's predictor serves a
/// thread while that runs.
pub struct Replay {
    predictors: Vec<Box<dyn Predictor + Send>>,
    totals: BranchTotals,
}

/// What came of some branches.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BranchTotals {
    pub predictors: Vec<PredictorTotals>,
    /// Conditional branches in the order of their first executions.
    pub branches: Vec<ConditionalBranch>,
    /// All of the threads, as far as [`BranchEvent::instructions`] says.
    pub instructions: u64,
    /// Branches of all kinds.
    pub executed: u64,
}

/// A predictor and its mispredictions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PredictorTotals {
    pub name: String,
    /// Storage of one thread's predictor. `None`: unlimited.
    pub storage_bits: Option<u64>,
    pub missed: u64,
}

/// What a conditional branch did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConditionalBranch {
    pub address: u64,
    pub executions: u64,
    pub taken: u64,
    /// Mispredictions by predictor.
    pub missed: Vec<u64>,
}

/// Totals of different predictors were to be added.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("mispredictions of different predictors can't be added ({0} and {1}): replay all threads with the same ones")]
pub struct DifferentPredictors(String, String);

/// The predictors that are compared by default: of about 4, 32, 32, 64 and 578 KiB, and TAGE-SC-L of unlimited size.
pub fn standard_predictors() -> Vec<Box<dyn Predictor + Send>> {
    vec![
        Box::new(Bimodal::default()),
        Box::new(Gshare::default()),
        Box::new(Perceptron::default()),
        Box::new(super::Tage::default()),
        Box::new(TageScL::default()),
        Box::new(Llbp::default()),
        Box::new(TageScL::unlimited(&TageConfig::default())),
    ]
}

impl ConditionalBranch {
    /// Shannon's entropy of the directions, as if they were independent. It is 0 bits if the branch always went one
    /// way, and 1 bit if it was taken half of the times.
    pub fn entropy_bits(&self) -> f64 {
        let part = |count: u64| match count {
            0 => 0.0,
            _ => {
                let share = count as f64 / self.executions as f64;
                -share * share.log2()
            }
        };
        part(self.taken) + part(self.executions - self.taken)
    }
}

impl Replay {
    /// If several predictors have one name, such as one predictor of several sizes, the totals number all but the
    /// first: `gshare (2)`.
    pub fn new(predictors: Vec<Box<dyn Predictor + Send>>) -> Self {
        let names: Vec<&str> = predictors.iter().map(|predictor| predictor.name()).collect();
        let numbered = |place: usize| match names[..place]
            .iter()
            .filter(|&&name| name == names[place])
            .count()
        {
            0 => names[place].to_owned(),
            before => format!("{} ({})", names[place], before + 1),
        };
        let totals = (0..predictors.len()).map(|place| PredictorTotals {
            name: numbered(place),
            storage_bits: predictors[place].storage_bits(),
            missed: 0,
        });
        Replay {
            totals: BranchTotals {
                predictors: totals.collect(),
                ..BranchTotals::default()
            },
            predictors,
        }
    }

    /// Replays all branches of a thread.
    ///
    /// # Errors
    ///
    /// Errors of the source.
    pub fn run<S: BranchSource>(self, source: &mut S) -> Result<BranchTotals, S::Error> {
        let mut run = Run::new(self);
        source.for_each(&mut |event| run.take(event))?;
        Ok(run.finish())
    }
}

/// A replay on its way.
struct Run {
    replay: Replay,
    places: IndexMap<u64, ConditionalBranch>,
}

impl Run {
    fn new(replay: Replay) -> Self {
        Run {
            replay,
            places: IndexMap::new(),
        }
    }

    fn take(&mut self, event: &BranchEvent) {
        let Replay { predictors, totals } = &mut self.replay;
        totals.executed += 1;
        totals.instructions += u64::from(event.instructions);
        if !event.kind.is_conditional() {
            predictors
                .iter_mut()
                .for_each(|predictor| predictor.update(event));
            return;
        }
        let branch = self
            .places
            .entry(event.address)
            .or_insert_with(|| ConditionalBranch {
                address: event.address,
                executions: 0,
                taken: 0,
                missed: vec![0; predictors.len()],
            });
        branch.executions += 1;
        branch.taken += u64::from(event.taken);
        for (number, predictor) in predictors.iter_mut().enumerate() {
            let is_missed = predictor.predict(event.address) != event.taken;
            predictor.update(event);
            branch.missed[number] += u64::from(is_missed);
            totals.predictors[number].missed += u64::from(is_missed);
        }
    }

    fn finish(self) -> BranchTotals {
        BranchTotals {
            branches: self.places.into_values().collect(),
            ..self.replay.totals
        }
    }
}

impl BranchTotals {
    /// Executions of conditional branches.
    pub fn conditional(&self) -> u64 {
        self.branches.iter().map(|branch| branch.executions).sum()
    }

    /// Adds the totals of another thread of the process. Empty totals take any.
    ///
    /// # Errors
    ///
    /// If they are not of the same predictors.
    pub fn add(&mut self, other: BranchTotals) -> Result<(), DifferentPredictors> {
        if self.predictors.is_empty() && self.executed == 0 {
            *self = other;
            return Ok(());
        }
        if self.predictor_names() != other.predictor_names() {
            return Err(DifferentPredictors(
                self.predictor_names(),
                other.predictor_names(),
            ));
        }
        self.instructions += other.instructions;
        self.executed += other.executed;
        for (own, more) in self.predictors.iter_mut().zip(&other.predictors) {
            own.missed += more.missed;
        }
        let known = std::mem::take(&mut self.branches)
            .into_iter()
            .map(|branch| (branch.address, branch));
        let mut branches: IndexMap<u64, ConditionalBranch> = known.collect();
        for branch in other.branches {
            match branches.get_mut(&branch.address) {
                Some(own) => own.add(&branch),
                None => {
                    branches.insert(branch.address, branch);
                }
            }
        }
        self.branches = branches.into_values().collect();
        Ok(())
    }

    fn predictor_names(&self) -> String {
        let names: Vec<&str> = self
            .predictors
            .iter()
            .map(|predictor| predictor.name.as_str())
            .collect();
        names.join(", ")
    }
}

impl ConditionalBranch {
    pub(super) fn add(&mut self, other: &ConditionalBranch) {
        self.executions += other.executions;
        self.taken += other.taken;
        for (own, more) in self.missed.iter_mut().zip(&other.missed) {
            *own += more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyses::branches::made_up::{call, conditional, mispredictions, random_branches, Stream};

    impl BranchSource for Stream {
        type Error = std::convert::Infallible;

        fn for_each(&mut self, take: &mut dyn FnMut(&BranchEvent)) -> Result<(), Self::Error> {
            self.events().iter().for_each(take);
            Ok(())
        }
    }

    fn replayed(mut stream: Stream) -> BranchTotals {
        let Ok(totals) = Replay::new(standard_predictors()).run(&mut stream);
        totals
    }

    #[test]
    fn counts_are_those_of_the_stream_and_of_each_predictor_alone() {
        let stream = random_branches(5000, 30, 20);
        let alone: Vec<u64> = standard_predictors()
            .iter_mut()
            .map(|one| mispredictions(one.as_mut(), &stream))
            .collect();
        let taken = stream.events().iter().filter(|event| event.taken).count() as u64;
        let totals = replayed(stream);
        assert_eq!(
            totals.predictors.iter().map(|one| one.missed).collect::<Vec<_>>(),
            alone
        );
        assert_eq!(totals.branches.len(), 30);
        assert_eq!(totals.conditional(), 5000);
        assert_eq!(totals.instructions, 25_000);
        assert_eq!(
            totals.branches.iter().map(|branch| branch.taken).sum::<u64>(),
            taken
        );
        for (number, missed) in alone.iter().enumerate() {
            assert_eq!(
                totals
                    .branches
                    .iter()
                    .map(|branch| branch.missed[number])
                    .sum::<u64>(),
                *missed
            );
        }
    }

    #[test]
    fn entropy() {
        let branch = |executions, taken| ConditionalBranch {
            address: 0,
            executions,
            taken,
            missed: Vec::new(),
        };
        assert_eq!(branch(10, 0).entropy_bits(), 0.0);
        assert_eq!(branch(10, 10).entropy_bits(), 0.0);
        assert_eq!(branch(10, 5).entropy_bits(), 1.0);
        assert!((branch(4, 1).entropy_bits() - 0.811_278_124).abs() < 1e-9);
    }

    #[test]
    fn predictors_of_one_name_are_told_apart() {
        let sizes = vec![14, 10, 6]
            .into_iter()
            .map(|size| Box::new(Bimodal::new(size)) as Box<dyn Predictor + Send>);
        let Ok(totals) = Replay::new(sizes.collect()).run(&mut random_branches(10, 1, 5));
        let names: Vec<&str> = totals.predictors.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["bimodal", "bimodal (2)", "bimodal (3)"]);
    }

    #[test]
    fn threads_add_up_by_address() {
        let one = || {
            Stream::new(vec![
                conditional(0x10, true),
                call(0x18, 0x80),
                conditional(0x20, false),
            ])
        };
        let mut totals = BranchTotals::default();
        totals.add(replayed(one())).unwrap();
        totals.add(replayed(one())).unwrap();
        totals
            .add(replayed(Stream::new(vec![conditional(0x30, true)])))
            .unwrap();
        assert_eq!((totals.executed, totals.conditional()), (7, 5));
        let counts: Vec<_> = totals
            .branches
            .iter()
            .map(|one| (one.address, one.executions, one.taken))
            .collect();
        assert_eq!(counts, [(0x10, 2, 2), (0x20, 2, 0), (0x30, 1, 1)]);
        let Ok(other) = Replay::new(vec![Box::new(Bimodal::default())]).run(&mut one());
        let error = totals.add(other).unwrap_err().to_string();
        assert!(error.contains("gshare") && error.contains("same ones"), "{error}");
    }
}
