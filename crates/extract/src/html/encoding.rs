//! Bytes to text.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};
use scraper::Html;
use scraper::node::Element;

/// A page states its encoding within so many bytes (HTML standard, 13.2.3.2).
const PRESCAN_BYTES: usize = 1024;

/// The text of a page and whether bytes without meaning in its encoding were replaced. The
/// encoding is that of the byte order mark, else what the first `<meta>` states that states one, else the XML declaration's, else UTF-8.
pub(super) fn decode(bytes: &[u8]) -> (String, bool) {
    let (text, _, replaced) = declared(bytes).unwrap_or(UTF_8).decode(bytes);
    (text.into_owned(), replaced)
}

fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = bytes.get(..PRESCAN_BYTES).unwrap_or(bytes);
    let start = String::from_utf8_lossy(start);
    let html = Html::parse_document(&start);
    let label = html
        .tree
        .nodes()
        .filter_map(|node| node.value().as_element())
        .filter(|element| element.name() == "meta")
        .find_map(of_meta)
        .or_else(|| of_xml(&start))?;
    // A page whose ASCII could be read to find its charset is not UTF-16 (HTML standard, ibid.).
    Encoding::for_label(label.trim().as_bytes()).map(|found| {
        if found == UTF_16LE || found == UTF_16BE {
            UTF_8
        } else {
            found
        }
    })
}

/// What `<meta charset>` or `<meta http-equiv=content-type>` states.
fn of_meta(meta: &Element) -> Option<&str> {
    let is_type = |kind: &str| kind.trim().eq_ignore_ascii_case("content-type");
    let content = || {
        meta.attr("content")
            .filter(|_| meta.attr("http-equiv").is_some_and(is_type))
    };
    meta.attr("charset")
        .or_else(|| value_in(content()?, "charset"))
}

/// What `<?xml version="1.0" encoding="latin1"?>` states (HTML standard, "get an XML encoding").
fn of_xml(text: &str) -> Option<&str> {
    let (declaration, _) = text.strip_prefix("<?xml")?.split_once("?>")?;
    value_in(declaration, "encoding")
}

/// `latin1` of `name=latin1`, `name = "latin1"`.
fn value_in<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let at = text.to_ascii_lowercase().find(name)?;
    let value = text
        .get(at + name.len()..)?
        .trim_start()
        .strip_prefix('=')?;
    let value = value.trim_start().trim_start_matches(['"', '\'']);
    value.split(['"', '\'', ';', ' ']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn utf_8_is_the_default_and_bad_bytes_are_replaced() {
        assert_eq!(decode("é".as_bytes()), ("é".to_owned(), false));
        assert_eq!(decode(b"a\xffb"), ("a\u{fffd}b".to_owned(), true));
    }

    #[test]
    fn the_meta_element_states_the_encoding() {
        for meta in [
            "<meta charset=windows-1252>",
            "<META name=x><meta CHARSET = 'latin1'/>",
            "<meta http-equiv=content-type content=\"text/html; charset=iso-8859-1\">",
        ] {
            let bytes = [meta.as_bytes(), b"caf\xe9"].concat();
            assert_eq!(decode(&bytes), (format!("{meta}café"), false), "{meta}");
        }
    }

    #[test]
    fn words_about_encodings_state_none() {
        for other in [
            "<meta name=description content=\"Why charset=iso-8859-1 breaks\">",
            "<!-- <meta charset=iso-8859-1> -->",
            "<meta name=x content='<meta charset=iso-8859-1>'>",
            "<meta name=description content=\"The charset of messages\">",
        ] {
            let page = format!("{other}<meta charset=utf-8>é");
            assert_eq!(decode(page.as_bytes()), (page.clone(), false), "{other}");
            let latin = [other.as_bytes(), b"<meta charset=latin1>caf\xe9"].concat();
            assert!(decode(&latin).0.ends_with("café"), "{other}");
        }
    }

    #[test]
    fn an_xml_declaration_states_the_encoding_where_no_element_does() {
        let declaration = "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><html>";
        let latin = [declaration.as_bytes(), b"caf\xe9"].concat();
        assert!(decode(&latin).0.ends_with("café"));
        let page = format!("{declaration}<meta charset=utf-8>é");
        assert_eq!(decode(page.as_bytes()).0, page);
    }

    #[test]
    fn a_byte_order_mark_wins() {
        let text = "<meta charset=latin1>é";
        let utf_8 = [b"\xef\xbb\xbf", text.as_bytes()].concat();
        assert_eq!(decode(&utf_8), (text.to_owned(), false));
        let utf_16: Vec<u8> = std::iter::once(0xfeff)
            .chain(text.encode_utf16())
            .flat_map(u16::to_le_bytes)
            .collect();
        assert_eq!(decode(&utf_16), (text.to_owned(), false));
    }

    #[test]
    fn unknown_and_impossible_encodings_are_read_as_utf_8() {
        for meta in [
            "<meta charset=klingon>",
            "<meta charset=utf-16>",
            "<meta charset",
            "<meta charset=>",
        ] {
            assert_eq!(decode(format!("{meta}é").as_bytes()).0, format!("{meta}é"));
        }
    }
}
