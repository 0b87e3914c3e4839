//! A store's finished points, checked: their identities from their content, and their digests from
//! their tables' columns.
//!
//! Many points come in one call, with all their rows for a table one after the other: a point has a
//! few rows in each table, and a separate call would cost more than its digest.

use std::collections::HashMap;

use experiment::Point;
use kernel::Digest;
use pyo3::FromPyObject;
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyDict;
use serde::Deserialize;
use workload::Tables;
use workload::table::{Column, Type, Value, Values};

/// A manifest's part that holds the point.
#[derive(Deserialize)]
struct Manifest {
    point: Point,
}

/// A point's key, parameters as JSON, series and seed.
pub type PointIdentity = (String, String, String, u64);

/// The identity of a manifest's point; `None` if the text holds no point.
pub fn identified(manifest: &[u8]) -> Option<PointIdentity> {
    let Manifest { point } = serde_json::from_slice(manifest).ok()?;
    let parameters = serde_json::to_string(&point.parameters()).ok()?;
    Some((point.key(), parameters, point.series, point.seed))
}

/// A table column: numbers without gaps as eight bytes each, in this machine's byte order, or any
/// values.
#[derive(FromPyObject)]
pub enum ColumnData {
    /// Numbers; floating-point ones by their bits, and a truth value is 0 or 1.
    Packed(PyBackedBytes),
    /// Texts, or `None`.
    Texts(Vec<Option<String>>),
    /// Numbers, or `None`.
    Integers(Vec<Option<u64>>),
    /// Numbers, or `None`.
    Numbers(Vec<Option<f64>>),
}

/// A column, and its values' type.
struct TypedColumn<'a>(Type, &'a ColumnData);

impl Values for TypedColumn<'_> {
    fn at(&self, row: usize) -> Option<Value<'_>> {
        let word = |value: u64| {
            Some(match self.0 {
                Type::Bool => Value::Bool(value != 0),
                Type::U32 => Value::U32(u32::try_from(value).ok()?),
                Type::U64 => Value::U64(value),
                Type::F64 => Value::F64(f64::from_bits(value)),
                Type::Text => return None,
            })
        };
        match (self.1, self.0) {
            (ColumnData::Packed(bytes), _) => {
                let bytes = bytes.get(row * 8..row * 8 + 8)?;
                word(u64::from_ne_bytes(bytes.try_into().ok()?))
            }
            (ColumnData::Texts(texts), kind) => match texts.get(row)? {
                Some(text) => (kind == Type::Text).then_some(Value::Text(text)),
                None => Some(Value::None),
            },
            (ColumnData::Integers(_) | ColumnData::Numbers(_), Type::Text) => None,
            (ColumnData::Integers(numbers), Type::F64) => Some(match numbers.get(row)? {
                Some(number) => Value::F64(*number as f64),
                None => Value::None,
            }),
            (ColumnData::Integers(numbers), _) => match numbers.get(row)? {
                Some(number) => word(*number),
                None => Some(Value::None),
            },
            (ColumnData::Numbers(numbers), Type::F64) => Some(match numbers.get(row)? {
                Some(number) => Value::F64(*number),
                None => Value::None,
            }),
            (ColumnData::Numbers(_), _) => None,
        }
    }
}

/// One table's rows for all points: their number for each point, and the columns in the digest.
type Rows = (Vec<usize>, HashMap<String, ColumnData>);

/// The points' digests; each point has a base and the numbers of packets, events and picoseconds;
/// `None` for a point with a missing value in its tables, or one of another type.
pub fn digests(
    points: &[(String, u64, u64, u64)],
    tables: &HashMap<String, Rows>,
) -> Vec<Option<String>> {
    let kinds = Tables::default();
    let kinds = kinds.all();
    let columns: Vec<Vec<Column>> = kinds.iter().map(|(_, kind)| kind.columns()).collect();
    let typed: Vec<Vec<Option<TypedColumn<'_>>>> = kinds
        .iter()
        .zip(&columns)
        .map(|((name, _), columns)| {
            let given = tables.get(*name).map(|(_, given)| given);
            let typed = |column: &Column| Some(TypedColumn(column.kind, given?.get(&column.name)?));
            columns.iter().map(typed).collect()
        })
        .collect();
    let mut begins = vec![0; kinds.len()];
    let mut found = Vec::with_capacity(points.len());
    for (number, (base, packets, events, simulated)) in points.iter().enumerate() {
        let add = |digest: &mut Digest| {
            let mut complete = Some(());
            for (((name, kind), typed), begin) in kinds.iter().zip(&typed).zip(&mut begins) {
                let many = tables.get(*name).and_then(|(many, _)| many.get(number));
                let rows = *begin..*begin + many.copied().unwrap_or(0);
                *begin = rows.end;
                let columns: Vec<_> = typed
                    .iter()
                    .map(|one| one.as_ref().map(|one| one as &dyn Values))
                    .collect();
                complete = complete.and(kind.add_columns(digest, &columns, rows));
            }
            complete
        };
        found.push(workload::digest(base, [*packets, *events, *simulated], add));
    }
    found
}

/// The columns in each table's digest.
pub fn hashed(py: Python<'_>) -> PyResult<Bound<'_, PyDict>> {
    let all = PyDict::new(py);
    for (name, table) in Tables::default().all() {
        let columns = table.columns().into_iter().zip(table.hashed());
        let names: Vec<_> = columns
            .filter(|(_, hashed)| *hashed)
            .map(|(column, _)| column.name)
            .collect();
        all.set_item(name, names)?;
    }
    Ok(all)
}
