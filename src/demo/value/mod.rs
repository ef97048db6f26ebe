//! The demo's values: what PostgreSQL would hold, with its input, order and JSON text.
//!
//! Written apart from the mirror's own decoding so that the demo can serve as a second opinion in tests.

mod compare;
mod decimal;
mod input;
mod json;
mod jsonb;
mod moment;
mod number;

pub use decimal::Decimal;
pub use json::{geometry_json, json_string, row_json, value_json};

pub(crate) use compare::compare_values;
pub(crate) use input::{parse_input, type_name};

use geo::Geometry;
use uuid::Uuid;

use crate::catalog::ColumnType;

/// `date` `-infinity`, as days: PostgreSQL uses the ends of the integer range for both infinities.
pub const DATE_MINUS_INFINITY: i32 = i32::MIN;
/// `date` `infinity`, as days.
pub const DATE_INFINITY: i32 = i32::MAX;
/// `timestamp` or `timestamptz` `-infinity`, as microseconds.
pub const TIMESTAMP_MINUS_INFINITY: i64 = i64::MIN;
/// `timestamp` or `timestamptz` `infinity`, as microseconds.
pub const TIMESTAMP_INFINITY: i64 = i64::MAX;

/// One value of a demo row.
#[derive(Debug, Clone, PartialEq)]
pub enum DemoValue {
    /// SQL null, of any type.
    Null,
    /// `boolean`.
    Bool(bool),
    /// `smallint`, `integer` or `bigint`.
    Int(i64),
    /// `numeric`, scale kept.
    Numeric(Decimal),
    /// `double precision`.
    Double(f64),
    /// `real`.
    Real(f32),
    /// `text`, `varchar(n)` or `character(n)`; the last without its padding.
    Text(String),
    /// `date`: days since 1970-01-01.
    Date(i32),
    /// `timestamp without time zone`: microseconds since 1970-01-01 00:00.
    Timestamp(i64),
    /// `timestamp with time zone`: microseconds since 1970-01-01 00:00 UTC.
    TimestampTz(i64),
    /// `uuid`.
    Uuid(Uuid),
    /// `json` (verbatim) or `jsonb` (as PostgreSQL prints it).
    Json(String),
    /// `bytea`.
    Bytes(Vec<u8>),
    /// An array; its elements are nulls, scalars or, for more dimensions, arrays.
    Array(Vec<DemoValue>),
    /// PostGIS `geometry`.
    Geometry(DemoGeometry),
}

/// A geometry with its spatial reference.
#[derive(Debug, Clone, PartialEq)]
pub struct DemoGeometry {
    /// Spatial reference identifier, e.g. 4326 (degrees) or 3857 (metres); 0 when unknown.
    pub srid: i32,
    /// The shape, x before y: longitude before latitude for 4326.
    pub shape: Geometry<f64>,
}

impl DemoValue {
    /// A value from its text, as PostgreSQL's input function for the type reads it; `None` if it refuses. `json` keeps
    /// its text, `character(n)` loses its padding, types without a room of their own stay text.
    pub fn read(text: &str, column_type: &ColumnType) -> Option<Self> {
        match column_type {
            ColumnType::Json => Some(Self::Json(text.to_owned())),
            ColumnType::Character { .. } => Some(Self::Text(text.trim_end_matches(' ').to_owned())),
            _ => parse_input(text, column_type).ok(),
        }
    }

    /// Whether this is SQL null.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// The characters of a text value.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    /// An integer value.
    pub fn as_int(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            _ => None,
        }
    }

    /// A boolean value.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// A `double precision` value.
    pub fn as_double(&self) -> Option<f64> {
        match self {
            Self::Double(value) => Some(*value),
            _ => None,
        }
    }

    /// A `numeric` value.
    pub fn as_numeric(&self) -> Option<&Decimal> {
        match self {
            Self::Numeric(value) => Some(value),
            _ => None,
        }
    }

    /// A geometry value.
    pub fn as_geometry(&self) -> Option<&DemoGeometry> {
        match self {
            Self::Geometry(value) => Some(value),
            _ => None,
        }
    }
}

impl From<&str> for DemoValue {
    fn from(value: &str) -> Self {
        Self::Text(value.to_owned())
    }
}

impl From<String> for DemoValue {
    fn from(value: String) -> Self {
        Self::Text(value)
    }
}

impl From<i64> for DemoValue {
    fn from(value: i64) -> Self {
        Self::Int(value)
    }
}

impl From<bool> for DemoValue {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<Decimal> for DemoValue {
    fn from(value: Decimal) -> Self {
        Self::Numeric(value)
    }
}

impl<T: Into<DemoValue>> From<Option<T>> for DemoValue {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}
