//! Records a hand-written program, which does what the compiler pass would make it do, and reads the trace.

mod counting;
mod endings;
mod scenes;
mod settings;
mod support;
