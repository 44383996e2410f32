//! The grammar of the search language:
//!
//! ```text
//! search    = [ condition { ("and" | "or") condition } ] [ "sortby" field [ "asc" | "desc" ] ] [ "page" number ]
//! condition = field operator value | value | "(" condition … ")"
//! field     = name | object "." name | object
//! ```
//!
//! The engine's grammar has no parentheses, but clients that send them mean what they say, so they are understood.

use super::lexer::{Operator, SyntaxError, Token, tokens};

/// How deep parentheses may nest.
const MAX_DEPTH: usize = 32;

/// A search, read but not yet checked against what is searched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Search {
    pub(super) condition: Option<Condition>,
    pub(super) sort: Option<Sort>,
    pub(super) page: Option<usize>,
}

/// What must hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Condition {
    /// Both.
    And(Box<Condition>, Box<Condition>),
    /// At least one.
    Or(Box<Condition>, Box<Condition>),
    /// A comparison of a field.
    Compare { field: String, operator: Operator, value: String },
    /// The text anywhere.
    Free(String),
}

/// What the result is sorted by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Sort {
    pub(super) field: String,
    pub(super) descending: bool,
}

/// Reads a search.
pub(super) fn parse(text: &str) -> Result<Search, SyntaxError> {
    let tokens = tokens(text)?;
    let mut parser = Parser { tokens: &tokens, at: 0 };
    let mut search = Search::default();
    if parser.peek().is_some() && !parser.at_keyword("sortby") && !parser.at_keyword("page") {
        search.condition = Some(parser.either(0)?);
    }
    if parser.keyword("sortby") {
        let field = parser.word()?;
        let descending = parser.keyword("desc");
        if !descending {
            parser.keyword("asc");
        }
        search.sort = Some(Sort { field, descending });
    }
    if parser.keyword("page") {
        let number = parser.word()?;
        let page = number.parse().ok().filter(|page| *page > 0);
        search.page = Some(page.ok_or_else(|| SyntaxError::new(format!("{number} is not a page number")))?);
    }
    match parser.peek() {
        None => Ok(search),
        Some(_) => Err(SyntaxError::new("something follows the end of the search")),
    }
}

struct Parser<'t> {
    tokens: &'t [Token],
    at: usize,
}

impl<'t> Parser<'t> {
    fn peek(&self) -> Option<&'t Token> {
        self.tokens.get(self.at)
    }

    fn at_keyword(&self, keyword: &str) -> bool {
        matches!(self.peek(), Some(Token::Word { text, quoted: false }) if text.eq_ignore_ascii_case(keyword))
    }

    /// Passes over a keyword, if it comes next.
    fn keyword(&mut self, keyword: &str) -> bool {
        let here = self.at_keyword(keyword);
        self.at += usize::from(here);
        here
    }

    fn word(&mut self) -> Result<String, SyntaxError> {
        match self.peek() {
            Some(Token::Word { text, .. }) => {
                self.at += 1;
                Ok(text.clone())
            }
            _ => Err(SyntaxError::new("a name or a value is missing")),
        }
    }

    fn either(&mut self, depth: usize) -> Result<Condition, SyntaxError> {
        let mut left = self.both(depth)?;
        while self.keyword("or") {
            left = Condition::Or(left.into(), self.both(depth)?.into());
        }
        Ok(left)
    }

    fn both(&mut self, depth: usize) -> Result<Condition, SyntaxError> {
        let mut left = self.condition(depth)?;
        while self.keyword("and") {
            left = Condition::And(left.into(), self.condition(depth)?.into());
        }
        Ok(left)
    }

    fn condition(&mut self, depth: usize) -> Result<Condition, SyntaxError> {
        if depth > MAX_DEPTH {
            return Err(SyntaxError::new("parentheses are nested too deeply"));
        }
        if self.peek() == Some(&Token::Open) {
            self.at += 1;
            let inner = self.either(depth + 1)?;
            if self.peek() != Some(&Token::Close) {
                return Err(SyntaxError::new("a parenthesis is not closed"));
            }
            self.at += 1;
            return Ok(inner);
        }
        let field = self.word()?;
        let Some(Token::Operator(operator)) = self.peek() else { return Ok(Condition::Free(field)) };
        self.at += 1;
        Ok(Condition::Compare { field, operator: *operator, value: self.word()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compare(field: &str, value: &str) -> Condition {
        Condition::Compare { field: field.into(), operator: Operator::Equal, value: value.into() }
    }

    #[test]
    fn and_binds_tighter_than_or() {
        let search = parse("a=1 or b=2 and c=3").unwrap();
        let right = Condition::And(compare("b", "2").into(), compare("c", "3").into());
        assert_eq!(search.condition, Some(Condition::Or(compare("a", "1").into(), right.into())));
    }

    #[test]
    fn parentheses_are_understood() {
        let search = parse("(a=1 or b=2) and c=3").unwrap();
        let left = Condition::Or(compare("a", "1").into(), compare("b", "2").into());
        assert_eq!(search.condition, Some(Condition::And(left.into(), compare("c", "3").into())));
    }

    #[test]
    fn sorting_and_paging_come_last() {
        let search = parse("name=a* SORTBY name desc page 3").unwrap();
        assert_eq!(search.sort, Some(Sort { field: "name".into(), descending: true }));
        assert_eq!(search.page, Some(3));
        assert_eq!(parse("page 2").unwrap(), Search { page: Some(2), ..Search::default() });
        assert_eq!(parse("").unwrap(), Search::default());
    }

    #[test]
    fn keywords_in_quotes_are_values() {
        assert_eq!(parse(r#"name="or""#).unwrap().condition, Some(compare("name", "or")));
    }

    #[test]
    fn what_makes_no_sense_is_refused() {
        for text in
            ["name=", "=a", "a=1 and", "a=1 b=2", "(a=1", "page 0", "page x", "sortby", "a==1", &"(".repeat(100_000)]
        {
            assert!(parse(text).is_err(), "{}", &text[..text.len().min(40)]);
        }
    }
}
