//! The use cases that need several rooms: answer a request, discover, status.
