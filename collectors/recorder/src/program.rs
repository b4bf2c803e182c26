//! Starting the program and waiting for its end.

use std::ffi::OsString;
use std::io::{self, IsTerminal};
use std::os::fd::{OwnedFd, RawFd};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Child, Command, ExitStatus};
use std::sync::Mutex;
use std::thread::Scope;

use rustix::process::{Pid, Signal};

use crate::allocations;
use crate::binary::{self, ConfigurationFolder};
use crate::options::RecordOptions;
use crate::process_handle::{has_ended, open_process};
use crate::ring::Ring;
use crate::sampling::ProgramSide;
use crate::signals::Reach;
use crate::stack_room;
use crate::{ProgramEnd, RecordError, Remains};

/// The running program.
pub struct Program {
    pub pid: u32,
    descriptor: Option<OwnedFd>,
}

/// The program, as the recorder came to it.
pub enum Started {
    Now(Child),
    /// It ran already.
    Before(u32),
}

impl Started {
    pub fn pid(&self) -> u32 {
        match self {
            Started::Now(child) => child.id(),
            Started::Before(pid) => *pid,
        }
    }
}

/// How the program ended, as soon as it has.
#[derive(Default)]
pub struct EndOfProgram(Mutex<Option<(ProgramEnd, Remains)>>);

impl EndOfProgram {
    pub fn get(&self) -> Option<ProgramEnd> {
        self.with_remains().map(|(end, _)| end)
    }

    /// The same with what the system still knew of the program.
    pub fn with_remains(&self) -> Option<(ProgramEnd, Remains)> {
        *self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    pub fn set(&self, end: ProgramEnd, remains: Remains) {
        *self.0.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = Some((end, remains));
    }
}

/// `configuration`: needed for binaries as they are. `gate`: where the program waits before it is executed.
pub fn start(
    options: &RecordOptions,
    ring: &Ring,
    configuration: Option<&ConfigurationFolder>,
    gate: Option<ProgramSide>,
) -> Result<Child, RecordError> {
    let name = ring.name().map_err(|source| RecordError::System {
        action: "inspect the ring",
        source,
    })?;
    let descriptor = ring.descriptor();
    let mut command = match options.client.as_ref().zip(configuration) {
        None if options.sampling.is_some() => program_as_it_is(options),
        None => compiled_program(options, name.clone()),
        Some((client, configuration)) => binary::command(options, client, name.clone(), configuration)?,
    };
    if let Some(tracer) = &options.allocations {
        allocations::preload(&mut command, tracer, options, &name)?;
    }
    redirect(&mut command, options).map_err(|source| RecordError::System {
        action: "redirect the program's output",
        source,
    })?;
    // SAFETY: the closure makes one async-signal-safe system call.
    unsafe { command.pre_exec(move || inherit(descriptor)) };
    let is_compiled = options.client.is_none() && options.sampling.is_none();
    if let Some(limit) = stack_room::wanted().filter(|_| is_compiled) {
        // SAFETY: the closure makes one async-signal-safe system call.
        unsafe { command.pre_exec(move || stack_room::give(limit)) };
    }
    if let Some(gate) = gate {
        // SAFETY: reading and writing pipes is async-signal-safe.
        unsafe { command.pre_exec(move || gate.pass()) };
    }
    command.spawn().map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => RecordError::ProgramNotFound {
            program: options.program.clone(),
        },
        _ => RecordError::Start {
            program: options.program.clone(),
            source,
        },
    })
}

fn compiled_program(options: &RecordOptions, ring_name: OsString) -> Command {
    let mut command = Command::new(&options.program);
    command.args(&options.arguments).env("TRACKWAY_RING", ring_name);
    command
}

/// Without a ring nothing is recorded, and what was compiled to record runs its plain copies.
fn program_as_it_is(options: &RecordOptions) -> Command {
    let mut command = Command::new(&options.program);
    command.args(&options.arguments);
    command
}

fn redirect(command: &mut Command, options: &RecordOptions) -> io::Result<()> {
    if let Some(file) = &options.instead_of_terminal {
        if io::stdout().is_terminal() {
            command.stdout(file.try_clone()?);
        }
        if io::stderr().is_terminal() {
            command.stderr(file.try_clone()?);
        }
    }
    if let Some(file) = &options.standard_output {
        command.stdout(file.try_clone()?);
    }
    Ok(())
}

fn inherit(descriptor: RawFd) -> io::Result<()> {
    // SAFETY: sets a flag of a descriptor.
    match unsafe { libc::fcntl(descriptor, libc::F_SETFD, 0) } {
        -1 => Err(io::Error::last_os_error()),
        _ => Ok(()),
    }
}

impl Program {
    /// One that the recorder didn't start.
    pub fn attached(pid: u32) -> Self {
        Self {
            pid,
            descriptor: open_process(pid),
        }
    }

    /// Whether a program that the recorder didn't start has ended.
    pub fn has_ended(&self) -> bool {
        self.descriptor.as_ref().is_none_or(has_ended)
    }

    /// Waits for `child` on a thread of its own, which notes the end and pokes the ring.
    pub fn watch<'scope>(
        child: Child,
        end: &'scope EndOfProgram,
        ring: &'scope Ring,
        scope: &'scope Scope<'scope, '_>,
    ) -> Self {
        let pid = child.id();
        let descriptor = open_process(pid);
        scope.spawn(move || {
            wait_for_end(pid);
            let stack_limit_bytes = stack_room::limit_of(pid);
            let (status, peak_memory_bytes) = reap(child).unwrap_or_default();
            let remains = Remains {
                stack_limit_bytes,
                peak_memory_bytes,
            };
            end.set(program_end(status), remains);
            ring.poke();
        });
        Self { pid, descriptor }
    }

    /// Whether a signal of that reach came to the program without us.
    pub fn got(&self, reach: Reach) -> bool {
        match reach {
            Reach::Terminal => true,
            Reach::Group => self.is_in_our_group(),
            Reach::Recorder => false,
        }
    }

    fn is_in_our_group(&self) -> bool {
        let program = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        program.is_some_and(|pid| {
            rustix::process::getpgid(Some(pid)).is_ok_and(|group| group == rustix::process::getpgrp())
        })
    }

    /// Passes a signal on. A program that has ended already needs none.
    pub fn send(&self, signal: i32) {
        if let (Some(descriptor), Some(signal)) = (&self.descriptor, Signal::from_named_raw(signal)) {
            let _ = rustix::process::pidfd_send_signal(descriptor, signal);
        }
    }
}

/// Waiting for the child itself would take the notices of its stops from the sampler, which traces it for moments.
fn wait_for_end(pid: u32) {
    if let Some(descriptor) = open_process(pid) {
        let mut waited = [rustix::event::PollFd::new(
            &descriptor,
            rustix::event::PollFlags::IN,
        )];
        while rustix::event::poll(&mut waited, None) == Err(rustix::io::Errno::INTR) {}
    }
}

/// The child's status, and the most memory that it had at a time, in bytes.
fn reap(child: Child) -> io::Result<(ExitStatus, u64)> {
    let mut status = 0;
    // SAFETY: zeros are a valid `rusage`.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    loop {
        // SAFETY: wait4 fills both, which live until it returns. Nothing else waits for this child.
        if unsafe { libc::wait4(child.id() as libc::pid_t, &mut status, 0, &mut usage) } != -1 {
            let kibibytes = u64::try_from(usage.ru_maxrss).unwrap_or(0);
            return Ok((ExitStatus::from_raw(status), kibibytes.saturating_mul(1024)));
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

fn program_end(status: ExitStatus) -> ProgramEnd {
    match (status.code(), status.signal()) {
        (Some(status), _) => ProgramEnd::Exited(status),
        (None, Some(signal)) => ProgramEnd::Signalled(signal),
        (None, None) => ProgramEnd::Exited(0),
    }
}
