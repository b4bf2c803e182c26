//! How long it takes to name all code of a file, as if it had been executed: `whole_file FILE`.

use std::time::Instant;

use iced_x86::{Decoder, DecoderOptions, FlowControl};
use object::{Object, ObjectSection, ObjectSegment};
use trackway_names::{resolve, ExecutedCode};

fn main() {
    let path = std::env::args().nth(1).expect("a file");
    let path = std::fs::canonicalize(path).expect("there is such a file");
    let path = path.to_str().expect("a name in UTF-8");
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
        instructions += 1;
        if instruction.flow_control() != FlowControl::Next {
            code.add(path, block.drain(..));
            blocks += 1;
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
    println!("{blocks} blocks, {instructions} instructions: {seconds:.2} s, {bytes} bytes");
    println!(
        "{} with a place, {} with an operand",
        of(|entry| entry.location != 0),
        of(|entry| entry.read != 0 || entry.written != 0)
    );
}
