//! Call stacks, each kept once.

use std::collections::HashMap;
use std::sync::Arc;

use crate::table_enum::open_enum;

/// A call stack: an index into the [`Stacks`] that it came with. 0 is the unknown stack, which has no frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StackId(pub u32);

/// Where a call came from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stack {
    /// Return addresses in the process, innermost first: each is the address past the call instruction.
    pub frames: Arc<[u64]>,
    pub end: StackEnd,
}

open_enum! {
    /// Why a stack has no more frames.
    #[derive(Default)]
    StackEnd: u8 {
        /// The outermost frame was reached.
        #[default]
        Outermost = 0,
        /// As many frames as were asked for were recorded, and there are more.
        Limit = 1,
        /// Frames are missing: it is not known how the stack goes on.
        NoFramePointer = 2,
    }
}

/// All call stacks that were met so far.
#[derive(Debug)]
pub struct Stacks {
    all: Vec<Stack>,
    ids: HashMap<Stack, StackId>,
}

impl Default for Stacks {
    fn default() -> Self {
        let unknown = Stack::default();
        Stacks {
            all: vec![unknown.clone()],
            ids: HashMap::from([(unknown, StackId(0))]),
        }
    }
}

impl Stacks {
    /// The stack of that id; the unknown one if there is none.
    pub fn get(&self, id: StackId) -> &Stack {
        self.all.get(id.0 as usize).unwrap_or(&self.all[0])
    }

    /// Number of stacks, the unknown one among them.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    pub(super) fn intern(&mut self, stack: Stack) -> StackId {
        if let Some(id) = self.ids.get(&stack) {
            return *id;
        }
        let id = StackId(self.all.len() as u32);
        self.all.push(stack.clone());
        self.ids.insert(stack, id);
        id
    }
}
