//! Random choices that are the same on every run.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

pub(crate) struct Dice(ChaCha8Rng);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(ChaCha8Rng::seed_from_u64(seed))
    }

    /// Uniform in `0..count`.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        (self.0.next_u64() % count as u64) as usize
    }

    /// Uniform in `low..=high`.
    pub(crate) fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = i128::from(high) - i128::from(low) + 1;
        (i128::from(low) + i128::from(self.0.next_u64()) % span) as i64
    }

    pub(crate) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Up to `most` different elements, in random order.
    pub(crate) fn some<T: Clone>(&mut self, from: &[T], most: usize) -> Vec<T> {
        let mut left = from.to_vec();
        let mut taken = Vec::new();
        for _ in 0..self.below(most + 1) {
            if left.is_empty() {
                break;
            }
            taken.push(left.swap_remove(self.below(left.len())));
        }
        taken
    }
}
