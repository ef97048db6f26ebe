//! The settings: their names, defaults, meaning and parsing.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use url::Url;

use super::limits::Limits;

/// Where a value came from, strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// A command-line flag.
    Flag,
    /// An environment variable.
    Environment,
    /// The configuration file.
    File,
    /// Built in.
    Default,
}

impl Source {
    /// The word `config show` prints.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Flag => "flag",
            Self::Environment => "environment",
            Self::File => "file",
            Self::Default => "default",
        }
    }
}

/// Which size rules apply to a complete local capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScanPolicy {
    /// The upstream server's rules, whatever the source.
    Parity,
    /// `scan_limit` and `no_primary_key` don't apply where the capture is complete.
    Complete,
}

impl ScanPolicy {
    /// The word used in settings and answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Parity => "parity",
            Self::Complete => "complete",
        }
    }
}

/// Where answers may come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// From the snapshot; what to do where it doesn't hold the answer is decided by policy.
    Auto,
    /// From the snapshot only; no door to the network is made.
    Offline,
    /// From the API the manifests name, always.
    Live,
}

impl Mode {
    /// The word used in settings.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Offline => "offline",
            Self::Live => "live",
        }
    }
}

/// How a number that a double would change is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExactNumbers {
    /// As a string with all its digits (default).
    String,
    /// As a JSON number with all its digits.
    Number,
}

/// Everything configurable, typed.
#[derive(Debug, Clone)]
pub struct Config {
    /// Where the collections are published.
    pub bdp_root: Url,
    /// Collections to mirror.
    pub collections: Vec<String>,
    /// Publisher keys, base64; empty means the built-in key.
    pub trusted_keys: Vec<String>,
    /// The store's directory.
    pub store: PathBuf,
    /// Mirror keys trusted besides the one in `key_file`, base64.
    pub trusted_mirror_keys: Vec<String>,
    /// The mirror's own signing key.
    pub key_file: PathBuf,
    /// Hosts data may be fetched from (subdomains included).
    pub allowed_data_hosts: Vec<String>,
    /// Whether plain HTTP to loopback origins is allowed.
    pub allow_http_loopback: bool,
    /// Origins served from a loopback address instead, for demonstrations and tests.
    pub connect_to: Vec<(String, SocketAddr)>,
    /// Time one upstream request may take.
    pub request_timeout: Duration,
    /// Cap on one fetched body, in bytes.
    pub max_fetch_bytes: u64,
    /// Where answers may come from.
    pub mode: Mode,
    /// Size rules.
    pub scan_policy: ScanPolicy,
    /// How inexact numbers are written.
    pub exact_numbers: ExactNumbers,
    /// Age beyond which a capture counts as stale.
    pub max_age: Duration,
    /// Requests answered at the same time.
    pub concurrency: usize,
    /// Bounds on requests and answers.
    pub limits: Limits,
    /// Every setting as resolved, for `config show`.
    pub resolved: Vec<ResolvedSetting>,
}

/// One setting with its value and source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedSetting {
    /// Key in `mirror.toml`.
    pub key: &'static str,
    /// Environment variable.
    pub variable: &'static str,
    /// The value as text.
    pub value: String,
    /// Where it came from.
    pub source: Source,
}

/// The layers of configuration as text, strongest last in [`Source`]'s order.
#[derive(Debug, Clone, Default)]
pub struct Layers {
    /// `--set key=value` and the dedicated flags, by key.
    pub flags: BTreeMap<String, String>,
    /// The environment, by variable name; unknown names are ignored.
    pub environment: BTreeMap<String, String>,
    /// The text of `mirror.toml`, if there is one.
    pub file: Option<String>,
}

/// A configuration that can't be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// A key nobody knows.
    #[error("unknown setting `{key}` ({place}){hint}")]
    UnknownKey {
        /// The key.
        key: String,
        /// Flag or file.
        place: &'static str,
        /// The nearest known key, as words.
        hint: String,
    },
    /// A value that can't be read.
    #[error("setting `{key}` ({source_name}) is `{value}`: {expected}")]
    BadValue {
        /// The key.
        key: &'static str,
        /// Where the value came from.
        source_name: &'static str,
        /// The value as given.
        value: String,
        /// What would be accepted.
        expected: String,
    },
    /// The file isn't TOML.
    #[error("the configuration file isn't valid TOML: {detail}")]
    BadFile {
        /// The parser's message.
        detail: String,
    },
}

struct Setting {
    key: &'static str,
    variable: &'static str,
    default: &'static str,
}

const fn setting(key: &'static str, variable: &'static str, default: &'static str) -> Setting {
    Setting { key, variable, default }
}

/// Key, variable and default of every setting. Upstream's variables keep their names.
const SETTINGS: &[Setting] = &[
    setting("bdp_root", "BENTHIC_BDP_ROOT", "https://benthic.io/bdp"),
    setting("collections", "BENTHIC_COLLECTIONS", "ngopen"),
    setting("trusted_keys", "BENTHIC_TRUSTED_KEYS", ""),
    setting("cache_dir", "BENTHIC_CACHE_DIR", ""),
    setting("request_timeout_seconds", "BENTHIC_REQUEST_TIMEOUT_SECONDS", "30"),
    setting("max_rows", "BENTHIC_MAX_ROWS", "1000"),
    setting("default_query_limit", "BENTHIC_DEFAULT_QUERY_LIMIT", "100"),
    setting("aggregate_scan_limit", "BENTHIC_AGGREGATE_SCAN_LIMIT", "10000"),
    setting("max_response_bytes", "BENTHIC_MAX_RESPONSE_BYTES", "1048576"),
    setting("store", "BENTHIC_MIRROR_STORE", ""),
    setting("key_file", "BENTHIC_MIRROR_KEY_FILE", ""),
    setting("trusted_mirror_keys", "BENTHIC_MIRROR_TRUSTED_MIRROR_KEYS", ""),
    setting("allowed_data_hosts", "BENTHIC_MIRROR_ALLOWED_DATA_HOSTS", "benthic.io"),
    setting("allow_http_loopback", "BENTHIC_MIRROR_ALLOW_HTTP_LOOPBACK", "0"),
    setting("connect_to", "BENTHIC_MIRROR_CONNECT_TO", ""),
    setting("mode", "BENTHIC_MIRROR_MODE", "auto"),
    setting("scan_policy", "BENTHIC_MIRROR_SCAN_POLICY", "parity"),
    setting("exact_numbers", "BENTHIC_MIRROR_EXACT_NUMBERS", "string"),
    setting("max_age_seconds", "BENTHIC_MIRROR_MAX_AGE", "604800"),
    setting("request_deadline_seconds", "BENTHIC_MIRROR_REQUEST_DEADLINE", "20"),
    setting("memory_limit_bytes", "BENTHIC_MIRROR_MEMORY_LIMIT", "536870912"),
    setting("spill_limit_bytes", "BENTHIC_MIRROR_SPILL_LIMIT", "2147483648"),
    setting("concurrency", "BENTHIC_MIRROR_CONCURRENCY", "4"),
];

impl Config {
    /// Resolves the layers. `home_cache` is the user's cache directory, used when no store or cache is named.
    pub fn resolve(layers: &Layers, home_cache: &std::path::Path) -> Result<Self, ConfigError> {
        let file = read_file_layer(layers.file.as_deref())?;
        for (keys, place) in [(&layers.flags, "flag"), (&file, "mirror.toml")] {
            if let Some(key) = keys.keys().find(|key| !SETTINGS.iter().any(|setting| setting.key == **key)) {
                return Err(ConfigError::UnknownKey { key: key.clone(), place, hint: nearest_key(key) });
            }
        }
        let resolved: Vec<ResolvedSetting> = SETTINGS
            .iter()
            .map(|setting| {
                let (value, source) = match (
                    layers.flags.get(setting.key),
                    layers.environment.get(setting.variable),
                    file.get(setting.key),
                ) {
                    (Some(value), _, _) => (value.clone(), Source::Flag),
                    (None, Some(value), _) => (value.clone(), Source::Environment),
                    (None, None, Some(value)) => (value.clone(), Source::File),
                    (None, None, None) => (setting.default.to_owned(), Source::Default),
                };
                ResolvedSetting { key: setting.key, variable: setting.variable, value, source }
            })
            .collect();
        Reader { resolved: &resolved }
            .build(home_cache)
            .map(|config| Self { resolved: resolved.clone(), ..config })
    }
}

/// Typed access to resolved text; every error names the key and where its value came from.
struct Reader<'a> {
    resolved: &'a [ResolvedSetting],
}

impl Reader<'_> {
    fn build(&self, home_cache: &std::path::Path) -> Result<Config, ConfigError> {
        let cache_dir = match self.text("cache_dir") {
            "" => home_cache.join("benthic-mirror"),
            given => PathBuf::from(given),
        };
        let path = |key: &str, default: &str| match self.text(key) {
            "" => cache_dir.join(default),
            given => PathBuf::from(given),
        };
        let limits = Limits {
            max_rows: self.integer("max_rows", 1, 100_000)?,
            default_query_limit: self.integer("default_query_limit", 1, 100_000)?,
            aggregate_scan_limit: self.integer("aggregate_scan_limit", 1, u64::MAX)?,
            max_response_bytes: self.integer("max_response_bytes", 1_024, 1 << 30)?,
            request_deadline: Duration::from_secs(self.integer("request_deadline_seconds", 1, 86_400)?),
            memory_limit_bytes: self.integer("memory_limit_bytes", 16 << 20, u64::MAX)?,
            spill_limit_bytes: self.integer("spill_limit_bytes", 0, u64::MAX)?,
            ..Limits::default()
        };
        if limits.default_query_limit > limits.max_rows {
            return Err(
                self.bad("default_query_limit", format!("must not exceed max_rows ({})", limits.max_rows))
            );
        }
        if limits.aggregate_scan_limit < limits.max_rows {
            return Err(
                self.bad("aggregate_scan_limit", format!("must be at least max_rows ({})", limits.max_rows))
            );
        }
        Ok(Config {
            bdp_root: self.root()?,
            collections: self.nonempty_list("collections")?,
            trusted_keys: self.list("trusted_keys"),
            store: path("store", "store"),
            trusted_mirror_keys: self.list("trusted_mirror_keys"),
            key_file: path("key_file", "mirror-key.json"),
            allowed_data_hosts: self.nonempty_list("allowed_data_hosts")?,
            allow_http_loopback: self.switch("allow_http_loopback")?,
            connect_to: self.connect_to()?,
            request_timeout: Duration::from_secs(self.integer("request_timeout_seconds", 1, 3_600)?),
            max_fetch_bytes: limits.max_response_bytes.max(64 << 20),
            mode: match self.text("mode") {
                "auto" => Mode::Auto,
                "offline" => Mode::Offline,
                "live" => Mode::Live,
                _ => return Err(self.bad("mode", "write `auto`, `offline` or `live`".to_owned())),
            },
            scan_policy: match self.text("scan_policy") {
                "parity" => ScanPolicy::Parity,
                "complete" => ScanPolicy::Complete,
                _ => return Err(self.bad("scan_policy", "write `parity` or `complete`".to_owned())),
            },
            exact_numbers: match self.text("exact_numbers") {
                "string" => ExactNumbers::String,
                "number" => ExactNumbers::Number,
                _ => return Err(self.bad("exact_numbers", "write `string` or `number`".to_owned())),
            },
            max_age: Duration::from_secs(self.integer("max_age_seconds", 1, u64::MAX)?),
            concurrency: self.integer("concurrency", 1, 64)? as usize,
            limits,
            resolved: Vec::new(),
        })
    }

    fn entry(&self, key: &str) -> Option<&ResolvedSetting> {
        self.resolved.iter().find(|setting| setting.key == key)
    }

    fn text(&self, key: &str) -> &str {
        self.entry(key).map_or("", |setting| setting.value.trim())
    }

    fn bad(&self, key: &str, expected: String) -> ConfigError {
        match self.entry(key) {
            Some(setting) => ConfigError::BadValue {
                key: setting.key,
                source_name: setting.source.as_str(),
                value: setting.value.clone(),
                expected,
            },
            None => ConfigError::UnknownKey { key: key.to_owned(), place: "program", hint: String::new() },
        }
    }

    fn integer(&self, key: &str, minimum: u64, maximum: u64) -> Result<u64, ConfigError> {
        self.text(key).parse::<u64>().ok().filter(|value| (minimum..=maximum).contains(value)).ok_or_else(
            || {
                let range = match maximum {
                    u64::MAX => format!("write a whole number of at least {minimum}"),
                    _ => format!("write a whole number from {minimum} to {maximum}"),
                };
                self.bad(key, range)
            },
        )
    }

    fn switch(&self, key: &str) -> Result<bool, ConfigError> {
        match self.text(key).to_ascii_lowercase().as_str() {
            "1" | "true" | "yes" | "on" => Ok(true),
            "0" | "false" | "no" | "off" | "" => Ok(false),
            _ => Err(self.bad(key, "write 1 or 0".to_owned())),
        }
    }

    fn list(&self, key: &str) -> Vec<String> {
        self.text(key).split(',').map(str::trim).filter(|part| !part.is_empty()).map(str::to_owned).collect()
    }

    fn nonempty_list(&self, key: &str) -> Result<Vec<String>, ConfigError> {
        let list = self.list(key);
        if list.is_empty() {
            Err(self.bad(key, "name at least one, comma-separated".to_owned()))
        } else {
            Ok(list)
        }
    }

    fn root(&self) -> Result<Url, ConfigError> {
        let wrong = |why: &str| self.bad("bdp_root", format!("write an absolute HTTPS URL ({why})"));
        let url = Url::parse(self.text("bdp_root")).map_err(|error| wrong(&error.to_string()))?;
        let loopback = matches!(url.host_str(), Some("localhost" | "127.0.0.1" | "[::1]"));
        match url.scheme() {
            "https" => {}
            "http" if loopback && self.switch("allow_http_loopback")? => {}
            "http" if loopback => return Err(wrong("plain HTTP to loopback needs --allow-http-loopback")),
            _ => return Err(wrong("only https is accepted")),
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(wrong("no credentials"));
        }
        if url.query().is_some() || url.fragment().is_some() {
            return Err(wrong("no query or fragment"));
        }
        Ok(url)
    }

    fn connect_to(&self) -> Result<Vec<(String, SocketAddr)>, ConfigError> {
        let wrong =
            || self.bad("connect_to", "write `https://host=127.0.0.1:port`, loopback only".to_owned());
        self.list("connect_to")
            .iter()
            .map(|pair| {
                let (origin, address) = pair.split_once('=').ok_or_else(wrong)?;
                let address: SocketAddr = address.parse().map_err(|_| wrong())?;
                if !address.ip().is_loopback() {
                    return Err(wrong());
                }
                Ok((origin.to_owned(), address))
            })
            .collect()
    }
}

/// The file's top-level keys as text; lists of strings join with commas.
fn read_file_layer(text: Option<&str>) -> Result<BTreeMap<String, String>, ConfigError> {
    let Some(text) = text else { return Ok(BTreeMap::new()) };
    let table: toml::Table =
        text.parse().map_err(|error: toml::de::Error| ConfigError::BadFile { detail: error.to_string() })?;
    table
        .into_iter()
        .map(|(key, value)| {
            let text = match value {
                toml::Value::String(text) => text,
                toml::Value::Integer(number) => number.to_string(),
                toml::Value::Boolean(flag) => u8::from(flag).to_string(),
                toml::Value::Array(items) if items.iter().all(toml::Value::is_str) => {
                    items.iter().filter_map(toml::Value::as_str).collect::<Vec<_>>().join(",")
                }
                other => {
                    return Err(ConfigError::BadFile {
                        detail: format!(
                            "`{key}` holds a {}, not text, a number or a list of text",
                            other.type_str()
                        ),
                    });
                }
            };
            Ok((key, text))
        })
        .collect()
}

fn nearest_key(key: &str) -> String {
    SETTINGS
        .iter()
        .map(|setting| (strsim::jaro_winkler(key, setting.key), setting.key))
        .filter(|(score, _)| *score > 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map_or_else(
            || "; `config show` lists them".to_owned(),
            |(_, known)| format!("; did you mean `{known}`?"),
        )
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn layers(flags: &[(&str, &str)], environment: &[(&str, &str)], file: Option<&str>) -> Layers {
        let map =
            |pairs: &[(&str, &str)]| pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect();
        Layers { flags: map(flags), environment: map(environment), file: file.map(str::to_owned) }
    }

    #[test]
    fn the_strongest_layer_wins_and_is_named() {
        let all = layers(
            &[("max_rows", "500")],
            &[("BENTHIC_MAX_ROWS", "600")],
            Some("max_rows = 700\nstore = \"s\""),
        );
        let config = Config::resolve(&all, Path::new("/cache")).expect("valid");
        assert_eq!(config.limits.max_rows, 500);
        assert_eq!(config.store, PathBuf::from("s"));
        let source = |key: &str| config.resolved.iter().find(|s| s.key == key).map(|s| s.source);
        assert_eq!(source("max_rows"), Some(Source::Flag));
        assert_eq!(source("store"), Some(Source::File));
        assert_eq!(source("collections"), Some(Source::Default));
    }

    #[test]
    fn mistakes_name_the_key() {
        let cases = [
            (layers(&[], &[], Some("max_row = 5")), "max_rows"),
            (layers(&[("nonsense", "1")], &[], None), "nonsense"),
            (layers(&[], &[("BENTHIC_MAX_ROWS", "many")], None), "max_rows"),
            (layers(&[], &[], Some("max_rows = 5")), "default_query_limit"),
            (layers(&[("bdp_root", "http://example.org/bdp")], &[], None), "bdp_root"),
            (layers(&[("bdp_root", "http://127.0.0.1:1/bdp")], &[], None), "--allow-http-loopback"),
            (layers(&[("bdp_root", "https://u:p@example.org/bdp")], &[], None), "credentials"),
            (layers(&[("connect_to", "https://a=8.8.8.8:80")], &[], None), "connect_to"),
            (layers(&[("scan_policy", "all")], &[], None), "scan_policy"),
            (layers(&[("mode", "online")], &[], None), "mode"),
            (layers(&[], &[], Some("max_rows = [1]")), "max_rows"),
            (layers(&[], &[], Some("= 3")), "TOML"),
        ];
        for (layers, needle) in cases {
            let error = Config::resolve(&layers, Path::new("/cache")).expect_err(needle).to_string();
            assert!(error.contains(needle), "{error}");
        }
    }
}
