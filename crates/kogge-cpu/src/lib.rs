//! kogge-cpu
