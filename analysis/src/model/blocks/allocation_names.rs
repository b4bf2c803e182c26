//! Names of allocation sites for people.

use std::path::PathBuf;
use std::sync::Arc;

use trackway_trace::{AllocationSite, AllocationSiteId, LocationId, Program, StringId, Trace};

use super::user_code::{Frame, UserCode};
use super::Origins;
use crate::model::{named, path_inside, Names};

/// Says what was allocated where: by the nearest code of the user's that led to it, if there is any.
pub(crate) struct AllocationNames<'p> {
    pub program: &'p Program,
    names: Names<'p>,
    user_code: UserCode<'p>,
    /// Sites are divided by these.
    origins: Arc<Origins>,
    directory: PathBuf,
}

impl<'p> AllocationNames<'p> {
    pub fn new(trace: &'p Trace, origins: Arc<Origins>) -> Self {
        AllocationNames {
            program: trace.program(),
            names: Names::new(trace.program()),
            user_code: UserCode::new(trace.program()),
            origins,
            directory: trace.meta().working_directory.clone().into(),
        }
    }

    /// The site, also of a part.
    pub fn site(&self, id: AllocationSiteId) -> &'p AllocationSite {
        self.program.allocation_site(self.origins.get(id).0)
    }

    /// The nearest frame in the user's code; otherwise, the frame of the allocation.
    pub fn frame(&self, id: AllocationSiteId) -> Frame {
        if let Some(frame) = self.origins.get(id).1 {
            return frame;
        }
        let site = self.site(id);
        let nearest = self.user_code.nearest(site.function, site.location);
        nearest.unwrap_or_else(|| {
            let text = self.program.location(site.location).function;
            let function = match self.program.string(text) {
                "" => self.program.function(site.function).linkage_name,
                _ => text,
            };
            Frame {
                function,
                location: site.location,
            }
        })
    }

    /// `nodes, malloc at graph.c:12`; for inlined code, also the place of the inlining: `..., from main.c:20`.
    pub fn label(&self, id: AllocationSiteId) -> String {
        let site = self.site(id);
        let known = [site.variable, site.element_type].map(|id| self.program.string(id));
        let name = known.into_iter().find(|name| !name.is_empty());
        let allocator = self.names.function(site.allocator);
        let place = self
            .place(self.frame(id).location)
            .map(|place| match self.caller(id) {
                Some(caller) => format!("{place}, from {caller}"),
                None => place,
            });
        match (name, place) {
            (Some(name), Some(place)) => format!("{name}, {allocator} at {place}"),
            (Some(name), None) => format!("{name}, {allocator}"),
            (None, Some(place)) => format!("{allocator} at {place}"),
            (None, None) => format!("{allocator} in {}", self.function(id)),
        }
    }

    /// The place into which the code was inlined, if it was.
    pub fn caller(&self, id: AllocationSiteId) -> Option<String> {
        let location = self.frame(id).location;
        let outer = self.program.inline_stack(location).skip(1).last()?;
        self.place(outer)
    }

    /// `file:line`, if known.
    pub fn place(&self, location: LocationId) -> Option<String> {
        let location = self.program.location(location);
        (location.line > 0).then(|| format!("{}:{}", self.path(location.file), location.line))
    }

    pub fn file(&self, id: AllocationSiteId) -> String {
        let location = self.program.location(self.frame(id).location);
        self.path(location.file).to_owned()
    }

    pub fn line(&self, id: AllocationSiteId) -> Option<u64> {
        let location = self.program.location(self.frame(id).location);
        (location.line > 0).then_some(location.line.into())
    }

    pub fn function(&self, id: AllocationSiteId) -> String {
        self.names.function(self.frame(id).function)
    }

    pub fn allocator(&self, id: AllocationSiteId) -> String {
        self.names.function(self.site(id).allocator)
    }

    pub fn variable(&self, id: AllocationSiteId) -> &'p str {
        self.program.string(self.site(id).variable)
    }

    pub fn text(&self, id: StringId) -> &'p str {
        self.names.text(id)
    }

    /// Path of a file without the folder in which the program ran.
    fn path(&self, file: StringId) -> &'p str {
        path_inside(&self.directory, named(self.program.string(file)))
    }
}
