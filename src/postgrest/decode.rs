//! JSON rows to Arrow, exactly.

use std::sync::Arc;

use arrow::array::{
    ArrayBuilder, ArrayRef, BinaryBuilder, BooleanBuilder, Date32Builder, Decimal128Builder,
    Decimal256Builder, Float32Builder, Float64Builder, Int32Builder, Int64Builder, ListArray, RecordBatch,
    StringBuilder, TimestampMicrosecondBuilder,
};
use arrow::buffer::{NullBuffer, OffsetBuffer};
use arrow::datatypes::{Field, Schema, SchemaRef};
use serde_json::value::RawValue;

use crate::catalog::{Column, ColumnType, StoredColumn, StoredType};

use super::error::{DecodeError, ValueError};
use super::geometry::{from_geojson, to_wkb};
use super::profile::{TableProfile, stored_columns, value_error};
use super::rows::read_rows;
use super::value::{self, Numeric, is_null, numeric};

/// Decodes pages of one relation into batches of one schema.
#[derive(Debug, Clone)]
pub struct TableDecoder {
    relation: String,
    columns: Vec<Column>,
    stored: Vec<StoredColumn>,
    key: Vec<String>,
    schema: SchemaRef,
}

impl TableDecoder {
    /// A decoder for `columns` of `relation` (`dataset.relation`), stored as `stored` says (see
    /// [`stored_columns`]); the two have the same order. `key` names the columns that identify a row in messages.
    pub fn new(relation: &str, columns: &[Column], stored: &[StoredColumn], key: &[String]) -> Self {
        let schema = Arc::new(Schema::new(stored.iter().map(StoredColumn::field).collect::<Vec<_>>()));
        Self {
            relation: relation.to_owned(),
            columns: columns.to_vec(),
            stored: stored.to_vec(),
            key: key.to_vec(),
            schema,
        }
    }

    /// The schema of the batches: one nullable field per column.
    pub fn schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Decodes one page into one batch.
    pub fn decode(&self, body: &[u8]) -> Result<RecordBatch, DecodeError> {
        let batches = self.decode_in_batches(body, usize::MAX)?;
        // At most one batch was asked for; none means no rows.
        Ok(batches.into_iter().next().unwrap_or_else(|| RecordBatch::new_empty(Arc::clone(&self.schema))))
    }

    /// Decodes one page into batches of at most `batch_rows` rows, none of them empty. Each owns its memory, unlike
    /// slices of one batch, so whoever holds some of them holds no more than those.
    pub fn decode_in_batches(&self, body: &[u8], batch_rows: usize) -> Result<Vec<RecordBatch>, DecodeError> {
        let names: Vec<&str> = self.columns.iter().map(|column| column.name.as_str()).collect();
        let mut batches = Vec::new();
        let mut builders = self.builders()?;
        let mut rows = 0;
        read_rows(&self.relation, &names, body, &mut |row, cells| {
            for ((builder, column), cell) in builders.iter_mut().zip(&self.columns).zip(cells) {
                builder.append(&column.column_type, cell).map_err(|error| {
                    value_error(&self.relation, column, &names, &self.key, row, cells, cell, &error)
                })?;
            }
            rows += 1;
            if rows >= batch_rows {
                let full = std::mem::replace(&mut builders, self.builders()?);
                batches.push(self.finish(full, std::mem::take(&mut rows))?);
            }
            Ok(())
        })?;
        if rows > 0 {
            batches.push(self.finish(builders, rows)?);
        }
        Ok(batches)
    }

    fn builders(&self) -> Result<Vec<Builder>, DecodeError> {
        self.columns
            .iter()
            .zip(&self.stored)
            .map(|(column, stored)| Builder::new(&column.column_type, &stored.stored_type))
            .collect::<Result<_, _>>()
            .map_err(|error| self.arrow(&error))
    }

    fn finish(&self, builders: Vec<Builder>, rows: usize) -> Result<RecordBatch, DecodeError> {
        let arrays = builders
            .into_iter()
            .map(Builder::finish)
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| self.arrow(&error))?;
        let options = arrow::array::RecordBatchOptions::new().with_row_count(Some(rows));
        RecordBatch::try_new_with_options(Arc::clone(&self.schema), arrays, &options)
            .map_err(|error| self.arrow(&error))
    }

    fn arrow(&self, error: &dyn std::error::Error) -> DecodeError {
        DecodeError::Arrow { relation: self.relation.clone(), problem: error.to_string() }
    }
}

/// Decodes one page on its own: the column types are what its values need. For bounded live reads.
pub fn decode_rows(
    relation: &str,
    columns: &[Column],
    key: &[String],
    body: &[u8],
) -> Result<(Vec<StoredColumn>, RecordBatch), DecodeError> {
    let mut profile = TableProfile::new(columns.len());
    profile.observe(relation, columns, key, body, &mut |_, _| Ok(()))?;
    let stored = stored_columns(columns, &profile);
    let batch = TableDecoder::new(relation, columns, &stored, key).decode(body)?;
    Ok((stored, batch))
}

/// The elements of a JSON array, as text.
pub(super) fn elements(cell: &str) -> Result<Vec<&RawValue>, ValueError> {
    serde_json::from_str(cell).map_err(|_| ValueError::new("it is not a JSON array"))
}

/// One column being built.
enum Builder {
    Utf8(StringBuilder),
    Int32(Int32Builder),
    Int64(Int64Builder),
    Float32(Float32Builder),
    Float64(Float64Builder),
    Boolean(BooleanBuilder),
    Date32(Date32Builder),
    Timestamp(TimestampMicrosecondBuilder),
    Binary(BinaryBuilder),
    Decimal128(Decimal128Builder, u32),
    Decimal256(Decimal256Builder, u32),
    List(ListBuilder),
}

struct ListBuilder {
    elements: Box<Builder>,
    field: Arc<Field>,
    offsets: Vec<i32>,
    valid: Vec<bool>,
}

impl Builder {
    fn new(column: &ColumnType, stored: &StoredType) -> Result<Self, arrow::error::ArrowError> {
        Ok(match stored {
            StoredType::Utf8 => Self::Utf8(StringBuilder::new()),
            StoredType::Int32 => Self::Int32(Int32Builder::new()),
            StoredType::Int64 => Self::Int64(Int64Builder::new()),
            StoredType::Float32 => Self::Float32(Float32Builder::new()),
            StoredType::Float64 => Self::Float64(Float64Builder::new()),
            StoredType::Boolean => Self::Boolean(BooleanBuilder::new()),
            StoredType::Date32 => Self::Date32(Date32Builder::new()),
            StoredType::TimestampUs => Self::Timestamp(TimestampMicrosecondBuilder::new()),
            StoredType::TimestampUsUtc => {
                Self::Timestamp(TimestampMicrosecondBuilder::new().with_timezone("UTC"))
            }
            StoredType::Binary => Self::Binary(BinaryBuilder::new()),
            StoredType::Decimal128 { precision, scale } => Self::Decimal128(
                Decimal128Builder::new().with_precision_and_scale(*precision, *scale)?,
                u32::try_from(*scale).unwrap_or(0),
            ),
            StoredType::Decimal256 { scale } => Self::Decimal256(
                Decimal256Builder::new().with_precision_and_scale(76, *scale)?,
                u32::try_from(*scale).unwrap_or(0),
            ),
            StoredType::List(element) => {
                let element_type = match column {
                    ColumnType::Array(element) => element,
                    other => other,
                };
                Self::List(ListBuilder {
                    elements: Box::new(Self::new(element_type, element)?),
                    field: Arc::new(Field::new_list_field(element.data_type(), true)),
                    offsets: vec![0],
                    valid: Vec::new(),
                })
            }
        })
    }

    /// Appends one cell's value.
    fn append(&mut self, column: &ColumnType, cell: &str) -> Result<(), ValueError> {
        let null = is_null(cell);
        match self {
            Self::Utf8(builder) if null => builder.append_null(),
            Self::Utf8(builder) => match column {
                ColumnType::Text | ColumnType::Character { .. } => builder.append_value(value::string(cell)?),
                ColumnType::Uuid => builder.append_value(value::uuid(cell)?),
                ColumnType::Json | ColumnType::Jsonb => builder.append_value(cell),
                // A numeric column that no decimal holds keeps every digit as text.
                ColumnType::Numeric { .. } => match numeric(cell)? {
                    Numeric::Special(word) => builder.append_value(word),
                    Numeric::Decimal(_) => builder.append_value(cell),
                },
                _ => builder.append_value(value::opaque(cell)?),
            },
            Self::Int32(builder) => builder.append_option(present(null, || value::integer(cell))?),
            Self::Int64(builder) => builder.append_option(present(null, || value::integer(cell))?),
            Self::Float32(builder) => builder.append_option(present(null, || value::real(cell))?),
            Self::Float64(builder) => builder.append_option(present(null, || value::double(cell))?),
            Self::Boolean(builder) => builder.append_option(present(null, || value::boolean(cell))?),
            Self::Date32(builder) => builder.append_option(present(null, || value::date(cell))?),
            Self::Timestamp(builder) => builder.append_option(present(null, || match column {
                ColumnType::TimestampTz => value::timestamp_utc(cell),
                _ => value::timestamp(cell),
            })?),
            Self::Binary(builder) => builder.append_option(present(null, || match column {
                ColumnType::Geometry { .. } => to_wkb(&from_geojson(cell)?.0),
                _ => value::bytes(cell),
            })?),
            Self::Decimal128(builder, scale) => {
                builder.append_option(present(null, || match numeric(cell)? {
                    Numeric::Decimal(decimal) => decimal.to_i128(*scale),
                    Numeric::Special(word) => Err(no_decimal(word)),
                })?);
            }
            Self::Decimal256(builder, scale) => {
                builder.append_option(present(null, || match numeric(cell)? {
                    Numeric::Decimal(decimal) => decimal.to_i256(*scale),
                    Numeric::Special(word) => Err(no_decimal(word)),
                })?);
            }
            Self::List(list) => return list.append(column, cell, null),
        }
        Ok(())
    }

    fn len(&self) -> usize {
        match self {
            Self::Utf8(builder) => builder.len(),
            Self::Int32(builder) => builder.len(),
            Self::Int64(builder) => builder.len(),
            Self::Float32(builder) => builder.len(),
            Self::Float64(builder) => builder.len(),
            Self::Boolean(builder) => builder.len(),
            Self::Date32(builder) => builder.len(),
            Self::Timestamp(builder) => builder.len(),
            Self::Binary(builder) => builder.len(),
            Self::Decimal128(builder, _) => builder.len(),
            Self::Decimal256(builder, _) => builder.len(),
            Self::List(list) => list.valid.len(),
        }
    }

    fn finish(self) -> Result<ArrayRef, arrow::error::ArrowError> {
        Ok(match self {
            Self::Utf8(mut builder) => Arc::new(builder.finish()),
            Self::Int32(mut builder) => Arc::new(builder.finish()),
            Self::Int64(mut builder) => Arc::new(builder.finish()),
            Self::Float32(mut builder) => Arc::new(builder.finish()),
            Self::Float64(mut builder) => Arc::new(builder.finish()),
            Self::Boolean(mut builder) => Arc::new(builder.finish()),
            Self::Date32(mut builder) => Arc::new(builder.finish()),
            Self::Timestamp(mut builder) => Arc::new(builder.finish()),
            Self::Binary(mut builder) => Arc::new(builder.finish()),
            Self::Decimal128(mut builder, _) => Arc::new(builder.finish()),
            Self::Decimal256(mut builder, _) => Arc::new(builder.finish()),
            Self::List(list) => {
                let elements = list.elements.finish()?;
                let nulls = NullBuffer::from(list.valid);
                let nulls = (nulls.null_count() > 0).then_some(nulls);
                let offsets = OffsetBuffer::new(list.offsets.into());
                Arc::new(ListArray::try_new(list.field, offsets, elements, nulls)?)
            }
        })
    }
}

impl ListBuilder {
    fn append(&mut self, column: &ColumnType, cell: &str, null: bool) -> Result<(), ValueError> {
        let ColumnType::Array(element) = column else {
            return Err(ValueError::new("its column is no array"));
        };
        if !null {
            for item in elements(cell)? {
                let item = item.get();
                if item.starts_with('[')
                    && !matches!(**element, ColumnType::Opaque | ColumnType::Json | ColumnType::Jsonb)
                {
                    return Err(ValueError::new("it has more than one dimension"));
                }
                self.elements.append(element, item)?;
            }
        }
        let end = i32::try_from(self.elements.len())
            .map_err(|_| ValueError::new("the page has too many elements"))?;
        self.offsets.push(end);
        self.valid.push(!null);
        Ok(())
    }
}

fn present<T>(null: bool, read: impl FnOnce() -> Result<T, ValueError>) -> Result<Option<T>, ValueError> {
    if null { Ok(None) } else { read().map(Some) }
}

fn no_decimal(word: &str) -> ValueError {
    ValueError::new(format!("no decimal holds {word}"))
}

#[cfg(test)]
mod tests {
    use arrow::array::{Array, AsArray};
    use arrow::datatypes::{
        DataType, Date32Type, Decimal128Type, Decimal256Type, Float32Type, Float64Type, Int32Type, Int64Type,
        TimestampMicrosecondType,
    };
    use arrow::util::display::array_value_to_string;

    use super::*;

    fn column(name: &str, native: &str) -> Column {
        let neutral = if native.starts_with("geometry") { "geometry" } else { "string" };
        Column {
            name: name.to_owned(),
            declared_type: neutral.to_owned(),
            native_type: Some(native.to_owned()),
            column_type: ColumnType::from_manifest(neutral, Some(native), None),
            nullable: true,
            description: None,
            srid: None,
            unit: None,
        }
    }

    fn decode_one(native: &str, cells: &[&str]) -> Result<(StoredColumn, ArrayRef), DecodeError> {
        let body = cells.iter().map(|cell| format!("{{\"c\":{cell}}}")).collect::<Vec<_>>().join(", \n ");
        let (stored, batch) =
            decode_rows("d.r", &[column("c", native)], &[], format!("[{body}]").as_bytes())?;
        assert_eq!(stored[0].field().data_type(), batch.column(0).data_type());
        assert_eq!(batch.num_rows(), cells.len());
        Ok((stored[0].clone(), Arc::clone(batch.column(0))))
    }

    #[test]
    fn every_type_keeps_its_values() {
        let text = |native: &str, cells: &[&str]| {
            let (_, array) = decode_one(native, cells).unwrap();
            let values: Vec<Option<String>> =
                array.as_string::<i32>().iter().map(|value| value.map(str::to_owned)).collect();
            values
        };
        let some = |value: &str| Some(value.to_owned());
        assert_eq!(text("text", &[r#""a\"é""#, "null", r#""""#]), [some("a\"é"), None, some("")]);
        assert_eq!(text("character(3)", &[r#""A  ""#]), [some("A  ")], "padding is kept");
        assert_eq!(text("json", &[r#"{"a": 1, "a":1.10}"#]), [some(r#"{"a": 1, "a":1.10}"#)], "verbatim");
        assert_eq!(text("interval", &[r#""1 day""#]), [some("1 day")]);
        assert_eq!(
            text("uuid", &["\"A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11\""]),
            [some("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")]
        );

        let (_, array) = decode_one("bigint", &["9007199254740993", "-9223372036854775808", "null"]).unwrap();
        let array = array.as_primitive::<Int64Type>();
        assert_eq!(
            (array.value(0), array.value(1), array.is_null(2)),
            (9_007_199_254_740_993, i64::MIN, true)
        );
        assert_eq!(decode_one("integer", &["-1"]).unwrap().1.as_primitive::<Int32Type>().value(0), -1);
        assert_eq!(decode_one("real", &["0.1"]).unwrap().1.as_primitive::<Float32Type>().value(0), 0.1);
        assert_eq!(
            decode_one("double precision", &["1e-07"]).unwrap().1.as_primitive::<Float64Type>().value(0),
            1e-7
        );
        assert!(decode_one("boolean", &["true"]).unwrap().1.as_boolean().value(0));
        assert_eq!(
            decode_one("date", &["\"1970-01-02\""]).unwrap().1.as_primitive::<Date32Type>().value(0),
            1
        );
        let (_, array) =
            decode_one("timestamp with time zone", &["\"1970-01-01T00:00:00.5+00:00\""]).unwrap();
        assert_eq!(array.as_primitive::<TimestampMicrosecondType>().value(0), 500_000);
        assert_eq!(array_value_to_string(&array, 0).unwrap(), "1970-01-01T00:00:00.500Z");
        assert_eq!(decode_one("bytea", &[r#""\\xde00""#]).unwrap().1.as_binary::<i32>().value(0), [0xde, 0]);

        let (stored, array) = decode_one("integer[]", &["[1, null]", "null", "[]"]).unwrap();
        assert_eq!(stored.stored_type.to_string(), "list<int32>");
        let list = array.as_list::<i32>();
        assert_eq!(
            (list.value(0).len(), list.value(0).null_count(), list.is_null(1), list.value(2).len()),
            (2, 1, true, 0)
        );
        assert_eq!(
            decode_one("numeric[]", &["[1.5, 2.25]"]).unwrap().0.stored_type.to_string(),
            "list<decimal128(18,2)>"
        );
    }

    #[test]
    fn decimals_take_the_narrowest_class_of_all_values() {
        let stored = |native: &str, cells: &[&str]| {
            let (stored, _) = decode_one(native, cells).unwrap();
            format!("{}{}", stored.stored_type, if stored.inexact { " inexact" } else { "" })
        };
        assert_eq!(stored("numeric(23,2)", &["1.00", "null"]), "decimal128(18,2)");
        assert_eq!(stored("numeric(23,2)", &["999999999999999999999.99"]), "decimal128(38,2)");
        assert_eq!(stored("numeric", &["1", "0.125", "12.5"]), "decimal128(18,3)");
        assert_eq!(stored("numeric", &["1e30", "0.123456789"]), "decimal256(76,9)");
        assert_eq!(stored("numeric", &["1", "\"NaN\""]), "utf8 inexact");
        assert_eq!(stored("numeric", &["1e80"]), "utf8 inexact");
        assert_eq!(stored("numeric", &["null"]), "decimal128(18,0)");
        assert_eq!(stored("numeric[]", &["[\"NaN\"]"]), "list<utf8> inexact");

        let (_, array) = decode_one("numeric", &["9007199254740993.01", "-0.1"]).unwrap();
        let array = array.as_primitive::<Decimal128Type>();
        assert_eq!((array.value(0), array.value(1)), (900_719_925_474_099_301, -10));
        let (_, array) = decode_one("numeric", &["123456789012345678901234567890123456789012.5"]).unwrap();
        assert_eq!(
            array.as_primitive::<Decimal256Type>().value(0).to_string(),
            "1234567890123456789012345678901234567890125"
        );
        let (_, array) = decode_one("numeric", &["12.30", "\"-Infinity\""]).unwrap();
        assert_eq!(array.as_string::<i32>().value(0), "12.30");
        assert_eq!(array.as_string::<i32>().value(1), "-Infinity");
    }

    #[test]
    fn geometry_is_wkb_and_its_srid_is_the_columns() {
        let point = |srid: i32| {
            format!(
                r#"{{"type":"Point","crs":{{"type":"name","properties":{{"name":"EPSG:{srid}"}}}},"coordinates":[1,2]}}"#
            )
        };
        let (stored, array) = decode_one("geometry", &[&point(3857), "null"]).unwrap();
        assert_eq!(stored.geometry.as_ref().unwrap().srid, Some(3857));
        assert_eq!(stored.geometry.unwrap().covering, "c_bbox");
        assert_eq!(array.data_type(), &DataType::Binary);
        assert_eq!(
            super::super::geometry::from_wkb(array.as_binary::<i32>().value(0)).unwrap(),
            geo::Geometry::Point(geo::Point::new(1.0, 2.0))
        );
        assert!(decode_one("geometry(Point,4326)", &[&point(3857)]).is_err(), "another SRID than declared");
        assert!(decode_one("geometry", &[&point(3857), &point(4326)]).is_err(), "two SRIDs in a column");
    }

    #[test]
    fn a_value_that_does_not_fit_is_named_with_its_place() {
        let columns = [column("id", "integer"), column("amount", "numeric(4,2)")];
        let body = br#"[{"id":1,"amount":1.00},{"id":2,"amount":1.005}]"#;
        let error = decode_rows("d.r", &columns, &["id".to_owned()], body).unwrap_err();
        assert_eq!(
            error.to_string(),
            "d.r: column \"amount\" of row id=2 holds 1.005, which is no numeric(4,2): it has more than 2 digits after the point"
        );
        for (native, cell) in [
            ("integer", "2147483648"),
            ("integer", "1.0"),
            ("integer", "\"1\""),
            ("bigint", "9223372036854775808"),
            ("text", "1"),
            ("boolean", "\"t\""),
            ("date", "\"infinity\""),
            ("timestamp", "\"infinity\""),
            ("integer[]", "[[1],[2]]"),
            ("integer[]", "[1.5]"),
            ("integer[]", "{}"),
            ("numeric(4,2)", "100"),
            ("double precision", "1e999"),
        ] {
            let found = decode_one(native, &[cell]);
            assert!(matches!(found, Err(DecodeError::Value(_))), "{native} {cell}: {found:?}");
        }
    }

    /// Pages of one relation share types decided from all of them.
    #[test]
    fn page_boundaries_leave_no_trace() {
        let columns = [column("c", "numeric")];
        let pages = [br#"[{"c":1}]"#.as_slice(), br#"[{"c":0.25}]"#, b"[]"];
        let mut profile = TableProfile::new(1);
        for page in pages {
            profile.observe("d.r", &columns, &[], page, &mut |_, _| Ok(())).unwrap();
        }
        let stored = stored_columns(&columns, &profile);
        let decoder = TableDecoder::new("d.r", &columns, &stored, &[]);
        let values: Vec<i128> = pages
            .iter()
            .flat_map(|page| {
                decoder.decode(page).unwrap().column(0).as_primitive::<Decimal128Type>().values().to_vec()
            })
            .collect();
        assert_eq!(values, [100, 25]);
        let body = br#"[{"c":1},{"c":2},{"c":3}]"#;
        let batches = decoder.decode_in_batches(body, 2).unwrap();
        assert_eq!(batches.iter().map(RecordBatch::num_rows).collect::<Vec<_>>(), [2, 1]);
        assert_eq!(
            arrow::compute::concat_batches(decoder.schema(), &batches).unwrap(),
            decoder.decode(body).unwrap()
        );
        assert_eq!(profile.rows, 2);
    }
}
