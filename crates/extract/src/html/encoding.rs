//! Bytes to text.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// A page states its encoding within so many bytes (HTML standard, 13.2.3.2).
const PRESCAN_BYTES: usize = 1024;

/// The text of a page and whether bytes without meaning in its encoding were replaced. The
/// encoding is that of the byte order mark, else of the first `charset=`, else UTF-8.
pub(super) fn decode(bytes: &[u8]) -> (String, bool) {
    let (text, _, replaced) = declared(bytes).unwrap_or(UTF_8).decode(bytes);
    (text.into_owned(), replaced)
}

fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let start = bytes.get(..PRESCAN_BYTES).unwrap_or(bytes);
    let start = String::from_utf8_lossy(start).to_ascii_lowercase();
    let meta = start
        .split("<meta")
        .skip(1)
        .find_map(|meta| meta.split('>').next()?.split_once("charset"))?;
    let value = meta.1.trim_start().strip_prefix('=')?.trim_start();
    let label = value.trim_start_matches(['"', '\'']);
    let label = label
        .split(|character: char| "\"'; />".contains(character) || character.is_whitespace())
        .next()?;
    // A page whose ASCII could be read to find its charset is not UTF-16 (HTML standard, ibid.).
    Encoding::for_label(label.as_bytes()).map(|found| {
        if found == UTF_16LE || found == UTF_16BE {
            UTF_8
        } else {
            found
        }
    })
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
