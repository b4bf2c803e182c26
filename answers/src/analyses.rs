//! The list of all analyses that can be asked of one trace. The command line's verbs, their help, completions and
//! dispatch follow from it, and so does what Python asks by name.

use std::process::ExitCode;

use clap::Subcommand;

use crate::failure::Failure;
use crate::named::Named;

/// Makes an enum of verbs from each list of them, and one table of all questions. A verb is called like its module,
/// which has its options, and `run`.
macro_rules! analyses {
    (
        $(
            $(#[$about:meta])*
            verbs $Verbs:ident { $($Verb:ident(crate::$module:ident::$Arguments:ident),)* }
        )*
        no_verbs { $($name:literal(crate::$place:ident::$Asked:ident),)* }
    ) => {
        $(
            $(#[$about])*
            #[derive(Debug, Subcommand)]
            pub enum $Verbs {
                $(
                    #[command(name = stringify!($module))]
                    $Verb(crate::$module::$Arguments),
                )*
            }

            impl $Verbs {
                /// Asks the trace that the options name, and prints the answer.
                ///
                /// # Errors
                /// If the trace can't answer, or an option doesn't fit it.
                pub fn run(&self) -> Result<ExitCode, Failure> {
                    match self {
                        $($Verbs::$Verb(arguments) => crate::$module::run(arguments),)*
                    }
                }
            }
        )*

        /// All questions of one trace, by the names of their commands.
        pub const QUESTIONS: &[Named] = &[
            $($(Named::of::<crate::$module::$Arguments>(stringify!($module)),)*)*
            $(Named::of::<crate::$place::$Asked>($name),)*
        ];
    };
}

// The order is that of the help.
analyses! {
    /// Verbs that say what a program does.
    verbs BehaviourVerb {
        Report(crate::report::ReportArguments),
        Reuse(crate::reuse::ReuseArguments),
        Patterns(crate::patterns::PatternsArguments),
        Samples(crate::samples::SamplesArguments),
        Branches(crate::branches::BranchesArguments),
        Sharing(crate::sharing::SharingArguments),
        Map(crate::map::MapArguments),
        Memory(crate::memory::MemoryArguments),
        Allocations(crate::allocations::AllocationsArguments),
        Objects(crate::objects::ObjectsArguments),
        Last(crate::last::LastArguments),
    }

    /// Verbs that say what a change of the program would gain.
    verbs ChangeVerb {
        Advise(crate::advise::AdviseArguments),
        Layout(crate::layout::LayoutArguments),
        Whatif(crate::whatif::WhatIfArguments),
    }

    // Paths of calls have no verb of their own. `trackway check` and `trackway place` do more than ask a trace.
    no_verbs {
        "calls"(crate::calls::CallsArguments),
        "check"(crate::check::CheckArguments),
        "place"(crate::placement::PlacementArguments),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_differ_and_each_question_says_what_it_asks() {
        let names: HashSet<&str> = QUESTIONS.iter().map(|question| question.name).collect();
        assert_eq!(names.len(), QUESTIONS.len());
        for question in QUESTIONS {
            assert!(!question.about().is_empty(), "{}", question.name);
        }
    }
}
