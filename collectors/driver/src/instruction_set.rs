//! The instruction sets whose programs can be recorded.

use std::env::consts;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InstructionSet {
    X86_64,
    Aarch64,
    Riscv64,
    Powerpc64le,
}

impl InstructionSet {
    pub const ALL: [InstructionSet; 4] = [
        InstructionSet::X86_64,
        InstructionSet::Aarch64,
        InstructionSet::Riscv64,
        InstructionSet::Powerpc64le,
    ];

    /// Debian's name of its Linux, after which the folder of its runtime is named.
    pub fn triple(self) -> &'static str {
        match self {
            InstructionSet::X86_64 => "x86_64-linux-gnu",
            InstructionSet::Aarch64 => "aarch64-linux-gnu",
            InstructionSet::Riscv64 => "riscv64-linux-gnu",
            InstructionSet::Powerpc64le => "powerpc64le-linux-gnu",
        }
    }

    /// Debian's package of the libraries that its programs are linked with elsewhere.
    pub fn package(self) -> &'static str {
        match self {
            InstructionSet::X86_64 => "libstdc++-12-dev-amd64-cross",
            InstructionSet::Aarch64 => "libstdc++-12-dev-arm64-cross",
            InstructionSet::Riscv64 => "libstdc++-12-dev-riscv64-cross",
            InstructionSet::Powerpc64le => "libstdc++-12-dev-ppc64el-cross",
        }
    }

    /// The emulator that runs its programs elsewhere.
    pub fn emulator(self) -> &'static str {
        match self {
            InstructionSet::X86_64 => "qemu-x86_64",
            InstructionSet::Aarch64 => "qemu-aarch64",
            InstructionSet::Riscv64 => "qemu-riscv64",
            InstructionSet::Powerpc64le => "qemu-ppc64le",
        }
    }

    /// Whether it is this machine's.
    pub fn is_host(self) -> bool {
        let name = match self {
            InstructionSet::X86_64 => "x86_64",
            InstructionSet::Aarch64 => "aarch64",
            InstructionSet::Riscv64 => "riscv64",
            InstructionSet::Powerpc64le => "powerpc64",
        };
        name == consts::ARCH
    }

    /// The one of a Linux triple, in the spellings that clang takes.
    pub fn of_triple(triple: &str) -> Option<InstructionSet> {
        let (name, system) = triple.split_once('-')?;
        if !system.split('-').any(|part| part.starts_with("linux")) {
            return None;
        }
        match name {
            "x86_64" | "amd64" => Some(InstructionSet::X86_64),
            "aarch64" | "arm64" => Some(InstructionSet::Aarch64),
            "riscv64" => Some(InstructionSet::Riscv64),
            "powerpc64le" | "ppc64le" => Some(InstructionSet::Powerpc64le),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn triples_have_many_spellings() {
        for (triple, set) in [
            ("aarch64-linux-gnu", Some(InstructionSet::Aarch64)),
            ("arm64-unknown-linux-gnu", Some(InstructionSet::Aarch64)),
            ("riscv64-unknown-linux-musl", Some(InstructionSet::Riscv64)),
            ("ppc64le-linux", Some(InstructionSet::Powerpc64le)),
            ("powerpc64le-redhat-linux-gnu", Some(InstructionSet::Powerpc64le)),
            ("x86_64-pc-linux-gnu", Some(InstructionSet::X86_64)),
            ("powerpc64-linux-gnu", None),
            ("aarch64-apple-darwin", None),
            ("x86_64", None),
        ] {
            assert_eq!(InstructionSet::of_triple(triple), set, "{triple}");
        }
    }

    #[test]
    fn names_are_triples() {
        for set in InstructionSet::ALL {
            assert_eq!(InstructionSet::of_triple(set.triple()), Some(set));
        }
    }
}
