//! One file per subcommand; prints, never decides.
