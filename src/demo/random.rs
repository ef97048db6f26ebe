//! Seeded choices that give the same bytes for ever.
//!
//! Only the stream of 64-bit words comes from a library (ChaCha is fixed by its specification); what is made of them is
//! written here, because libraries change their distributions between versions.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A stream of choices.
pub(super) struct Chooser(ChaCha8Rng);

impl Chooser {
    /// A stream for one purpose: streams of different labels are independent, so adding a relation moves no other.
    pub(super) fn new(seed: u64, label: &str) -> Self {
        let mut key = [0_u8; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        for (index, byte) in label.bytes().enumerate() {
            let at = 8 + index % 24;
            key[at] = key[at].rotate_left(3) ^ byte;
        }
        Self(ChaCha8Rng::from_seed(key))
    }

    /// Uniform below `bound` (by rejection, so exactly uniform); 0 for a bound of 0.
    pub(super) fn below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            return 0;
        }
        let limit = u64::MAX - u64::MAX % bound;
        loop {
            let word = self.0.next_u64();
            if word < limit {
                return word % bound;
            }
        }
    }

    /// Uniform in `low..=high`.
    pub(super) fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = u64::try_from(i128::from(high) - i128::from(low) + 1).unwrap_or(u64::MAX);
        low.wrapping_add_unsigned(self.below(span))
    }

    /// True in `percent` of 100 cases.
    pub(super) fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// One of the items; they mustn't be empty.
    pub(super) fn pick<'a, T: ?Sized>(&mut self, items: &[&'a T]) -> &'a T {
        items[self.below(items.len() as u64) as usize]
    }

    /// An index below `length`.
    pub(super) fn index(&mut self, length: usize) -> usize {
        self.below(length as u64) as usize
    }

    /// A string of `length` characters of the alphabet (ASCII).
    pub(super) fn code(&mut self, alphabet: &str, length: usize) -> String {
        let letters = alphabet.as_bytes();
        (0..length).map(|_| char::from(letters[self.index(letters.len())])).collect()
    }

    /// Fisher and Yates's shuffle.
    pub(super) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            let other = self.index(last + 1);
            items.swap(last, other);
        }
    }

    /// Sixteen bytes.
    pub(super) fn bytes16(&mut self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.0.next_u64().to_le_bytes());
        bytes[8..].copy_from_slice(&self.0.next_u64().to_le_bytes());
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_fixed_and_independent() {
        let draw = |label: &str| {
            let mut chooser = Chooser::new(7, label);
            (0..4).map(|_| chooser.below(1_000_000)).collect::<Vec<_>>()
        };
        assert_eq!(draw("a"), draw("a"));
        assert_ne!(draw("a"), draw("b"));
        let mut chooser = Chooser::new(1, "bounds");
        assert!((0..1000).all(|_| (-3..=3).contains(&chooser.between(-3, 3))));
    }
}
