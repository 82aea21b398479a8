//! Checks of the requests to the page.
//!
//! Only a browser on this machine that was given the address: its path begins with a random token. A page of
//! another site can send requests here but neither knows the token nor can it hide its origin, and a name
//! that is made to point at this machine is not ours.

use mustlink_core::{Error, Result};

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// Sent to another name than this machine's.
    Host,
    /// Sent by a page of another origin, or a change by one that names none.
    Origin,
    /// Without the token, or with another.
    Token,
}

/// 128 random bits, in hex.
pub(crate) fn random() -> Result<String> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes)
        .map_err(|e| Error::Usage(format!("the system gives no random numbers: {e}")))?;
    Ok(bytes.iter().map(|b| format!("{b:02x}")).collect())
}

/// The port and the token that requests must have.
#[derive(Debug, Clone)]
pub(crate) struct Guard {
    port: u16,
    token: String,
}

impl Guard {
    /// A guard with a new token of 128 random bits, for a server at `port`. The token begins with the name of an
    /// annotator, if there is one.
    ///
    /// # Errors
    /// `Usage` where the system gives no random numbers.
    pub fn new(port: u16, name: &str) -> Result<Self> {
        let mut token = random()?;
        if !name.is_empty() {
            token = format!("{name}-{token}");
        }
        Ok(Guard { port, token })
    }

    /// The address of the page.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// The part of `path` after the token, if the host, the origin and the token are right.
    ///
    /// # Errors
    /// See [`Refused`].
    pub fn admit<'p>(
        &self,
        changes: bool,
        path: &'p str,
        host: Option<&str>,
        origin: Option<&str>,
    ) -> std::result::Result<&'p str, Refused> {
        let names = ["127.0.0.1", "localhost"].map(|name| match self.port {
            // Browsers leave it out, as it is the usual one.
            80 => name.to_string(),
            port => format!("{name}:{port}"),
        });
        if !host.is_some_and(|host| names.iter().any(|name| name == host)) {
            return Err(Refused::Host);
        }
        let own = |o: &str| names.iter().any(|name| o.strip_prefix("http://") == Some(name));
        if !origin.map_or(!changes, own) {
            return Err(Refused::Origin);
        }
        let rest = path.strip_prefix('/').unwrap_or_default();
        let (token, rest) = rest.split_once('/').ok_or(Refused::Token)?;
        // As long for every token of this length: time tells nothing of it.
        let differs = token.bytes().zip(self.token.bytes()).fold(0, |d, (a, b)| d | (a ^ b));
        if token.len() != self.token.len() || differs != 0 {
            return Err(Refused::Token);
        }
        Ok(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_page_itself_is_admitted() {
        let guard = Guard::new(8000, "").unwrap();
        let path = format!("/{}/act", guard.token);
        let admit =
            |path: &str, host, origin| guard.admit(true, path, host, origin).map(str::to_string);
        let (host, origin) = (Some("127.0.0.1:8000"), Some("http://127.0.0.1:8000"));
        assert_eq!(admit(&path, host, origin), Ok("act".into()));
        assert_eq!(admit(&path, Some("evil.example:8000"), origin), Err(Refused::Host));
        assert_eq!(admit(&path, None, origin), Err(Refused::Host));
        for other in
            [None, Some("null"), Some("http://evil.example"), Some("http://127.0.0.1:8001")]
        {
            assert_eq!(admit(&path, host, other), Err(Refused::Origin));
        }
        for path in ["/act", "/", "/00000000000000000000000000000000/act"] {
            assert_eq!(admit(path, host, origin), Err(Refused::Token));
        }
        assert_ne!(Guard::new(8000, "").unwrap().token, guard.token);
        let [anna, ben] = ["anna", "ben"].map(|name| Guard::new(8000, name).unwrap());
        assert!(anna.address().starts_with("http://127.0.0.1:8000/anna-"), "{}", anna.address());
        let path = format!("/{}/act", anna.token);
        assert!(anna.admit(true, &path, host, origin).is_ok());
        assert_eq!(ben.admit(true, &path, host, origin), Err(Refused::Token));
        let usual = Guard::new(80, "").unwrap();
        let path = format!("/{}/act", usual.token);
        let admit = |host, origin| usual.admit(true, &path, Some(host), Some(origin)).is_ok();
        assert!(admit("127.0.0.1", "http://127.0.0.1"));
        assert!(!admit("evil.example", "http://127.0.0.1"));
        assert!(!admit("127.0.0.1", "http://evil.example"));
    }
}
