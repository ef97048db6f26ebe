//! `ilike` as PostgreSQL means it: both sides in lower case, character by character, then `like`.
//!
//! Arrow's own folds some texts by the rules of ASCII and others by Unicode's case folding, under which `ſ` is an `s` and
//! `ς` a `σ`; PostgreSQL's lower case (the C library's, in UTF-8) keeps those apart.

use std::sync::Arc;

use arrow::array::{AsArray, BooleanArray};
use arrow::compute::cast;
use arrow::datatypes::DataType;
use datafusion::common::{Result, ScalarValue, exec_err};
use datafusion::logical_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};

/// `ilike(text, pattern)`; the pattern is a literal with `%`, `_` and `\`.
pub(super) fn ilike() -> ScalarUDF {
    ScalarUDF::from(InsensitiveLike { signature: Signature::any(2, Volatility::Immutable) })
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct InsensitiveLike {
    signature: Signature,
}

/// One element of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Piece {
    /// This character, in lower case.
    Character(char),
    /// Any one character.
    One,
    /// Any characters or none.
    Any,
}

impl ScalarUDFImpl for InsensitiveLike {
    fn name(&self) -> &str {
        "ilike"
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, _: &[DataType]) -> Result<DataType> {
        Ok(DataType::Boolean)
    }

    fn invoke_with_args(&self, arguments: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let [text, ColumnarValue::Scalar(ScalarValue::Utf8View(Some(pattern)))] = arguments.args.as_slice()
        else {
            return exec_err!("ilike takes a text and a literal pattern");
        };
        let pattern = pieces(pattern);
        let text = cast(&text.to_array(arguments.number_rows)?, &DataType::Utf8View)?;
        let Some(text) = text.as_string_view_opt() else {
            return exec_err!("ilike takes a text");
        };
        let mut folded = Vec::new();
        let matched: BooleanArray = text
            .iter()
            .map(|value| {
                value.map(|value| {
                    folded.clear();
                    folded.extend(value.chars().map(lower));
                    matches(&pattern, &folded)
                })
            })
            .collect();
        Ok(ColumnarValue::Array(Arc::new(matched)))
    }
}

/// A character's lower case, always one character: `İ` becomes `i`, as in the C library.
fn lower(character: char) -> char {
    match character {
        'A'..='Z' => character.to_ascii_lowercase(),
        '\0'..='\x7f' => character,
        _ => character.to_lowercase().next().unwrap_or(character),
    }
}

fn pieces(pattern: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut characters = pattern.chars();
    while let Some(character) = characters.next() {
        pieces.push(match character {
            '%' if pieces.last() == Some(&Piece::Any) => continue,
            '%' => Piece::Any,
            '_' => Piece::One,
            // A pattern can't end in a lone backslash; that is checked before.
            '\\' => Piece::Character(lower(characters.next().unwrap_or('\\'))),
            other => Piece::Character(lower(other)),
        });
    }
    pieces
}

/// Whether a text matches. Only the latest `%` is ever reconsidered, so the time is at most the product of the lengths.
fn matches(pattern: &[Piece], text: &[char]) -> bool {
    let (mut at, mut from) = (0, 0);
    let mut retry: Option<(usize, usize)> = None;
    while from < text.len() {
        match pattern.get(at) {
            Some(Piece::Any) => {
                retry = Some((at + 1, from));
                at += 1;
            }
            Some(Piece::One) => {
                at += 1;
                from += 1;
            }
            Some(Piece::Character(character)) if *character == text[from] => {
                at += 1;
                from += 1;
            }
            _ => match retry {
                Some((after, start)) => {
                    retry = Some((after, start + 1));
                    at = after;
                    from = start + 1;
                }
                None => return false,
            },
        }
    }
    pattern.get(at..).unwrap_or_default().iter().all(|piece| *piece == Piece::Any)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ilike(text: &str, pattern: &str) -> bool {
        matches(&pieces(pattern), &text.chars().map(lower).collect::<Vec<_>>())
    }

    /// Expected values are what PostgreSQL 15 says under C.UTF-8.
    #[test]
    fn matches_as_postgresql_does() {
        for (text, pattern) in [
            ("", ""),
            ("", "%"),
            ("AbC", "aBc"),
            ("abc", "A%"),
            ("abc", "%C"),
            ("abc", "%b%"),
            ("abc", "a_c"),
            ("a%c", r"A\%C"),
            ("a_c", r"A\_C"),
            (r"a\c", r"A\\C"),
            ("abc", r"\A\B\C"),
            ("ÉCOLE", "école"),
            ("İ", "i"),
            ("\u{212a}", "k"),
            ("ẞ", "ß"),
            ("Σ", "σ"),
            ("line\nbreak", "LINE_BREAK"),
            ("😀", "_"),
            ("aaab", "%a%b"),
            ("abab", "%ab"),
            ("abab", "a%%b"),
        ] {
            assert!(ilike(text, pattern), "{text:?} ilike {pattern:?}");
        }
        for (text, pattern) in [
            ("a", ""),
            ("", "_"),
            ("abc", "ab"),
            ("axc", r"a\_c"),
            ("ſ", "s"),
            ("ς", "σ"),
            ("ß", "SS"),
            ("ı", "i"),
            ("e\u{301}", "é"),
            ("aaab", "%a"),
            ("ab", "a__"),
        ] {
            assert!(!ilike(text, pattern), "{text:?} ilike {pattern:?}");
        }
    }

    #[test]
    fn many_wildcards_take_no_exponential_time() {
        assert!(!ilike(&"a".repeat(4_000), &format!("{}b", "%a".repeat(2_000))));
    }
}
