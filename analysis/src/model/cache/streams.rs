//! Pages through which lines are asked for in one direction.

/// Pages that are followed at once; the one that was asked for least recently makes room. Intel's optimisation manual
/// names 32.
const PAGES: usize = 32;

/// What a stream prefetcher knows.
#[derive(Debug, Clone, Default)]
pub(super) struct Streams {
    /// The one asked for last comes last.
    pages: Vec<Followed>,
}

#[derive(Debug, Clone, Copy)]
struct Followed {
    page: u64,
    line: u64,
    /// Whether lines rise, once two were asked for.
    rises: Option<bool>,
}

impl Streams {
    /// Notes a line of a page. Returns the direction, as the distance of the next line, if the last two steps within the
    /// page had it.
    pub fn train(&mut self, page: u64, line: u64) -> Option<u64> {
        let known = self.pages.iter().position(|followed| followed.page == page);
        let before = known.map(|place| self.pages.remove(place));
        if self.pages.len() >= PAGES {
            self.pages.remove(0);
        }
        let rises = before
            .filter(|before| before.line != line)
            .map(|before| line > before.line);
        let steady = rises.filter(|_| before.and_then(|before| before.rises) == rises);
        self.pages.push(Followed {
            page,
            line,
            rises: rises.or(before.and_then(|before| before.rises)),
        });
        steady.map(|rises| if rises { 1 } else { u64::MAX })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_steps_in_one_direction_make_a_stream() {
        let mut streams = Streams::default();
        let asked = [3, 6, 10, 9, 5, 5, 1].map(|line| streams.train(0, line));
        assert_eq!(
            asked,
            [None, None, Some(1), None, Some(u64::MAX), None, Some(u64::MAX)]
        );
    }

    #[test]
    fn pages_are_followed_apart_until_there_are_too_many() {
        let mut streams = Streams::default();
        assert_eq!([1, 2].map(|line| streams.train(7, line)), [None, None]);
        (100..131).for_each(|page| assert_eq!(streams.train(page, 0), None));
        assert_eq!(streams.train(7, 4), Some(1));
        (100..132).for_each(|page| assert_eq!(streams.train(page, 0), None));
        assert_eq!(streams.train(7, 5), None);
    }
}
