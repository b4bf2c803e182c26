//! Writes a trace of counts, as `testing/counted_scene.rs` describes it.
//!
//!     cargo run -p trackway-trace --example write_counts -- trace/vectors/counts-v2.trackway

#[path = "../testing/mod.rs"]
#[allow(dead_code)]
mod testing;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("name the file to write")?;
    Ok(testing::counted_scene::write(path.as_ref())?)
}
