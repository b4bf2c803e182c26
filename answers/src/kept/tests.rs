use std::fs;
use std::os::unix::fs::{symlink, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;

use super::folder::Folder;
use super::premises::{Premises, SourceState};
use super::Asked;
use crate::failure::Failure;

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../trace/vectors");

/// A folder of answers, and a trace to ask.
struct Scene {
    place: TempDir,
    trace: PathBuf,
}

impl Scene {
    fn new() -> Scene {
        let place = tempfile::tempdir().unwrap();
        let trace = place.path().join("a.trackway");
        fs::copy(golden(), &trace).unwrap();
        Scene { place, trace }
    }

    fn path(&self) -> PathBuf {
        self.place.path().join("caches").join("answers")
    }

    fn folder(&self, most_bytes: u64) -> Option<Folder> {
        Folder::at(self.path(), most_bytes).ok()
    }

    fn asked<'s>(&'s self, options: &str) -> Asked<'s> {
        Asked {
            verb: "report",
            options: options.into(),
            trace: &self.trace,
            source_root: None,
            slice: crate::slice::SliceRequest::default(),
        }
    }

    /// Asks, and says whether the trace was read.
    fn ask(&self, options: &str) -> (String, bool) {
        let mut was_read = false;
        let answer = self
            .asked(options)
            .answer_from(self.folder(1 << 20).as_ref(), |_| {
                was_read = true;
                Ok(format!("answer to {options}"))
            });
        (answer.unwrap(), was_read)
    }

    fn reads(&self, options: &str) -> bool {
        let (answer, was_read) = self.ask(options);
        assert_eq!(answer, format!("answer to {options}"));
        was_read
    }

    fn entries(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.path()).unwrap();
        entries.map(|entry| entry.unwrap().path()).collect()
    }

    fn entry(&self) -> PathBuf {
        let mut entries = self.entries();
        assert_eq!(entries.len(), 1);
        entries.remove(0)
    }
}

fn golden() -> PathBuf {
    let mut traces: Vec<PathBuf> = fs::read_dir(GOLDEN)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.to_str().unwrap().contains("golden-v"))
        .collect();
    traces.sort();
    traces.pop().unwrap()
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn the_same_question_reads_the_trace_once() {
    let scene = Scene::new();
    assert!(scene.reads("top 10"));
    assert!(!scene.reads("top 10"));
    assert!(scene.reads("top 20"));
    assert!(!scene.reads("top 20") && !scene.reads("top 10"));
}

#[test]
fn what_is_kept_is_the_users_alone() {
    let scene = Scene::new();
    scene.ask("");
    assert_eq!((mode(&scene.path()), mode(&scene.entry())), (0o700, 0o600));
}

#[test]
fn another_trace_has_another_answer() {
    let scene = Scene::new();
    scene.ask("");
    let content = fs::read(&scene.trace).unwrap();
    fs::write(&scene.trace, &content).unwrap();
    assert!(scene.reads(""), "written again");
    fs::copy(&scene.trace, scene.trace.with_extension("copy")).unwrap();
    fs::rename(scene.trace.with_extension("copy"), &scene.trace).unwrap();
    assert!(scene.reads(""), "replaced");
    fs::OpenOptions::new()
        .append(true)
        .open(&scene.trace)
        .unwrap()
        .set_len(content.len() as u64 + 1)
        .unwrap();
    assert!(scene.reads(""), "longer");
    assert!(!scene.reads(""));
    fs::remove_file(&scene.trace).unwrap();
    let answer = scene
        .asked("")
        .answer_from(scene.folder(1 << 20).as_ref(), |_| Ok(String::new()));
    assert!(answer.is_err(), "a trace that is gone");
}

#[test]
fn a_changed_source_file_makes_an_answer_untrue() {
    let scene = Scene::new();
    let source = scene.place.path().join("a.c");
    let folder = scene.folder(1 << 20).unwrap();
    let premises = Premises::of(&scene.asked("")).unwrap();
    let keep = || folder.keep(&premises, &[SourceState::of(source.clone())], b"it");
    keep();
    assert!(folder.find(&premises).is_some());
    fs::write(&source, "int a;").unwrap();
    assert!(folder.find(&premises).is_none(), "it appeared");
    keep();
    assert!(folder.find(&premises).is_some());
    fs::write(&source, "int b;").unwrap();
    assert!(folder.find(&premises).is_none(), "it changed");
    fs::remove_file(&source).unwrap();
    keep();
    fs::create_dir(&source).unwrap();
    assert!(folder.find(&premises).is_some(), "a folder is no source file");
}

#[test]
fn torn_entries_are_no_answers() {
    let scene = Scene::new();
    scene.ask("");
    let whole = fs::read(scene.entry()).unwrap();
    let damaged = |at: usize| {
        let mut bytes = whole.clone();
        bytes[at] ^= 1;
        bytes
    };
    let torn = [0, 7, 20, whole.len() / 2, whole.len() - 1].map(|length| whole[..length].to_vec());
    let damaged = [0, 9, 17, 30, whole.len() - 1].map(damaged);
    for bytes in torn.into_iter().chain(damaged) {
        fs::write(scene.entry(), bytes).unwrap();
        assert!(scene.reads(""));
        assert!(!scene.reads(""), "the next answer takes its place");
    }
}

#[test]
fn what_others_can_change_is_no_answer() {
    let scene = Scene::new();
    scene.ask("");
    for wrong in [0o640, 0o604, 0o620, 0o666] {
        set_mode(&scene.entry(), wrong);
        assert!(scene.reads(""), "{wrong:o}");
        assert_eq!(mode(&scene.entry()), 0o600);
    }
    let elsewhere = scene.place.path().join("elsewhere");
    fs::rename(scene.entry(), &elsewhere).unwrap();
    let name = Premises::of(&scene.asked("")).unwrap().name().unwrap();
    symlink(&elsewhere, scene.path().join(name)).unwrap();
    assert!(scene.reads(""), "a link");
    set_mode(&scene.path(), 0o750);
    assert!(scene.reads("") && scene.reads(""), "an open folder");
}

#[test]
fn a_foreign_entry_is_no_answer() {
    let scene = Scene::new();
    scene.ask("");
    if std::os::unix::fs::chown(scene.entry(), Some(1), None).is_err() {
        use std::io::Write;
        let _ = writeln!(
            std::io::stderr(),
            "skipped: a_foreign_entry_is_no_answer: only root can give files away"
        );
        return;
    }
    assert!(scene.reads(""));
    std::os::unix::fs::chown(scene.path(), Some(1), None).unwrap();
    assert!(scene.folder(1 << 20).is_none());
}

#[test]
fn the_oldest_answers_go_first() {
    let scene = Scene::new();
    let folder = scene.folder(40_000).unwrap();
    let premises = |number: usize| Premises::of(&scene.asked(&number.to_string())).unwrap();
    let hour_ago = |hours: u64| SystemTime::now() - Duration::from_secs(3600 * hours);
    for number in 0..5 {
        folder.keep(&premises(number), &[], &[0; 5000]);
        let file = fs::File::open(scene.path().join(premises(number).name().unwrap())).unwrap();
        file.set_modified(hour_ago(10 - number as u64)).unwrap();
    }
    assert!(folder.find(&premises(0)).is_some(), "used now");
    for number in 5..8 {
        folder.keep(&premises(number), &[], &[0; 5000]);
    }
    let kept: Vec<bool> = (0..8)
        .map(|number| folder.find(&premises(number)).is_some())
        .collect();
    let bytes: u64 = folder.files().iter().map(|file| file.bytes).sum();
    assert!(bytes <= 40_000, "{bytes}");
    assert!(kept[0] && !kept[1] && kept[7], "{kept:?}");
}

#[test]
fn a_huge_answer_is_not_kept() {
    let scene = Scene::new();
    let folder = scene.folder(40_000).unwrap();
    let premises = Premises::of(&scene.asked("")).unwrap();
    folder.keep(&premises, &[], &[0; 20_000]);
    assert!(folder.files().is_empty());
}

#[test]
fn failures_are_not_kept() {
    let scene = Scene::new();
    let failed = scene
        .asked("")
        .answer_from::<String>(scene.folder(1 << 20).as_ref(), |_| Err(Failure::new("no")));
    assert!(failed.is_err() && scene.entries().is_empty());
}
