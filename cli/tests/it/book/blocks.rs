//! The fenced blocks of a page.

/// A fenced block: ```` ```toml,file=method.toml ````.
pub struct Block {
    /// First line after the opening fence, from 0.
    pub first: usize,
    /// The line of the closing fence.
    pub end: usize,
    /// The language.
    pub language: String,
    /// The other words of the opening fence.
    pub marks: Vec<String>,
    /// The lines between.
    pub text: String,
}

impl Block {
    /// The file that the block stands for.
    pub fn file(&self) -> Option<&str> {
        self.marks.iter().find_map(|m| m.strip_prefix("file="))
    }

    pub fn has(&self, mark: &str) -> bool {
        self.marks.iter().any(|m| m == mark)
    }
}

pub fn blocks(page: &str) -> Vec<Block> {
    let mut out = Vec::new();
    let mut open: Option<Block> = None;
    for (number, line) in page.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => {
                let mut words = info.split(',').map(|w| w.trim().to_string());
                open = Some(Block {
                    first: number + 1,
                    end: number + 1,
                    language: words.next().unwrap_or_default(),
                    marks: words.collect(),
                    text: String::new(),
                });
            }
            (Some(_), Some("")) => {
                let mut block = open.take().expect("it is open");
                block.end = number;
                out.push(block);
            }
            (Some(block), _) => {
                block.text += line;
                block.text += "\n";
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block is not closed");
    out
}

#[test]
fn blocks_are_found() {
    let page = "a\n```toml,file=m.toml\nk = 3\n```\nb\n```sh\nmustlink list\n```\n";
    let found = blocks(page);
    assert_eq!(
        (found.len(), found[0].file(), found[0].text.as_str()),
        (2, Some("m.toml"), "k = 3\n")
    );
    assert_eq!((found[1].language.as_str(), found[1].first, found[1].end), ("sh", 6, 7));
}
