//! kogge-core
