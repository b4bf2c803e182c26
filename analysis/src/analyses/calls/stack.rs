//! A thread's stack of functions, from their entries and exits, and repaired where these are missing.

use super::tree::{Tree, ROOT};

/// Deeper recursion is counted, but not followed.
const MOST_FRAMES: usize = 1 << 16;

/// How often a stack had to be repaired.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Repairs {
    /// Functions that were left without an exit: by longjmp, an exception, the thread's end.
    pub missing_exits: u64,
    /// Functions that accessed memory without having been entered, because their module's entries are not recorded, or
    /// records are missing.
    pub missing_entries: u64,
    /// Exits of functions that were not on the stack.
    pub stray_exits: u64,
    /// Entries beyond the greatest depth.
    pub too_deep: u64,
}

impl Repairs {
    pub fn add(&mut self, other: &Repairs) {
        self.missing_exits += other.missing_exits;
        self.missing_entries += other.missing_entries;
        self.stray_exits += other.stray_exits;
        self.too_deep += other.too_deep;
    }
}

#[derive(Debug, Clone, Copy)]
struct Frame {
    function: u32,
    node: u32,
    /// Whether its entry was recorded.
    was_entered: bool,
}

/// The stack of one thread. An entry pushes its function. An exit pops its function, and those above it, which were
/// left without an exit. When a function accesses memory, those above it were left. If it is nowhere on the stack, the
/// top function entered it unseen.
#[derive(Debug, Default)]
pub struct Stack {
    frames: Vec<Frame>,
    /// How often each function is on the stack.
    active: Vec<u32>,
    /// Frames that are not kept, on top of the others.
    beyond: u64,
    pub repairs: Repairs,
}

impl Stack {
    /// The function on top; none of an empty stack.
    #[inline]
    pub fn top(&self) -> Option<u32> {
        self.frames.last().map(|frame| frame.function)
    }

    /// Where in the tree the function on top runs.
    #[inline]
    pub fn node(&self) -> u32 {
        self.frames.last().map_or(ROOT, |frame| frame.node)
    }

    pub fn depth(&self) -> usize {
        self.frames.len()
    }

    #[inline]
    pub fn enter(&mut self, function: u32, tree: &mut Tree) {
        self.push(function, true, tree);
    }

    #[inline]
    pub fn exit(&mut self, function: u32) {
        if self.beyond > 0 {
            self.beyond -= 1;
        } else if self.top() == Some(function) {
            self.pop();
        } else if self.is_active(function) {
            self.pop_to(function);
            self.pop();
        } else {
            self.repairs.stray_exits += 1;
        }
    }

    /// Called before a function that is not on top accesses memory.
    pub fn settle(&mut self, function: u32, tree: &mut Tree) {
        if self.is_active(function) {
            self.beyond = 0;
            self.pop_to(function);
        } else if self.frames.len() < MOST_FRAMES {
            self.repairs.missing_entries += 1;
            self.push(function, false, tree);
        }
    }

    fn is_active(&self, function: u32) -> bool {
        self.active.get(function as usize).is_some_and(|count| *count > 0)
    }

    fn push(&mut self, function: u32, was_entered: bool, tree: &mut Tree) {
        if self.frames.len() >= MOST_FRAMES {
            self.beyond += 1;
            self.repairs.too_deep += 1;
            return;
        }
        let node = tree.call(self.node(), function);
        if self.active.len() <= function as usize {
            self.active.resize(function as usize + 1, 0);
        }
        self.active[function as usize] += 1;
        self.frames.push(Frame {
            function,
            node,
            was_entered,
        });
    }

    /// Takes off what is above the function.
    fn pop_to(&mut self, function: u32) {
        while let Some(&top) = self.frames.last().filter(|top| top.function != function) {
            self.repairs.missing_exits += u64::from(top.was_entered);
            self.pop();
        }
    }

    fn pop(&mut self) {
        if let Some(frame) = self.frames.pop() {
            self.active[frame.function as usize] -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A stack as the definition has it, without any tree.
    #[derive(Default)]
    struct Naive(Vec<u32>);

    #[derive(Debug, Clone, Copy)]
    enum Step {
        Enter(u32),
        Exit(u32),
        Access(u32),
    }

    impl Naive {
        fn take(&mut self, step: Step) {
            let last = |function| self.0.iter().rposition(|&other| other == function);
            match step {
                Step::Enter(function) => self.0.push(function),
                Step::Exit(function) => {
                    if let Some(position) = last(function) {
                        self.0.truncate(position);
                    }
                }
                Step::Access(function) => match last(function) {
                    Some(position) => self.0.truncate(position + 1),
                    None => self.0.push(function),
                },
            }
        }
    }

    fn take(stack: &mut Stack, tree: &mut Tree, step: Step) {
        match step {
            Step::Enter(function) => stack.enter(function, tree),
            Step::Exit(function) => stack.exit(function),
            Step::Access(function) if stack.top() == Some(function) => {}
            Step::Access(function) => stack.settle(function, tree),
        }
    }

    fn step() -> impl Strategy<Value = Step> {
        (0u32..5, 0..3).prop_map(|(function, kind)| match kind {
            0 => Step::Enter(function),
            1 => Step::Exit(function),
            _ => Step::Access(function),
        })
    }

    proptest! {
        #[test]
        fn any_events_leave_the_stack_of_the_definition(steps in proptest::collection::vec(step(), 0..200)) {
            let (mut stack, mut tree, mut naive) = (Stack::default(), Tree::new(), Naive::default());
            for step in steps {
                take(&mut stack, &mut tree, step);
                naive.take(step);
                let functions: Vec<u32> = stack.frames.iter().map(|frame| frame.function).collect();
                prop_assert_eq!(&functions, &naive.0);
            }
        }
    }

    #[test]
    fn repairs_are_counted() {
        let (mut stack, mut tree) = (Stack::default(), Tree::new());
        for step in [
            Step::Enter(1),
            Step::Enter(2),
            Step::Enter(3),
            Step::Access(1), // 3 and 2 were left by longjmp
            Step::Access(4), // not recorded
            Step::Exit(1),
            Step::Exit(7),
        ] {
            take(&mut stack, &mut tree, step);
        }
        let expected = Repairs {
            missing_exits: 2,
            missing_entries: 1,
            stray_exits: 1,
            too_deep: 0,
        };
        assert_eq!((stack.repairs, stack.frames.len()), (expected, 0));
    }

    #[test]
    fn endless_recursion_takes_no_endless_memory() {
        let (mut stack, mut tree) = (Stack::default(), Tree::new());
        stack.enter(1, &mut tree);
        (0..MOST_FRAMES + 10).for_each(|_| stack.enter(2, &mut tree));
        assert_eq!((stack.frames.len(), stack.repairs.too_deep), (MOST_FRAMES, 11));
        (0..MOST_FRAMES + 10).for_each(|_| stack.exit(2));
        assert_eq!(stack.top(), Some(1));
        assert_eq!(tree.nodes().len(), 4);
    }
}
