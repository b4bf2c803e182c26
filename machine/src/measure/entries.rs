//! How many translations a processor keeps, by its own account.

/// Entries of the first and of the second level of the TLB for data in pages of 4 KiB; none if the processor doesn't say.
///
/// AMD's do: "AMD64 Architecture Programmer's Manual", volume 3, functions 8000_0005 and 8000_0006 of CPUID.
#[cfg(target_arch = "x86_64")]
pub fn tlb_entries() -> Option<[u32; 2]> {
    use std::arch::x86_64::__cpuid;
    const FIRST_LEVEL: u32 = 0x8000_0005;
    const SECOND_LEVEL: u32 = 0x8000_0006;
    let is_amd = {
        let vendor = __cpuid(0);
        let name = [vendor.ebx, vendor.edx, vendor.ecx].map(u32::to_le_bytes);
        name.as_flattened() == b"AuthenticAMD"
    };
    (is_amd && __cpuid(0x8000_0000).eax >= SECOND_LEVEL)
        .then(|| entries_in(__cpuid(FIRST_LEVEL).ebx, __cpuid(SECOND_LEVEL).ebx))
        .flatten()
}

#[cfg(not(target_arch = "x86_64"))]
pub fn tlb_entries() -> Option<[u32; 2]> {
    None
}

/// Bits 16 to 23 of the first word count, and 16 to 27 of the second.
#[cfg(any(target_arch = "x86_64", test))]
fn entries_in(first: u32, second: u32) -> Option<[u32; 2]> {
    let entries = [first >> 16 & 0xff, second >> 16 & 0xfff];
    (0 < entries[0] && entries[0] < entries[1]).then_some(entries)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_cpuid_have_the_entries() {
        // Those of an EPYC 9R14, whose TLBs have 72 and 3072.
        assert_eq!(entries_in(0xff48_ff40, 0x6c00_4200), Some([72, 3072]));
        assert_eq!(entries_in(0, 0), None);
    }
}
