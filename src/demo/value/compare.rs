//! PostgreSQL's order and equality of two values of one column.

use std::cmp::Ordering;

use geo::{CoordsIter, Geometry};

use super::{DemoGeometry, DemoValue, jsonb};

/// The order of two non-null values of one column; `character` says that trailing blanks don't count.
///
/// Text is ordered by code point: the demo declares the collation `C.UTF-8`. Geometries are ordered by their vertices,
/// not by PostGIS's curve: a total order all the same, equal only for equal geometries.
pub(crate) fn compare_values(left: &DemoValue, right: &DemoValue, character: bool) -> Ordering {
    match (left, right) {
        (DemoValue::Bool(left), DemoValue::Bool(right)) => left.cmp(right),
        (DemoValue::Int(left), DemoValue::Int(right)) => left.cmp(right),
        (DemoValue::Numeric(left), DemoValue::Numeric(right)) => left.cmp(right),
        (DemoValue::Double(left), DemoValue::Double(right)) => compare_floats(*left, *right),
        (DemoValue::Real(left), DemoValue::Real(right)) => compare_floats((*left).into(), (*right).into()),
        (DemoValue::Text(left), DemoValue::Text(right)) if character => {
            left.trim_end_matches(' ').cmp(right.trim_end_matches(' '))
        }
        // UTF-8 bytes sort as code points do.
        (DemoValue::Text(left), DemoValue::Text(right)) => left.cmp(right),
        (DemoValue::Date(left), DemoValue::Date(right)) => left.cmp(right),
        (DemoValue::Timestamp(left), DemoValue::Timestamp(right))
        | (DemoValue::TimestampTz(left), DemoValue::TimestampTz(right)) => left.cmp(right),
        (DemoValue::Uuid(left), DemoValue::Uuid(right)) => left.cmp(right),
        (DemoValue::Json(left), DemoValue::Json(right)) => jsonb::compare(left, right),
        (DemoValue::Bytes(left), DemoValue::Bytes(right)) => left.cmp(right),
        (DemoValue::Array(left), DemoValue::Array(right)) => compare_arrays(left, right, character),
        (DemoValue::Geometry(left), DemoValue::Geometry(right)) => compare_geometries(left, right),
        // A column holds one kind; a mixture can only come from a test's own rows.
        _ => kind(left).cmp(&kind(right)),
    }
}

/// Equality under the same rules.
pub(crate) fn values_equal(left: &DemoValue, right: &DemoValue, character: bool) -> bool {
    compare_values(left, right, character).is_eq()
}

fn kind(value: &DemoValue) -> u8 {
    match value {
        DemoValue::Null => 0,
        DemoValue::Bool(_) => 1,
        DemoValue::Int(_) => 2,
        DemoValue::Numeric(_) => 3,
        DemoValue::Double(_) => 4,
        DemoValue::Real(_) => 5,
        DemoValue::Text(_) => 6,
        DemoValue::Date(_) => 7,
        DemoValue::Timestamp(_) => 8,
        DemoValue::TimestampTz(_) => 9,
        DemoValue::Uuid(_) => 10,
        DemoValue::Json(_) => 11,
        DemoValue::Bytes(_) => 12,
        DemoValue::Array(_) => 13,
        DemoValue::Geometry(_) => 14,
    }
}

/// NaN equals NaN and is above infinity; -0 equals 0.
fn compare_floats(left: f64, right: f64) -> Ordering {
    left.partial_cmp(&right).unwrap_or_else(|| left.is_nan().cmp(&right.is_nan()))
}

/// Element by element, nulls last, then the shorter first, then fewer dimensions first.
fn compare_arrays(left: &[DemoValue], right: &[DemoValue], character: bool) -> Ordering {
    let (left_flat, right_flat) = (flatten(left), flatten(right));
    for (left, right) in left_flat.iter().zip(&right_flat) {
        let order = match (left.is_null(), right.is_null()) {
            (true, true) => Ordering::Equal,
            (true, false) => Ordering::Greater,
            (false, true) => Ordering::Less,
            (false, false) => compare_values(left, right, character),
        };
        if order.is_ne() {
            return order;
        }
    }
    left_flat.len().cmp(&right_flat.len()).then_with(|| dimensions(left).cmp(&dimensions(right)))
}

fn flatten(elements: &[DemoValue]) -> Vec<&DemoValue> {
    elements
        .iter()
        .flat_map(|element| match element {
            DemoValue::Array(inner) => flatten(inner),
            other => vec![other],
        })
        .collect()
}

fn dimensions(elements: &[DemoValue]) -> Vec<usize> {
    let mut sizes = vec![elements.len()];
    if let Some(DemoValue::Array(inner)) = elements.first() {
        sizes.extend(dimensions(inner));
    }
    // The number of dimensions decides before their sizes.
    sizes.insert(0, sizes.len());
    sizes
}

fn compare_geometries(left: &DemoGeometry, right: &DemoGeometry) -> Ordering {
    let coordinates = |geometry: &DemoGeometry| -> Vec<(u64, u64)> {
        geometry.shape.coords_iter().map(|c| (sortable(c.x), sortable(c.y))).collect()
    };
    let structure = |geometry: &DemoGeometry| format!("{:?}", ring_lengths(&geometry.shape));
    coordinates(left)
        .cmp(&coordinates(right))
        .then_with(|| left.srid.cmp(&right.srid))
        .then_with(|| structure(left).cmp(&structure(right)))
}

/// Bits of a float rearranged so that integers order as the floats do.
fn sortable(value: f64) -> u64 {
    let bits = value.to_bits();
    if bits >> 63 == 0 { bits | (1 << 63) } else { !bits }
}

/// Tells shapes with the same vertices apart.
fn ring_lengths(shape: &Geometry<f64>) -> Vec<usize> {
    match shape {
        Geometry::Polygon(polygon) => {
            std::iter::once(polygon.exterior()).chain(polygon.interiors()).map(|ring| ring.0.len()).collect()
        }
        Geometry::MultiPolygon(polygons) => polygons
            .iter()
            .flat_map(|polygon| {
                let mut lengths = ring_lengths(&Geometry::Polygon(polygon.clone()));
                lengths.insert(0, lengths.len());
                lengths
            })
            .collect(),
        other => vec![other.coords_count()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_and_blanks() {
        let order = |left: f64, right: f64| {
            compare_values(&DemoValue::Double(left), &DemoValue::Double(right), false)
        };
        assert!(order(f64::NAN, f64::NAN).is_eq());
        assert!(order(f64::NAN, f64::INFINITY).is_gt());
        assert!(order(-0.0, 0.0).is_eq());
        assert!(values_equal(&"A".into(), &"A  ".into(), true));
        assert!(!values_equal(&"A".into(), &"A  ".into(), false));
        assert!(compare_values(&"Z".into(), &"a".into(), false).is_lt(), "code point order");
    }

    #[test]
    fn arrays() {
        let array =
            |values: &[Option<i64>]| DemoValue::Array(values.iter().map(|v| DemoValue::from(*v)).collect());
        assert!(compare_values(&array(&[Some(1), None]), &array(&[Some(1), Some(9)]), false).is_gt());
        assert!(compare_values(&array(&[Some(1)]), &array(&[Some(1), Some(0)]), false).is_lt());
        assert!(compare_values(&array(&[]), &array(&[Some(0)]), false).is_lt());
    }
}
