//! What a core executes in vain after a branch that it guessed wrong. Code that follows either way is executed there, too,
//! and asks for its lines before the branch is known. So they are on their way when the program comes there.

use super::branches::Way;

/// Detours that are followed at once.
const MOST: usize = 4;

/// A detour that has come to code which the program executes, too.
#[derive(Debug, Clone, Copy)]
pub(super) struct OnDetour {
    /// When the instruction enters there.
    pub now: f64,
    /// When the detour ends.
    pub until: f64,
}

#[derive(Debug, Clone, Copy)]
struct Detour {
    /// The sites that were foreseen. From one of them on the program and the detour execute the same; none if they do.
    awaits: Option<Way>,
    now: f64,
    until: f64,
    /// The branch's place in the program's order.
    begin: f64,
}

/// Those of a core, the oldest first.
#[derive(Debug, Clone, Default)]
pub(super) struct Detours(Vec<Detour>);

impl Detours {
    /// A branch that enters `now` and is known at `until` was foreseen to lead this way, and leads elsewhere.
    pub fn begin(&mut self, foreseen: Way, now: f64, until: f64, position: f64) {
        // Where a detour executes the branch, too, it goes astray as the program did.
        for detour in &mut self.0 {
            detour.awaits.get_or_insert(foreseen);
        }
        if self.0.len() == MOST {
            self.0.remove(0);
        }
        self.0.push(Detour {
            awaits: Some(foreseen),
            now,
            until,
            begin: position,
        });
    }

    /// Follows an access of the program, the last of so many instructions. Returns the detour that executed it first, if any.
    #[inline(always)]
    pub fn follow(&mut self, site: u32, own_ns: f64, position: f64, window: f64) -> Option<OnDetour> {
        match self.0.is_empty() {
            true => None,
            false => self.follow_all(site, own_ns, position, window),
        }
    }

    fn follow_all(&mut self, site: u32, own_ns: f64, position: f64, window: f64) -> Option<OnDetour> {
        self.0.retain_mut(|detour| {
            if detour.awaits.is_some_and(|way| way.contains(&site)) {
                detour.awaits = None;
            }
            if detour.awaits.is_none() {
                detour.now += own_ns;
            }
            detour.now < detour.until && position < detour.begin + window
        });
        let first = self.0.iter().find(|detour| detour.awaits.is_none());
        first.map(|detour| OnDetour {
            now: detour.now,
            until: detour.until,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detour_executes_what_the_program_comes_to_later() {
        let mut detours = Detours::default();
        detours.begin([7, 70, 71, 72], 100.0, 110.0, 50.0);
        assert!(detours.follow(5, 1.0, 51.0, 200.0).is_none());
        let joined = detours.follow(7, 2.0, 53.0, 200.0).unwrap();
        assert_eq!((joined.now, joined.until), (102.0, 110.0));
        assert_eq!(detours.follow(8, 3.0, 56.0, 200.0).unwrap().now, 105.0);
        // The branch is known, and the detour ends.
        assert!(detours.follow(9, 6.0, 62.0, 200.0).is_none());
        assert!(detours.0.is_empty());
    }

    #[test]
    fn the_window_bounds_it_and_it_goes_astray_where_the_program_does() {
        let mut detours = Detours::default();
        detours.begin([70, 7, 71, 72], 100.0, 900.0, 50.0);
        assert!(detours.follow(7, 1.0, 51.0, 20.0).is_some());
        detours.begin([4; 4], 905.0, 950.0, 52.0);
        assert!(detours.follow(3, 1.0, 53.0, 20.0).is_none());
        assert_eq!(detours.follow(4, 1.0, 54.0, 20.0).unwrap().now, 102.0);
        assert!(detours.follow(5, 1.0, 90.0, 20.0).is_none());
    }
}
