//! Relations of the demo: declared columns beside the rows, so that tests can fold over them independently.

use crate::catalog::ColumnType;

use super::value::{DemoValue, row_json, value_json};

/// One declared column.
#[derive(Debug, Clone, PartialEq)]
pub struct DemoColumn {
    /// Column name.
    pub name: String,
    /// The manifest's neutral type, e.g. `number`.
    pub declared_type: String,
    /// The manifest's native type, e.g. `numeric(23,2)`.
    pub native_type: String,
    /// Whether nulls may occur.
    pub nullable: bool,
    /// Description for people.
    pub description: Option<String>,
    /// Spatial reference of a geometry column.
    pub srid: Option<i32>,
    /// Unit of measure, e.g. `USD`.
    pub unit: Option<String>,
    /// What the declared types mean together.
    pub column_type: ColumnType,
}

impl DemoColumn {
    /// A column of a native type; the neutral type follows from it.
    pub fn new(name: &str, native_type: &str, nullable: bool) -> Self {
        let column_type = ColumnType::from_manifest("unknown", Some(native_type), None);
        let declared_type = match &column_type {
            ColumnType::Text | ColumnType::Character { .. } => "string",
            ColumnType::Integer | ColumnType::BigInt => "integer",
            ColumnType::Numeric { .. } | ColumnType::Real | ColumnType::Double => "number",
            ColumnType::Boolean => "boolean",
            ColumnType::Date => "date",
            ColumnType::Timestamp | ColumnType::TimestampTz => "timestamp",
            ColumnType::Uuid => "uuid",
            ColumnType::Json | ColumnType::Jsonb => "json",
            ColumnType::Binary => "binary",
            ColumnType::Array(_) => "array",
            ColumnType::Geometry { .. } => "geometry",
            ColumnType::Opaque => "unknown",
        };
        let srid = match &column_type {
            ColumnType::Geometry { srid } => *srid,
            _ => None,
        };
        Self {
            name: name.to_owned(),
            declared_type: declared_type.to_owned(),
            native_type: native_type.to_owned(),
            nullable,
            description: None,
            srid,
            unit: None,
            column_type,
        }
    }
}

/// One relation with its rows in the order the origin holds them, which is no key's order.
#[derive(Debug, Clone, PartialEq)]
pub struct DemoRelation {
    /// Dataset name.
    pub dataset: String,
    /// Relation name; `rpt.award_search` lies in the schema `rpt`.
    pub name: String,
    /// `table`, `view` or `materialized_view`.
    pub relation_type: String,
    /// `upstream`, `derived` or `recovered`.
    pub provenance: String,
    /// Description for people.
    pub description: Option<String>,
    /// Columns in signed order.
    pub columns: Vec<DemoColumn>,
    /// Declared primary key; empty when the manifest declares none.
    pub primary_key: Vec<String>,
    /// Whether the signed manifest lets it be read; the origin doesn't serve it otherwise.
    pub queryable: bool,
    /// The advisory count the manifest carries, if any.
    pub row_count_estimate: Option<u64>,
    /// Values in column order.
    pub rows: Vec<Vec<DemoValue>>,
}

/// A row together with its relation's column names.
#[derive(Debug, Clone, Copy)]
pub struct DemoRow<'a> {
    relation: &'a DemoRelation,
    values: &'a [DemoValue],
}

impl DemoRelation {
    /// An empty queryable table; for tests that serve relations of their own.
    pub fn new(dataset: &str, name: &str, columns: Vec<DemoColumn>, primary_key: &[&str]) -> Self {
        Self {
            dataset: dataset.to_owned(),
            name: name.to_owned(),
            relation_type: "table".to_owned(),
            provenance: "derived".to_owned(),
            description: None,
            columns,
            primary_key: primary_key.iter().map(|name| (*name).to_owned()).collect(),
            queryable: true,
            row_count_estimate: None,
            rows: Vec::new(),
        }
    }

    /// `dataset.relation`.
    pub fn source(&self) -> String {
        format!("{}.{}", self.dataset, self.name)
    }

    /// PostgreSQL schema and table: a dotted name carries its schema, the others lie in `public`.
    pub fn schema_and_table(&self) -> (&str, &str) {
        self.name.split_once('.').unwrap_or(("public", &self.name))
    }

    /// Position of a column.
    pub fn column_index(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// The rows, each with access by column name.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = DemoRow<'_>> {
        self.rows.iter().map(|values| DemoRow { relation: self, values })
    }

    /// A row as the JSON object the API writes when every column is selected.
    pub fn row_json(&self, values: &[DemoValue]) -> String {
        row_json(
            self.columns
                .iter()
                .zip(values)
                .map(|(column, value)| (column.name.as_str(), &column.column_type, value)),
        )
    }
}

impl<'a> DemoRow<'a> {
    /// The value of a column; `Null` also when there is no such column, so ask the relation if in doubt.
    pub fn get(&self, column: &str) -> &'a DemoValue {
        self.relation
            .column_index(column)
            .and_then(|index| self.values.get(index))
            .unwrap_or(&DemoValue::Null)
    }

    /// The characters of a text column, `None` for null.
    pub fn text(&self, column: &str) -> Option<&'a str> {
        self.get(column).as_text()
    }

    /// The value of an integer column, `None` for null.
    pub fn int(&self, column: &str) -> Option<i64> {
        self.get(column).as_int()
    }

    /// A value as the API writes it in JSON; `None` if there is no such column.
    pub fn json(&self, column: &str) -> Option<String> {
        let index = self.relation.column_index(column)?;
        let declared = self.relation.columns.get(index)?;
        Some(value_json(self.values.get(index)?, &declared.column_type))
    }

    /// All values in column order.
    pub fn values(&self) -> &'a [DemoValue] {
        self.values
    }
}

/// Every relation of a catalogue, dataset by dataset in signed order.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct DemoData {
    /// The relations.
    pub relations: Vec<DemoRelation>,
}

impl DemoData {
    /// The relation a qualified source names; split at the first dot.
    pub fn relation(&self, source: &str) -> Option<&DemoRelation> {
        let (dataset, name) = source.split_once('.')?;
        self.relations.iter().find(|relation| relation.dataset == dataset && relation.name == name)
    }

    /// The same, to be altered.
    pub fn relation_mut(&mut self, source: &str) -> Option<&mut DemoRelation> {
        let (dataset, name) = source.split_once('.')?;
        self.relations.iter_mut().find(|relation| relation.dataset == dataset && relation.name == name)
    }

    /// The relations of one dataset.
    pub fn dataset<'a>(&'a self, dataset: &'a str) -> impl Iterator<Item = &'a DemoRelation> {
        self.relations.iter().filter(move |relation| relation.dataset == dataset)
    }
}
