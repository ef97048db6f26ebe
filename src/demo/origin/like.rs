//! SQL's `LIKE`: `%` for any run, `_` for one character, `\` before a literal one.

use super::answer::ApiError;

#[derive(Debug, Clone, PartialEq, Eq)]
enum Piece {
    Any,
    One,
    Literal(char),
    /// A `\` at the very end: an error, but only for a text that gets there.
    Dangling,
}

/// A pattern ready to be matched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    pieces: Vec<Piece>,
    ignore_case: bool,
}

impl Pattern {
    pub(super) fn new(text: &str, ignore_case: bool) -> Self {
        let mut pieces = Vec::new();
        let mut characters = text.chars();
        while let Some(character) = characters.next() {
            pieces.push(match character {
                '%' => Piece::Any,
                '_' => Piece::One,
                '\\' => match characters.next() {
                    Some(literal) => Piece::Literal(fold(literal, ignore_case)),
                    None => Piece::Dangling,
                },
                literal => Piece::Literal(fold(literal, ignore_case)),
            });
        }
        Self { pieces, ignore_case }
    }

    pub(super) fn matches(&self, text: &str) -> Result<bool, ApiError> {
        let text: Vec<char> = text.chars().map(|character| fold(character, self.ignore_case)).collect();
        let (mut piece, mut at) = (0, 0);
        // Where to resume if the last `%` has to take one character more.
        let mut resume: Option<(usize, usize)> = None;
        loop {
            match self.pieces.get(piece) {
                Some(Piece::Any) => {
                    resume = Some((piece + 1, at));
                    piece += 1;
                    continue;
                }
                None if at == text.len() => return Ok(true),
                Some(Piece::Dangling) if at < text.len() => {
                    return Err(ApiError::new(
                        400,
                        "22025",
                        "LIKE pattern must not end with escape character",
                    ));
                }
                Some(Piece::One) if at < text.len() => {
                    piece += 1;
                    at += 1;
                    continue;
                }
                Some(Piece::Literal(literal)) if text.get(at) == Some(literal) => {
                    piece += 1;
                    at += 1;
                    continue;
                }
                _ => {}
            }
            match resume {
                Some((after, from)) if from < text.len() => {
                    resume = Some((after, from + 1));
                    piece = after;
                    at = from + 1;
                }
                _ => return Ok(false),
            }
        }
    }
}

/// `C.UTF-8` lowers one character to one character, by Unicode's simple mapping: the full one differs for `İ` only, whose
/// first character is the simple one.
fn fold(character: char, ignore_case: bool) -> char {
    if ignore_case { character.to_lowercase().next().unwrap_or(character) } else { character }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, text, expected) in [
            ("%an%", "banana", true),
            ("a_b", "axb", true),
            ("a\\_b", "axb", false),
            ("a\\_b", "a_b", true),
            ("%", "", true),
            ("_", "", false),
            ("a%b%c", "a-b-b-c", true),
            ("a%b", "abx", false),
            ("", "", true),
            ("A", "A ", false),
            ("ÄP%", "äpfel", false),
        ] {
            assert_eq!(Pattern::new(pattern, false).matches(text).unwrap(), expected, "{pattern} {text}");
        }
        for (pattern, text, expected) in [
            ("ÄP%", "äpfel", true),
            ("\u{212a}", "k", true),
            ("İ", "i", true),
            ("ẞ", "ß", true),
            ("ſ", "s", false),
            ("ς", "Σ", false),
        ] {
            assert_eq!(Pattern::new(pattern, true).matches(text).unwrap(), expected, "{pattern} {text}");
        }
        let dangling = Pattern::new("a\\", false);
        assert_eq!(dangling.matches("ab").unwrap_err().code, "22025");
        assert!(!dangling.matches("a").unwrap() && !dangling.matches("b").unwrap());
    }
}
