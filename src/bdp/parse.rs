//! Step 1: bytes to one JSON object, refusing everything two readers could read differently.
//!
//! Built on `serde_json`'s tokenizer, with a visitor that sees every member name and every number as written. What
//! it refuses: oversized input, a byte order mark, invalid UTF-8, trailing data, a top level that isn't an object,
//! duplicate member names at any depth (compared after unescaping), nesting beyond the limit, lone surrogates, and
//! numbers that RFC 8785 would change.

use std::cell::RefCell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use super::error::{VerifyError, readable};
use super::number::canonical_number;

/// The deepest nesting any document may have; the outermost object is level 1. Real documents use 6. Below the
/// JSON library's own limit of 128, so that the refusal is ours and names the place.
pub(super) const MAX_DEPTH: usize = 64;

/// Bounds on what is read before anything is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Largest document in bytes, against memory exhaustion. The largest real one has 580 KB; 8 MiB by default.
    pub max_document_bytes: usize,
    /// Deepest nesting in levels, against stack exhaustion; 64 by default and at most.
    pub max_depth: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { max_document_bytes: 8 * 1024 * 1024, max_depth: MAX_DEPTH }
    }
}

/// A place in a document, built on the stack while walking and written as a JSON pointer (RFC 6901), for people:
/// long names are cut and control characters escaped, since the document isn't trusted yet.
pub(super) enum Pointer<'a> {
    /// The document itself.
    Root,
    /// A member of the object at the parent.
    Member(&'a Pointer<'a>, &'a str),
    /// An item of the array at the parent.
    Index(&'a Pointer<'a>, usize),
}

impl fmt::Display for Pointer<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Root => Ok(()),
            Self::Member(parent, name) => {
                write!(formatter, "{parent}/{}", readable(name).replace('~', "~0").replace('/', "~1"))
            }
            Self::Index(parent, index) => write!(formatter, "{parent}/{index}"),
        }
    }
}

/// How `serde_json` hands a number over when it keeps its digits: as a map with this one member.
const NUMBER_TOKEN: &str = "$serde_json::private::Number";
/// How it hands over unparsed text.
const RAW_VALUE_TOKEN: &str = "$serde_json::private::RawValue";

/// Whether the JSON library would read an object with this member as something else than an object.
pub(super) fn is_reserved_name(name: &str) -> bool {
    name == NUMBER_TOKEN || name == RAW_VALUE_TOKEN
}

/// Reads one JSON object under the rules of step 1.
///
/// # Errors
/// One [`VerifyError`] variant per rule, naming the place.
pub fn parse_object(bytes: &[u8], limits: &Limits) -> Result<Map<String, Value>, VerifyError> {
    if bytes.len() > limits.max_document_bytes {
        return Err(VerifyError::TooLarge { size: bytes.len(), limit: limits.max_document_bytes });
    }
    if bytes.starts_with(b"\xef\xbb\xbf") {
        return Err(VerifyError::ByteOrderMark);
    }
    let text =
        std::str::from_utf8(bytes).map_err(|error| VerifyError::NotUtf8 { offset: error.valid_up_to() })?;
    let context = Context { max_depth: limits.max_depth.min(MAX_DEPTH), fault: RefCell::new(None) };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let seed = ValueSeed { context: &context, path: &Pointer::Root, depth: 0 };
    let value = seed.deserialize(&mut deserializer).map_err(|error| {
        context.fault.take().unwrap_or_else(|| VerifyError::NotJson { reason: error.to_string() })
    })?;
    deserializer
        .end()
        .map_err(|error| VerifyError::TrailingData { line: error.line(), column: error.column() })?;
    match value {
        Value::Object(object) => Ok(object),
        other => Err(VerifyError::NotAnObject { found: kind_of(&other) }),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// What the visitors share. The typed fault is kept here because a deserializer's error carries text only.
struct Context {
    max_depth: usize,
    fault: RefCell<Option<VerifyError>>,
}

impl Context {
    fn refuse<E: serde::de::Error>(&self, fault: VerifyError) -> E {
        let error = E::custom(&fault);
        self.fault.replace(Some(fault));
        error
    }
}

#[derive(Clone, Copy)]
struct ValueSeed<'a> {
    context: &'a Context,
    path: &'a Pointer<'a>,
    /// Levels of containers around the value.
    depth: usize,
}

impl ValueSeed<'_> {
    fn enter<E: serde::de::Error>(&self) -> Result<usize, E> {
        let depth = self.depth + 1;
        if depth > self.context.max_depth {
            let limit = self.context.max_depth;
            return Err(self.context.refuse(VerifyError::TooDeep { path: self.path.to_string(), limit }));
        }
        Ok(depth)
    }

    fn number<E: serde::de::Error>(&self, text: String) -> Result<Value, E> {
        if canonical_number(&text).is_none() {
            let path = self.path.to_string();
            return Err(self.context.refuse(VerifyError::NumberNotExact { path, number: readable(&text) }));
        }
        text.parse::<Number>().map(Value::Number).map_err(E::custom)
    }

    fn member<'de, A: MapAccess<'de>>(
        &self,
        map: &mut A,
        members: &mut Map<String, Value>,
        name: String,
        depth: usize,
    ) -> Result<(), A::Error> {
        let path = Pointer::Member(self.path, &name);
        if is_reserved_name(&name) {
            return Err(self.context.refuse(VerifyError::ReservedMember { path: path.to_string() }));
        }
        if members.contains_key(&name) {
            return Err(self.context.refuse(VerifyError::DuplicateMember { path: path.to_string() }));
        }
        let value = map.next_value_seed(ValueSeed { context: self.context, path: &path, depth })?;
        members.insert(name, value);
        Ok(())
    }
}

impl<'de> DeserializeSeed<'de> for ValueSeed<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for ValueSeed<'_> {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    // Numbers come as text (see `NUMBER_TOKEN`). Should a build of the JSON library ever round them first, integers
    // still carry all their digits, but a double doesn't: the trait's default then refuses it.
    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Value, E> {
        self.number(value.to_string())
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
        self.number(value.to_string())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let depth = self.enter()?;
        let mut items = Vec::new();
        loop {
            let path = Pointer::Index(self.path, items.len());
            match sequence.next_element_seed(ValueSeed { context: self.context, path: &path, depth })? {
                Some(item) => items.push(item),
                None => return Ok(Value::Array(items)),
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Value, A::Error> {
        let mut next = map.next_key::<String>()?;
        if next.as_deref() == Some(NUMBER_TOKEN) {
            return match map.next_value_seed(NumberText) {
                Ok(text) => self.number(text),
                Err(_) => {
                    let path = Pointer::Member(self.path, NUMBER_TOKEN).to_string();
                    Err(self.context.refuse(VerifyError::ReservedMember { path }))
                }
            };
        }
        let depth = self.enter()?;
        let mut members = Map::new();
        while let Some(name) = next {
            self.member(&mut map, &mut members, name, depth)?;
            next = map.next_key()?;
        }
        Ok(Value::Object(members))
    }
}

/// Accepts a number's own digits, which the tokenizer hands over as an owned string, and nothing that a document
/// with a real member of the reserved name can hold: its strings are borrowed from the input or from a buffer.
struct NumberText;

impl<'de> DeserializeSeed<'de> for NumberText {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<String, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for NumberText {
    type Value = String;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("the digits of a number")
    }

    fn visit_string<E: serde::de::Error>(self, text: String) -> Result<String, E> {
        Ok(text)
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<String, E> {
        Err(E::invalid_type(serde::de::Unexpected::Str(text), &self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Map<String, Value>, VerifyError> {
        parse_object(text.as_bytes(), &Limits::default())
    }

    #[test]
    fn keeps_digits_and_order_as_written() {
        let object = parse(r#" {"b": 1.50, "a": [-0, 1E3, 2.50e-3, "x", null, true, {}, []]} "#).unwrap();
        assert_eq!(
            serde_json::to_string(&object).unwrap(),
            r#"{"b":1.50,"a":[-0,1e+3,2.50e-3,"x",null,true,{},[]]}"#
        );
    }

    #[test]
    fn refuses_duplicates_at_any_depth_and_after_unescaping() {
        for (text, path) in [
            (r#"{"a":1,"a":1}"#, "/a"),
            (r#"{"x":[{"a":1,"b":2,"a":1}]}"#, "/x/0/a"),
            (r#"{"a":1,"\u0061":1}"#, "/a"),
            (r#"{"x":{"\ud83d\ude00":1,"😀":2}}"#, "/x/😀"),
        ] {
            assert_eq!(parse(text), Err(VerifyError::DuplicateMember { path: path.to_owned() }), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_not_one_object() {
        assert_eq!(parse("[1]"), Err(VerifyError::NotAnObject { found: "an array" }));
        assert_eq!(parse("7"), Err(VerifyError::NotAnObject { found: "a number" }));
        assert_eq!(parse("{}{}"), Err(VerifyError::TrailingData { line: 1, column: 3 }));
        assert!(parse("{} \n\t\r").is_ok());
        assert_eq!(parse("\u{feff}{}"), Err(VerifyError::ByteOrderMark));
        assert_eq!(
            parse_object(b"{\"a\":\"\xff\"}", &Limits::default()),
            Err(VerifyError::NotUtf8 { offset: 6 })
        );
        for text in [
            "",
            " ",
            "{",
            r#"{"a"}"#,
            r#"{"a":01}"#,
            r#"{"a":+1}"#,
            r#"{"a":.5}"#,
            r#"{"a":NaN}"#,
            "{'a':1}",
            r#"{"a":1,}"#,
            "{\"a\":\"\n\"}",
            r#"{"a":"\ud800"}"#,
            r#"{"\udc00":1}"#,
            r#"{"a":"\ud800\u0041"}"#,
        ] {
            assert!(matches!(parse(text), Err(VerifyError::NotJson { .. })), "{text}: {:?}", parse(text));
        }
    }

    #[test]
    fn refuses_numbers_that_change() {
        let number = "0.1000000000000000055511151231257827";
        assert_eq!(
            parse(&format!(r#"{{"a":[{{"b":{number}}}]}}"#)),
            Err(VerifyError::NumberNotExact { path: "/a/0/b".to_owned(), number: number.to_owned() })
        );
    }

    #[test]
    fn depth_is_counted_in_levels_and_never_overflows() {
        let nested =
            |levels: usize| format!("{{\"a\":{}1{}}}", "[".repeat(levels - 1), "]".repeat(levels - 1));
        assert!(parse(&nested(64)).is_ok());
        let Err(VerifyError::TooDeep { path, limit: 64 }) = parse(&nested(65)) else { panic!("65 levels") };
        assert_eq!(path, format!("/a{}", "/0".repeat(63)));
        let bomb = format!("{{\"a\":{}", "[".repeat(4_000_000));
        assert!(matches!(parse(&bomb), Err(VerifyError::TooDeep { .. })));
        let bomb = r#"{"a":"#.repeat(1_000_000);
        assert!(matches!(parse(&bomb), Err(VerifyError::TooDeep { .. })));
        let shallow = Limits { max_depth: 2, ..Limits::default() };
        assert!(parse_object(br#"{"a":{"b":1}}"#, &shallow).is_ok());
        assert!(parse_object(br#"{"a":{"b":{}}}"#, &shallow).is_err());
    }

    #[test]
    fn names_reserved_by_the_json_library_are_no_way_around() {
        for text in [
            r#"{"a":{"$serde_json::private::Number":"1"}}"#,
            r#"{"a":{"\u0024serde_json::private::Number":"1"}}"#,
            r#"{"a":{"$serde_json::private::Number":"\u0031"}}"#,
            r#"{"a":{"$serde_json::private::Number":null}}"#,
            r#"{"a":{"$serde_json::private::Number":{}}}"#,
            r#"{"a":{"$serde_json::private::Number":1}}"#,
            r#"{"a":{"$serde_json::private::Number":["1"]}}"#,
            r#"{"a":{"b":1,"$serde_json::private::Number":"1"}}"#,
            r#"{"a":{"$serde_json::private::RawValue":"{}"}}"#,
            r#"{"$serde_json::private::Number":"1","b":2}"#,
        ] {
            assert!(matches!(parse(text), Err(VerifyError::ReservedMember { .. })), "{text}");
        }
    }

    #[test]
    fn size_is_checked_before_anything_else() {
        let limits = Limits { max_document_bytes: 4, ..Limits::default() };
        assert!(parse_object(b"{  }", &limits).is_ok());
        assert_eq!(
            parse_object(b"\xff\xff\xff\xff\xff", &limits),
            Err(VerifyError::TooLarge { size: 5, limit: 4 })
        );
    }
}
