//! What is known so far, in the order in which it became known.

use std::collections::BTreeMap;

use secrecy::SecretString;

use super::{Answer, Key};

/// What is known so far.
///
/// The order is kept, so that a step back can forget exactly what came after the question it returns to. What was
/// forgotten stays available as [`Answers::earlier`], to be offered again.
#[derive(Clone, Debug, Default)]
pub struct Answers {
    given: BTreeMap<Key, Answer>,
    trail: Vec<Entry>,
    earlier: BTreeMap<Key, Answer>,
}

#[derive(Clone, Debug)]
struct Entry {
    key: Key,
    answer: Answer,
    asked: bool,
}

impl Answers {
    /// Sets something that was given beforehand: it is never asked and never forgotten.
    pub fn give(&mut self, key: Key, answer: Answer) {
        self.given.insert(key, answer);
    }

    /// Records the answer to a question that was put.
    pub fn record(&mut self, key: Key, answer: Answer) {
        self.trail.push(Entry { key, answer, asked: true });
    }

    /// Records what follows from the answers so far without a question.
    pub fn learn(&mut self, key: Key, answer: Answer) {
        self.trail.push(Entry { key, answer, asked: false });
    }

    /// Keeps an answer that was not accepted, to be offered again.
    pub fn remember(&mut self, key: Key, answer: Answer) {
        self.earlier.insert(key, answer);
    }

    /// Forgets everything since the last question that was put, and its answer. False if none was put.
    pub fn step_back(&mut self) -> bool {
        let Some(last) = self.trail.iter().rposition(|entry| entry.asked) else { return false };
        for entry in self.trail.drain(last..) {
            self.earlier.insert(entry.key, entry.answer);
        }
        true
    }

    /// The answer to a question.
    pub fn get(&self, key: Key) -> Option<&Answer> {
        let found = self.trail.iter().rev().find(|entry| entry.key == key).map(|entry| &entry.answer);
        found.or_else(|| self.given.get(key))
    }

    /// The answer to a question, if it is text.
    pub fn text(&self, key: Key) -> Option<&str> {
        match self.get(key)? {
            Answer::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The answer to a question, if it is a secret.
    pub fn secret(&self, key: Key) -> Option<&SecretString> {
        match self.get(key)? {
            Answer::Secret(secret) => Some(secret),
            _ => None,
        }
    }

    /// Whether the answer to a question is yes.
    pub fn flag(&self, key: Key) -> bool {
        matches!(self.get(key), Some(Answer::Flag(true)))
    }

    /// Whether a question is answered, or its answer was given beforehand.
    pub fn has(&self, key: Key) -> bool {
        self.get(key).is_some()
    }

    /// Whether the answer was given beforehand.
    pub fn is_given(&self, key: Key) -> bool {
        self.given.contains_key(key)
    }

    /// The answer that was given to a question before it was forgotten.
    pub fn earlier(&self, key: Key) -> Option<&Answer> {
        self.earlier.get(key)
    }
}
