//! One pulled demo store for the whole binary.

use std::future::Future;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use benthic_mirror::app::{AppError, Mirror, MirrorOptions};
use benthic_mirror::bdp::TrustedKeys;
use benthic_mirror::config::{Config, ExactNumbers, FixedClock, Layers, ScanPolicy, SystemClock};
use benthic_mirror::demo::origin::{DemoOrigin, OriginOptions};
use benthic_mirror::demo::{self};
use benthic_mirror::engine::{Refusal, RunOptions};
use benthic_mirror::net::{ConnectOverride, Net, NetOptions};
use benthic_mirror::store::{MirrorKey, Store, Trust};
use benthic_mirror::sync::{NoProgress, PullOptions, pull};
use serde_json::{Map, Value};
use tokio::runtime::Runtime;

/// The store and a runtime that outlives every test.
pub struct Fixture {
    pub store: PathBuf,
    pub runtime: Runtime,
    pub mirror: Mirror,
    _directory: tempfile::TempDir,
}

pub fn fixture() -> &'static Fixture {
    static FIXTURE: OnceLock<Fixture> = OnceLock::new();
    FIXTURE.get_or_init(|| {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .expect("runtime");
        let directory = tempfile::tempdir().expect("temporary directory");
        // A path that would change if anything on the way encoded or decoded it.
        let store = directory.path().join("störe %41 #?*");
        runtime.block_on(async {
            let origin = DemoOrigin::start(OriginOptions::default()).await.expect("origin");
            let net = Net::new(NetOptions {
                allowed_hosts: vec![demo::ORIGIN_HOST.to_owned()],
                connect_overrides: vec![ConnectOverride {
                    origin: demo::ORIGIN.to_owned(),
                    to: origin.address(),
                }],
                ..NetOptions::default()
            })
            .expect("net");
            let options = PullOptions::new(
                demo::DOCUMENT_ROOT.parse().expect("root"),
                demo::COLLECTION,
                keys(),
                MirrorKey::generate(demo::DEMO_KEY_SEED),
            );
            let handle = Store::create_or_open(&store).expect("store");
            let mut writer = handle.writer().expect("writer");
            let report = pull(&net, &mut writer, &options, &SystemClock, &NoProgress).await.expect("pull");
            assert_eq!(report.failures(), 0, "{:?}", report.relations);
            origin.stop().await;
        });
        let mirror = open(&store, ScanPolicy::Parity, &[]);
        Fixture { store, runtime, mirror, _directory: directory }
    })
}

fn keys() -> TrustedKeys {
    TrustedKeys::from_base64([demo::PUBLIC_KEY]).expect("demo key")
}

/// A mirror over the demo store with other settings.
pub fn open(store: &std::path::Path, policy: ScanPolicy, settings: &[(&str, &str)]) -> Mirror {
    open_at(store, policy, settings, None)
}

/// The same with a clock that stands still.
pub fn open_at(
    store: &std::path::Path,
    policy: ScanPolicy,
    settings: &[(&str, &str)],
    clock: Option<FixedClock>,
) -> Mirror {
    let flags = settings.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    let config = Config::resolve(&Layers { flags, ..Layers::default() }, std::path::Path::new("/nowhere"))
        .expect("config");
    let options = MirrorOptions {
        trust: Trust { publisher: keys(), mirror: keys() },
        run: RunOptions { policy, exact_numbers: ExactNumbers::String },
        max_age_seconds: config.max_age.as_secs(),
        concurrency: 64,
    };
    let clock: Arc<dyn benthic_mirror::config::Clock> = match clock {
        Some(clock) => Arc::new(clock),
        None => Arc::new(SystemClock),
    };
    Mirror::open(store, &config, options, clock).expect("mirror")
}

pub fn block<T>(future: impl Future<Output = T>) -> T {
    fixture().runtime.block_on(future)
}

pub fn object(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(object) => object,
        other => panic!("not an object: {other}"),
    }
}

pub fn try_query(arguments: Value) -> Result<Value, Refusal> {
    refusal_of(block(fixture().mirror.query(object(arguments))))
}

pub fn try_join(arguments: Value) -> Result<Value, Refusal> {
    refusal_of(block(fixture().mirror.join(object(arguments))))
}

pub fn try_rpc(arguments: Value) -> Result<Value, Refusal> {
    refusal_of(block(fixture().mirror.rpc(object(arguments))))
}

pub fn try_discover(arguments: Value) -> Result<Value, Refusal> {
    refusal_of(fixture().mirror.discover(object(arguments)))
}

pub fn refusal_of(outcome: Result<Value, AppError>) -> Result<Value, Refusal> {
    match outcome {
        Ok(value) => Ok(value),
        Err(AppError::Refused(refusal)) => Err(*refusal),
        Err(other) => panic!("failed: {other}"),
    }
}

pub fn query(arguments: Value) -> Value {
    try_query(arguments.clone()).unwrap_or_else(|refusal| panic!("{arguments}: {}", refusal.to_text()))
}

pub fn join(arguments: Value) -> Value {
    try_join(arguments.clone()).unwrap_or_else(|refusal| panic!("{arguments}: {}", refusal.to_text()))
}

pub fn rpc(arguments: Value) -> Value {
    try_rpc(arguments.clone()).unwrap_or_else(|refusal| panic!("{arguments}: {}", refusal.to_text()))
}

pub fn rows(answer: &Value) -> &Vec<Value> {
    answer["rows"].as_array().expect("rows")
}

/// A number or a number written as a string, without a fraction's trailing zeros.
pub fn digits(value: &Value) -> Option<String> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        _ => return None,
    };
    Some(match text.contains('.') && !text.contains('e') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    })
}
