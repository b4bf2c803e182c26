use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use super::*;

const TEXT: &str = "int a;\n    a = 1;\r\n";

/// Quotes below `root`, of a program that knows nothing of its files.
fn unchecked<'p>(program: &'p Program, root: &Path) -> SourceFiles<'p> {
    SourceFiles::new(program, Path::new("/nowhere"), Some(root))
}

/// A folder without links in its name.
fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().canonicalize().unwrap();
    (folder, path)
}

#[test]
fn lines_are_counted_from_one_and_trimmed() {
    let (_kept, folder) = folder();
    fs::write(folder.join("a.c"), TEXT).unwrap();
    let program = Program::default();
    let sources = unchecked(&program, &folder);
    assert_eq!(sources.line("a.c", 1).as_deref(), Some("int a;"));
    assert_eq!(sources.line("a.c", 2).as_deref(), Some("a = 1;"));
    assert_eq!(sources.text("a.c"), SourceText::Text(TEXT.into()));
    assert_eq!(sources.text("b.c"), SourceText::Unknown);
    assert_eq!(sources.line("a.c", 0), None);
    assert_eq!(sources.line("a.c", 3), None);
    assert_eq!(sources.line("/dev/zero", 1), None);
}

#[test]
fn only_source_code_below_the_root_is_quoted_without_a_checksum() {
    let (_kept, folder) = folder();
    let root = folder.join("root");
    fs::create_dir_all(root.join("src")).unwrap();
    fs::write(folder.join("secret.c"), "secret").unwrap();
    fs::write(root.join("key.pem"), "secret").unwrap();
    fs::write(root.join("src/a.c"), TEXT).unwrap();
    symlink(folder.join("secret.c"), root.join("out.c")).unwrap();
    symlink(root.join("src/a.c"), root.join("in.c")).unwrap();
    symlink(&folder, root.join("up")).unwrap();
    let program = Program::default();
    let sources = unchecked(&program, &root);
    let text = |file: &Path| sources.text(file.to_str().unwrap());
    for file in ["src/a.c", "in.c", "/build/src/a.c", "a/b/src/a.c"] {
        assert_eq!(text(Path::new(file)), SourceText::Text(TEXT.into()), "{file}");
    }
    assert_eq!(text(&root.join("src/a.c")), SourceText::Text(TEXT.into()));
    for file in [
        "../secret.c",
        "out.c",
        "up/secret.c",
        "src/../../secret.c",
        "key.pem",
        "",
        ".c",
    ] {
        assert_eq!(text(Path::new(file)), SourceText::Unknown, "{file}");
    }
    assert_eq!(text(&folder.join("secret.c")), SourceText::Unknown);
    assert_eq!(text(&root.join("src/../../secret.c")), SourceText::Unknown);
}

#[test]
fn nothing_but_files_of_a_bounded_size_is_read() {
    let (_kept, folder) = folder();
    let pipe = folder.join("pipe.c");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let huge = fs::File::create(folder.join("huge.c")).unwrap();
    huge.set_len(open::MAX_FILE_BYTES + 1).unwrap();
    symlink("/dev/zero", folder.join("zero.c")).unwrap();
    for path in [
        pipe,
        folder.join("huge.c"),
        folder.join("zero.c"),
        "/dev/zero".into(),
        "/dev/tty".into(),
        folder.clone(),
    ] {
        assert!(read_regular(&path).is_err(), "{}", path.display());
        assert!(read_below(&folder, &path).is_err(), "{}", path.display());
    }
    for endless in ["/proc/self/pagemap", "/proc/kmsg", "/proc/self/environ"] {
        assert!(
            read_regular(Path::new(endless)).is_ok_and(|content| content.is_empty()),
            "{endless}"
        );
    }
}

#[test]
fn checksums_decide() {
    let md5 = |text: &str| SourceChecksum::Md5(Md5::digest(text).into());
    let sha256 = |text: &str| SourceChecksum::Sha256(Sha256::digest(text).into());
    assert!(agrees(b"int a;\n", &md5("int a;\n")) && agrees(b"int a;\n", &sha256("int a;\n")));
    assert!(!agrees(b"int b;\n", &md5("int a;\n")) && !agrees(b"int b;\n", &sha256("int a;\n")));
}
