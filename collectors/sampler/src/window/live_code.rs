//! Code that stands in no file: that of just-in-time compilers, the kernel's vdso, and deleted objects.

use std::collections::HashMap;
use std::rc::Rc;

use iced_x86::InstructionInfoFactory;

use super::MemorySource;
use crate::code::Function;

/// Bytes that are decoded at once.
const STRETCH: u64 = 256;
const PAGE: u64 = 4096;

/// Stretches of processes' present code, each from an instruction on.
pub struct LiveCode {
    stretches: HashMap<(u32, u64), Option<Rc<Function>>>,
    factory: InstructionInfoFactory,
}

impl Default for LiveCode {
    fn default() -> Self {
        LiveCode {
            stretches: HashMap::new(),
            factory: InstructionInfoFactory::new(),
        }
    }
}

impl LiveCode {
    /// What was read may have been written anew.
    pub fn forget(&mut self) {
        self.stretches.clear();
    }

    /// The instructions from one on that begins at the address; none if the process has nothing there.
    pub fn from(&mut self, source: &mut impl MemorySource, pid: u32, address: u64) -> Option<Rc<Function>> {
        if let Some(known) = self.stretches.get(&(pid, address)) {
            return known.clone();
        }
        let mut bytes = [0; STRETCH as usize];
        let up_to_page = (PAGE - address % PAGE).min(STRETCH) as usize;
        let length = match source.read(address, &mut bytes) {
            true => bytes.len(),
            false if source.read(address, &mut bytes[..up_to_page]) => up_to_page,
            false => 0,
        };
        let stretch = Function::decode_from(&bytes[..length], address, &mut self.factory);
        let stretch = (!stretch.steps().is_empty()).then(|| Rc::new(stretch));
        self.stretches.insert((pid, address), stretch.clone());
        stretch
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Code at an address; reads may not leave its page.
    struct OnePage(u64, Vec<u8>);

    impl MemorySource for OnePage {
        fn read(&mut self, address: u64, bytes: &mut [u8]) -> bool {
            let Some(from) = address.checked_sub(self.0).map(|from| from as usize) else {
                return false;
            };
            match self.1.get(from..from + bytes.len()) {
                Some(code) => bytes.copy_from_slice(code),
                None => return false,
            }
            true
        }
    }

    #[test]
    fn code_is_decoded_up_to_what_is_cut_off() {
        // 10 times: mov rax, [rax]; then the begin of a move of 10 bytes, at the page's end.
        let mut code = [0x48, 0x8b, 0x00].repeat(10);
        code.extend([0x48, 0xb8]);
        let begin = PAGE * 2 - code.len() as u64;
        let mut live = LiveCode::default();
        let mut page = OnePage(begin, code);
        let stretch = live.from(&mut page, 1, begin).unwrap();
        assert_eq!(stretch.steps().len(), 10);
        assert_eq!(stretch.index_at(begin + 27), Some(9));
        assert!(live.from(&mut page, 1, begin - 5).is_none());
    }

    #[test]
    fn what_was_written_anew_is_read_anew() {
        let mut live = LiveCode::default();
        let mut page = OnePage(PAGE, vec![0x90; STRETCH as usize]);
        assert_eq!(live.from(&mut page, 1, PAGE).unwrap().steps().len(), 256);
        page.1 = [0x48, 0x8b, 0x00].repeat(100);
        assert_eq!(live.from(&mut page, 1, PAGE).unwrap().steps().len(), 256);
        live.forget();
        assert_eq!(live.from(&mut page, 1, PAGE).unwrap().steps().len(), 85);
    }
}
