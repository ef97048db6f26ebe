//! Names and sentences as words: what search and name suggestions compare.

/// Splits a name or a sentence into lowercase words: at everything that isn't a letter or digit, at `aB`, and
/// between letters and digits in either order (`pub78` is `pub` and `78`).
pub(super) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut current = String::new();
    let mut previous: Option<char> = None;
    for character in text.chars() {
        let boundary = match previous {
            Some(before) if character.is_alphanumeric() => {
                (before.is_lowercase() && character.is_uppercase())
                    || (before.is_alphabetic() && character.is_numeric())
                    || (before.is_numeric() && character.is_alphabetic())
            }
            _ => true,
        };
        if boundary && !current.is_empty() {
            words.push(std::mem::take(&mut current));
        }
        if character.is_alphanumeric() {
            current.extend(character.to_lowercase());
            previous = Some(character);
        } else {
            previous = None;
        }
    }
    if !current.is_empty() {
        words.push(current);
    }
    words
}

/// The singular of a word, by the regular English endings; good enough to compare with, not to show.
pub(super) fn singular(word: &str) -> String {
    let stem = |ending: &str, kept: &str| {
        word.strip_suffix(ending).filter(|stem| stem.len() >= 2).map(|stem| format!("{stem}{kept}"))
    };
    if !word.is_ascii() || ["ss", "us", "is"].iter().any(|ending| word.ends_with(ending)) {
        return word.to_owned();
    }
    stem("ies", "y")
        .or_else(|| stem("sses", "ss"))
        .or_else(|| stem("xes", "x"))
        .or_else(|| stem("ches", "ch"))
        .or_else(|| stem("shes", "sh"))
        .or_else(|| stem("s", ""))
        .unwrap_or_else(|| word.to_owned())
}

/// A name with its case, separators and plural endings taken away: equal for variants of one name.
pub(super) fn squeezed(name: &str) -> String {
    words(name).iter().map(|word| singular(word)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_names_and_sentences() {
        assert_eq!(words("form990t_details"), ["form", "990", "t", "details"]);
        assert_eq!(words("ModelYear"), ["model", "year"]);
        assert_eq!(words("Maryland's 3rd district?"), ["maryland", "s", "3", "rd", "district"]);
        assert_eq!(words("vpic.WMIYear"), ["vpic", "wmiyear"]);
        assert_eq!(words("__"), Vec::<String>::new());
        assert_eq!(words("Übergröße"), ["übergröße"]);
    }

    #[test]
    fn singulars() {
        for (plural, single) in [
            ("agencies", "agency"),
            ("entities", "entity"),
            ("branches", "branch"),
            ("addresses", "address"),
            ("boxes", "box"),
            ("awards", "award"),
            ("congress", "congress"),
            ("status", "status"),
            ("basis", "basis"),
            ("s", "s"),
        ] {
            assert_eq!(singular(plural), single, "{plural}");
        }
        assert_eq!(squeezed("Recipient_Names"), squeezed("recipientName"));
    }
}
