//! HTML pages that need no network.

/// Text as it may stand in HTML and SVG, also within attributes.
pub fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}

/// A whole page. `style` and `body` are taken as they are.
pub fn page(title: &str, style: &str, body: &str) -> String {
    let title = escape(title);
    // The empty icon keeps browsers from asking a server for one.
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <link rel=\"icon\" href=\"data:,\">\n<title>{title}</title>\n<style>\n{style}</style>\n</head>\n\
         <body>\n{body}</body>\n</html>\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_escaped_and_bodies_are_not() {
        let page = page("a < b & \"c\"", "", "<p>d</p>\n");
        assert!(
            page.contains("<title>a &lt; b &amp; &quot;c&quot;</title>"),
            "{page}"
        );
        assert!(page.contains("<body>\n<p>d</p>\n</body>"), "{page}");
    }
}
