//! workdir
