//! The program's code, from the files of its objects.

mod function;
mod live;
mod object;
mod rollback;
mod step;

use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use iced_x86::InstructionInfoFactory;

pub use function::{Function, Loop, Predecessor};
pub use live::LiveCode;
pub use object::ObjectFile;
pub use rollback::{place_of_lea, Rollback};
pub use step::{Operand, Step};

use trackway_trace::Mapping;

/// Objects and functions that were needed so far. An object that is loaded at several addresses is decoded for each.
pub struct CodeCache {
    objects: HashMap<String, Option<Rc<ObjectFile>>>,
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
    /// The object of that path; none if it can't be read as one.
    pub fn object(&mut self, path: &str) -> Option<Rc<ObjectFile>> {
        if let Some(object) = self.objects.get(path) {
            return object.clone();
        }
        let is_file = path.starts_with('/') && !path.starts_with("//");
        let object = match is_file {
            true => ObjectFile::open(Path::new(path)).map(Rc::new),
            false => None,
        };
        self.objects.insert(path.to_owned(), object.clone());
        object
    }

    /// Address at which the first byte of the object's memory image is loaded, by one of its mappings.
    pub fn load_address(&mut self, mapping: &Mapping) -> Option<u64> {
        let object = self.object(&mapping.path)?;
        object
            .segments()
            .load_address(mapping.start, mapping.file_offset, mapping.protection.executable)
    }

    /// The function of the object in which the address is.
    pub fn function(&mut self, mapping: &Mapping, address: u64) -> Option<Rc<Function>> {
        let object = self.object(&mapping.path)?;
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
