//! Invented names: syllables strung together, so that nobody and nothing real is meant.

use super::random::Chooser;

const OPENINGS: &[&str] = &[
    "Bel", "Cor", "Dra", "El", "Fen", "Gal", "Hes", "Ist", "Jor", "Kel", "Lum", "Mor", "Nev", "Ost", "Pel",
    "Quor", "Ras", "Sel", "Tav", "Ulm", "Vex", "Wyn", "Xan", "Yor", "Zel",
];
const MIDDLES: &[&str] =
    &["a", "ani", "e", "edi", "i", "imo", "o", "oru", "u", "uva", "and", "est", "irr", "olv"];
const ENDINGS: &[&str] = &[
    "bane", "crest", "dor", "fex", "gant", "lith", "mere", "nox", "quill", "rath", "sk", "thorn", "vane",
    "wick", "zar",
];
const TRADES: &[&str] = &[
    "Aeronautics",
    "Bridge Works",
    "Cartography",
    "Data Loom",
    "Ferry Lines",
    "Glass Foundry",
    "Grain Cooperative",
    "Harbor Services",
    "Lantern Institute",
    "Lichen Research",
    "Map & Compass",
    "Orchard Trust",
    "Paper Mill",
    "Rail Museum",
    "Sail Makers",
    "Seed Library",
    "Tide Laboratory",
    "Tool Library",
    "Weather Station",
    "Wool Guild",
];
const FORMS: &[&str] =
    &["LLC", "Inc", "Company", "Foundation", "Association", "Cooperative", "University", "Society"];
const STREETS: &[&str] =
    &["Amberleaf", "Brindlewood", "Copperfen", "Dunnock", "Eiderdown", "Foxglove", "Gorsehill", "Hazelbank"];
const STREET_KINDS: &[&str] = &["Road", "Street", "Avenue", "Lane", "Court", "Parkway"];

/// One invented word, capitalised.
pub(super) fn word(chooser: &mut Chooser) -> String {
    format!("{}{}{}", chooser.pick(OPENINGS), chooser.pick(MIDDLES), chooser.pick(ENDINGS))
}

/// A given name.
pub(super) fn given(chooser: &mut Chooser) -> String {
    format!("{}{}", chooser.pick(OPENINGS), chooser.pick(&["a", "en", "is", "o", "ys", "am", "ira", "eth"]))
}

/// An organisation's name.
pub(super) fn organisation(chooser: &mut Chooser) -> String {
    format!("{} {} {}", word(chooser), chooser.pick(TRADES), chooser.pick(FORMS))
}

/// A street address.
pub(super) fn street(chooser: &mut Chooser) -> String {
    format!("{} {} {}", chooser.between(1, 9999), chooser.pick(STREETS), chooser.pick(STREET_KINDS))
}

/// Texts that break careless code: separators, quotes, blank edges, nothing at all, several scripts, markup.
pub(super) const AWKWARD: &[&str] = &[
    "Corasthorn, Velmere & Sons, LLC",
    "The \"Quoted\" Lantern Institute",
    " leading blank",
    "trailing blank ",
    "",
    "Ünïcödé Glaßwerk – Tïde",
    "Комета и Прилив",
    "星图合作社",
    "O'Zelirr's Back\\slash Works",
    "100% under_score *star*",
    "line\nbreak\tand tab",
    "(parenthesis), {brace}, [bracket]",
    "null",
    "Émile-less e\u{301}clair",
    "🜁 Alembic 🜄",
    "a.b:c;d|e",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_vary() {
        let mut chooser = Chooser::new(1, "names");
        let names: std::collections::BTreeSet<String> =
            (0..500).map(|_| organisation(&mut chooser)).collect();
        assert!(names.len() > 490, "{}", names.len());
    }
}
