//! Why a use case has no result, by the decision the caller can take.

use crate::engine::{Refusal, RefusalCode, RunError};
use crate::store::StoreError;

/// A use case's failure. Refusals are values that reach the caller; the others are for whoever runs the mirror.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppError {
    /// The question is refused; the caller can change it or report it.
    #[error("{}", .0.to_text())]
    Refused(Box<Refusal>),
    /// There is no snapshot yet: pull one.
    #[error("{what}; run `benthic-mirror sync` first")]
    NotFound {
        /// What is missing.
        what: String,
    },
    /// A signature or key isn't vouched for by the configuration: check the keys.
    #[error("{detail}")]
    Untrusted {
        /// The store's finding.
        detail: String,
    },
    /// A file of the store is damaged: restore or pull it again.
    #[error("{detail}")]
    Corrupt {
        /// The store's finding.
        detail: String,
    },
    /// Another process has what is needed: try again later.
    #[error("{detail}")]
    Busy {
        /// The store's finding.
        detail: String,
    },
    /// Anything else that went wrong in the store or the engine.
    #[error("{detail}")]
    Internal {
        /// What happened.
        detail: String,
    },
}

impl From<Refusal> for AppError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

impl From<RunError> for AppError {
    fn from(error: RunError) -> Self {
        match error {
            RunError::Refused(refusal) => Self::Refused(refusal),
            RunError::Failed(error) => Self::Internal { detail: format!("the engine failed: {error}") },
        }
    }
}

impl From<StoreError> for AppError {
    fn from(error: StoreError) -> Self {
        let detail = error.to_string();
        match error {
            StoreError::NotFound { what, path } => {
                Self::NotFound { what: format!("no {what} at {}", path.display()) }
            }
            StoreError::Untrusted { .. } | StoreError::KeyFile { .. } => Self::Untrusted { detail },
            // The store writes no file that large: something else did.
            StoreError::Corrupt { .. } | StoreError::NewerFormat { .. } | StoreError::TooLarge { .. } => {
                Self::Corrupt { detail }
            }
            StoreError::Busy { .. } => Self::Busy { detail },
            _ => Self::Internal { detail },
        }
    }
}

impl AppError {
    /// The failure as a refusal, for callers that only know those.
    pub fn into_refusal(self) -> Refusal {
        let message = format!("{self}.");
        match self {
            Self::Refused(refusal) => *refusal,
            Self::NotFound { .. } => Refusal::new(RefusalCode::NotMirrored, message)
                .next("ask the operator to run `benthic-mirror sync`"),
            Self::Untrusted { .. } => Refusal::new(RefusalCode::UntrustedCatalog, message)
                .next("ask the operator to run `benthic-mirror status`"),
            Self::Corrupt { .. } => Refusal::new(RefusalCode::CorruptStore, message)
                .next("ask the operator to run `benthic-mirror status`, then `benthic-mirror sync`"),
            Self::Busy { .. } => Refusal::new(RefusalCode::Busy, message).next("send the same request again"),
            Self::Internal { .. } => Refusal::new(RefusalCode::Internal, message)
                .next("report it to the operator; nothing was answered"),
        }
    }

    /// The exit code of a command that ends with this failure.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Refused(_) => 3,
            Self::NotFound { .. } => 4,
            Self::Untrusted { .. } => 5,
            Self::Corrupt { .. } => 6,
            Self::Busy { .. } => 7,
            Self::Internal { .. } => 1,
        }
    }
}
