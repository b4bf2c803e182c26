//! What to use instead of an option that most verbs have, where a verb has none.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::Error;

/// An option that most verbs have, and what verbs without it offer instead: of single verbs, then of all others.
type CommonOption = (
    &'static str,
    &'static [(&'static str, &'static str)],
    &'static str,
);

const INSTEAD: [CommonOption; 5] = [
    (
        "--by",
        &[
            ("advise", "a card is one change; `trackway report --by field,line` groups the accesses"),
            ("layout", "`--type NAME` shows one structure; `trackway report --by type` ranks structures"),
            ("whatif", "it shows one change; `trackway diff --by field` compares two traces by group"),
            ("map", "memory is its only group; `trackway report --by variable` and `memory --by type` have others"),
            ("last", "`--thread TID` chooses a thread; `trackway report --by thread` counts accesses"),
            ("place", "memory is placed by call site; `trackway objects --by type` groups it"),
            ("check", "a budget names its own table: docs/verbs/check.md; `trackway report --by` shows the numbers"),
            ("coverage", "it compares modules; `trackway report --by function` groups what was recorded"),
            ("view", "the page has all tables"),
            ("query", "SQL has GROUP BY"),
            ("export", "--measure chooses what is counted; `trackway report --by` has groups"),
            ("run", "ask its trace: trackway report --by field TRACE"),
            ("top", "regions are its only group; ask its trace: trackway report TRACE"),
        ],
        "it has no table of groups; `trackway report --by field,line,function` has",
    ),
    (
        "--top",
        &[
            ("dump", "--count says how many events are printed"),
            ("fix", "CARD names the card that is made a patch"),
        ],
        "it has no ranked table: all of its rows are printed",
    ),
    (
        "--json",
        &[
            ("fix", "the patch is the output; `trackway advise --json` has the cards"),
            ("top", "--csv prints a row for each region and interval; of a trace, `trackway report --json`"),
            ("collect", "`trackway info --json TRACE` says what a collected trace holds"),
            ("control", "its output is one line: the state, or the path of what was written"),
        ],
        "its output is no report",
    ),
    (
        "--csv",
        &[
            ("run", "ask its trace: trackway advise --csv TRACE"),
            ("view", "--json prints all tables; each verb has --csv for its own"),
            ("dump", "--json prints an event a line"),
            ("export", "`trackway query --csv` prints rows of a trace; --parquet writes them"),
        ],
        "it prints no single table; most of such verbs have --json",
    ),
    ("--quiet", &[], "it prints nothing beside its output"),
];

/// Says what to use instead of an option that the verb doesn't have.
pub fn with_hint(mut error: Error, verb: &str) -> Error {
    if error.kind() != ErrorKind::UnknownArgument {
        return error;
    }
    let option = match error.get(ContextKind::InvalidArg) {
        Some(ContextValue::String(option)) => option.clone(),
        _ => return error,
    };
    if let Some(instead) = instead(verb, &option) {
        let hint = StyledStr::from(format!("`{verb}` has no {option}: {instead}"));
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![hint]));
        error.remove(ContextKind::SuggestedArg);
    }
    error
}

fn instead(verb: &str, option: &str) -> Option<&'static str> {
    let long = if option == "-q" { "--quiet" } else { option };
    let (_, of_verbs, of_others) = INSTEAD.iter().find(|(name, ..)| *name == long)?;
    let own = of_verbs.iter().find(|(name, _)| *name == verb);
    Some(own.map_or(*of_others, |(_, instead)| instead))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::CommandLine;
    use clap::CommandFactory;

    /// Their words are those of the compilers, or they print what a shell reads.
    const WITHOUT: [&str; 8] = ["cc", "c++", "fc", "rustc", "cargo", "completions", "man", "help"];

    fn message(verb: &str, option: &str) -> String {
        let error = CommandLine::command()
            .try_get_matches_from(["trackway", verb, option])
            .unwrap_err();
        with_hint(error, verb).to_string()
    }

    #[test]
    fn each_verb_has_the_common_options_or_says_what_to_use_instead() {
        let command = CommandLine::command();
        for verb in command.get_subcommands().map(clap::Command::get_name) {
            if WITHOUT.contains(&verb) {
                continue;
            }
            for (option, ..) in INSTEAD {
                let found = command.find_subcommand(verb).and_then(|verb| {
                    verb.get_arguments()
                        .find(|own| own.get_long() == option.strip_prefix("--"))
                });
                if found.is_none() {
                    let message = message(verb, option);
                    let hint = format!("tip: `{verb}` has no {option}: ");
                    assert!(message.contains(&hint), "{verb} {option}: {message}");
                }
            }
        }
    }

    #[test]
    fn verbs_that_are_named_have_no_such_option() {
        let command = CommandLine::command();
        for (option, of_verbs, _) in INSTEAD {
            for (verb, _) in of_verbs {
                let verb = command.find_subcommand(verb).unwrap();
                let has = |own: &clap::Arg| own.get_long() == option.strip_prefix("--");
                assert!(!verb.get_arguments().any(has), "{} {option}", verb.get_name());
            }
        }
    }

    #[test]
    fn other_errors_stay_as_they_are() {
        let message = message("report", "--colour");
        assert!(
            message.contains("unexpected argument '--colour'") && !message.contains("has no"),
            "{message}"
        );
    }
}
