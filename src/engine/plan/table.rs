//! A relation's rows as a DataFusion table: Parquet parts of a snapshot, or batches fetched from the live API. Every plan
//! runs over either.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::{SortOptions, cast};
use arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::Session;
use datafusion::common::{DataFusionError, Result, plan_err};
use datafusion::datasource::listing::PartitionedFile;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::datasource::object_store::ObjectStoreUrl;
use datafusion::datasource::physical_plan::parquet::CachedParquetFileReaderFactory;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfigBuilder, ParquetSource};
use datafusion::datasource::source::DataSourceExec;
use datafusion::datasource::{TableProvider, TableType};
use datafusion::logical_expr::{Expr, TableProviderFilterPushDown};
use datafusion::object_store::ObjectStore;
use datafusion::object_store::local::LocalFileSystem;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_expr::{LexOrdering, PhysicalSortExpr};
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::empty::EmptyExec;
use sha2::{Digest, Sha256};

use super::session::RowFilters;
use super::statistics;
use crate::catalog::Relation;

/// The rows of one relation as the engine reads them.
#[derive(Debug, Clone)]
pub struct RelationData {
    /// Columns as stored, the relation's columns by name (hidden helper columns may follow).
    pub schema: SchemaRef,
    /// The rows themselves.
    pub source: RowSource,
    /// Columns that order the rows, ascending, nulls last: the primary key where it was found to tell them apart, else
    /// every column. Parts lie in this order, batches need not.
    pub sort_key: Vec<String>,
    /// Exact number of rows in `source`.
    pub rows: u64,
    /// Numeric columns kept as text because no decimal holds every value.
    pub inexact: Vec<String>,
}

/// Where a relation's rows are.
#[derive(Debug, Clone)]
pub enum RowSource {
    /// Parquet files in sort order, all rows of a capture.
    Parts(Vec<PartFile>),
    /// In memory, with the schema's columns in its order; the rows a live read needed.
    Batches(Vec<RecordBatch>),
}

/// One Parquet file.
#[derive(Debug, Clone)]
pub struct PartFile {
    /// Where it lies.
    pub path: PathBuf,
    /// Its size in bytes.
    pub bytes: u64,
    /// Its rows.
    pub rows: u64,
}

/// The table: columns in the relation's order, strings and binaries as views.
#[derive(Debug)]
pub(in crate::engine) struct RelationTable {
    data: RelationData,
    schema: SchemaRef,
    row_filters: RowFilters,
    in_order: bool,
}

impl RelationTable {
    /// The relation's columns over its stored rows; an error if a column isn't stored.
    pub(in crate::engine) fn new(relation: &Relation, data: &RelationData) -> Result<Self> {
        let fields = relation
            .columns
            .iter()
            .map(|column| {
                let stored = data.schema.field_with_name(&column.name)?;
                Ok(Field::new(&column.name, viewed(stored.data_type()), true))
            })
            .collect::<Result<Vec<_>, arrow::error::ArrowError>>()
            .map_err(|error| DataFusionError::ArrowError(Box::new(error), None))?;
        Ok(Self::of_fields(data, fields))
    }

    /// Every stored column.
    pub(in crate::engine) fn stored(data: &RelationData) -> Self {
        let fields: Vec<Field> = data
            .schema
            .fields()
            .iter()
            .map(|field| Field::new(field.name(), viewed(field.data_type()), true))
            .collect();
        Self::of_fields(data, fields)
    }

    fn of_fields(data: &RelationData, fields: Vec<Field>) -> Self {
        Self {
            data: data.clone(),
            schema: Arc::new(Schema::new(fields)),
            row_filters: RowFilters::Off,
            in_order: false,
        }
    }

    /// The same, with filters applied while decoding: columns that only the answer needs are decoded for passing rows
    /// alone. Faster where many columns are read for few rows, slower where few columns are read for many. The plan must run
    /// in a session made for it.
    pub(in crate::engine) fn with_row_filters(self, row_filters: RowFilters) -> Self {
        Self { row_filters, ..self }
    }

    /// The same, read in the files' order, one after the other: a limit stops early. Otherwise all cores share the files.
    pub(in crate::engine) fn in_stored_order(self, in_order: bool) -> Self {
        Self { in_order, ..self }
    }

    /// A batch with the table's columns in its order and types.
    fn conformed(&self, batch: &RecordBatch) -> Result<RecordBatch> {
        let arrow = |error| DataFusionError::ArrowError(Box::new(error), None);
        let columns = self
            .schema
            .fields()
            .iter()
            .map(|field| match batch.column_by_name(field.name()) {
                Some(column) => cast(column, field.data_type()).map_err(arrow),
                None => plan_err!("the rows at hand lack the column {}", field.name()),
            })
            .collect::<Result<Vec<_>>>()?;
        RecordBatch::try_new(Arc::clone(&self.schema), columns).map_err(arrow)
    }

    /// The declared order of the files, as far as it is on columns read.
    fn ordering(&self) -> Result<Option<LexOrdering>> {
        let terms = self
            .data
            .sort_key
            .iter()
            .map(|name| {
                let column = Column::new_with_schema(name, &self.schema)?;
                Ok(PhysicalSortExpr::new(Arc::new(column), ascending()))
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(LexOrdering::new(terms))
    }
}

fn ascending() -> SortOptions {
    SortOptions { descending: false, nulls_first: false }
}

fn viewed(data_type: &DataType) -> DataType {
    match data_type {
        DataType::Utf8 => DataType::Utf8View,
        DataType::Binary => DataType::BinaryView,
        other => other.clone(),
    }
}

/// The deepest directory all parts lie in.
fn common_directory(parts: &[PartFile]) -> PathBuf {
    let mut directories = parts.iter().filter_map(|part| part.path.parent());
    let first = directories.next().map(Path::to_owned).unwrap_or_default();
    directories.fold(first, |common, directory| {
        common.components().zip(directory.components()).take_while(|(a, b)| a == b).map(|(a, _)| a).collect()
    })
}

/// Makes a directory known to the session under an address of its own. Paths below the file system's root would be
/// percent-encoded on the way, so that a store in a directory with an umlaut or a blank couldn't be read.
fn register(state: &dyn Session, root: &Path) -> Result<(ObjectStoreUrl, Arc<dyn ObjectStore>)> {
    let digest = Sha256::digest(root.as_os_str().as_encoded_bytes());
    let url =
        ObjectStoreUrl::parse(format!("parts://{}", hex::encode(digest.get(..16).unwrap_or_default())))?;
    let files = LocalFileSystem::new_with_prefix(root)
        .map_err(|error| DataFusionError::ObjectStore(Box::new(error)))?;
    let files: Arc<dyn ObjectStore> = Arc::new(files);
    state.runtime_env().register_object_store(url.as_ref(), Arc::clone(&files));
    Ok((url, files))
}

#[async_trait]
impl TableProvider for RelationTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Base
    }

    fn supports_filters_pushdown(&self, filters: &[&Expr]) -> Result<Vec<TableProviderFilterPushDown>> {
        // The physical optimizer hands the filter to the scan for pruning; the filter itself stays in the plan.
        Ok(vec![TableProviderFilterPushDown::Unsupported; filters.len()])
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        _: &[Expr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let parts = match &self.data.source {
            RowSource::Parts(parts) if parts.is_empty() => {
                let schema = match projection {
                    Some(positions) => Arc::new(self.schema.project(positions)?),
                    None => Arc::clone(&self.schema),
                };
                return Ok(Arc::new(EmptyExec::new(schema)));
            }
            RowSource::Parts(parts) => parts,
            RowSource::Batches(batches) => {
                let batches =
                    batches.iter().map(|batch| self.conformed(batch)).collect::<Result<Vec<_>>>()?;
                let schema = Arc::clone(&self.schema);
                let source: Arc<dyn ExecutionPlan> =
                    MemorySourceConfig::try_new_exec(&[batches], schema, projection.cloned())?;
                return Ok(source);
            }
        };
        let root = common_directory(parts);
        let (url, store) = register(state, &root)?;
        let mut files = Vec::with_capacity(parts.len());
        for part in parts {
            // Below the root, names are the store's own: hexadecimal digits.
            let below = part.path.strip_prefix(&root).unwrap_or(&part.path);
            let Some(name) = below.to_str() else {
                return plan_err!("the path {} is not valid UTF-8", part.path.display());
            };
            files.push(PartitionedFile::new(name, part.bytes));
        }
        // Footers and page indexes are read once per process: an object's name is its content.
        let footers = state.runtime_env().cache_manager.get_file_metadata_cache();
        let mut wanted: BTreeSet<usize> = match projection {
            Some(positions) => positions.iter().copied().collect(),
            None => (0..self.schema.fields().len()).collect(),
        };
        if self.in_order {
            // That the files follow each other in the declared order is believed on evidence only.
            wanted.extend(self.data.sort_key.iter().filter_map(|name| self.schema.index_of(name).ok()));
        }
        let by_file = statistics::of_files(store.as_ref(), &footers, &files, &self.schema, &wanted).await?;
        let statistics = statistics::of_all(&by_file, self.data.rows);
        for (file, statistics) in files.iter_mut().zip(by_file) {
            file.statistics = Some(Arc::new(statistics));
        }
        let source = ParquetSource::new(Arc::clone(&self.schema))
            .with_enable_page_index(true)
            .with_bloom_filter_on_read(true)
            .with_pushdown_filters(self.row_filters == RowFilters::On)
            .with_reorder_filters(self.row_filters == RowFilters::On)
            .with_parquet_file_reader_factory(Arc::new(CachedParquetFileReaderFactory::new(store, footers)));
        let mut builder = FileScanConfigBuilder::new(url, Arc::new(source))
            .with_projection_indices(projection.cloned())?
            .with_statistics(statistics)
            .with_limit(limit);
        builder = builder.with_file_group(FileGroup::new(files));
        if let (true, Some(ordering)) = (self.in_order, self.ordering()?) {
            builder = builder.with_output_ordering(vec![ordering]);
        }
        Ok(DataSourceExec::from_data_source(builder.build()))
    }
}
