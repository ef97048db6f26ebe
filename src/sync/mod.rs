//! Plan a pull, fetch pages, sort and write parts, checkpoint, publish.
