//! Compares windows with the processor: a window is made of a stopped process, which is then stepped instruction by
//! instruction.

use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::*;
use crate::code::CodeCache;

use trackway_perf_records::AddressSpaces;
use trackway_trace::WindowAddress;

const STOPS: usize = 40;
const WINDOW: u32 = 300;

/// A process that the test stops and steps.
struct Stepped {
    child: Child,
    pid: libc::pid_t,
}

impl Stepped {
    fn start(command: &mut Command) -> Self {
        command.stdin(Stdio::null()).stdout(Stdio::null());
        // SAFETY: one system call.
        unsafe {
            command.pre_exec(|| match libc::ptrace(libc::PTRACE_TRACEME, 0, 0, 0) {
                -1 => Err(std::io::Error::last_os_error()),
                _ => Ok(()),
            })
        };
        let child = command.spawn().unwrap();
        let pid = child.id() as libc::pid_t;
        let stepped = Stepped { child, pid };
        assert!(stepped.wait(), "it stops before its first instruction");
        stepped
    }

    /// True if it has stopped, false if it has ended.
    fn wait(&self) -> bool {
        let mut status = 0;
        // SAFETY: waits for a child of this process.
        let waited = unsafe { libc::waitpid(self.pid, &mut status, 0) };
        waited == self.pid && libc::WIFSTOPPED(status)
    }

    fn request(&self, request: libc::c_uint) -> bool {
        // SAFETY: the process is stopped and traced by this thread; no signal is passed on.
        unsafe { libc::ptrace(request, self.pid, 0, 0) == 0 }
    }

    fn step(&self) -> bool {
        self.request(libc::PTRACE_SINGLESTEP) && self.wait()
    }

    fn run_for(&self, time: Duration) -> bool {
        if !self.request(libc::PTRACE_CONT) {
            return false;
        }
        std::thread::sleep(time);
        // SAFETY: the child hasn't been waited for to its end.
        unsafe { libc::kill(self.pid, libc::SIGSTOP) };
        self.wait()
    }

    /// The registers, unless it is in a system call.
    fn registers(&self) -> Option<Registers> {
        // SAFETY: the kernel fills the structure, for which zeros are valid.
        let user = unsafe {
            let mut user: libc::user_regs_struct = std::mem::zeroed();
            let got = libc::ptrace(libc::PTRACE_GETREGS, self.pid, 0, &raw mut user);
            (got == 0).then_some(user)?
        };
        let in_kernel = user.orig_rax as i64 >= 0;
        (!in_kernel).then(|| Registers::from_user(&user))
    }
}

impl Drop for Stepped {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Addresses that windows had right, and those that they didn't know.
#[derive(Debug, Default)]
struct Score {
    right: usize,
    unknown: usize,
}

/// Compares a window with what the processor does. Addresses of the processor follow from its registers before each
/// instruction.
fn compare(
    stepped: &Stepped,
    window: &Window,
    mut function_at: impl FnMut(u64) -> Option<Rc<Function>>,
    score: &mut Score,
) {
    let mut accesses = window.accesses.iter();
    let mut previous = 0;
    let mut executed = 0;
    while executed < window.instructions {
        let Some(registers) = stepped.registers() else {
            return;
        };
        if registers.instruction == previous {
            // Another iteration of a repeated instruction, which is one of the window.
            if !stepped.step() {
                return;
            }
            continue;
        }
        previous = registers.instruction;
        executed += 1;
        let function = function_at(registers.instruction).expect("the window had its code");
        let step = &function.steps()[function.index_at(registers.instruction).unwrap()];
        if !step.instruction.is_string_instruction() {
            for operand in &step.operands {
                let address = operand.address(|register| registers.value(register));
                for is_store in [(operand.loads, false), (operand.stores, true)] {
                    if is_store.0 {
                        let access = accesses.next().expect("the window has as many accesses");
                        let place = format!("{:?} at {:#x}", step.instruction.code(), registers.instruction);
                        assert_eq!(access.instruction, registers.instruction, "the way: {place}");
                        assert_eq!(access.is_store, is_store.1, "{place}");
                        match access.known_by {
                            WindowAddress::Unknown => score.unknown += 1,
                            _ => {
                                assert_eq!(Some(access.address), address, "{place}");
                                score.right += 1;
                            }
                        }
                    }
                }
            }
        } else {
            let repeated = accesses
                .clone()
                .take_while(|access| access.instruction == registers.instruction);
            accesses.nth(repeated.count().wrapping_sub(1));
        }
        if !stepped.step() {
            return;
        }
    }
}

/// A conditional move that doesn't happen still loads; all else that windows claim is what the processor did.
fn score_of(command: &mut Command) -> Score {
    let stepped = Stepped::start(command);
    let pid = stepped.pid as u32;
    let mut score = Score::default();
    for _ in 0..STOPS {
        if !stepped.run_for(Duration::from_millis(3)) {
            break;
        }
        let Some(registers) = stepped.registers() else {
            continue;
        };
        let (mut spaces, mut cache) = (AddressSpaces::default(), CodeCache::default());
        cache.map_running(pid, 0, &mut spaces).unwrap();
        let mut function_at = |address| cache.function(spaces.mapping(pid, address)?, address);
        let mut memory = Memory::new(ProcessMemory::stopped(pid));
        let window = look_ahead(
            &registers,
            WINDOW,
            &mut memory,
            &mut Directions::default(),
            &mut Unobserved,
            &mut function_at,
        );
        compare(&stepped, &window, &mut function_at, &mut score);
    }
    score
}

fn shell(script: &str) -> Score {
    score_of(Command::new("/bin/sh").args(["-c", script]))
}

#[test]
fn windows_are_what_the_processor_does_in_a_shell() {
    let score = shell("i=0; while [ $i -lt 100000000 ]; do i=$((i+1)); done");
    assert!(score.right > 300, "{score:?}");
    assert!(score.unknown * 5 < score.right, "{score:?}");
}

#[test]
fn windows_are_what_the_processor_does_in_an_interpreter() {
    let awk = score_of(Command::new("/usr/bin/awk").arg(
        "BEGIN { for (i = 0; i < 100000000; i++) { a[i % 1000] = a[(i * 7) % 1000] \"x\"; if (length(a[i % 1000]) > 30) a[i % 1000] = \"\" } }",
    ));
    assert!(awk.right > 300, "{awk:?}");
}
