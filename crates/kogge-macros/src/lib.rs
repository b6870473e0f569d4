//! kogge-macros
