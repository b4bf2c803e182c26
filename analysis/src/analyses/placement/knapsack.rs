//! What to take where room is scarce.

/// Something of a size and a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Item {
    pub bytes: u64,
    pub value: f64,
}

impl Item {
    /// What takes no room goes first.
    fn density(&self) -> f64 {
        match self.bytes {
            0 => f64::INFINITY,
            bytes => self.value / bytes as f64,
        }
    }
}

/// How a choice was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// No other choice is worth more.
    Exact,
    /// The choice goes by value per byte, since the search for a better one was given up.
    ByDensity,
}

/// What was taken.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    pub taken: Vec<bool>,
    pub value: f64,
    /// No choice can be worth more, even if parts of items could be taken.
    pub bound: f64,
    pub method: Method,
}

/// Steps of the search for the best choice.
const MOST_STEPS: u64 = 2_000_000;

/// Chooses the items that are worth most together and fit `capacity`. It goes by value per byte first, then by branch
/// and bound (P. J. Kolesar, 1967) with the fractional bound (G. B. Dantzig, 1957). Items of no value are not taken.
pub fn choose(items: &[Item], capacity: u64) -> Choice {
    let mut order: Vec<usize> = (0..items.len())
        .filter(|index| items[*index].value > 0.0)
        .collect();
    order.sort_by(|one, other| items[*other].density().total_cmp(&items[*one].density()));
    let sorted: Vec<Item> = order.iter().map(|index| items[*index]).collect();
    let mut search = Search::by_density(&sorted, capacity);
    let bound = fractional(&sorted, capacity);
    let mut taken = vec![false; sorted.len()];
    let finished = search.descend(0, capacity, 0.0, &mut taken);
    let mut chosen = vec![false; items.len()];
    for (place, index) in order.iter().enumerate() {
        chosen[*index] = search.best[place];
    }
    Choice {
        taken: chosen,
        value: search.value,
        bound,
        method: if finished {
            Method::Exact
        } else {
            Method::ByDensity
        },
    }
}

/// The value of the items if the last one may be cut.
fn fractional(sorted: &[Item], capacity: u64) -> f64 {
    let (mut left, mut value) = (capacity, 0.0);
    for item in sorted {
        if item.bytes > left {
            return value + item.density() * left as f64;
        }
        left -= item.bytes;
        value += item.value;
    }
    value
}

struct Search<'i> {
    sorted: &'i [Item],
    best: Vec<bool>,
    value: f64,
    steps: u64,
}

impl<'i> Search<'i> {
    fn by_density(sorted: &'i [Item], capacity: u64) -> Self {
        let (mut left, mut value) = (capacity, 0.0);
        let take = |item: &Item| {
            let fits = item.bytes <= left;
            if fits {
                left -= item.bytes;
                value += item.value;
            }
            fits
        };
        let best = sorted.iter().map(take).collect();
        Search {
            sorted,
            best,
            value,
            steps: 0,
        }
    }

    /// False if it was given up. Goes no deeper than there are items, and these are call sites.
    fn descend(&mut self, place: usize, left: u64, value: f64, taken: &mut [bool]) -> bool {
        self.steps += 1;
        if value > self.value {
            self.value = value;
            self.best = taken.to_vec();
        }
        let Some(item) = self.sorted.get(place).copied() else {
            return true;
        };
        if value + fractional(&self.sorted[place..], left) <= self.value {
            return true;
        }
        if self.steps > MOST_STEPS {
            return false;
        }
        let mut finished = true;
        if item.bytes <= left {
            taken[place] = true;
            finished = self.descend(place + 1, left - item.bytes, value + item.value, taken);
            taken[place] = false;
        }
        finished && self.descend(place + 1, left, value, taken)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn item(bytes: u64, value: f64) -> Item {
        Item { bytes, value }
    }

    /// The best of all choices.
    fn naive(items: &[Item], capacity: u64) -> f64 {
        let value = |choice: u32| {
            let of = || {
                items
                    .iter()
                    .enumerate()
                    .filter(move |(index, _)| choice >> index & 1 != 0)
            };
            let bytes: u64 = of().map(|(_, item)| item.bytes).sum();
            (bytes <= capacity).then(|| of().map(|(_, item)| item.value).sum())
        };
        (0..1u32 << items.len()).filter_map(value).fold(0.0, f64::max)
    }

    #[test]
    fn the_densest_first_is_not_always_best() {
        let items = [item(6, 12.0), item(5, 9.0), item(5, 9.0)];
        let choice = choose(&items, 10);
        assert_eq!((choice.taken, choice.value), (vec![false, true, true], 18.0));
        assert_eq!(
            (choice.bound, choice.method),
            (12.0 + 4.0 * 9.0 / 5.0, Method::Exact)
        );
    }

    #[test]
    fn what_gains_nothing_stays_out() {
        let choice = choose(&[item(1, 0.0), item(1, -5.0), item(0, 1.0)], 10);
        assert_eq!(choice.taken, [false, false, true]);
        assert_eq!(choose(&[], 10).value, 0.0);
    }

    #[test]
    fn the_bound_holds_what_takes_no_room() {
        let choice = choose(&[item(13, 15.0), item(0, 1.0), item(13, 14.0)], 13);
        assert_eq!((choice.value, choice.bound), (16.0, 16.0));
    }

    proptest! {
        #[test]
        fn no_choice_is_better(
            items in prop::collection::vec((0u64..40, 0u32..50), 0..10),
            capacity in 0u64..120,
        ) {
            let items: Vec<Item> = items.into_iter().map(|(bytes, value)| item(bytes, value.into())).collect();
            let choice = choose(&items, capacity);
            let best = naive(&items, capacity);
            let bytes: u64 = items.iter().zip(&choice.taken).filter(|(_, taken)| **taken).map(|(item, _)| item.bytes).sum();
            prop_assert!(bytes <= capacity);
            prop_assert!((choice.value - best).abs() < 1e-9, "{} instead of {best}", choice.value);
            prop_assert!(choice.bound + 1e-9 >= best && choice.method == Method::Exact);
        }
    }
}
