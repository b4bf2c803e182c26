//! Which instruction set a command line compiles for.

use std::ffi::OsStr;
use std::path::Path;

use trackway_answers::failure::Failure;

use crate::instruction_set::InstructionSet;

/// The one of `--target=`, else of a compiler whose name begins with a triple, else none: the compiler's own.
pub fn instruction_set(target: Option<&OsStr>, compiler: &OsStr) -> Result<Option<InstructionSet>, Failure> {
    let Some(target) = target else {
        return Ok(prefix_of(compiler).and_then(InstructionSet::of_triple));
    };
    let target = target.to_string_lossy();
    let set = InstructionSet::of_triple(&target).ok_or_else(|| {
        let known = InstructionSet::ALL.map(InstructionSet::triple).join(", ");
        Failure::new(format!(
            "--target={target}: no runtime for such programs; there are those for {known}"
        ))
    })?;
    Ok(Some(set))
}

/// `aarch64-linux-gnu` of `aarch64-linux-gnu-clang-22`.
fn prefix_of(compiler: &OsStr) -> Option<&str> {
    let name = Path::new(compiler).file_name()?.to_str()?;
    name.rsplit_once("-clang").map(|(prefix, _)| prefix)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(target: Option<&str>, compiler: &str) -> Result<Option<InstructionSet>, Failure> {
        instruction_set(target.map(OsStr::new), OsStr::new(compiler))
    }

    #[test]
    fn the_option_tells_before_the_compilers_name() {
        let compiler = "/opt/bin/riscv64-linux-gnu-clang++-22";
        assert_eq!(of(None, compiler).unwrap(), Some(InstructionSet::Riscv64));
        let target = of(Some("aarch64-linux-gnu"), compiler);
        assert_eq!(target.unwrap(), Some(InstructionSet::Aarch64));
        for own in ["clang-22", "/opt/llvm-22/bin/clang", "my-clang"] {
            assert_eq!(of(None, own).unwrap(), None, "{own}");
        }
    }

    #[test]
    fn others_are_refused_with_those_that_there_are() {
        let message = of(Some("mips64el-linux-gnu"), "clang-22")
            .unwrap_err()
            .to_string();
        assert!(
            message.contains("mips64el-linux-gnu") && message.contains("riscv64-linux-gnu"),
            "{message}"
        );
    }
}
