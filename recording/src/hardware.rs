//! Hardware events of `record` and `top`: which are wanted, and which the machine has.

use trackway_answers::output;
use trackway_recorder::{
    available_events, HardwareEvent, Unavailable, HARDWARE_EVENTS, MOST_HARDWARE_EVENTS,
};

/// Events that are counted by default.
pub const USUAL_EVENTS: &str = "cycles,instructions,l1d-misses,llc-misses";

/// What the command line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedEvents(Vec<HardwareEvent>);

impl WantedEvents {
    /// The wanted events that can be counted; warns of the others.
    pub fn available(&self) -> Vec<HardwareEvent> {
        let (available, others) = available_events(&self.0);
        warnings(&others, available.is_empty())
            .iter()
            .for_each(output::warn);
        available
    }
}

/// One warning for each reason.
fn warnings(others: &[Unavailable], are_all: bool) -> Vec<String> {
    let mut reasons: Vec<&str> = others.iter().map(|other| other.reason.as_str()).collect();
    reasons.sort_unstable();
    reasons.dedup();
    let consequence = match are_all {
        true => "nothing is measured around regions",
        false => "regions are reported without that",
    };
    let describe = |reason| {
        let events = others.iter().filter(|other| other.reason == reason);
        let names: Vec<&str> = events.map(|other| other.event.name).collect();
        format!(
            "--hardware: {} can't be counted: {reason}; {consequence}",
            names.join(", ")
        )
    };
    reasons.into_iter().map(describe).collect()
}

pub fn parse(text: &str) -> Result<WantedEvents, String> {
    let mut events = Vec::new();
    for name in text.split(',').map(str::trim) {
        let event = HardwareEvent::named(name).ok_or_else(|| {
            let names = HARDWARE_EVENTS.map(|event| event.name).join(", ");
            format!("there is no event {name:?}; there are {names}")
        })?;
        if events.contains(&event) {
            return Err(format!("{name} is named twice"));
        }
        events.push(event);
    }
    match events.len() {
        1..=MOST_HARDWARE_EVENTS => Ok(WantedEvents(events)),
        _ => Err(format!(
            "at most {MOST_HARDWARE_EVENTS} events can be counted at once"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_a_list_of_names() {
        let names = |text| {
            let wanted = parse(text).unwrap();
            wanted.0.iter().map(|event| event.name).collect::<Vec<_>>()
        };
        assert_eq!(names(USUAL_EVENTS).join(","), USUAL_EVENTS);
        assert_eq!(names("task-clock, page-faults"), ["task-clock", "page-faults"]);
    }

    #[test]
    fn there_is_a_warning_for_each_reason() {
        let unavailable = |name: &str, reason: &str| Unavailable {
            event: HardwareEvent::named(name).unwrap(),
            reason: reason.into(),
        };
        let others = [
            unavailable("cycles", "this machine has none"),
            unavailable("context-switches", "it is forbidden"),
            unavailable("llc-misses", "this machine has none"),
        ];
        let expected = [
            "--hardware: context-switches can't be counted: it is forbidden; regions are reported without that",
            "--hardware: cycles, llc-misses can't be counted: this machine has none; regions are reported without that",
        ];
        assert_eq!(warnings(&others, false), expected);
        assert!(warnings(&others[..1], true)[0].ends_with("; nothing is measured around regions"));
        assert!(warnings(&[], false).is_empty());
    }

    #[test]
    fn wrong_lists_are_refused() {
        for (text, message) in [
            ("", "there is no event \"\""),
            ("cycles,", "there is no event \"\""),
            ("cycle", "there are cycles, instructions, l1d-misses"),
            ("cycles,cycles", "named twice"),
            (
                "cycles,instructions,l1d-misses,llc-misses,branch-misses",
                "at most 4",
            ),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
