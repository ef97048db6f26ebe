//! Content-addressed objects, snapshots, refs, ledger; the only room touching the file system.
