//! kogge
