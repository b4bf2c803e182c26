//! Where members stand in another order.

use super::Structure;

/// Members in a new order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrangement {
    /// Member and its offset, in order.
    pub members: Vec<(usize, u64)>,
    /// Bytes.
    pub size: u64,
    pub alignment: u64,
}

impl Structure {
    /// Places the members in this order as a C compiler would, after `prefix` bytes, which are aligned like their
    /// number.
    pub fn arrange(&self, order: &[usize], prefix: u64) -> Arrangement {
        let mut end = prefix;
        let mut alignment = prefix.max(1);
        let mut members = Vec::with_capacity(order.len());
        for &index in order {
            let member = &self.members[index];
            let offset = end.next_multiple_of(member.alignment);
            members.push((index, offset));
            alignment = alignment.max(member.alignment);
            end = offset + member.size;
        }
        Arrangement {
            members,
            size: end.max(1).next_multiple_of(alignment),
            alignment,
        }
    }

    /// All members, those first that the compiler places.
    pub fn own_order(&self) -> Vec<usize> {
        (0..self.members.len()).collect()
    }

    /// The order with those members first that must be, and the others as they come.
    pub fn with_fixed_first(&self, order: &[usize]) -> Vec<usize> {
        let is_fixed = |&&index: &&usize| self.members[index].is_fixed;
        let fixed = self
            .own_order()
            .into_iter()
            .filter(|&index| self.members[index].is_fixed);
        fixed
            .chain(order.iter().filter(|index| !is_fixed(index)).copied())
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_structure;

    #[test]
    fn members_are_placed_as_compilers_do() {
        let structure = test_structure(&[1, 8, 2, 4]);
        assert_eq!(structure.size, 24);
        let own = structure.arrange(&structure.own_order(), 0);
        assert_eq!(own.members, [(0, 0), (1, 8), (2, 16), (3, 20)]);
        assert_eq!(own.size, structure.size);
        let packed = structure.arrange(&[1, 3, 2, 0], 0);
        assert_eq!((packed.size, packed.members[3]), (16, (0, 14)));
        assert_eq!(structure.arrange(&[0], 8).members, [(0, 8)]);
    }
}
