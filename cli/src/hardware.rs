//! Hardware events of `record` and `top`: which are wanted, and which the machine has.

use trackway_recorder::{available_events, HardwareEvent, HARDWARE_EVENTS, MOST_HARDWARE_EVENTS};

use crate::output;

/// What is counted unless chosen.
pub const USUAL_EVENTS: &str = "cycles,instructions,l1d-misses,llc-misses";

/// What the command line asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedEvents(Vec<HardwareEvent>);

impl WantedEvents {
    /// Those that can be counted; warns of the others.
    pub fn available(&self) -> Vec<HardwareEvent> {
        let (available, others) = available_events(&self.0);
        for other in &others {
            output::warn(format!(
                "--hardware: {} can't be counted: {}; regions are reported without it",
                other.event.name, other.reason
            ));
        }
        available
    }
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
