//! The program's code, from the files of its objects.

mod function;
mod mapped;
mod object;
mod rollback;
mod seen;
mod step;

use std::collections::HashMap;
use std::rc::Rc;

use iced_x86::InstructionInfoFactory;
use trackway_perf_records::ObjectFile;
use trackway_trace::Mapping;

pub use function::{Function, Loop, Predecessor};
pub use rollback::{place_of_lea, Rollback};
pub use seen::{SeenBlock, SeenCode};
pub use step::{Operand, Step};

use object::ObjectCode;

/// The code of the objects that were mapped so far, and the functions that were needed. An object that is loaded at several addresses is decoded for each.
pub struct CodeCache {
    objects: HashMap<String, ObjectCode>,
    functions: HashMap<(String, u64, u64), Option<Rc<Function>>>,
    factory: InstructionInfoFactory,
}

impl Default for CodeCache {
    fn default() -> Self {
        CodeCache {
            objects: HashMap::new(),
            functions: HashMap::new(),
            factory: InstructionInfoFactory::new(),
        }
    }
}

impl CodeCache {
    /// The object of that path was mapped.
    fn add(&mut self, path: String, file: &Rc<ObjectFile>) {
        let code = || ObjectCode::new(Rc::clone(file));
        self.objects.entry(path).or_insert_with(code);
    }

    /// The function of the object in which the address is.
    pub fn function(&mut self, mapping: &Mapping, address: u64) -> Option<Rc<Function>> {
        let object = self.objects.get(&mapping.path)?;
        let bias = mapping
            .load_address
            .wrapping_sub(object.segments().first_address());
        let (start, end) = object.function_around(address.wrapping_sub(bias))?;
        if end - start > function::LONGEST {
            return None;
        }
        let key = (mapping.path.clone(), mapping.load_address, start);
        if let Some(function) = self.functions.get(&key) {
            return function.clone();
        }
        let code = object.code(start, end);
        let function = code.map(|code| {
            let function = Function::decode(code, start.wrapping_add(bias), &mut self.factory);
            Rc::new(function)
        });
        self.functions.insert(key, function.clone());
        function
    }
}

#[cfg(test)]
mod tests;
