//! What a column's declared type means for storage, comparison and display.
//!
//! A manifest declares a transport-neutral `type` and usually the PostgreSQL `native_type` behind it. The native
//! type decides where it is known (it carries precision, length and time-zone awareness); the neutral type decides
//! otherwise. Anything unrecognised is kept as the text the API wrote.

/// The logical type of a column, from the signed manifest alone.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum ColumnType {
    /// `text`, `varchar(n)`, `citext`…: compared by code point.
    Text,
    /// `character(n)`: blank-padded; trailing blanks are insignificant to `= <> < > in`, grouping and joins.
    Character {
        /// Declared length; `None` when the manifest names only the neutral type.
        length: Option<u32>,
    },
    /// `smallint` or `integer`: 32 bits are enough.
    Integer,
    /// `bigint`, or an integer whose native type is unknown.
    BigInt,
    /// `numeric`: exact. Without precision the scale is chosen from the captured values.
    Numeric {
        /// Declared total digits and digits after the point.
        declared: Option<(u16, i16)>,
    },
    /// `real`: 32-bit float.
    Real,
    /// `double precision`: 64-bit float.
    Double,
    /// `boolean`.
    Boolean,
    /// `date`.
    Date,
    /// `timestamp without time zone`, microseconds.
    Timestamp,
    /// `timestamp with time zone`, microseconds UTC.
    TimestampTz,
    /// `uuid`.
    Uuid,
    /// `json`: kept verbatim; PostgreSQL can neither compare nor order it.
    Json,
    /// `jsonb`: kept as PostgreSQL prints it.
    Jsonb,
    /// `bytea`.
    Binary,
    /// A one- or more-dimensional array of the element type.
    Array(Box<ColumnType>),
    /// PostGIS `geometry`, GeoJSON on the wire, WKB at rest.
    Geometry {
        /// Spatial reference identifier; `None` when neither type nor column declares one.
        srid: Option<i32>,
    },
    /// A native type that is shown as text but whose text order isn't its own order (`interval`, `time`, `inet`,
    /// ranges, `geography`…), or no known type at all. Equality of the text is all that is promised.
    Opaque,
}

impl ColumnType {
    /// Decides the type from the manifest's `type`, `native_type` and `srid`.
    pub fn from_manifest(neutral: &str, native: Option<&str>, srid: Option<i32>) -> Self {
        native.and_then(|native| Self::from_native(native, srid)).unwrap_or_else(|| match neutral {
            "string" => Self::Text,
            "integer" => Self::BigInt,
            "number" => Self::Numeric { declared: None },
            "boolean" => Self::Boolean,
            "date" => Self::Date,
            "timestamp" => Self::Timestamp,
            "uuid" => Self::Uuid,
            "json" => Self::Json,
            "binary" => Self::Binary,
            "array" => Self::Array(Box::new(Self::Opaque)),
            "geometry" => Self::Geometry { srid },
            _ => Self::Opaque,
        })
    }

    /// The type a PostgreSQL type name means, as `format_type` prints it; `None` for names not known here.
    fn from_native(native: &str, srid: Option<i32>) -> Option<Self> {
        let name = native.trim().to_ascii_lowercase();
        let name = name.strip_prefix("pg_catalog.").unwrap_or(&name);
        let name = name.strip_prefix("public.").unwrap_or(name);
        if let Some(element) = name.strip_suffix("[]") {
            let element = Self::from_native(element, None).unwrap_or(Self::Opaque);
            // format_type prints one pair of brackets whatever the dimensions; tolerate more.
            return Some(match element {
                Self::Array(inner) => Self::Array(inner),
                other => Self::Array(Box::new(other)),
            });
        }
        let (base, arguments) = match name.split_once('(') {
            Some((base, rest)) => {
                let (arguments, tail) = rest.split_once(')')?;
                // "timestamp(3) with time zone" carries its words after the argument.
                (format!("{}{tail}", base.trim_end()), arguments.split(',').map(str::trim).collect())
            }
            None => (name.to_owned(), Vec::new()),
        };
        let first = arguments.first().and_then(|argument| argument.parse::<u16>().ok());
        Some(match base.as_str() {
            "text" | "character varying" | "varchar" | "citext" | "name" => Self::Text,
            "character" | "char" | "bpchar" => Self::Character { length: first.map(u32::from).or(Some(1)) },
            "smallint" | "int2" | "integer" | "int" | "int4" | "serial" => Self::Integer,
            "bigint" | "int8" | "bigserial" => Self::BigInt,
            "numeric" | "decimal" => Self::Numeric {
                declared: first.map(|precision| {
                    (precision, arguments.get(1).and_then(|scale| scale.parse::<i16>().ok()).unwrap_or(0))
                }),
            },
            "real" | "float4" => Self::Real,
            "double precision" | "float8" => Self::Double,
            "boolean" | "bool" => Self::Boolean,
            "date" => Self::Date,
            "timestamp without time zone" | "timestamp" => Self::Timestamp,
            "timestamp with time zone" | "timestamptz" => Self::TimestampTz,
            "uuid" => Self::Uuid,
            "json" => Self::Json,
            "jsonb" => Self::Jsonb,
            "bytea" => Self::Binary,
            "geometry" => {
                let declared = arguments.get(1).and_then(|srid| srid.parse::<i32>().ok());
                Self::Geometry { srid: declared.or(srid) }
            }
            _ if is_opaque_native(&base) => Self::Opaque,
            _ => return None,
        })
    }

    /// Whether sums and averages are defined.
    pub fn is_numeric(&self) -> bool {
        matches!(self, Self::Integer | Self::BigInt | Self::Numeric { .. } | Self::Real | Self::Double)
    }

    /// Whether values are character strings.
    pub fn is_text(&self) -> bool {
        matches!(self, Self::Text | Self::Character { .. })
    }

    /// Whether PostgreSQL's `ORDER BY` accepts the column (`json` and the geometric point/line/box types it doesn't;
    /// spec postgrest.md, 14). Opaque columns may be one of those, so they count as not orderable.
    pub fn is_orderable_upstream(&self) -> bool {
        !matches!(self, Self::Json | Self::Opaque)
    }

    /// Whether the mirror can order and range-compare values the way PostgreSQL does (text: by code point).
    pub fn is_orderable(&self) -> bool {
        !matches!(
            self,
            Self::Json | Self::Jsonb | Self::Opaque | Self::Array(_) | Self::Geometry { .. } | Self::Binary
        )
    }

    /// The name used in messages and refusals.
    pub fn label(&self) -> String {
        match self {
            Self::Text => "text".to_owned(),
            Self::Character { length: Some(length) } => format!("character({length})"),
            Self::Character { length: None } => "character".to_owned(),
            Self::Integer => "integer".to_owned(),
            Self::BigInt => "bigint".to_owned(),
            Self::Numeric { declared: Some((precision, scale)) } => format!("numeric({precision},{scale})"),
            Self::Numeric { declared: None } => "numeric".to_owned(),
            Self::Real => "real".to_owned(),
            Self::Double => "double precision".to_owned(),
            Self::Boolean => "boolean".to_owned(),
            Self::Date => "date".to_owned(),
            Self::Timestamp => "timestamp".to_owned(),
            Self::TimestampTz => "timestamp with time zone".to_owned(),
            Self::Uuid => "uuid".to_owned(),
            Self::Json => "json".to_owned(),
            Self::Jsonb => "jsonb".to_owned(),
            Self::Binary => "bytea".to_owned(),
            Self::Array(element) => format!("{}[]", element.label()),
            Self::Geometry { srid: Some(srid) } => format!("geometry (SRID {srid})"),
            Self::Geometry { srid: None } => "geometry".to_owned(),
            Self::Opaque => "unrecognised type, kept as text".to_owned(),
        }
    }
}

/// Native types whose printed text is exact but doesn't sort as the type does.
fn is_opaque_native(base: &str) -> bool {
    const NAMES: &[&str] = &[
        "interval",
        "time",
        "time without time zone",
        "time with time zone",
        "timetz",
        "money",
        "inet",
        "cidr",
        "macaddr",
        "bit",
        "bit varying",
        "xml",
        "point",
        "line",
        "lseg",
        "box",
        "path",
        "polygon",
        "circle",
        "geography",
        "tsvector",
        "oid",
    ];
    NAMES.contains(&base) || base.ends_with("range")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn native_type_decides_before_the_neutral_one() {
        let cases = [
            ("number", Some("numeric(23,2)"), ColumnType::Numeric { declared: Some((23, 2)) }),
            ("number", Some("numeric"), ColumnType::Numeric { declared: None }),
            ("number", Some("double precision"), ColumnType::Double),
            ("timestamp", Some("timestamp with time zone"), ColumnType::TimestampTz),
            ("timestamp", Some("timestamp(3) with time zone"), ColumnType::TimestampTz),
            ("string", Some("character(2)"), ColumnType::Character { length: Some(2) }),
            ("string", Some("character varying(254)"), ColumnType::Text),
            (
                "geometry",
                Some("public.geometry(MultiPolygon,3857)"),
                ColumnType::Geometry { srid: Some(3857) },
            ),
            ("array", Some("integer[]"), ColumnType::Array(Box::new(ColumnType::Integer))),
            ("string", Some("interval"), ColumnType::Opaque),
            ("integer", None, ColumnType::BigInt),
            ("string", Some("some_domain"), ColumnType::Text),
            ("unknown", None, ColumnType::Opaque),
        ];
        for (neutral, native, expected) in cases {
            assert_eq!(ColumnType::from_manifest(neutral, native, None), expected, "{neutral} {native:?}");
        }
        assert_eq!(
            ColumnType::from_manifest("geometry", Some("geometry"), Some(4326)),
            ColumnType::Geometry { srid: Some(4326) }
        );
    }
}
