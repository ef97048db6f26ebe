//! The rmcp server: tools over stdio.
