//! Texts on a picture.

use std::fmt::Write;

use super::INK;

/// How a text is set.
#[derive(Debug, Clone, Copy)]
pub(super) struct Text {
    pub(super) x: f64,
    pub(super) y: f64,
    pub(super) size: f64,
    pub(super) fill: &'static str,
    pub(super) middle: bool,
    pub(super) end: bool,
    /// Whether a light rim keeps it legible over lines.
    pub(super) halo: bool,
}

impl Text {
    pub(super) fn at(x: f64, y: f64) -> Self {
        Self { x, y, size: 12.0, fill: INK, middle: false, end: false, halo: false }
    }
}

pub(super) fn text(svg: &mut String, style: &Text, words: &str) {
    let Text { x, y, size, fill, middle, end, halo } = *style;
    let anchor = if middle {
        " text-anchor=\"middle\""
    } else if end {
        " text-anchor=\"end\""
    } else {
        ""
    };
    let escaped = escaped(words);
    // The carried font is a light one: a thin stroke of the same colour gives it the weight of body text.
    let rim = if halo {
        "stroke=\"#ffffff\" stroke-opacity=\"0.85\" stroke-width=\"3\" stroke-linejoin=\"round\""
    } else {
        ""
    };
    if halo {
        let _ = writeln!(
            svg,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\"{anchor} fill=\"#ffffff\" {rim}>{escaped}</text>"
        );
    }
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" font-size=\"{size}\"{anchor} fill=\"{fill}\" stroke=\"{fill}\" \
         stroke-width=\"0.35\">{escaped}</text>"
    );
}

/// Text that can't be mistaken for markup; characters XML has no place for are left out.
pub(super) fn escaped(words: &str) -> String {
    let mut escaped = String::with_capacity(words.len());
    for character in words.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\u{fffe}' | '\u{ffff}' => {}
            control if control.is_control() => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}

/// `1,234,567`.
pub(super) fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
