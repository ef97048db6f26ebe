//! The canonical form of a JSON value, RFC 8785: the bytes that are hashed and signed.
//!
//! Serialisation is the crate `serde_json_canonicalizer`, which passes the RFC's own vectors, its number table
//! (Appendix B) and the sorting cases of section 3.2.3 with `serde_json`'s arbitrary precision switched on; the
//! tests below hold it to them. The crate rounds numbers silently, as the RFC's ECMAScript model does, so this
//! module first refuses every number whose canonical text would mean another number than the text received.

use serde_json::{Map, Value};

use super::error::readable;
use super::number::canonical_number;
use super::parse::{MAX_DEPTH, Pointer, is_reserved_name};

/// A value that has no faithful canonical form.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CanonicalError {
    /// The nearest double is written as a different number.
    #[error("the number {number} at '{path}' changes when written as a double; quote it as a string")]
    NumberNotExact {
        /// JSON pointer to the number.
        path: String,
        /// The number as written.
        number: String,
    },
    /// Deeper than any document may be.
    #[error("'{path}' is nested deeper than {limit} levels")]
    TooDeep {
        /// JSON pointer to the value that goes too deep.
        path: String,
        /// The deepest level allowed.
        limit: usize,
    },
    /// A member name the JSON library keeps for itself.
    #[error("the member name at '{path}' is reserved; rename it")]
    ReservedMember {
        /// JSON pointer to the member.
        path: String,
    },
    /// The serialiser failed.
    #[error("the value can't be written canonically: {reason}")]
    Serialize {
        /// The serialiser's own words.
        reason: String,
    },
}

/// The canonical bytes of a value.
///
/// # Errors
/// [`CanonicalError`] when a number would change, or the nesting or a member name is not allowed in a document.
pub fn canonicalize(value: &Value) -> Result<Vec<u8>, CanonicalError> {
    check(value, &Pointer::Root, 0)?;
    serialize(value)
}

/// The canonical bytes of an object, as [`canonicalize`].
///
/// # Errors
/// As [`canonicalize`].
pub fn canonicalize_object(object: &Map<String, Value>) -> Result<Vec<u8>, CanonicalError> {
    check_object(object, &Pointer::Root, 1)?;
    serialize(object)
}

fn serialize<T: serde::Serialize>(value: &T) -> Result<Vec<u8>, CanonicalError> {
    serde_json_canonicalizer::to_vec(value)
        .map_err(|error| CanonicalError::Serialize { reason: error.to_string() })
}

fn check(value: &Value, path: &Pointer<'_>, depth: usize) -> Result<(), CanonicalError> {
    match value {
        Value::Number(number) => {
            let number = number.as_str();
            match canonical_number(number) {
                Some(_) => Ok(()),
                None => {
                    Err(CanonicalError::NumberNotExact { path: path.to_string(), number: readable(number) })
                }
            }
        }
        Value::Array(items) => {
            check_depth(path, depth + 1)?;
            items
                .iter()
                .enumerate()
                .try_for_each(|(index, item)| check(item, &Pointer::Index(path, index), depth + 1))
        }
        Value::Object(object) => check_object(object, path, depth + 1),
        Value::Null | Value::Bool(_) | Value::String(_) => Ok(()),
    }
}

fn check_object(object: &Map<String, Value>, path: &Pointer<'_>, depth: usize) -> Result<(), CanonicalError> {
    check_depth(path, depth)?;
    object.iter().try_for_each(|(name, member)| {
        let path = Pointer::Member(path, name);
        if is_reserved_name(name) {
            return Err(CanonicalError::ReservedMember { path: path.to_string() });
        }
        check(member, &path, depth)
    })
}

fn check_depth(path: &Pointer<'_>, depth: usize) -> Result<(), CanonicalError> {
    if depth > MAX_DEPTH {
        return Err(CanonicalError::TooDeep { path: path.to_string(), limit: MAX_DEPTH });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn canonical_text(text: &str) -> Result<String, CanonicalError> {
        let value: Value = serde_json::from_str(text).unwrap();
        canonicalize(&value).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    /// RFC 8785, Appendix B: IEEE 754 bits and the text they must get.
    const NUMBER_TABLE: &[(u64, &str)] = &[
        (0x0000_0000_0000_0000, "0"),
        (0x8000_0000_0000_0000, "0"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x8000_0000_0000_0001, "-5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0xffef_ffff_ffff_ffff, "-1.7976931348623157e+308"),
        (0x4340_0000_0000_0000, "9007199254740992"),
        (0xc340_0000_0000_0000, "-9007199254740992"),
        (0x4430_0000_0000_0000, "295147905179352830000"),
        (0x44b5_2d02_c7e1_4af5, "9.999999999999997e+22"),
        (0x44b5_2d02_c7e1_4af6, "1e+23"),
        (0x44b5_2d02_c7e1_4af7, "1.0000000000000001e+23"),
        (0x444b_1ae4_d6e2_ef4e, "999999999999999700000"),
        (0x444b_1ae4_d6e2_ef4f, "999999999999999900000"),
        (0x444b_1ae4_d6e2_ef50, "1e+21"),
        (0x3eb0_c6f7_a0b5_ed8c, "9.999999999999997e-7"),
        (0x3eb0_c6f7_a0b5_ed8d, "0.000001"),
        (0x41b3_de43_5555_5553, "333333333.3333332"),
        (0x41b3_de43_5555_5554, "333333333.33333325"),
        (0x41b3_de43_5555_5555, "333333333.3333333"),
        (0x41b3_de43_5555_5556, "333333333.3333334"),
        (0x41b3_de43_5555_5557, "333333333.33333343"),
        (0xbecb_f647_612f_3696, "-0.0000033333333333333333"),
        (0x4314_3ff3_c1cb_0959, "1424953923781206.2"),
    ];

    #[test]
    fn appendix_b_numbers() {
        for (bits, expected) in NUMBER_TABLE {
            let double = f64::from_bits(*bits);
            assert_eq!(serde_json_canonicalizer::to_string(&double).unwrap(), *expected, "{bits:016x}");
            // Through a value with arbitrary precision, as documents come: the canonical text is its own form.
            assert_eq!(canonical_text(expected).unwrap(), *expected, "{bits:016x}");
        }
        // The last row lies halfway between two shortest texts; the other one means another number (note 2 there).
        assert!(canonical_text("1424953923781206.3").is_err());
        assert!(serde_json_canonicalizer::to_string(&f64::NAN).is_err());
        assert!(serde_json_canonicalizer::to_string(&f64::INFINITY).is_err());
    }

    #[test]
    fn section_3_2_2_primitives() {
        let input = r#"{
            "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
            "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
            "literals": [null, true, false]
        }"#;
        let expected = "{\"literals\":[null,true,false],\
            \"numbers\":[333333333.3333333,1e+30,4.5,0.002,1e-27],\
            \"string\":\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\"}";
        // The serialiser alone rounds the first number, as the RFC shows; we refuse it before that.
        let value: Value = serde_json::from_str(input).unwrap();
        assert_eq!(serde_json_canonicalizer::to_string(&value).unwrap(), expected);
        assert_eq!(
            canonicalize(&value),
            Err(CanonicalError::NumberNotExact {
                path: "/numbers/0".to_owned(),
                number: "333333333.33333329".to_owned()
            })
        );
        assert_eq!(canonical_text(&input.replace("33333329", "3333333")).unwrap(), expected);
    }

    #[test]
    fn section_3_2_3_sorts_by_utf_16_unit() {
        let value = json!({
            "\u{20ac}": "Euro Sign",
            "\r": "Carriage Return",
            "\u{fb33}": "Hebrew Letter Dalet With Dagesh",
            "1": "One",
            "\u{1f600}": "Emoji: Grinning Face",
            "\u{80}": "Control",
            "\u{f6}": "Latin Small Letter O With Diaeresis",
        });
        let expected = "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\u{80}\":\"Control\",\
            \"\u{f6}\":\"Latin Small Letter O With Diaeresis\",\"\u{20ac}\":\"Euro Sign\",\
            \"\u{1f600}\":\"Emoji: Grinning Face\",\"\u{fb33}\":\"Hebrew Letter Dalet With Dagesh\"}";
        assert_eq!(String::from_utf8(canonicalize(&value).unwrap()).unwrap(), expected);
    }

    #[test]
    fn only_controls_quotes_and_backslashes_are_escaped() {
        let controls: String = (0u8..0x20).map(char::from).collect();
        let text = format!("{controls}\u{7f}\u{2028}\u{2029}\u{feff}/\"\\é");
        let expected = concat!(
            r#""\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007\b\t\n\u000b\f\r\u000e\u000f"#,
            r"\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017\u0018\u0019\u001a\u001b\u001c\u001d\u001e\u001f",
            "\u{7f}\u{2028}\u{2029}\u{feff}/\\\"\\\\é\""
        );
        assert_eq!(String::from_utf8(canonicalize(&json!(text)).unwrap()).unwrap(), expected);
    }

    #[test]
    fn keys_are_sorted_after_unescaping_and_at_every_depth() {
        assert_eq!(
            canonical_text(r#"{"b":{"\u0062":1,"a":[{"d":1,"c":2}]},"\u0061":[]}"#).unwrap(),
            r#"{"a":[],"b":{"a":[{"c":2,"d":1}],"b":1}}"#
        );
    }

    #[test]
    fn numbers_that_change_are_refused_with_their_path() {
        assert_eq!(
            canonical_text(r#"{"a/b":[0,{"~":9007199254740993}]}"#),
            Err(CanonicalError::NumberNotExact {
                path: "/a~1b/1/~0".to_owned(),
                number: "9007199254740993".to_owned()
            })
        );
        assert!(canonical_text("[1e400]").is_err());
    }

    #[test]
    fn depth_is_bounded_without_the_stack() {
        let mut value = json!(1);
        for _ in 0..MAX_DEPTH {
            value = json!([value]);
        }
        assert!(canonicalize(&value).is_ok());
        assert!(matches!(canonicalize(&json!([value])), Err(CanonicalError::TooDeep { .. })));
    }
}
