//! Watches a program that it starts.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, IsTerminal, Seek};
use std::path::Path;
use std::process::ExitCode;
use std::sync::mpsc::{channel, Receiver, RecvTimeoutError};
use std::sync::Arc;
use std::time::Instant;

use trackway_answers::failure::Failure;
use trackway_answers::output;
use trackway_recorder::{
    record_watched, ChunkSink, Compression, Output, RecordOptions, RecordSummary, RingView,
};
use trackway_recording::{buffer_size, conclude, Telling};
use trackway_trace::GrowingTrace;

use crate::arguments::ViewArguments;
use crate::display::{Display, Place};
use crate::page::{PageFile, Watched};
use crate::tee::{CopyOfCounts, News, Tee};
use crate::watcher::Watcher;
use crate::TopArguments;

/// What is left when the program has ended: a text on all of it, and a page to be written.
#[derive(Default)]
struct Seen {
    conclusion: Option<String>,
    page: Option<(PageFile, Watched)>,
}

pub fn run(arguments: TopArguments) -> Result<ExitCode, Failure> {
    let view = arguments.view.clone();
    let mut options = options(arguments)?;
    let place = match (view.quiet, io::stdout().is_terminal() && !view.once) {
        (true, _) => Place::Nowhere,
        (false, true) => Place::Screen,
        (false, false) => Place::StandardError, // beside what the program prints
    };
    let printed = match place {
        Place::Screen => Some(Arc::new(tempfile::tempfile().map_err(Failure::writing)?)),
        _ => None,
    };
    options.instead_of_terminal = printed.clone();
    let display = Display::new(&view, place, &title(&options))?;
    let copied = view.page.as_ref().map(|_| CopyOfCounts::create()).transpose()?;
    let (copy, writer) = copied.unzip();
    let (sender, news) = channel();
    let ring_sender = sender.clone();
    let (recorded, shown) = std::thread::scope(|scope| {
        let (view, program) = (&view, options.program.as_ref());
        let watching = scope.spawn(move || watch(&news, display, view, program));
        let wrap = |chunks| -> Box<dyn ChunkSink> {
            Box::new(Tee {
                chunks,
                news: sender,
                copy: writer,
            })
        };
        let recorded = record_watched(&options, wrap, move |ring| {
            // If that fails, the watcher has already ended.
            let _ = ring_sender.send(News::Ring(ring));
        });
        (recorded, watching.join())
    });
    if let Some(printed) = printed {
        print_all(&printed)?;
    }
    let seen = shown.map_err(|_| Failure::new("the view ended before time"))?;
    let written = seen.and_then(|seen| {
        if let Some(conclusion) = &seen.conclusion {
            eprint!("{conclusion}");
        }
        write_page(seen.page, copy.as_ref(), view.quiet)
    });
    if let Ok(summary) = &recorded {
        warn_of_no_counts(summary, &options);
    }
    let telling = Telling {
        quiet: view.quiet,
        verbose: false,
        is_analysed: options.output == Output::Discard,
        is_of_counts: true,
    };
    let status = conclude(recorded, &options, telling);
    written.map(|()| status)
}

/// Writes the page, with what the program counted in all, if that could be kept.
fn write_page(
    page: Option<(PageFile, Watched)>,
    copy: Option<&CopyOfCounts>,
    quiet: bool,
) -> Result<(), Failure> {
    let Some((page, watched)) = page else {
        return Ok(());
    };
    let trace = copy.map(CopyOfCounts::open).transpose()?;
    page.write(&watched, trace.as_ref(), quiet)
}

fn options(arguments: TopArguments) -> Result<RecordOptions, Failure> {
    let mut words = arguments.command.into_iter();
    let program: OsString = words
        .next()
        .ok_or_else(|| Failure::new("name a program or a process: trackway top PROGRAM ARGUMENTS"))?;
    let shows_nothing_of_it = arguments.output.is_none() && arguments.view.page.is_none();
    if arguments.sampling.hardware.is_some() && shows_nothing_of_it {
        return Err(Failure::new(
            "--hardware: the view doesn't show it; have the trace written, by --output FILE, or a page, by --page FILE",
        ));
    }
    let output = match arguments.output {
        Some(path) => Output::File {
            path,
            force: arguments.view.force,
        },
        None => Output::Discard,
    };
    let mut options = RecordOptions::new(program, output);
    options.arguments = words.collect();
    options.buffer_size = buffer_size(&options.program, arguments.buffer_size);
    arguments.sampling.apply_to_counting(&mut options)?;
    if options.output == Output::Discard {
        options.compression = Compression::None; // it would be decompressed at once
    }
    Ok(options)
}

/// The program and its arguments.
fn title(options: &RecordOptions) -> String {
    let words = std::iter::once(&options.program).chain(&options.arguments);
    let words: Vec<_> = words.map(|word| word.to_string_lossy()).collect();
    words.join(" ")
}

/// What the program printed while the terminal was taken.
fn print_all(mut printed: &File) -> Result<(), Failure> {
    let copied = printed
        .rewind()
        .and_then(|()| io::copy(&mut printed, &mut io::stdout()));
    copied.map(drop).map_err(Failure::writing)
}

fn warn_of_no_counts(summary: &RecordSummary, options: &RecordOptions) {
    if summary.instrumented && summary.counts.threads == 0 {
        output::warn(format!(
            "{} counts nothing: build it with `trackway cc --count`",
            options.program.to_string_lossy()
        ));
    }
}

/// Shows what arrives until the recorder has sent everything.
fn watch(
    news: &Receiver<News>,
    mut display: Display,
    arguments: &ViewArguments,
    program: &Path,
) -> Result<Seen, Failure> {
    let Some((ring, mut watcher)) = begin(news, program) else {
        return Ok(Seen::default()); // the program wasn't started
    };
    display.begin(watcher.begin_ns, ring.counts_all());
    let mut next = Instant::now() + arguments.interval;
    loop {
        match news.recv_timeout(next.saturating_duration_since(Instant::now())) {
            Ok(News::Chunk(header, chunk)) => watcher.take(&header, chunk)?,
            Ok(News::Ring(_)) => {}
            Err(RecvTimeoutError::Timeout) => {
                watcher.look(&ring);
                display.show(&watcher.sample())?;
                next = (next + arguments.interval).max(Instant::now() + arguments.interval / 2);
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    // The recorder has passed on all nodes.
    display.show(&watcher.sample())?;
    let conclusion = display.conclusion(&watcher.whole());
    let page = display.finish()?;
    Ok(Seen { conclusion, page })
}

/// The ring, and a watcher that knows the recording's clock. None if there is no recording.
fn begin(news: &Receiver<News>, program: &Path) -> Option<(RingView, Watcher)> {
    let (mut ring, mut growing) = (None, GrowingTrace::new(program));
    for news in news {
        match news {
            News::Ring(view) => ring = Some(view),
            News::Chunk(header, chunk) => growing.push(&header, &chunk),
        }
        if let (Some(_), Some(clock)) = (&ring, &growing.trace().meta().clock) {
            let clock = clock.clone();
            return Some((ring?, Watcher::new(growing, clock)));
        }
    }
    None
}
