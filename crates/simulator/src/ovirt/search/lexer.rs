//! The words of the search language.

/// A word of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A name, a value or a keyword. Quoted ones are never keywords.
    Word { text: String, quoted: bool },
    /// A comparison.
    Operator(Operator),
    /// `(`
    Open,
    /// `)`
    Close,
}

/// How a field is compared with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Operator {
    /// `=`: equal; for text, like.
    Equal,
    /// `!=`
    NotEqual,
    /// `<`
    Less,
    /// `<=`
    LessOrEqual,
    /// `>`
    Greater,
    /// `>=`
    GreaterOrEqual,
}

/// Why a search was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub(crate) struct SyntaxError(pub(super) String);

impl SyntaxError {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }
}

/// Splits a search into its words.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, SyntaxError> {
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = match first {
            '\'' | ';' => return Err(SyntaxError::new(format!("the character {first} is not allowed in a search"))),
            '(' => (Token::Open, 1),
            ')' => (Token::Close, 1),
            '"' => {
                let end = rest[1..].find('"').ok_or_else(|| SyntaxError::new("a quotation mark is not closed"))?;
                (Token::Word { text: rest[1..=end].to_owned(), quoted: true }, end + 2)
            }
            '=' => (Token::Operator(Operator::Equal), 1),
            '!' if rest.starts_with("!=") => (Token::Operator(Operator::NotEqual), 2),
            '<' if rest.starts_with("<=") => (Token::Operator(Operator::LessOrEqual), 2),
            '<' => (Token::Operator(Operator::Less), 1),
            '>' if rest.starts_with(">=") => (Token::Operator(Operator::GreaterOrEqual), 2),
            '>' => (Token::Operator(Operator::Greater), 1),
            _ => {
                let ends = |letter: char| letter.is_whitespace() || "=!<>()\"';".contains(letter);
                let end = rest.find(ends).unwrap_or(rest.len()).max(first.len_utf8());
                (Token::Word { text: rest[..end].to_owned(), quoted: false }, end)
            }
        };
        tokens.push(token);
        rest = rest[length..].trim_start();
    }
    Ok(tokens)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str, quoted: bool) -> Token {
        Token::Word { text: text.into(), quoted }
    }

    #[test]
    fn words_operators_and_quotes_are_told_apart() {
        let equal = Token::Operator(Operator::Equal);
        assert_eq!(tokens("name=web-1*").unwrap(), [word("name", false), equal.clone(), word("web-1*", false)]);
        assert_eq!(
            tokens(r#" Clusters.name = "a b" and(x>=3)"#).unwrap(),
            [
                word("Clusters.name", false),
                equal,
                word("a b", true),
                word("and", false),
                Token::Open,
                word("x", false),
                Token::Operator(Operator::GreaterOrEqual),
                word("3", false),
                Token::Close,
            ]
        );
    }

    #[test]
    fn what_could_end_a_statement_is_refused() {
        for text in ["name='a'", "name=a; drop", "name=\"a"] {
            assert!(tokens(text).is_err(), "{text}");
        }
    }

    #[test]
    fn any_text_is_read_without_a_panic() {
        for text in ["", "!", "é=ü", "!é", "\"é\"", "====", "((((", "a!b"] {
            let _ = tokens(text);
        }
    }
}
