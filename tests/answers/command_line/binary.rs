//! Running the real binary in a home of its own.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// A user's home without a past: no configuration, no store, no key, nothing of the environment but `PATH`.
pub struct Home {
    directory: tempfile::TempDir,
}

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
    shown: String,
}

impl Home {
    pub fn new() -> Self {
        Self { directory: tempfile::tempdir().expect("temporary directory") }
    }

    /// A path in this home.
    pub fn path(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    /// Writes a file in this home, with its directories.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
        std::fs::write(&path, bytes).expect("written");
        path
    }

    /// The configuration file that is read when none is named.
    pub fn configure(&self, text: &str) {
        self.write("config/benthic-mirror/mirror.toml", text);
    }

    pub fn run<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Ended {
        self.run_with(arguments, &[])
    }

    /// Runs the binary with variables set; whatever it was told, it must end on its own and not by a panic.
    pub fn run_with<S: AsRef<OsStr>>(
        &self,
        arguments: impl IntoIterator<Item = S>,
        environment: &[(&str, &OsStr)],
    ) -> Ended {
        let arguments: Vec<OsString> = arguments.into_iter().map(|text| text.as_ref().to_owned()).collect();
        let temporary = self.path("tmp");
        std::fs::create_dir_all(&temporary).expect("temporary directory");
        let output = Command::new(env!("CARGO_BIN_EXE_benthic-mirror"))
            .args(&arguments)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.directory.path())
            .env("XDG_CACHE_HOME", self.path("cache"))
            .env("XDG_CONFIG_HOME", self.path("config"))
            .env("TMPDIR", &temporary)
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .output()
            .expect("the binary runs");
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let shown: String = format!("{arguments:?}").chars().take(300).collect();
        let code = output.status.code().unwrap_or_else(|| panic!("{shown}: {}\n{stderr}", output.status));
        assert!(!stderr.contains("panicked"), "{shown}\n{stderr}");
        Ended { code, stdout: String::from_utf8(output.stdout).expect("stdout is UTF-8"), stderr, shown }
    }
}

impl Ended {
    /// It must have ended with a code, and an error message that holds a text if it isn't 0.
    #[track_caller]
    pub fn with(self, code: i32, needle: &str) -> Self {
        let Self { stdout, stderr, shown, .. } = &self;
        assert_eq!(self.code, code, "{shown}\n{stderr}\n{stdout}");
        if code == 0 {
            assert!(stdout.contains(needle), "{shown}: no {needle:?} in\n{stdout}");
        } else {
            assert!(stderr.contains("error: "), "{shown}: no error in\n{stderr}");
            assert!(stderr.contains(needle), "{shown}: no {needle:?} in\n{stderr}");
        }
        self
    }
}

/// Copies a directory with everything in it.
pub fn copy_directory(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).expect("directory");
    for entry in std::fs::read_dir(from).expect("directory") {
        let entry = entry.expect("entry");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("type").is_dir() {
            copy_directory(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).expect("copied");
        }
    }
}

/// Every file below a directory.
pub fn files_below(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).expect("directory") {
        let path = entry.expect("entry").path();
        if path.is_dir() { files.extend(files_below(&path)) } else { files.push(path) }
    }
    files.sort();
    files
}
