//! How a column is stored, in words that outlive any one version of Arrow.
//!
//! The declared type ([`super::ColumnType`]) says what a column means; the stored type says how its values are kept,
//! which for some columns only the values decide.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use arrow::datatypes::{DataType, Field, TimeUnit};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The type of a stored column. Its text form (`decimal128(18,2)`, `list<int32>`) is part of the snapshot document
/// and of `content_id`, so it never changes.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum StoredType {
    /// UTF-8 text.
    Utf8,
    /// 32-bit integer.
    Int32,
    /// 64-bit integer.
    Int64,
    /// 32-bit float.
    Float32,
    /// 64-bit float.
    Float64,
    /// True or false.
    Boolean,
    /// Days since 1970-01-01.
    Date32,
    /// Microseconds since 1970-01-01T00:00:00, no zone.
    TimestampUs,
    /// Microseconds since 1970-01-01T00:00:00Z.
    TimestampUsUtc,
    /// Bytes; geometry is stored as WKB bytes.
    Binary,
    /// Exact decimal of up to 18 or 38 digits (`precision` is one of the two).
    Decimal128 {
        /// 18 (an INT64 in Parquet) or 38.
        precision: u8,
        /// Digits after the point.
        scale: i8,
    },
    /// Exact decimal of up to 76 digits.
    Decimal256 {
        /// Digits after the point.
        scale: i8,
    },
    /// A list of the element type.
    List(Box<StoredType>),
}

/// Most digits of each decimal class, narrowest first.
pub const DECIMAL_CLASSES: [u8; 3] = [18, 38, 76];

impl StoredType {
    /// The narrowest decimal that holds `integer_digits` before and `scale` digits after the point; `None` if none does.
    pub fn narrowest_decimal(integer_digits: u32, scale: u32) -> Option<Self> {
        let digits = integer_digits.checked_add(scale)?;
        let class = DECIMAL_CLASSES.into_iter().find(|class| u32::from(*class) >= digits)?;
        let scale = i8::try_from(scale).ok()?;
        Some(match class {
            76 => Self::Decimal256 { scale },
            precision => Self::Decimal128 { precision, scale },
        })
    }

    /// The Arrow type of the column in memory and in Parquet.
    pub fn data_type(&self) -> DataType {
        match self {
            Self::Utf8 => DataType::Utf8,
            Self::Int32 => DataType::Int32,
            Self::Int64 => DataType::Int64,
            Self::Float32 => DataType::Float32,
            Self::Float64 => DataType::Float64,
            Self::Boolean => DataType::Boolean,
            Self::Date32 => DataType::Date32,
            Self::TimestampUs => DataType::Timestamp(TimeUnit::Microsecond, None),
            Self::TimestampUsUtc => DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
            Self::Binary => DataType::Binary,
            Self::Decimal128 { precision, scale } => DataType::Decimal128(*precision, *scale),
            Self::Decimal256 { scale } => DataType::Decimal256(76, *scale),
            Self::List(element) => DataType::List(Arc::new(Field::new_list_field(element.data_type(), true))),
        }
    }
}

/// One column as stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredColumn {
    /// Column name as signed.
    pub name: String,
    /// Type at rest.
    #[serde(rename = "type")]
    pub stored_type: StoredType,
    /// A numeric column kept as text, because it holds NaN, an infinity or more digits than any decimal: equality of
    /// the text is all that can be answered exactly.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub inexact: bool,
    /// Set for geometry columns, whose `type` is `binary` (WKB).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub geometry: Option<StoredGeometry>,
}

/// What a geometry column needs besides its bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredGeometry {
    /// Spatial reference of every value; `None` when neither the manifest nor any value names one.
    pub srid: Option<i32>,
    /// Name of the covering struct column (`xmin`, `ymin`, `xmax`, `ymax`, all Float64) in the Parquet files.
    pub covering: String,
}

impl StoredColumn {
    /// The column as an Arrow field. Every stored column is nullable: a manifest's promise isn't a fact about the data.
    pub fn field(&self) -> Field {
        Field::new(&self.name, self.stored_type.data_type(), true)
    }
}

impl fmt::Display for StoredType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Utf8 => formatter.write_str("utf8"),
            Self::Int32 => formatter.write_str("int32"),
            Self::Int64 => formatter.write_str("int64"),
            Self::Float32 => formatter.write_str("float32"),
            Self::Float64 => formatter.write_str("float64"),
            Self::Boolean => formatter.write_str("boolean"),
            Self::Date32 => formatter.write_str("date32"),
            Self::TimestampUs => formatter.write_str("timestamp_us"),
            Self::TimestampUsUtc => formatter.write_str("timestamp_us_utc"),
            Self::Binary => formatter.write_str("binary"),
            Self::Decimal128 { precision, scale } => write!(formatter, "decimal128({precision},{scale})"),
            Self::Decimal256 { scale } => write!(formatter, "decimal256(76,{scale})"),
            Self::List(element) => write!(formatter, "list<{element}>"),
        }
    }
}

/// A type name this version doesn't know.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a stored column type this version knows")]
pub struct UnknownStoredType(pub String);

impl FromStr for StoredType {
    type Err = UnknownStoredType;

    fn from_str(text: &str) -> Result<Self, UnknownStoredType> {
        parse(text, 0).ok_or_else(|| UnknownStoredType(text.chars().take(80).collect()))
    }
}

/// Parses a type name; lists may nest a little, never without bound.
fn parse(text: &str, depth: u8) -> Option<StoredType> {
    if depth > 8 {
        return None;
    }
    if let Some(element) = text.strip_prefix("list<").and_then(|rest| rest.strip_suffix('>')) {
        return Some(StoredType::List(Box::new(parse(element, depth + 1)?)));
    }
    if let Some(arguments) = text.strip_prefix("decimal128(").and_then(|rest| rest.strip_suffix(')')) {
        let (precision, scale) = decimal_arguments(arguments)?;
        return matches!(precision, 18 | 38).then_some(StoredType::Decimal128 { precision, scale });
    }
    if let Some(arguments) = text.strip_prefix("decimal256(").and_then(|rest| rest.strip_suffix(')')) {
        let (precision, scale) = decimal_arguments(arguments)?;
        return (precision == 76).then_some(StoredType::Decimal256 { scale });
    }
    Some(match text {
        "utf8" => StoredType::Utf8,
        "int32" => StoredType::Int32,
        "int64" => StoredType::Int64,
        "float32" => StoredType::Float32,
        "float64" => StoredType::Float64,
        "boolean" => StoredType::Boolean,
        "date32" => StoredType::Date32,
        "timestamp_us" => StoredType::TimestampUs,
        "timestamp_us_utc" => StoredType::TimestampUsUtc,
        "binary" => StoredType::Binary,
        _ => return None,
    })
}

/// `precision,scale` with the scale inside the precision.
fn decimal_arguments(text: &str) -> Option<(u8, i8)> {
    let (precision, scale) = text.split_once(',')?;
    let precision: u8 = precision.parse().ok()?;
    let scale: i8 = scale.parse().ok()?;
    (scale >= 0 && u8::try_from(scale).ok()? <= precision).then_some((precision, scale))
}

impl Serialize for StoredType {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for StoredType {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_form_round_trips() {
        let types = [
            "utf8",
            "int32",
            "int64",
            "float32",
            "float64",
            "boolean",
            "date32",
            "timestamp_us",
            "timestamp_us_utc",
            "binary",
            "decimal128(18,2)",
            "decimal128(38,0)",
            "decimal256(76,20)",
            "list<utf8>",
            "list<decimal128(18,4)>",
        ];
        for text in types {
            assert_eq!(text.parse::<StoredType>().unwrap().to_string(), text);
        }
        for bad in ["", "decimal128(19,2)", "decimal128(18,19)", "decimal128(18,-1)", "list<utf8", "varchar"]
        {
            assert!(bad.parse::<StoredType>().is_err(), "{bad}");
        }
    }

    #[test]
    fn narrowest_decimal_by_digits() {
        let cases = [
            ((16, 2), Some("decimal128(18,2)")),
            ((17, 2), Some("decimal128(38,2)")),
            ((0, 38), Some("decimal128(38,38)")),
            ((39, 0), Some("decimal256(76,0)")),
            ((70, 7), None),
            ((0, u32::MAX), None),
            ((u32::MAX, u32::MAX), None),
        ];
        for ((integer, scale), expected) in cases {
            let found = StoredType::narrowest_decimal(integer, scale).map(|found| found.to_string());
            assert_eq!(found.as_deref(), expected, "{integer} {scale}");
        }
    }
}
