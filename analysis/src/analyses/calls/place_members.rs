//! Which members of structures the listed places access.

use trackway_report::{Table, TableBuilder};
use trackway_trace::SiteId;

use crate::model::structures::Structures;

/// Stands for an access to all of an object.
const WHOLE: &str = "(all of it)";

/// A structure, and its members that an access goes to; all of it if there are none.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct MembersOf {
    structure: usize,
    members: Vec<usize>,
}

/// What a site accesses; none if that is no member of a known structure.
pub(super) fn members_of(structures: &Structures, site: SiteId) -> Option<MembersOf> {
    let field = structures.sites.get(site.index())?.as_ref()?;
    Some(MembersOf {
        structure: field.structure,
        members: field.members.clone(),
    })
}

/// A row for each place and member.
pub(super) fn table<'m>(
    structures: &Structures,
    places: impl Iterator<Item = (u64, Option<&'m MembersOf>)>,
) -> Table {
    let mut rows: Vec<(u64, &str, &str)> = Vec::new();
    for (place, accessed) in places {
        let Some(accessed) = accessed else { continue };
        let structure = &structures.list[accessed.structure];
        let name = structure.name.as_str();
        if accessed.members.is_empty() {
            rows.push((place, name, WHOLE));
        }
        let members = accessed.members.iter().map(|&member| &structure.members[member]);
        rows.extend(members.map(|member| (place, name, member.name.as_str())));
    }
    TableBuilder::new("place_members", "Members of structures that places access", &rows)
        .number("place", |row| row.0)
        .text("type", |row| row.1)
        .text("member", |row| row.2)
        .build()
}
