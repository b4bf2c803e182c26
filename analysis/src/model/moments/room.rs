//! Which rows of a table by thread and time have room.

/// How many of the first rows to list, which are at most `most`: a key is listed with all of its rows, which follow each
/// other, or with none.
pub(crate) fn rows_with_room<K: PartialEq>(keys: impl Iterator<Item = K>, most: usize) -> usize {
    let keys: Vec<K> = keys.collect();
    let Some(cut) = keys.get(most) else {
        return keys.len();
    };
    let last = keys[..most].iter().rposition(|key| key != cut);
    last.map_or(0, |last| last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_listed_as_a_whole() {
        let listed = |most| rows_with_room("aabbbc".chars(), most);
        assert_eq!([1, 2, 3, 4, 5, 6, 7].map(listed), [0, 2, 2, 2, 5, 6, 6]);
        assert_eq!(rows_with_room("".chars(), 3), 0);
    }
}
