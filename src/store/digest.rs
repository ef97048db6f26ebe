//! The row digest: what a set of sorted rows amounts to, independent of how it is stored.
//!
//! Every value becomes `tag, null flag[, length, bytes]` (see `docs/store-format.md`). Decimals are written as
//! normalised text, so a column's digest doesn't depend on the decimal class or scale its other values made it use;
//! text views, batch and part boundaries, page sizes and writers leave no trace either.

use arrow::array::{
    Array, ArrayRef, AsArray, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Decimal256Array,
    Float32Array, Float64Array, Int32Array, Int64Array, ListArray, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow::datatypes::{
    DataType, Date32Type, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int32Type, Int64Type,
    TimeUnit, TimestampMicrosecondType,
};
use sha2::{Digest, Sha256};

use super::hash::Hash256;

/// First bytes of every digest: names the encoding, so another one can never collide with it.
const DOMAIN: &[u8] = b"benthic-mirror/rows/1\n";

/// Value tags. They are part of the format and never change meaning.
mod tag {
    pub(super) const BOOLEAN: u8 = 1;
    pub(super) const INTEGER: u8 = 2;
    pub(super) const DECIMAL: u8 = 3;
    pub(super) const REAL: u8 = 4;
    pub(super) const DOUBLE: u8 = 5;
    pub(super) const DATE: u8 = 6;
    pub(super) const TIMESTAMP: u8 = 7;
    pub(super) const TIMESTAMP_UTC: u8 = 8;
    pub(super) const TEXT: u8 = 9;
    pub(super) const BYTES: u8 = 10;
    pub(super) const LIST: u8 = 11;
}

/// A column whose Arrow type the encoding has no word for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("rows of type {0} can't be digested: the encoding has no form for it")]
pub struct UnsupportedType(pub String);

/// Digests rows batch by batch, in sort order.
#[derive(Debug)]
pub struct RowDigest {
    hasher: Sha256,
    rows: u64,
    buffer: Vec<u8>,
}

impl RowDigest {
    /// Starts the digest of rows with these column names, in order.
    pub fn new<'a>(columns: impl IntoIterator<Item = &'a str>) -> Self {
        let names: Vec<&str> = columns.into_iter().collect();
        let mut buffer = DOMAIN.to_vec();
        buffer.extend((names.len() as u64).to_be_bytes());
        for name in names {
            buffer.extend((name.len() as u64).to_be_bytes());
            buffer.extend(name.as_bytes());
        }
        let mut hasher = Sha256::new();
        hasher.update(&buffer);
        buffer.clear();
        Self { hasher, rows: 0, buffer }
    }

    /// Adds the next rows. The batch's columns are those named at the start, in the same order.
    pub fn update(&mut self, batch: &RecordBatch) -> Result<(), UnsupportedType> {
        let columns = batch.columns().iter().map(Column::new).collect::<Result<Vec<_>, _>>()?;
        for row in 0..batch.num_rows() {
            for column in &columns {
                column.encode(row, &mut self.buffer);
            }
            // Bound the buffer without paying a hasher call per value.
            if self.buffer.len() >= 64 * 1024 {
                self.hasher.update(&self.buffer);
                self.buffer.clear();
            }
        }
        self.rows += batch.num_rows() as u64;
        Ok(())
    }

    /// Rows seen so far.
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// The digest of everything seen; the row count closes it.
    pub fn finish(mut self) -> Hash256 {
        self.buffer.extend(self.rows.to_be_bytes());
        self.hasher.update(&self.buffer);
        Hash256::finish(self.hasher)
    }
}

/// One column of a batch, with its type looked up once.
enum Column<'a> {
    Boolean(&'a BooleanArray),
    Int32(&'a Int32Array),
    Int64(&'a Int64Array),
    Float32(&'a Float32Array),
    Float64(&'a Float64Array),
    Date32(&'a Date32Array),
    Timestamp(&'a TimestampMicrosecondArray, u8),
    Decimal128(&'a Decimal128Array, i8),
    Decimal256(&'a Decimal256Array, i8),
    Utf8(&'a StringArray),
    Utf8View(&'a arrow::array::StringViewArray),
    Binary(&'a BinaryArray),
    BinaryView(&'a arrow::array::BinaryViewArray),
    List(&'a ListArray, Box<Column<'a>>),
}

impl<'a> Column<'a> {
    fn new(array: &'a ArrayRef) -> Result<Self, UnsupportedType> {
        Ok(match array.data_type() {
            DataType::Boolean => Self::Boolean(array.as_boolean()),
            DataType::Int32 => Self::Int32(array.as_primitive::<Int32Type>()),
            DataType::Int64 => Self::Int64(array.as_primitive::<Int64Type>()),
            DataType::Float32 => Self::Float32(array.as_primitive::<Float32Type>()),
            DataType::Float64 => Self::Float64(array.as_primitive::<Float64Type>()),
            DataType::Date32 => Self::Date32(array.as_primitive::<Date32Type>()),
            DataType::Timestamp(TimeUnit::Microsecond, zone) => Self::Timestamp(
                array.as_primitive::<TimestampMicrosecondType>(),
                if zone.is_some() { tag::TIMESTAMP_UTC } else { tag::TIMESTAMP },
            ),
            DataType::Decimal128(_, scale) => {
                Self::Decimal128(array.as_primitive::<Decimal128Type>(), *scale)
            }
            DataType::Decimal256(_, scale) => {
                Self::Decimal256(array.as_primitive::<Decimal256Type>(), *scale)
            }
            DataType::Utf8 => Self::Utf8(array.as_string::<i32>()),
            DataType::Utf8View => Self::Utf8View(array.as_string_view()),
            DataType::Binary => Self::Binary(array.as_binary::<i32>()),
            DataType::BinaryView => Self::BinaryView(array.as_binary_view()),
            DataType::List(_) => {
                let list = array.as_list::<i32>();
                Self::List(list, Box::new(Self::new(list.values())?))
            }
            other => return Err(UnsupportedType(other.to_string())),
        })
    }

    /// Appends the encoding of one value.
    fn encode(&self, row: usize, out: &mut Vec<u8>) {
        match self {
            Self::Boolean(array) => {
                fixed(out, tag::BOOLEAN, array.is_null(row), || [u8::from(array.value(row))]);
            }
            // One form for both widths: the width is storage, not value.
            Self::Int32(array) => {
                fixed(out, tag::INTEGER, array.is_null(row), || i64::from(array.value(row)).to_be_bytes());
            }
            Self::Int64(array) => {
                fixed(out, tag::INTEGER, array.is_null(row), || array.value(row).to_be_bytes());
            }
            Self::Float32(array) => fixed(out, tag::REAL, array.is_null(row), || {
                let value = array.value(row);
                // One NaN: which of its many patterns a platform makes is no property of the value.
                if value.is_nan() { 0x7fc0_0000 } else { value.to_bits() }.to_be_bytes()
            }),
            Self::Float64(array) => fixed(out, tag::DOUBLE, array.is_null(row), || {
                let value = array.value(row);
                if value.is_nan() { 0x7ff8_0000_0000_0000 } else { value.to_bits() }.to_be_bytes()
            }),
            Self::Date32(array) => {
                fixed(out, tag::DATE, array.is_null(row), || array.value(row).to_be_bytes());
            }
            Self::Timestamp(array, tag) => {
                fixed(out, *tag, array.is_null(row), || array.value(row).to_be_bytes());
            }
            Self::Decimal128(array, scale) => {
                if array.is_null(row) {
                    return null(out, tag::DECIMAL);
                }
                bytes(out, tag::DECIMAL, canonical_decimal(&array.value(row).to_string(), *scale).as_bytes());
            }
            Self::Decimal256(array, scale) => {
                if array.is_null(row) {
                    return null(out, tag::DECIMAL);
                }
                bytes(out, tag::DECIMAL, canonical_decimal(&array.value(row).to_string(), *scale).as_bytes());
            }
            Self::Utf8(array) => match array.is_null(row) {
                true => null(out, tag::TEXT),
                false => bytes(out, tag::TEXT, array.value(row).as_bytes()),
            },
            Self::Utf8View(array) => match array.is_null(row) {
                true => null(out, tag::TEXT),
                false => bytes(out, tag::TEXT, array.value(row).as_bytes()),
            },
            Self::Binary(array) => match array.is_null(row) {
                true => null(out, tag::BYTES),
                false => bytes(out, tag::BYTES, array.value(row)),
            },
            Self::BinaryView(array) => match array.is_null(row) {
                true => null(out, tag::BYTES),
                false => bytes(out, tag::BYTES, array.value(row)),
            },
            Self::List(array, elements) => {
                if array.is_null(row) {
                    return null(out, tag::LIST);
                }
                let offsets = array.value_offsets();
                let (start, end) = (offsets[row], offsets[row + 1]);
                // A list's "length" is its number of elements, which follow in the same form.
                out.extend([tag::LIST, 0]);
                out.extend(u64::try_from(end - start).unwrap_or(0).to_be_bytes());
                for index in start..end {
                    elements.encode(usize::try_from(index).unwrap_or(usize::MAX), out);
                }
            }
        }
    }
}

fn null(out: &mut Vec<u8>, tag: u8) {
    out.extend([tag, 1]);
}

fn bytes(out: &mut Vec<u8>, tag: u8, value: &[u8]) {
    out.extend([tag, 0]);
    out.extend((value.len() as u64).to_be_bytes());
    out.extend(value);
}

fn fixed<const N: usize>(out: &mut Vec<u8>, tag: u8, is_null: bool, value: impl FnOnce() -> [u8; N]) {
    match is_null {
        true => null(out, tag),
        false => bytes(out, tag, &value()),
    }
}

/// A decimal's one spelling: `[-]digits[e±exponent]`, no leading or trailing zeros in the digits; zero is `0`.
/// `digits` is the unscaled integer.
fn canonical_decimal(digits: &str, scale: i8) -> String {
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(rest) => ("-", rest),
        None => ("", digits),
    };
    let digits = digits.trim_start_matches('0');
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return "0".to_owned();
    }
    // At most 76 digits and a scale of at most 127: far inside an i64.
    let exponent = (digits.len() - significant.len()) as i64 - i64::from(scale);
    match exponent {
        0 => format!("{sign}{significant}"),
        _ => format!("{sign}{significant}e{exponent}"),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Int32Builder, ListBuilder};
    use arrow::compute::cast;
    use arrow::datatypes::{Field, Schema};

    use super::*;

    fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
        let fields: Vec<Field> =
            columns.iter().map(|(name, array)| Field::new(*name, array.data_type().clone(), true)).collect();
        let arrays = columns.into_iter().map(|(_, array)| array).collect();
        RecordBatch::try_new(Arc::new(Schema::new(fields)), arrays).unwrap()
    }

    fn digest(batches: &[RecordBatch]) -> Hash256 {
        let schema = batches[0].schema();
        let mut digest = RowDigest::new(schema.fields().iter().map(|field| field.name().as_str()));
        for batch in batches {
            digest.update(batch).unwrap();
        }
        digest.finish()
    }

    fn every_type() -> RecordBatch {
        let mut lists = ListBuilder::new(Int32Builder::new());
        lists.append_value([Some(1), None]);
        lists.append_null();
        let decimal = Decimal128Array::from(vec![Some(1230), None]).with_precision_and_scale(18, 2).unwrap();
        let wide = Decimal256Array::from(vec![Some(arrow::datatypes::i256::from(-5)), None])
            .with_precision_and_scale(76, 1)
            .unwrap();
        batch(vec![
            ("boolean", Arc::new(BooleanArray::from(vec![Some(true), None]))),
            ("int32", Arc::new(Int32Array::from(vec![Some(-1), None]))),
            ("int64", Arc::new(Int64Array::from(vec![Some(9_007_199_254_740_993), None]))),
            ("float32", Arc::new(Float32Array::from(vec![Some(0.1), None]))),
            ("float64", Arc::new(Float64Array::from(vec![Some(-0.0), None]))),
            ("date", Arc::new(Date32Array::from(vec![Some(-1), None]))),
            ("timestamp", Arc::new(TimestampMicrosecondArray::from(vec![Some(1), None]))),
            (
                "timestamptz",
                Arc::new(TimestampMicrosecondArray::from(vec![Some(1), None]).with_timezone("UTC")),
            ),
            ("decimal", Arc::new(decimal)),
            ("wide", Arc::new(wide)),
            ("text", Arc::new(StringArray::from(vec![Some("é\0"), None]))),
            ("bytes", Arc::new(BinaryArray::from(vec![Some(b"\xde\xad".as_slice()), None]))),
            ("list", Arc::new(lists.finish())),
        ])
    }

    /// The encoding is frozen: a change of this value is a change of every store's identity.
    #[test]
    fn golden_vector() {
        assert_eq!(
            digest(&[every_type()]).to_string(),
            "341cd39df4a9719fbd84ee452c345a703eb417de712060b225dd0d1c94523c9d"
        );
    }

    /// The worked example of docs/store-format.md, byte by byte.
    #[test]
    fn worked_example() {
        let decimal = Decimal128Array::from(vec![Some(1230), None]).with_precision_and_scale(18, 2).unwrap();
        let rows =
            batch(vec![("id", Arc::new(StringArray::from(vec!["03", "10"]))), ("amount", Arc::new(decimal))]);
        let bytes: Vec<u8> = [
            b"benthic-mirror/rows/1\n".as_slice(),
            &[0, 0, 0, 0, 0, 0, 0, 2],
            &[0, 0, 0, 0, 0, 0, 0, 2],
            b"id",
            &[0, 0, 0, 0, 0, 0, 0, 6],
            b"amount",
            &[9, 0, 0, 0, 0, 0, 0, 0, 0, 2],
            b"03",
            &[3, 0, 0, 0, 0, 0, 0, 0, 0, 6],
            b"123e-1",
            &[9, 0, 0, 0, 0, 0, 0, 0, 0, 2],
            b"10",
            &[3, 1],
            &[0, 0, 0, 0, 0, 0, 0, 2],
        ]
        .concat();
        assert_eq!(digest(&[rows]), Hash256::of(&bytes));
        assert_eq!(
            Hash256::of(&bytes).to_string(),
            "597a2b22f326c039f6a3e7dcc8508d2accfc0fb4d74dbc8d9a2242cd64a9a2c7"
        );
    }

    #[test]
    fn storage_leaves_no_trace() {
        let rows = every_type();
        let whole = digest(std::slice::from_ref(&rows));
        assert_eq!(digest(&[rows.slice(0, 1), rows.slice(1, 1)]), whole, "batch boundaries");

        let text: ArrayRef = Arc::new(StringArray::from(vec![Some("a"), None, Some("")]));
        let view = cast(&text, &DataType::Utf8View).unwrap();
        assert_eq!(digest(&[batch(vec![("t", text)])]), digest(&[batch(vec![("t", view)])]), "text view");

        let narrow = Decimal128Array::from(vec![120, -5, 0]).with_precision_and_scale(18, 1).unwrap();
        let scaled = Decimal128Array::from(vec![1200, -50, 0]).with_precision_and_scale(38, 2).unwrap();
        let wide = cast(&narrow, &DataType::Decimal256(76, 5)).unwrap();
        let digests = [Arc::new(narrow) as ArrayRef, Arc::new(scaled), wide]
            .map(|array| digest(&[batch(vec![("d", array)])]));
        assert!(digests.iter().all(|found| *found == digests[0]), "decimal class and scale");
    }

    #[test]
    fn nans_are_one_value_and_zeros_are_two() {
        let of = |bits: u64| {
            digest(&[batch(vec![(
                "d",
                Arc::new(Float64Array::from(vec![f64::from_bits(bits)])) as ArrayRef,
            )])])
        };
        assert_eq!(of(0x7ff8_0000_0000_0000), of(0xfff8_0000_0000_0001));
        assert_ne!(of(0), of(0x8000_0000_0000_0000));
    }

    #[test]
    fn different_rows_differ() {
        let of = |values: Vec<Option<&str>>| {
            digest(&[batch(vec![("t", Arc::new(StringArray::from(values)) as ArrayRef)])])
        };
        let all = [
            of(vec![]),
            of(vec![None]),
            of(vec![Some("")]),
            of(vec![Some("a"), Some("b")]),
            of(vec![Some("b"), Some("a")]),
            of(vec![Some("ab")]),
        ];
        for (index, one) in all.iter().enumerate() {
            assert!(all[index + 1..].iter().all(|other| other != one), "{index}");
        }
    }

    #[test]
    fn decimals_have_one_spelling() {
        let cases = [
            ("0", 2, "0"),
            ("-0", 0, "0"),
            ("1230", 2, "123e-1"),
            ("-100", 0, "-1e2"),
            ("7", 0, "7"),
            ("5", 20, "5e-20"),
        ];
        for (digits, scale, expected) in cases {
            assert_eq!(canonical_decimal(digits, scale), expected);
        }
    }
}
