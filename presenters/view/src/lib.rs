//! One page for a browser: reports, as one HTML file that needs nothing else.
//!
//! [`Page::to_html`] puts the tables of any analyses, and the text of source files, into a page as JSON; scripts in `assets`
//! draw them. A table is drawn as a chart if it has the columns of one (`README.md` lists them), and as a table anyway.

mod assets;
mod compact;
mod html;
mod page;
mod sources;
mod suspects;

pub use html::{content_security_policy, served_policy};
pub use page::{Page, Part, SourceText, Stretch};
pub use sources::{source_texts, FileText};
pub use suspects::{suspects, Suspect};
