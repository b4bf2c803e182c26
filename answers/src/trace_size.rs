//! Sizes of traces on the command line.

/// A number of bytes, such as 500M.
pub fn parse_trace_size(text: &str) -> Result<u64, String> {
    let size = trackway_analysis::cache::parse_size(text);
    size.filter(|size| *size > 0)
        .ok_or_else(|| "expected a number of bytes, such as 500M or 2G".to_owned())
}

/// The same, or 0.
pub fn parse_look(text: &str) -> Result<u64, String> {
    match text {
        "0" => Ok(0),
        _ => parse_trace_size(text),
    }
}
