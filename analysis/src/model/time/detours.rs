//! What a core executes in vain after a branch that it guessed wrong. Code that follows either way is executed there, too,
//! and asks for its lines before the branch is known. So they are on their way when the program comes there.

use super::branches::Way;

/// Detours that are followed at once.
const MOST: usize = 4;

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

    /// Follows an access of the program, the last of so many instructions.
    #[inline(always)]
    pub fn follow(&mut self, site: u32, own_ns: f64, position: f64, window: f64) {
        if !self.0.is_empty() {
            self.follow_all(site, own_ns, position, window);
        }
    }

    fn follow_all(&mut self, site: u32, own_ns: f64, position: f64, window: f64) {
        self.0.retain_mut(|detour| {
            if detour.awaits.is_some_and(|way| way.contains(&site)) {
                detour.awaits = None;
            }
            if detour.awaits.is_none() {
                detour.now += own_ns;
            }
            detour.now < detour.until && position < detour.begin + window
        });
    }

    /// When the access that was followed last enters on the first detour that executes it, too, and knows its address, `known`
    /// there, before the detour ends.
    #[inline(always)]
    pub fn enters(&self, known: f64) -> Option<f64> {
        let mut on_it = self.0.iter().filter(|detour| detour.awaits.is_none());
        let first = on_it.find(|detour| detour.now.max(known) < detour.until)?;
        Some(first.now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_detour_executes_what_the_program_comes_to_later() {
        let mut detours = Detours::default();
        detours.begin([7, 70, 71, 72], 100.0, 110.0, 50.0);
        let mut follow = |site, own_ns, position, known| {
            detours.follow(site, own_ns, position, 200.0);
            detours.enters(known)
        };
        assert_eq!(follow(5, 1.0, 51.0, 0.0), None);
        assert_eq!(follow(7, 2.0, 53.0, 0.0), Some(102.0));
        assert_eq!(follow(8, 3.0, 56.0, 109.0), Some(105.0));
        // The address is known too late.
        assert_eq!(follow(8, 0.0, 56.0, 110.0), None);
        // The branch is known, and the detour ends.
        assert_eq!(follow(9, 6.0, 62.0, 0.0), None);
        assert!(detours.0.is_empty());
    }

    #[test]
    fn the_window_bounds_it_and_it_goes_astray_where_the_program_does() {
        let mut detours = Detours::default();
        detours.begin([70, 7, 71, 72], 100.0, 900.0, 50.0);
        detours.follow(7, 1.0, 51.0, 20.0);
        assert_eq!(detours.enters(0.0), Some(101.0));
        detours.begin([4; 4], 905.0, 950.0, 52.0);
        detours.follow(3, 1.0, 53.0, 20.0);
        assert_eq!(detours.enters(0.0), None);
        detours.follow(4, 1.0, 54.0, 20.0);
        assert_eq!(detours.enters(0.0), Some(102.0));
        detours.follow(5, 1.0, 90.0, 20.0);
        assert_eq!(detours.enters(0.0), None);
    }

    /// What the first detour asked for too late to use it is there on the second.
    #[test]
    fn a_later_detour_goes_on_where_an_earlier_one_ended() {
        let mut detours = Detours::default();
        detours.begin([7; 4], 100.0, 200.0, 50.0);
        detours.begin([7; 4], 205.0, 400.0, 51.0);
        detours.follow(7, 1.0, 52.0, 20.0);
        assert_eq!(detours.enters(150.0), Some(101.0));
        assert_eq!(detours.enters(290.0), Some(206.0));
    }
}
