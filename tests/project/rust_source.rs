//! Just enough of Rust's grammar to see which room a file calls: code without comments and texts, and paths in it.

/// The code of a source file: comments, character and string literals are blanked out, everything else is kept.
pub(crate) fn code_of(source: &str) -> String {
    let chars: Vec<char> = source.chars().collect();
    let at = |place: usize| chars.get(place).copied().unwrap_or('\0');
    let mut code = String::with_capacity(source.len());
    let mut place = 0;
    while place < chars.len() {
        let end = match (at(place), at(place + 1)) {
            ('/', '/') => (place..chars.len()).find(|end| at(*end) == '\n').unwrap_or(chars.len()),
            ('/', '*') => end_of_block_comment(&chars, place),
            ('"', _) => end_of_string(&chars, place + 1),
            ('r' | 'b' | 'c', _) if !is_word(previous(&chars, place)) => match prefixed_string(&chars, place)
            {
                Some(end) => end,
                None => place,
            },
            ('\'', '\\') => {
                (place + 3..chars.len()).find(|end| at(*end) == '\'').map_or(chars.len(), |end| end + 1)
            }
            // 'a' is a character, 'a without a second quote a lifetime.
            ('\'', _) if at(place + 2) == '\'' => place + 3,
            _ => place,
        };
        if end == place {
            code.push(at(place));
            place += 1;
        } else {
            // Lines stay lines.
            code.extend(chars[place..end].iter().filter(|c| **c == '\n'));
            code.push(' ');
            place = end;
        }
    }
    code
}

fn previous(chars: &[char], place: usize) -> char {
    place.checked_sub(1).and_then(|before| chars.get(before)).copied().unwrap_or('\0')
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn end_of_block_comment(chars: &[char], start: usize) -> usize {
    let (mut depth, mut place) = (0, start);
    while place < chars.len() {
        match (chars[place], chars.get(place + 1)) {
            ('/', Some('*')) => (depth, place) = (depth + 1, place + 2),
            ('*', Some('/')) => (depth, place) = (depth - 1, place + 2),
            _ => place += 1,
        }
        if depth == 0 {
            break;
        }
    }
    place
}

/// The end of a string whose opening quote is before `place`.
fn end_of_string(chars: &[char], mut place: usize) -> usize {
    while place < chars.len() {
        match chars[place] {
            '\\' => place += 2,
            '"' => return place + 1,
            _ => place += 1,
        }
    }
    chars.len()
}

/// The end of a `b"…"`, `c"…"`, `r#"…"#` or `br"…"` that starts at `place`.
fn prefixed_string(chars: &[char], place: usize) -> Option<usize> {
    let mut quote = place;
    while quote < place + 2 && matches!(chars.get(quote), Some('r' | 'b' | 'c')) {
        quote += 1;
    }
    let is_raw = chars[place..quote].contains(&'r');
    let hashes = chars[quote..].iter().take_while(|c| **c == '#').count();
    if chars.get(quote + hashes) != Some(&'"') || (hashes > 0 && !is_raw) {
        return None;
    }
    if !is_raw {
        return Some(end_of_string(chars, quote + 1));
    }
    let closing: Vec<char> = std::iter::once('"').chain(std::iter::repeat_n('#', hashes)).collect();
    let body = quote + hashes + 1;
    let found = chars[body..].windows(closing.len()).position(|window| window == closing);
    Some(found.map_or(chars.len(), |offset| body + offset + closing.len()))
}

/// The names that code takes directly from the crate's root: after `crate::`, within `crate::{…}`, and after as many
/// `super::` as lead out of the file's module. `depth` is how many modules deep the file is (1 for `src/room/mod.rs`).
pub(crate) fn names_from_root(code: &str, depth: usize) -> Vec<String> {
    let tokens = tokens_of(code);
    let token = |place: usize| tokens.get(place).map_or("", String::as_str);
    let mut names = Vec::new();
    // One entry per open brace: whether an inline module opened it.
    let mut braces: Vec<bool> = Vec::new();
    let mut place = 0;
    while place < tokens.len() {
        match token(place) {
            "{" => braces.push(place >= 2 && token(place - 2) == "mod"),
            "}" => drop(braces.pop()),
            // Not `$crate`, and not the end of another path.
            "crate" if !["$", "::"].contains(&token(place.wrapping_sub(1))) && token(place + 1) == "::" => {
                take_names(&tokens, place + 2, &mut names);
            }
            "super" if token(place.wrapping_sub(1)) != "::" => {
                let mut steps = 0;
                while token(place + 2 * steps) == "super" && token(place + 2 * steps + 1) == "::" {
                    steps += 1;
                }
                let inline = braces.iter().filter(|is_module| **is_module).count();
                if steps >= depth + inline {
                    take_names(&tokens, place + 2 * steps, &mut names);
                }
            }
            _ => {}
        }
        place += 1;
    }
    names
}

/// The name at a place, or each name at the top of a `{…}` list there.
fn take_names(tokens: &[String], place: usize, names: &mut Vec<String>) {
    if tokens.get(place).is_none_or(|token| token != "{") {
        names.extend(tokens.get(place).cloned());
        return;
    }
    let (mut depth, mut expects_name) = (0, false);
    for token in &tokens[place..] {
        match token.as_str() {
            "{" => (depth, expects_name) = (depth + 1, depth == 0),
            "}" => depth -= 1,
            "," => expects_name = depth == 1,
            name if expects_name => {
                names.push(name.to_owned());
                expects_name = false;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
}

/// Words, `::`, and single other characters; blanks are dropped.
fn tokens_of(code: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut chars = code.chars().peekable();
    while let Some(c) = chars.next() {
        if is_word(c) {
            let mut word = String::from(c);
            while let Some(next) = chars.next_if(|next| is_word(*next)) {
                word.push(next);
            }
            tokens.push(word);
        } else if c == ':' && chars.next_if_eq(&':').is_some() {
            tokens.push("::".to_owned());
        } else if !c.is_whitespace() {
            tokens.push(c.to_string());
        }
    }
    tokens
}

#[test]
fn comments_and_texts_are_not_code() {
    let source = r####"
//! crate::a
use crate::b; // crate::c
/* crate::d /* crate::e */ crate::f */
const TEXT: &str = "crate::g \" crate::h";
const RAW: &str = r#"crate::i " crate::j"#;
const BYTES: &[u8] = br"crate::k";
const QUOTE: char = '"'; const ESCAPED: char = '\''; const UNICODE: char = '\u{1F600}';
fn life<'a>(x: &'a crate::l::X) {}
"####;
    assert_eq!(names_from_root(&code_of(source), 1), ["b", "l"]);
    assert_eq!(code_of(source).lines().count(), source.lines().count());
}

#[test]
fn names_are_found_in_lists_and_after_enough_supers() {
    let names = |source: &str, depth| names_from_root(&code_of(source), depth);
    assert_eq!(names("use crate::{store::{A, b::C}, net, self as me};", 1), ["store", "net", "self"]);
    assert_eq!(names("use super::x;", 1), ["x"]);
    assert_eq!(names("use super::x; use super::super::y;", 2), ["y"]);
    assert_eq!(names("use super::super::{y::Y, z};", 2), ["y", "z"]);
    assert_eq!(names("mod tests { use super::*; fn f() { super::super::y(); } }", 1), ["y"]);
    assert_eq!(names("mod tests { fn f() {} } use super::z;", 1), ["z"]);
    assert_eq!(names("macro_rules! m { () => { $crate::q() } } pub(crate) fn f() {}", 1), [""; 0]);
}
