//! kogge-lab
