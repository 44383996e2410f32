//! What is wrong with what the user has made, before a machine boots. Pure: whoever looks hands in what was seen.
