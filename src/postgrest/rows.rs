//! Reading a page row by row: each cell as the JSON text the server wrote, in the order of the columns asked for.

use std::fmt;

use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::error::DecodeError;

/// What is called for each row: its place in the page, from 0, and its cells. `null` is the text `null`.
pub type OnRow<'f> = &'f mut dyn FnMut(usize, &[&str]) -> Result<(), DecodeError>;

/// Calls `on_row` for every row of a page; returns the number of rows. A row with a missing, unknown or repeated
/// column is an error, and so is anything but an array of objects.
pub(super) fn read_rows(
    relation: &str,
    columns: &[&str],
    body: &[u8],
    on_row: OnRow<'_>,
) -> Result<usize, DecodeError> {
    let not_rows = |problem: String| DecodeError::NotRows { relation: relation.to_owned(), problem };
    let text = std::str::from_utf8(body).map_err(|error| not_rows(format!("not UTF-8: {error}")))?;
    let mut reader = Reader { relation, columns, on_row, rows: 0, failure: None };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let outcome = serde::Deserializer::deserialize_seq(&mut deserializer, RowsVisitor(&mut reader))
        .and_then(|()| deserializer.end());
    match (reader.failure.take(), outcome) {
        (Some(failure), _) => Err(failure),
        (None, Err(error)) => Err(not_rows(error.to_string())),
        (None, Ok(())) => Ok(reader.rows),
    }
}

struct Reader<'c, 'f> {
    relation: &'c str,
    columns: &'c [&'c str],
    on_row: OnRow<'f>,
    rows: usize,
    /// The real error, which serde's error type can't carry.
    failure: Option<DecodeError>,
}

impl Reader<'_, '_> {
    /// Stops the parser; the failure is what the caller gets.
    fn fail<E: serde::de::Error>(&mut self, failure: DecodeError) -> E {
        self.failure = Some(failure);
        E::custom("stopped")
    }
}

struct RowsVisitor<'r, 'c, 'f>(&'r mut Reader<'c, 'f>);

impl<'de> Visitor<'de> for RowsVisitor<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array of rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<(), A::Error> {
        let mut cells: Vec<Option<&'de RawValue>> = vec![None; self.0.columns.len()];
        let mut texts: Vec<&str> = Vec::with_capacity(cells.len());
        while rows.next_element_seed(RowSeed { reader: self.0, cells: &mut cells })?.is_some() {
            texts.clear();
            for (index, cell) in cells.iter_mut().enumerate() {
                match cell.take() {
                    Some(cell) => texts.push(cell.get()),
                    None => {
                        let failure = DecodeError::MissingColumn {
                            relation: self.0.relation.to_owned(),
                            row: self.0.rows + 1,
                            column: self.0.columns.get(index).copied().unwrap_or_default().to_owned(),
                        };
                        return Err(self.0.fail(failure));
                    }
                }
            }
            if let Err(failure) = (self.0.on_row)(self.0.rows, &texts) {
                return Err(self.0.fail(failure));
            }
            self.0.rows += 1;
        }
        Ok(())
    }
}

struct RowSeed<'r, 'c, 'f, 'de> {
    reader: &'r mut Reader<'c, 'f>,
    cells: &'r mut [Option<&'de RawValue>],
}

impl<'de> DeserializeSeed<'de> for RowSeed<'_, '_, '_, 'de> {
    type Value = ();

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for RowSeed<'_, '_, '_, 'de> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a row as a JSON object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut row: A) -> Result<(), A::Error> {
        // Servers write columns in the order asked for, so the next one is nearly always the right guess.
        let mut guess = 0;
        while let Some(found) = row.next_key_seed(NameSeed { columns: self.reader.columns, guess })? {
            let extra = |column: String, problem| DecodeError::ExtraColumn {
                relation: self.reader.relation.to_owned(),
                row: self.reader.rows + 1,
                column,
                problem,
            };
            let index = match found {
                Ok(index) => index,
                Err(name) => {
                    row.next_value::<IgnoredAny>()?;
                    let failure = extra(name, "which was not asked for");
                    return Err(self.reader.fail(failure));
                }
            };
            let value: &'de RawValue = row.next_value()?;
            let Some(cell) = self.cells.get_mut(index) else {
                return Err(A::Error::custom("a column outside the row"));
            };
            if cell.replace(value).is_some() {
                let name = self.reader.columns.get(index).copied().unwrap_or_default().to_owned();
                let failure = extra(name, "twice");
                return Err(self.reader.fail(failure));
            }
            guess = index + 1;
        }
        Ok(())
    }
}

/// Finds a member's name among the columns without copying it.
struct NameSeed<'c> {
    columns: &'c [&'c str],
    guess: usize,
}

impl<'de> DeserializeSeed<'de> for NameSeed<'_> {
    type Value = Result<usize, String>;

    fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for NameSeed<'_> {
    type Value = Result<usize, String>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a column name")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<Self::Value, E> {
        if self.columns.get(self.guess) == Some(&name) {
            return Ok(Ok(self.guess));
        }
        Ok(self
            .columns
            .iter()
            .position(|column| *column == name)
            .ok_or_else(|| name.chars().take(128).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(body: &str) -> Result<Vec<Vec<String>>, DecodeError> {
        let mut found = Vec::new();
        let count = read_rows("d.r", &["a", "b"], body.as_bytes(), &mut |_, cells| {
            found.push(cells.iter().map(|cell| (*cell).to_owned()).collect());
            Ok(())
        })?;
        assert_eq!(count, found.len());
        Ok(found)
    }

    #[test]
    fn cells_are_the_text_the_server_wrote() {
        let found = rows("[{\"a\":9007199254740993,\"b\":1.10},\n {\"b\":\"x\\u00e9\",\"a\":null}]").unwrap();
        assert_eq!(found, [["9007199254740993", "1.10"], ["null", "\"x\\u00e9\""]]);
        assert_eq!(rows("[]").unwrap(), Vec::<Vec<String>>::new());
        // Whatever is nested in a cell stays one cell.
        assert_eq!(rows(r#"[{"a":{"a":1,"a":2},"b":[1, 2]}]"#).unwrap(), [[r#"{"a":1,"a":2}"#, "[1, 2]"]]);
    }

    #[test]
    fn other_shapes_are_refused_by_name() {
        let missing = |row, column: &str| DecodeError::MissingColumn {
            relation: "d.r".to_owned(),
            row,
            column: column.to_owned(),
        };
        assert_eq!(rows(r#"[{"a":1,"b":2},{"b":1}]"#), Err(missing(2, "a")));
        assert!(matches!(
            rows(r#"[{"a":1,"b":2,"c":3}]"#),
            Err(DecodeError::ExtraColumn { column, .. }) if column == "c"
        ));
        assert!(matches!(
            rows(r#"[{"a":1,"a":2,"b":3}]"#),
            Err(DecodeError::ExtraColumn { column, problem: "twice", .. }) if column == "a"
        ));
        for other in
            ["", "{}", "null", r#"{"a":1,"b":2}"#, "[1]", "[null]", r#"[{"a":1,"b":2}"#, "[] []", "[{]"]
        {
            assert!(matches!(rows(other), Err(DecodeError::NotRows { .. })), "{other}");
        }
        assert!(matches!(
            read_rows("d.r", &["a"], b"[{\"a\":\"\xff\"}]", &mut |_, _| Ok(())),
            Err(DecodeError::NotRows { .. })
        ));
    }
}
