//! What every command needs: the configuration, the keys, the doors.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::arguments::Arguments;
use super::error::{CliError, NO_FILE, USAGE};
use crate::app::{Mirror, MirrorOptions, SpatialIndexes};
use crate::bdp::TrustedKeys;
use crate::config::{Clock, Config, Layers, Mode, SystemClock};
use crate::demo;
use crate::engine::RunOptions;
use crate::store::{MirrorKey, StoreError, Trust, files};
use crate::sync::{IndexBuilder, Upstream};

/// Configuration file read when none is named.
const CONFIG_FILE: &str = "mirror.toml";
/// Largest configuration file read.
const MAX_CONFIG_BYTES: u64 = 1024 * 1024;

/// The resolved configuration and what is made from it.
pub(super) struct Context {
    pub(super) config: Config,
    pub(super) clock: Arc<dyn Clock>,
}

impl Context {
    /// Reads environment and file once; everything below gets values.
    pub(super) fn new(arguments: &Arguments) -> Result<Self, CliError> {
        let home = variable("HOME").map(PathBuf::from).unwrap_or_default();
        let directory = |name: &str, fallback: &str| {
            variable(name)
                .filter(|value| !value.is_empty())
                .map_or_else(|| home.join(fallback), PathBuf::from)
        };
        let cache = directory("XDG_CACHE_HOME", ".cache");
        let default_file = directory("XDG_CONFIG_HOME", ".config").join("benthic-mirror").join(CONFIG_FILE);
        let file = match &arguments.config {
            Some(path) => Some(read_config(path)?),
            None => match read_config(&default_file) {
                Ok(text) => Some(text),
                Err(error) if error.code() == NO_FILE => None,
                Err(error) => return Err(error),
            },
        };
        let mut flags = BTreeMap::new();
        for setting in &arguments.settings {
            let (key, value) = setting.split_once('=').ok_or_else(|| {
                CliError::with_code(format!("--set {setting}: write KEY=VALUE, e.g. --set max_rows=500"), 64)
            })?;
            flags.insert(key.trim().to_owned(), value.to_owned());
        }
        if let Some(store) = &arguments.store {
            let text = store.to_str().ok_or_else(|| {
                CliError::with_code(format!("--store {}: the path isn't UTF-8", store.display()), USAGE)
            })?;
            flags.insert("store".to_owned(), text.to_owned());
        }
        if arguments.allow_http_loopback {
            flags.insert("allow_http_loopback".to_owned(), "1".to_owned());
        }
        for (given, mode) in [(arguments.live, Mode::Live), (arguments.offline, Mode::Offline)] {
            if given {
                flags.insert("mode".to_owned(), mode.as_str().to_owned());
            }
        }
        let config =
            Config::resolve(&Layers { flags, environment: settings_in_environment()?, file }, &cache)?;
        for (name, keys) in
            [("trusted_keys", &config.trusted_keys), ("trusted_mirror_keys", &config.trusted_mirror_keys)]
        {
            if keys.iter().any(|key| key == demo::PUBLIC_KEY) {
                return Err(CliError::with_code(
                    format!(
                        "`{name}` lists the demo key, which is published and worthless; only `demo` and `serve --demo` trust it"
                    ),
                    64,
                ));
            }
        }
        Ok(Self { config, clock: Arc::new(SystemClock) })
    }

    /// Keys whose documents are believed.
    pub(super) fn publisher_keys(&self) -> Result<TrustedKeys, CliError> {
        if self.config.trusted_keys.is_empty() {
            return Ok(TrustedKeys::publisher_default());
        }
        keys("trusted_keys", &self.config.trusted_keys)
    }

    /// Both trust lists. The mirror's own key counts when its file is there.
    pub(super) fn trust(&self) -> Result<Trust, CliError> {
        let mut mirror = self.config.trusted_mirror_keys.clone();
        match MirrorKey::load(&self.config.key_file) {
            Ok(key) => mirror.push(key.public_base64()),
            Err(StoreError::NotFound { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(Trust { publisher: self.publisher_keys()?, mirror: keys("trusted_mirror_keys", &mirror)? })
    }

    /// The configured store as a mirror that answers.
    pub(super) fn mirror(&self) -> Result<Mirror, CliError> {
        self.open_mirror(&self.config.store, self.trust()?, &self.config)
    }

    /// A mirror over a given store with given trust that answers from it alone: a demo's publisher is gone.
    pub(super) fn offline_mirror(&self, path: &Path, trust: Trust) -> Result<Mirror, CliError> {
        self.open_mirror(path, trust, &Config { mode: Mode::Offline, ..self.config.clone() })
    }

    fn open_mirror(&self, path: &Path, trust: Trust, config: &Config) -> Result<Mirror, CliError> {
        let options = MirrorOptions {
            trust,
            run: RunOptions { policy: self.config.scan_policy, exact_numbers: self.config.exact_numbers },
            max_age_seconds: self.config.max_age.as_secs(),
            concurrency: self.config.concurrency.max(4),
        };
        Ok(Mirror::open(path, config, options, Arc::clone(&self.clock))?)
    }

    /// The configured publisher.
    pub(super) fn upstream(&self) -> Result<Upstream, CliError> {
        Upstream::new(&self.config).map_err(|error| CliError::failed(error.to_string()))
    }

    /// What builds the indexes of a pull.
    pub(super) fn indexes(&self) -> Result<Arc<dyn IndexBuilder>, CliError> {
        let indexes =
            SpatialIndexes::new(&self.config).map_err(|error| CliError::failed(error.to_string()))?;
        Ok(Arc::new(indexes))
    }

    /// The mirror's signing key; made on first use, which is said.
    pub(super) fn mirror_key(&self) -> Result<MirrorKey, CliError> {
        match MirrorKey::load(&self.config.key_file) {
            Err(StoreError::NotFound { .. }) => super::keygen::make(&self.config.key_file),
            loaded => Ok(loaded?),
        }
    }
}

fn read_config(path: &Path) -> Result<String, CliError> {
    let bytes = files::read_document(path, MAX_CONFIG_BYTES).map_err(|error| match error {
        StoreError::NotFound { .. } => {
            CliError::with_code(format!("the configuration file {} doesn't exist", path.display()), NO_FILE)
        }
        error @ StoreError::TooLarge { .. } => CliError::with_code(error.to_string(), USAGE),
        error => error.into(),
    })?;
    String::from_utf8(bytes).map_err(|_| {
        CliError::with_code(format!("the configuration file {} isn't UTF-8", path.display()), 64)
    })
}

fn keys(name: &str, list: &[String]) -> Result<TrustedKeys, CliError> {
    TrustedKeys::from_base64(list).map_err(|error| CliError::with_code(format!("`{name}`: {error}"), 64))
}

/// Every variable whose name is the program's; one whose value isn't text is a mistake, not an absent one.
#[allow(clippy::disallowed_methods, reason = "the one place that reads the environment")]
fn settings_in_environment() -> Result<BTreeMap<String, String>, CliError> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
        .filter(|(name, _)| name.starts_with("BENTHIC_"))
        .map(|(name, value)| match value.into_string() {
            Ok(value) => Ok((name, value)),
            Err(_) => Err(CliError::with_code(format!("the variable {name} isn't UTF-8"), USAGE)),
        })
        .collect()
}

/// One variable's value.
#[allow(clippy::disallowed_methods, reason = "the one place that reads the environment")]
pub(super) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}
