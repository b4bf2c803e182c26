//! How long it takes to name the code of a file, as if it had been executed: `whole_file FILE [EVERY]`, all of it or each
//! EVERYth block.

use std::time::Instant;

use iced_x86::{Decoder, DecoderOptions, FlowControl};
use object::{Object, ObjectSection, ObjectSegment};
use trackway_names::{resolve, ExecutedCode};

fn main() {
    let path = std::env::args().nth(1).expect("a file");
    let path = std::fs::canonicalize(path).expect("there is such a file");
    let path = path.to_str().expect("a name in UTF-8");
    let every: usize = std::env::args()
        .nth(2)
        .map_or(1, |every| every.parse().expect("a number"));
    let bytes = std::fs::read(path).expect("it can be read");
    let file = object::File::parse(&*bytes).expect("it is an object");
    let text = file.section_by_name(".text").expect("it has code");
    let base = file
        .segments()
        .map(|segment| segment.address())
        .min()
        .unwrap_or(0);
    let mut code = ExecutedCode::default();
    let mut block = Vec::new();
    let (mut blocks, mut instructions) = (0, 0);
    for instruction in Decoder::with_ip(
        64,
        text.data().expect("code"),
        text.address(),
        DecoderOptions::NONE,
    ) {
        block.push(instruction.ip() - base);
        if instruction.flow_control() != FlowControl::Next {
            blocks += 1;
            let executed = block.drain(..);
            if blocks % every == 0 {
                instructions += executed.len();
                code.add(path, executed);
            }
        }
    }
    let began = Instant::now();
    let names = resolve(&code, |_| ());
    let seconds = began.elapsed().as_secs_f64();
    let bytes = names.encode().len();
    let of = |known: fn(&trackway_trace::table::InstructionNames) -> bool| {
        let all = names.objects.iter().flat_map(|object| &object.instructions);
        all.filter(|entry| known(entry)).count()
    };
    println!(
        "{} blocks, {instructions} instructions: {seconds:.3} s, {bytes} bytes",
        blocks / every
    );
    println!(
        "{} with a place, {} with an operand",
        of(|entry| entry.location != 0),
        of(|entry| entry.read != 0 || entry.written != 0)
    );
}
