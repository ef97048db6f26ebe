//! A request: parse, check, refuse or plan, run on DataFusion, shape the result.
