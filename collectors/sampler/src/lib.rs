//! Samples of the instructions that a program executes, and of the memory that these access; the program is neither
//! compiled anew nor stopped.

mod code;
pub mod record;
mod registers;
mod ring;
mod window;
