//! What machine code moves, and which of it was compiled for recording.

use std::collections::HashMap;
use std::ops::Range;

use trackway_trace::machine::InstructionKind;
use trackway_trace::{Batch, Program, Site, SiteId, StringId, Trace, VariableKind};

use super::site_bytes::SiteBytes;
use super::{caller, Callee, CompiledFunctions, Executed};
use crate::model::blocks::Stacks;
use crate::model::written_in;
use crate::{Analysis, Findings, Order};

/// Names of what the pass adds to programs begin so.
const OURS: [&str; 2] = ["__trackway", "trackway."];

/// The symbol that stands before what the linker adds for calls of other objects.
const LINKERS_CODE: &str = "_init";

/// Follows each thread from compiled functions into what they call.
pub struct ExecutedBytes {
    sites: Vec<Code>,
    callees: Vec<(StringId, StringId)>,
    /// Whether the callee is code without a name of its own, as the linker makes it for calls of other objects.
    is_nameless: Vec<bool>,
    /// Whether the site leaves a return address on the stack.
    calls: Vec<bool>,
    /// Where the tables lie by which the copies of a function share its labels: reads of them are none of the program's.
    label_tables: Vec<Range<u64>>,
}

/// The code that a site belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Code {
    Compiled,
    /// A function that has one version only, which records: only what it calls can be compared.
    Unsplit,
    OffsetTable,
    Constant,
    /// What recording adds.
    Ours,
    /// The pointer to the word that says whether to record: the word itself comes next.
    Switch,
    Other {
        callee: u32,
    },
}

#[derive(Default)]
pub struct ExecutedShard {
    bytes: SiteBytes,
    called: HashMap<Call, u64>,
    stacks: Stacks,
    /// The latest access of a compiled function.
    caller: Option<SiteId>,
    /// What it called, if that still runs: the first code there that has a name.
    callee: Option<u32>,
    /// Bytes of the present call.
    present: u64,
    word_is_next: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Call {
    caller: Option<SiteId>,
    callee: u32,
}

impl ExecutedBytes {
    /// Classifies the machine code of a program whose functions `compiled` names, in objects that `is_compiled` says the paths
    /// of. `label_tables` are the addresses of the tables by which jumps to shared labels go.
    pub fn new(
        program: &Program,
        compiled: &CompiledFunctions,
        is_compiled: impl Fn(&str) -> bool,
        label_tables: Vec<Range<u64>>,
    ) -> Self {
        let mut objects = HashMap::new();
        let mut numbers = HashMap::new();
        let mut callees = Vec::new();
        let sites = program.sites.iter().zip(0..).map(|(site, id)| {
            let Some(object) = object(program, SiteId(id)) else {
                return Code::Ours;
            };
            let function = function(program, site, object);
            let (path, name) = (program.string(object), program.string(function));
            let is_there = *objects.entry(object).or_insert_with(|| is_compiled(path));
            match made(program, site) {
                Some(code) if is_there => code,
                _ if is_there && compiled.without_plain_copy.contains(name) => Code::Unsplit,
                _ if is_there && compiled.texts.contains(name) => Code::Compiled,
                _ if is_ours(name) => Code::Ours,
                _ => {
                    let next = callees.len() as u32;
                    let callee = *numbers.entry((function, object)).or_insert(next);
                    if callee == next {
                        callees.push((function, object));
                    }
                    Code::Other { callee }
                }
            }
        });
        let ids = 0..program.sites.len() as u32;
        let sites = sites.collect();
        let nameless = callees
            .iter()
            .map(|(function, _)| matches!(program.string(*function), "" | LINKERS_CODE));
        ExecutedBytes {
            sites,
            is_nameless: nameless.collect(),
            calls: ids.map(|id| calls(program, SiteId(id))).collect(),
            callees,
            label_tables,
        }
    }

    fn is_in_label_table(&self, address: u64) -> bool {
        self.label_tables.iter().any(|table| table.contains(&address))
    }
}

/// Path of the file that holds the instruction.
fn object(program: &Program, site: SiteId) -> Option<StringId> {
    let instruction = program.instruction(program.instruction_of_site(site)?);
    Some(program.function(instruction.object).linkage_name)
}

/// Linkage name of the function that holds the instruction; empty if unknown.
fn function(program: &Program, site: &Site, object: StringId) -> StringId {
    match program.function(site.function).linkage_name {
        name if name == object => StringId::default(),
        name => name,
    }
}

/// What no source mentions.
fn made(program: &Program, site: &Site) -> Option<Code> {
    let name = program.string(site.variable);
    match site.variable_kind {
        VariableKind::CompilerMade if name == "global offset table" => Some(Code::OffsetTable),
        VariableKind::CompilerMade if name == "constant" => Some(Code::Constant),
        _ if is_ours(name) => Some(Code::Switch),
        _ => None,
    }
}

fn is_ours(name: &str) -> bool {
    OURS.iter().any(|start| name.starts_with(start))
}

/// Whether the site leaves a return address.
fn calls(program: &Program, id: SiteId) -> bool {
    let instruction = program.instruction_of_site(id);
    let kind = instruction.map(|instruction| program.instruction(instruction).kind);
    let is_call = matches!(
        kind,
        Some(InstructionKind::DirectCall | InstructionKind::IndirectCall)
    );
    is_call && program.site(id).kind.writes()
}

impl Analysis for ExecutedBytes {
    type Shard = ExecutedShard;

    fn order(&self) -> Order {
        Order::PerStream
    }

    fn start_shard(&self) -> ExecutedShard {
        ExecutedShard::default()
    }

    fn take_batch(&self, shard: &mut ExecutedShard, batch: &Batch) {
        for index in 0..batch.len() {
            shard.take(self, batch.site[index], batch.address[index], batch.length(index));
        }
    }

    fn merge(&self, into: &mut ExecutedShard, mut from: ExecutedShard) {
        into.end_call();
        from.end_call();
        into.bytes.merge(&from.bytes);
        for (call, bytes) in from.called {
            *into.called.entry(call).or_default() += bytes;
        }
    }

    fn finish(&self, _: ExecutedShard, _: &Trace) -> Findings {
        Findings::default()
    }
}

impl ExecutedShard {
    fn take(&mut self, code: &ExecutedBytes, site: SiteId, address: u64, length: u64) {
        let is_on_stack = self.stacks.find(address).is_some();
        if code.calls[site.index()] && !is_on_stack {
            self.stacks.add(address, 0);
        }
        if std::mem::replace(&mut self.word_is_next, code.sites[site.index()] == Code::Switch) {
            return;
        }
        match code.sites[site.index()] {
            Code::Compiled if code.is_in_label_table(address) => return,
            Code::Compiled => {
                self.end_call();
                self.caller = Some(site);
            }
            Code::Unsplit => {
                self.end_call();
                self.caller = Some(site);
                return;
            }
            Code::Other { callee } => {
                let is_better =
                    |known: u32| code.is_nameless[known as usize] && !code.is_nameless[callee as usize];
                if self.callee.is_none_or(is_better) {
                    self.callee = Some(callee);
                }
                self.present += if is_on_stack { 0 } else { length };
                return;
            }
            Code::OffsetTable | Code::Constant | Code::Ours | Code::Switch => (),
        }
        if !is_on_stack {
            self.bytes.add(site.index(), length);
        }
    }

    fn end_call(&mut self) {
        let Some(callee) = self.callee.take() else { return };
        if self.present > 0 {
            let caller = self.caller;
            *self.called.entry(Call { caller, callee }).or_default() += self.present;
            self.present = 0;
        }
    }

    pub fn executed(mut self, code: &ExecutedBytes, trace: &Trace) -> Executed {
        self.end_call();
        let program = trace.program();
        let mut executed = Executed::default();
        for (site, bytes) in self.bytes.iter() {
            match code.sites[site] {
                Code::Compiled => {
                    let function = program.string(written_in(program, &program.sites[site]));
                    *executed.own.entry(function.to_owned()).or_default() += bytes;
                }
                Code::OffsetTable => executed.offset_table += bytes,
                Code::Constant => executed.constants += bytes,
                Code::Unsplit | Code::Ours | Code::Switch | Code::Other { .. } => (),
            }
        }
        for (call, bytes) in self.called {
            let caller = call.caller.map(|site| caller(program, program.site(site)));
            let (function, object) = code.callees[call.callee as usize];
            let callee = Callee {
                function: program.string(function).to_owned(),
                object: program.string(object).to_owned(),
            };
            *executed.called.entry((caller, callee)).or_default() += bytes;
        }
        executed
    }
}
