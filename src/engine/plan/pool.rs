//! A request's memory pool, with all requests' reservations counted together.

use std::fmt::{self, Display, Formatter};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use datafusion::common::Result;
use datafusion::execution::memory_pool::{
    FairSpillPool, MemoryConsumer, MemoryLimit, MemoryPool, MemoryReservation,
};

/// Bytes reserved by every request of a runtime at the moment.
#[derive(Debug, Clone, Default)]
pub(super) struct Reserved(Arc<AtomicUsize>);

impl Reserved {
    /// The bytes.
    pub(super) fn bytes(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}

/// One request's pool. What it can't give is an error there; what it gives is added to the common count.
#[derive(Debug)]
pub(super) struct RequestPool {
    own: FairSpillPool,
    reserved: Reserved,
}

impl RequestPool {
    /// A pool of so many bytes.
    pub(super) fn new(bytes: usize, reserved: Reserved) -> Self {
        Self { own: FairSpillPool::new(bytes), reserved }
    }
}

impl Display for RequestPool {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(&self.own, formatter)
    }
}

impl MemoryPool for RequestPool {
    fn name(&self) -> &str {
        "request"
    }

    fn register(&self, consumer: &MemoryConsumer) {
        self.own.register(consumer);
    }

    fn unregister(&self, consumer: &MemoryConsumer) {
        self.own.unregister(consumer);
    }

    fn grow(&self, reservation: &MemoryReservation, additional: usize) {
        self.own.grow(reservation, additional);
        self.reserved.0.fetch_add(additional, Ordering::Relaxed);
    }

    fn shrink(&self, reservation: &MemoryReservation, shrink: usize) {
        self.own.shrink(reservation, shrink);
        self.reserved.0.fetch_sub(shrink, Ordering::Relaxed);
    }

    fn try_grow(&self, reservation: &MemoryReservation, additional: usize) -> Result<()> {
        self.own.try_grow(reservation, additional)?;
        self.reserved.0.fetch_add(additional, Ordering::Relaxed);
        Ok(())
    }

    fn reserved(&self) -> usize {
        self.own.reserved()
    }

    fn memory_limit(&self) -> MemoryLimit {
        self.own.memory_limit()
    }
}
