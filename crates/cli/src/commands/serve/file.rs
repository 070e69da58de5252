//! One file as the answer to a request: whole, a part of it, compressed, or "as you have it".

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;
use std::time::UNIX_EPOCH;

use anyhow::Result;
use http_body_util::Full;
use hyper::body::Bytes;
use hyper::header::{self, HeaderMap, HeaderName};
use hyper::{Method, Response, StatusCode};

use super::{text, with_headers};

/// How hard brotli tries, for text that is compressed anew at each request.
const QUALITY: u32 = 5;
const WINDOW_BITS: u32 = 22;
const BUFFER_BYTES: usize = 1 << 16;

/// The file, its compressed text where the browser takes that, or the part that was asked for; nothing where
/// the browser has it already. Parts are for GET alone (RFC 9110, section 14.2).
///
/// # Errors
/// When the file cannot be read.
pub fn respond(path: &Path, method: &Method, request: &HeaderMap) -> Result<Response<Full<Bytes>>> {
    let mut wanted = Wanted::of(request);
    wanted.range = wanted.range.filter(|_| *method == Method::GET);
    let content_type = content_type(path);
    let is_compressed = wanted.takes_brotli && wanted.range.is_none() && is_text(content_type);
    let tag = entity_tag(path, is_compressed)?;
    if wanted.knows(&tag) {
        let mut response = Response::new(Full::default());
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        return with_headers(response, common(&tag));
    }
    let mut file = File::open(path)?;
    let file_bytes = file.metadata()?.len();
    let response = match wanted.range.and_then(|range| span(range, file_bytes)) {
        Some(Err(Unsatisfiable)) => {
            let response = text(StatusCode::RANGE_NOT_SATISFIABLE, "no such part");
            return with_headers(response, [content_range("*", file_bytes)]);
        }
        Some(Ok(span)) => {
            let place = format!("{}-{}", span.start, span.end - 1);
            let mut response = Response::new(Full::from(part(&mut file, span)?));
            *response.status_mut() = StatusCode::PARTIAL_CONTENT;
            with_headers(response, [content_range(&place, file_bytes)])?
        }
        None if is_compressed => {
            let response = Response::new(Full::from(compressed(&mut file)?));
            with_headers(response, [(header::CONTENT_ENCODING, "br".to_owned())])?
        }
        None => Response::new(Full::from(part(&mut file, 0..file_bytes)?)),
    };
    let response = with_headers(response, common(&tag))?;
    let of_file = [
        (header::CONTENT_TYPE, content_type.to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
        (header::ACCEPT_RANGES, "bytes".to_owned()),
    ];
    with_headers(response, of_file)
}

/// What is said of a file that is sent, and of one that need not be.
fn common(tag: &str) -> [(HeaderName, String); 3] {
    [
        (header::CACHE_CONTROL, "no-cache".to_owned()),
        (header::VARY, "Accept-Encoding".to_owned()),
        (header::ETAG, tag.to_owned()),
    ]
}

fn content_range(place: &str, file_bytes: u64) -> (HeaderName, String) {
    let value = format!("bytes {place}/{file_bytes}");
    (header::CONTENT_RANGE, value)
}

/// What the request's headers ask for.
struct Wanted<'a> {
    takes_brotli: bool,
    known_tags: &'a str,
    range: Option<&'a str>,
}

impl<'a> Wanted<'a> {
    fn of(request: &'a HeaderMap) -> Self {
        let value = |name| request.get(name).and_then(|value| value.to_str().ok());
        let encodings = value(header::ACCEPT_ENCODING).unwrap_or_default();
        Self {
            takes_brotli: encodings.split(',').any(|name| name.trim() == "br"),
            known_tags: value(header::IF_NONE_MATCH).unwrap_or_default(),
            // A part of another version than the browser has is of no use: such requests get the whole.
            range: value(header::RANGE).filter(|_| !request.contains_key(header::IF_RANGE)),
        }
    }

    fn knows(&self, tag: &str) -> bool {
        let known = self.known_tags.split(',').map(str::trim);
        known
            .map(|known| known.strip_prefix("W/").unwrap_or(known))
            .any(|known| known == tag || known == "*")
    }
}

/// No byte of the range lies in the file.
#[derive(Debug, PartialEq, Eq)]
struct Unsatisfiable;

/// The bytes that the value of a header `Range` names, of a file of `file_bytes`; `None` for several
/// ranges and whatever else is to be passed over.
fn span(range: &str, file_bytes: u64) -> Option<Result<Range<u64>, Unsatisfiable>> {
    let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
    let span = match (first.trim(), last.trim()) {
        ("", last) => file_bytes.saturating_sub(last.parse().ok()?)..file_bytes,
        (first, "") => first.parse().ok()?..file_bytes,
        (first, last) => {
            let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
            if last < first {
                return None;
            }
            first..last.saturating_add(1).min(file_bytes)
        }
    };
    Some(if span.start < span.end {
        Ok(span)
    } else {
        Err(Unsatisfiable)
    })
}

fn part(file: &mut File, span: Range<u64>) -> Result<Vec<u8>> {
    file.seek(SeekFrom::Start(span.start))?;
    let mut bytes = Vec::new();
    file.take(span.end - span.start).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn compressed(file: &mut File) -> std::io::Result<Vec<u8>> {
    let mut body = Vec::new();
    let mut writer = brotli::CompressorWriter::new(&mut body, BUFFER_BYTES, QUALITY, WINDOW_BITS);
    std::io::copy(file, &mut writer)?;
    writer.flush()?;
    drop(writer);
    Ok(body)
}

/// Changes whenever the file is written: its length and time.
fn entity_tag(path: &Path, is_compressed: bool) -> Result<String> {
    let metadata = fs::metadata(path)?;
    let modified_ns = metadata.modified()?.duration_since(UNIX_EPOCH)?.as_nanos();
    let form = if is_compressed { "-br" } else { "" };
    Ok(format!("\"{:x}-{modified_ns:x}{form}\"", metadata.len()))
}

/// Whether hosts compress files of this type.
fn is_text(content_type: &str) -> bool {
    let types = [
        "application/json",
        "application/wasm",
        "application/xml",
        "image/svg+xml",
    ];
    content_type.starts_with("text/") || types.contains(&content_type)
}

fn content_type(path: &Path) -> &'static str {
    let extension = path.extension().unwrap_or_default().to_ascii_lowercase();
    match extension.to_str().unwrap_or_default() {
        "html" | "htm" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "wasm" => "application/wasm",
        "txt" | "md" => "text/plain; charset=utf-8",
        "xml" => "application/xml",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "ico" => "image/x-icon",
        "woff" => "font/woff",
        "woff2" => "font/woff2",
        "ttf" => "font/ttf",
        "pdf" => "application/pdf",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_cut_to_the_file_and_nonsense_is_passed_over() {
        assert_eq!(span("bytes=0-0", 10), Some(Ok(0..1)));
        assert_eq!(span("bytes=4-99", 10), Some(Ok(4..10)));
        assert_eq!(span("bytes=4-", 10), Some(Ok(4..10)));
        assert_eq!(span("bytes=-4", 10), Some(Ok(6..10)));
        assert_eq!(span("bytes=-99", 10), Some(Ok(0..10)));
        for range in ["bytes=10-", "bytes=10-20", "bytes=-0"] {
            assert_eq!(span(range, 10), Some(Err(Unsatisfiable)), "{range}");
        }
        for range in [
            "bytes=4-2",
            "bytes=0-1,4-5",
            "bytes=a-b",
            "lines=0-1",
            "bytes=-",
        ] {
            assert_eq!(span(range, 10), None, "{range}");
        }
        let beyond = format!("bytes=0-{}", u64::MAX);
        assert_eq!(span(&beyond, 10), Some(Ok(0..10)));
    }
}
