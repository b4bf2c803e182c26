//! Loops whose iterations differ by constant steps of their addresses, so that no iteration needs to be run.

use std::collections::BTreeMap;

use super::compile::{Compiler, Context};
use super::value::Value;
use super::*;
use crate::table::Operation;

/// A linear form over the registers' values at the start of an iteration.
#[derive(Clone, Default)]
struct Form {
    constant: u64,
    scales: BTreeMap<u32, u64>,
}

/// What one iteration does.
#[derive(Default)]
struct Iteration {
    accesses: Vec<(u32, Form)>,
    /// The registers that it sets, with their values at its end.
    set: BTreeMap<u32, Form>,
}

impl Compiler<'_> {
    /// Compiles a loop around this body, if it is affine. Then the body only accesses memory and sets registers. Each
    /// register that an iteration takes from the one before moves by an amount that is constant in the loop, and so
    /// does each address.
    pub(super) fn affine_loop(&mut self, context: Context<'_>, body: &[Operation]) -> Option<AffineLoop> {
        let iteration = self.iteration(context, body)?;
        let steps = iteration.steps();
        let moves_evenly = |form: &Form| {
            form.registers()
                .all(|register| iteration.keeps(register) || steps.contains_key(&register))
        };
        let derived: Vec<(u32, &Form)> = iteration
            .set
            .iter()
            .filter(|(register, _)| !steps.contains_key(register))
            .map(|(register, form)| (*register, form))
            .collect();
        let forms = iteration.accesses.iter().map(|(_, address)| address);
        if !forms
            .chain(derived.iter().map(|(_, form)| *form))
            .all(moves_evenly)
        {
            return None;
        }
        let mut forms = Forms::default();
        let first_lane = self.code.lanes.len() as u32;
        for (site, address) in &iteration.accesses {
            let site = context.table.site(*site);
            let lane = LaneCode {
                site,
                size: self.program.site(site).size,
                address: forms.place(address),
                stride: forms.place(&address.step(&steps)),
            };
            self.code.lanes.push(lane);
        }
        let first_result = self.code.results.len() as u32;
        for (register, step) in &steps {
            let result = ResultCode {
                register: *register,
                value: forms.place(&Form::register(*register)),
                step: forms.place(step),
                of_last_iteration: false,
            };
            self.code.results.push(result);
        }
        for (register, form) in derived {
            let result = ResultCode {
                register,
                value: forms.place(form),
                step: forms.place(&form.step(&steps)),
                of_last_iteration: true,
            };
            self.code.results.push(result);
        }
        let first_form = self.code.wide.len() as u32;
        for scales in forms.scales {
            self.push_wide(Form { constant: 0, scales }.value());
        }
        Some(AffineLoop {
            count: 0,
            forms: first_form..self.code.wide.len() as u32,
            lanes: first_lane..self.code.lanes.len() as u32,
            results: first_result..self.code.results.len() as u32,
        })
    }

    /// None if the body does anything but set registers and access memory.
    fn iteration(&mut self, context: Context<'_>, body: &[Operation]) -> Option<Iteration> {
        let mut iteration = Iteration::default();
        let repeats =
            |operation: &Operation| matches!(operation, Operation::Set { .. } | Operation::Access { .. });
        if !body.iter().all(repeats) {
            return None;
        }
        for operation in body {
            match operation {
                Operation::Set { register, value } => {
                    let register = context.register(*register);
                    let form = iteration.form(&self.value(context, value));
                    self.touch(register);
                    iteration.set.insert(register, form);
                }
                Operation::Access { site, address } => {
                    let form = iteration.form(&self.value(context, address));
                    iteration.accesses.push((*site, form));
                }
                _ => return None,
            }
        }
        Some(iteration)
    }
}

/// The forms of a loop without their constants, each once.
#[derive(Default)]
struct Forms {
    scales: Vec<BTreeMap<u32, u64>>,
}

impl Forms {
    fn place(&mut self, form: &Form) -> FormPlus {
        let known = self.scales.iter().position(|scales| *scales == form.scales);
        let number = known.unwrap_or_else(|| {
            self.scales.push(form.scales.clone());
            self.scales.len() - 1
        });
        FormPlus {
            constant: form.constant,
            form: number as u32,
        }
    }
}

impl Iteration {
    /// The value of an expression at this point, seen from the start of the iteration.
    fn form(&self, value: &Value) -> Form {
        let mut form = Form {
            constant: value.constant,
            scales: BTreeMap::new(),
        };
        for term in &value.terms {
            match self.set.get(&term.register) {
                Some(now) => form.add(now, term.scale as u64),
                None => form.add(&Form::register(term.register), term.scale as u64),
            }
        }
        form
    }

    /// Whether the iteration leaves the register as it is.
    fn keeps(&self, register: u32) -> bool {
        !self.set.contains_key(&register)
    }

    /// The registers that an iteration moves by something that no iteration changes, and by what.
    fn steps(&self) -> BTreeMap<u32, Form> {
        let step = |(register, form): (&u32, &Form)| {
            let mut step = form.clone();
            step.add(&Form::register(*register), u64::MAX);
            let even = step.registers().all(|other| self.keeps(other));
            even.then_some((*register, step))
        };
        self.set.iter().filter_map(step).collect()
    }
}

impl Form {
    fn register(register: u32) -> Form {
        Form {
            constant: 0,
            scales: BTreeMap::from([(register, 1)]),
        }
    }

    fn value(&self) -> Value {
        let term = |(register, scale): (&u32, &u64)| WideTerm {
            scale: *scale as i64,
            register: *register,
        };
        Value {
            constant: self.constant,
            terms: self.scales.iter().map(term).collect(),
        }
    }

    /// The registers that count.
    fn registers(&self) -> impl Iterator<Item = u32> + '_ {
        self.scales.keys().copied()
    }

    fn add(&mut self, other: &Form, factor: u64) {
        self.constant = self.constant.wrapping_add(other.constant.wrapping_mul(factor));
        for (register, scale) in &other.scales {
            let sum = self.scales.entry(*register).or_default();
            *sum = sum.wrapping_add(scale.wrapping_mul(factor));
        }
        self.scales.retain(|_, scale| *scale != 0);
    }

    /// The amount by which the form moves with each iteration.
    fn step(&self, steps: &BTreeMap<u32, Form>) -> Form {
        let mut sum = Form::default();
        for (register, scale) in &self.scales {
            if let Some(step) = steps.get(register) {
                sum.add(step, *scale);
            }
        }
        sum
    }
}
