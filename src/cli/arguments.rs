//! The command line.

use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

/// Offline-first, verifying mirror of Benthic's signed federal open data.
#[derive(Debug, Parser)]
#[command(name = "benthic-mirror", version, about, max_term_width = 100)]
pub(super) struct Arguments {
    /// Configuration file (default: mirror.toml in the user's configuration directory).
    #[arg(long, global = true, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
    /// The store's directory.
    #[arg(long, global = true, value_name = "DIR")]
    pub(super) store: Option<PathBuf>,
    /// Any setting, stronger than environment and file; `config show` lists them.
    #[arg(long = "set", global = true, value_name = "KEY=VALUE")]
    pub(super) settings: Vec<String>,
    /// Allow plain HTTP to loopback origins.
    #[arg(long, global = true)]
    pub(super) allow_http_loopback: bool,
    /// Answer from the API the manifests name instead of from the snapshot (`--set mode=live`).
    #[arg(long, global = true, conflicts_with = "offline")]
    pub(super) live: bool,
    /// Answer from the snapshot only; nothing that could reach the network is made (`--set mode=offline`).
    #[arg(long, global = true)]
    pub(super) offline: bool,
    /// Log more (twice: everything).
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(super) verbose: u8,
    #[command(subcommand)]
    pub(super) command: Command,
}

#[derive(Debug, Subcommand)]
pub(super) enum Command {
    /// Pull, verify and question an invented signed catalogue, end to end, on this machine alone.
    Demo(DemoArguments),
    /// Answer MCP clients over stdin and stdout.
    Serve(ServeArguments),
    /// Pull the signed catalogue and its relations into the store.
    Sync(SyncArguments),
    /// Check signed documents: a file, a directory or an HTTPS address.
    Verify(VerifyArguments),
    /// Find relations by what they are about.
    Discover(DiscoverCommand),
    /// Read or aggregate one relation.
    Query(QueryCommand),
    /// Join two relations along a signed path.
    Join(JoinCommand),
    /// Look up districts and nonprofits by place.
    Rpc(RpcCommand),
    /// Draw the districts of a congress, with a place and what is near it.
    Map(MapCommand),
    /// What the store holds.
    Status,
    /// Show the configuration.
    Config(ConfigArguments),
    /// Make the key that signs this mirror's snapshots.
    Keygen,
}

#[derive(Debug, Args)]
pub(super) struct DemoArguments {
    /// Keep the store here instead of in a temporary directory.
    #[arg(long = "keep", value_name = "DIR")]
    pub(super) keep: Option<PathBuf>,
    /// Only show the answers from a demo store made before; opens no socket.
    #[arg(long, value_name = "DIR", conflicts_with = "keep")]
    pub(super) replay: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct ServeArguments {
    /// Serve the demo catalogue from a temporary store.
    #[arg(long)]
    pub(super) demo: bool,
}

#[derive(Debug, Args)]
pub(super) struct SyncArguments {
    /// Only relations matching this pattern, e.g. `usp_cl.*`; may be repeated.
    #[arg(long = "relation", value_name = "PATTERN")]
    pub(super) relations: Vec<String>,
    /// Accept exactly this collection hash, even if it is a rollback.
    #[arg(long, value_name = "HASH")]
    pub(super) collection_hash: Option<String>,
    /// Rows per page; never more than the server's cap.
    #[arg(long, value_name = "ROWS")]
    pub(super) page_size: Option<u64>,
    /// Skip relations with more rows than this.
    #[arg(long, value_name = "ROWS")]
    pub(super) max_rows_per_relation: Option<u64>,
    /// Read every paged relation twice and require equal digests.
    #[arg(long)]
    pub(super) double_read: bool,
}

#[derive(Debug, Args)]
pub(super) struct VerifyArguments {
    /// A file, a directory of published documents, or an HTTPS address.
    pub(super) target: String,
    /// Publisher keys to trust instead of the configured ones, base64.
    #[arg(long = "key", value_name = "KEY")]
    pub(super) keys: Vec<String>,
}

#[derive(Debug, Args)]
pub(super) struct ConfigArguments {
    #[command(subcommand)]
    pub(super) command: ConfigCommand,
}

#[derive(Debug, Subcommand)]
pub(super) enum ConfigCommand {
    /// Every setting with its value and where it comes from.
    Show,
}

/// How answers are printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum Format {
    /// A table for people.
    Table,
    /// The tool result as JSON.
    Json,
    /// The rows as CSV (RFC 4180); what must be said with them goes to stderr.
    Csv,
    /// The rows as Parquet with their types; needs `--out`.
    Parquet,
}

/// Where an answer goes, and how it is written.
#[derive(Debug, Args)]
pub(super) struct OutputArguments {
    /// Output.
    #[arg(long, value_enum, default_value = "table")]
    pub(super) format: Format,
    /// Write to this file, whole or not at all, instead of stdout.
    #[arg(long, value_name = "FILE")]
    pub(super) out: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(super) struct DiscoverCommand {
    /// What you are looking for; nothing lists the relations by name.
    pub(super) query: Vec<String>,
    /// Only this dataset.
    #[arg(long)]
    pub(super) dataset: Option<String>,
    /// Only this relation, `dataset.relation`.
    #[arg(long)]
    pub(super) relation: Option<String>,
    /// Relations to show, 1 to 8.
    #[arg(long)]
    pub(super) limit: Option<i64>,
    /// Every column of one relation.
    #[arg(long)]
    pub(super) full: bool,
    #[command(flatten)]
    pub(super) output: OutputArguments,
}

#[derive(Debug, Args)]
pub(super) struct QueryCommand {
    /// The relation, `dataset.relation`.
    pub(super) source: String,
    /// Column to return; may be repeated or comma-separated.
    #[arg(long, value_delimiter = ',')]
    pub(super) select: Vec<String>,
    /// Filter, e.g. `state=eq.MA`; may be repeated.
    #[arg(long = "where", value_name = "FILTER")]
    pub(super) filters: Vec<String>,
    /// Column to group by; may be repeated or comma-separated.
    #[arg(long, value_delimiter = ',')]
    pub(super) group_by: Vec<String>,
    /// Aggregate, e.g. `total=sum:amount` or `n=count:*`; may be repeated.
    #[arg(long = "metric", value_name = "METRIC")]
    pub(super) metrics: Vec<String>,
    /// Condition on the output, e.g. `n>=10`; may be repeated.
    #[arg(long)]
    pub(super) having: Vec<String>,
    /// Order, e.g. `total:desc`; may be repeated.
    #[arg(long)]
    pub(super) order: Vec<String>,
    /// Rows to return.
    #[arg(long)]
    pub(super) limit: Option<i64>,
    /// Rows to skip.
    #[arg(long)]
    pub(super) offset: Option<i64>,
    /// Check and plan only.
    #[arg(long)]
    pub(super) explain: bool,
    #[command(flatten)]
    pub(super) output: OutputArguments,
}

#[derive(Debug, Args)]
pub(super) struct JoinCommand {
    /// The left relation, `dataset.relation`.
    pub(super) left_source: String,
    /// The right relation, `dataset.relation`.
    pub(super) right_source: String,
    /// Left column of the signed path.
    #[arg(long)]
    pub(super) left_column: Option<String>,
    /// Right column of the signed path.
    #[arg(long)]
    pub(super) right_column: Option<String>,
    /// Filter on the left relation; may be repeated.
    #[arg(long, value_name = "FILTER")]
    pub(super) left_where: Vec<String>,
    /// Filter on the right relation; may be repeated.
    #[arg(long, value_name = "FILTER")]
    pub(super) right_where: Vec<String>,
    /// Equality a partial path needs, `left_col=right_col`; may be repeated.
    #[arg(long = "context", value_name = "CONDITION")]
    pub(super) context_conditions: Vec<String>,
    /// `inner` or `left`.
    #[arg(long)]
    pub(super) mode: Option<String>,
    /// Rows to return.
    #[arg(long)]
    pub(super) limit: Option<i64>,
    /// Left column to return; may be repeated or comma-separated.
    #[arg(long, value_delimiter = ',')]
    pub(super) left_select: Vec<String>,
    /// Right column to return; may be repeated or comma-separated.
    #[arg(long, value_delimiter = ',')]
    pub(super) right_select: Vec<String>,
    /// Check and plan only.
    #[arg(long)]
    pub(super) explain: bool,
    #[command(flatten)]
    pub(super) output: OutputArguments,
}

#[derive(Debug, Args)]
pub(super) struct RpcCommand {
    /// find_district, districts_in_bbox or nonprofits_nearby.
    pub(super) operation: String,
    /// Latitude in degrees.
    #[arg(long, allow_hyphen_values = true)]
    pub(super) lat: Option<String>,
    /// Longitude in degrees.
    #[arg(long, allow_hyphen_values = true)]
    pub(super) lon: Option<String>,
    /// Congress number.
    #[arg(long, allow_hyphen_values = true)]
    pub(super) congress: Option<String>,
    /// Southern latitude.
    #[arg(long, allow_hyphen_values = true)]
    pub(super) min_lat: Option<String>,
    /// Northern latitude.
    #[arg(long, allow_hyphen_values = true)]
    pub(super) max_lat: Option<String>,
    /// Western longitude.
    #[arg(long, allow_hyphen_values = true)]
    pub(super) min_lon: Option<String>,
    /// Eastern longitude.
    #[arg(long, allow_hyphen_values = true)]
    pub(super) max_lon: Option<String>,
    /// Radius in planar metres.
    #[arg(long, allow_hyphen_values = true)]
    pub(super) radius_meters: Option<String>,
    /// Answer every row of this CSV file (`-`: stdin) instead: find_district adds the district, nonprofits_nearby the
    /// number of nonprofits.
    #[arg(long, value_name = "FILE")]
    pub(super) csv: Option<PathBuf>,
    /// The file's latitude column (default: lat or latitude).
    #[arg(long, value_name = "NAME", requires = "csv")]
    pub(super) lat_column: Option<String>,
    /// The file's longitude column (default: lon, lng, long or longitude).
    #[arg(long, value_name = "NAME", requires = "csv")]
    pub(super) lon_column: Option<String>,
    /// What the names of added columns begin with.
    #[arg(long, default_value = "", requires = "csv")]
    pub(super) prefix: String,
    /// What happens at a row that is no place: its reason goes into the column `error`, or the run stops.
    #[arg(long, value_enum, default_value = "column", requires = "csv")]
    pub(super) on_error: OnError,
    #[command(flatten)]
    pub(super) output: OutputArguments,
}

/// What happens at a row that is no place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum OnError {
    /// The row is written without an answer, with its line and the reason in the column `error`.
    Column,
    /// Nothing is written.
    Stop,
}

#[derive(Debug, Args)]
pub(super) struct MapCommand {
    /// The congress whose districts are drawn.
    #[arg(long, default_value_t = 118)]
    pub(super) congress: i64,
    /// Draw this box: min_lon,min_lat,max_lon,max_lat; districts whose boxes overlap it are marked.
    #[arg(long, allow_hyphen_values = true, value_name = "BOX")]
    pub(super) bbox: Option<String>,
    /// Mark this place and the district it lies in: lat,lon.
    #[arg(long, allow_hyphen_values = true, value_name = "LAT,LON")]
    pub(super) point: Option<String>,
    /// Also the nonprofits within this many planar metres of the place.
    #[arg(long, requires = "point", value_name = "METRES")]
    pub(super) radius: Option<i64>,
    /// Mark the places of this CSV file (columns lat and lon).
    #[arg(long, value_name = "FILE")]
    pub(super) points: Option<PathBuf>,
    /// The picture, .svg or .png.
    #[arg(long, value_name = "FILE")]
    pub(super) out: PathBuf,
    /// Width in pixels.
    #[arg(long, default_value_t = 1600, value_parser = clap::value_parser!(u32).range(320..=8000))]
    pub(super) width: u32,
}
