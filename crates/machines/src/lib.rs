//! Keeps machines as the objects of a cluster say. The provider seam and the API types come first; the controllers follow.
