//! Writes the golden trace of this format version. Only a new format version needs a new golden file.
//!
//!     cargo run -p trackway-trace --example write_golden -- trace/vectors/golden-v2.trackway

#[path = "../testing/mod.rs"]
#[allow(dead_code)]
mod testing;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("name the file to write")?;
    Ok(testing::golden::write(path.as_ref())?)
}
