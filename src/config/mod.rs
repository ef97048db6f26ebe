//! One typed configuration: flags > environment > file > defaults, each value with its source.
