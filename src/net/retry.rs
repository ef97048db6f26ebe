//! What is worth asking again, and when: a pure decision, and the pause that follows it.

use std::time::Duration;

use super::error::NetError;

/// How often and how long to wait.
#[derive(Debug, Clone, Copy)]
pub struct RetryPolicy {
    /// Attempts in all, the first included.
    pub max_attempts: u32,
    /// Wait after the first failure, before jitter; doubles each time.
    pub base_delay: Duration,
    /// Longest wait, whatever the doubling or the server says.
    pub max_delay: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { max_attempts: 6, base_delay: Duration::from_millis(500), max_delay: Duration::from_secs(60) }
    }
}

/// What an attempt came to, as far as repeating it is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// An answer with this HTTP status.
    Status(u16),
    /// Connecting failed, the connection broke, or nothing came in time.
    Transport,
    /// A rule of ours stopped it: the same request would be stopped again.
    Permanent,
}

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Decision {
    /// Take the outcome as it is.
    Stop,
    /// Ask again after this long.
    RetryAfter(Duration),
}

impl RetryPolicy {
    /// Decides after attempt number `attempt` (from 1). `retry_after` is the server's wish in seconds; `seed` makes
    /// the jitter, so equal inputs decide equally.
    ///
    /// The wait is between half and all of `base_delay · 2^(attempt-1)`, never less than the server asked for, never
    /// more than `max_delay`.
    pub fn decide(&self, attempt: u32, outcome: Outcome, retry_after: Option<u64>, seed: u64) -> Decision {
        let worth_it = match outcome {
            Outcome::Status(status) => matches!(status, 429 | 502 | 503 | 504),
            Outcome::Transport => true,
            Outcome::Permanent => false,
        };
        if !worth_it || attempt >= self.max_attempts {
            return Decision::Stop;
        }
        let doublings = attempt.saturating_sub(1).min(20);
        let full = self.base_delay.saturating_mul(1 << doublings).min(self.max_delay);
        // 0 … 1 in steps of 2^-16: plenty for spreading clients out.
        let fraction = f64::from(u32::try_from(mix(seed ^ u64::from(attempt)) >> 48).unwrap_or(0)) / 65_535.0;
        let jittered = full.mul_f64(0.5 + fraction / 2.0);
        let asked = Duration::from_secs(retry_after.unwrap_or(0));
        Decision::RetryAfter(jittered.max(asked).min(self.max_delay))
    }

    /// Follows the decision: waits if there is something to wait for. `true` says ask again, `false` take the outcome
    /// as it is.
    pub async fn pause(&self, attempt: u32, outcome: Outcome, retry_after: Option<u64>, seed: u64) -> bool {
        match self.decide(attempt, outcome, retry_after, seed) {
            Decision::Stop => false,
            Decision::RetryAfter(wait) => {
                tracing::debug!(attempt, ?outcome, ?wait, "asking again");
                tokio::time::sleep(wait).await;
                true
            }
        }
    }
}

/// SplitMix64's finaliser: spreads neighbouring seeds over all bits.
fn mix(seed: u64) -> u64 {
    let mut value = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

impl Outcome {
    /// The outcome of a request that gave no response.
    pub fn of(error: &NetError) -> Self {
        match error {
            NetError::Unreachable { .. } | NetError::TimedOut { .. } | NetError::Truncated { .. } => {
                Self::Transport
            }
            NetError::Refused { .. }
            | NetError::TooLarge { .. }
            | NetError::Redirected { .. }
            | NetError::Options(_) => Self::Permanent,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: RetryPolicy = RetryPolicy {
        max_attempts: 4,
        base_delay: Duration::from_secs(1),
        max_delay: Duration::from_secs(30),
    };

    #[test]
    fn only_passing_troubles_are_retried() {
        for status in [429, 502, 503, 504] {
            assert_ne!(POLICY.decide(1, Outcome::Status(status), None, 0), Decision::Stop, "{status}");
        }
        for status in [200, 206, 304, 400, 401, 403, 404, 406, 416, 500] {
            assert_eq!(POLICY.decide(1, Outcome::Status(status), None, 0), Decision::Stop, "{status}");
        }
        assert_ne!(POLICY.decide(1, Outcome::Transport, None, 0), Decision::Stop);
        assert_eq!(POLICY.decide(1, Outcome::Permanent, None, 0), Decision::Stop);
        assert_eq!(POLICY.decide(4, Outcome::Transport, None, 0), Decision::Stop, "attempts are bounded");
    }

    #[test]
    fn waits_double_with_jitter_and_heed_the_server() {
        let wait = |attempt, retry_after, seed| match POLICY.decide(
            attempt,
            Outcome::Transport,
            retry_after,
            seed,
        ) {
            Decision::RetryAfter(wait) => wait.as_secs_f64(),
            Decision::Stop => panic!("stopped"),
        };
        let mut seen = std::collections::HashSet::new();
        for seed in 0..100 {
            for (attempt, full) in [(1, 1.0), (2, 2.0), (3, 4.0)] {
                let found = wait(attempt, None, seed);
                assert!((full / 2.0..=full).contains(&found), "{attempt} {seed} {found}");
                seen.insert(found.to_bits());
            }
            assert!(wait(1, Some(7), seed) >= 7.0);
            assert_eq!(wait(1, Some(7), seed), wait(1, Some(7), seed));
            assert_eq!(wait(1, Some(u64::MAX), seed), 30.0);
        }
        assert!(seen.len() > 200, "jitter spreads: {}", seen.len());
    }
}
