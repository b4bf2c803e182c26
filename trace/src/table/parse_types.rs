//! The types of a table.

use super::parse::Parser;
use super::*;

type Result<T> = std::result::Result<T, TableError>;

/// Types have no greater size or alignment: sums of a few of them, in bits, fit 64 bits.
const MAX_TYPE_BYTES: u64 = 1 << 56;

impl Parser<'_> {
    pub(super) fn structures(&mut self) -> Result<()> {
        let count = self.cursor.count(5, "types")?;
        for _ in 0..count {
            let structure = self.structure()?;
            self.table.types.push(structure);
        }
        Ok(())
    }

    fn structure(&mut self) -> Result<TableType> {
        let name = self.string()?;
        let kind = self.kind("kind of type", StructureKind::from_byte)?;
        let size = self.cursor.varint("size of a type")?;
        if size > MAX_TYPE_BYTES {
            return self.cursor.error(format!("a type of {size} bytes"));
        }
        let alignment = self.alignment()?;
        let members = self.list(7, "members", Self::member)?;
        let inside = |member: &TableMember| {
            let end = member.offset_bits.checked_add(member.size_bits);
            end.is_some_and(|end| end <= size * 8)
        };
        match members.iter().position(|member| !inside(member)) {
            Some(index) => self.cursor.error(format!(
                "member {index} of a type lies outside of its {size} bytes"
            )),
            None => Ok(TableType {
                name,
                kind,
                size,
                alignment,
                members,
            }),
        }
    }

    fn member(&mut self) -> Result<TableMember> {
        let member = TableMember {
            name: self.string()?,
            type_name: self.string()?,
            kind: self.kind("kind of member", MemberKind::from_byte)?,
            offset_bits: self.cursor.varint("offset of a member")?,
            size_bits: self.cursor.varint("size of a member")?,
            alignment: self.alignment()?,
            nested: self
                .cursor
                .below(self.table.types.len() + 1, "type of a member")?
                .checked_sub(1),
        };
        if member.kind != MemberKind::BitField && !(member.offset_bits | member.size_bits).is_multiple_of(8) {
            return self
                .cursor
                .error("a member that is no bit-field lies between bytes");
        }
        Ok(member)
    }

    fn alignment(&mut self) -> Result<u64> {
        let alignment = self.cursor.varint("alignment")?;
        match alignment.is_power_of_two() && alignment <= MAX_TYPE_BYTES {
            true => Ok(alignment),
            false => self
                .cursor
                .error(format!("an alignment of {alignment}, which is no power of two")),
        }
    }
}
