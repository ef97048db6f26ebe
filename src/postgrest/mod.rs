//! The PostgREST dialect: encode, page, count, decode, error; speaks through `net`.
