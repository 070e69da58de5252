//! One file as the answer to a request: whole, a part of it, compressed, or "as you have it".

use std::fs::{self, File};
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;
use std::time::UNIX_EPOCH;

use anyhow::Result;
use tiny_http::{Header, Request, Response, StatusCode};

use super::header;

/// How hard brotli tries, for text that is compressed anew at each request.
const QUALITY: u32 = 5;
const WINDOW_BITS: u32 = 22;
const BUFFER_BYTES: usize = 1 << 16;

/// Answers with the file, with its compressed text where the browser takes that, or with the part that
/// was asked for.
pub fn respond(request: Request, path: &Path, status: StatusCode) -> Result<()> {
    let headers = Wanted::of(&request);
    let content_type = content_type(path);
    let is_compressed = headers.takes_brotli && headers.range.is_none() && is_text(content_type);
    let tag = entity_tag(path, is_compressed)?;
    if headers.known_tag.as_deref() == Some(&tag) && status == StatusCode(200) {
        let response = Response::empty(304).with_header(header("ETag", &tag)?);
        return Ok(request.respond(response)?);
    }
    let common = [
        header("Content-Type", content_type)?,
        header("Cache-Control", "no-cache")?,
        header("X-Content-Type-Options", "nosniff")?,
        header("Accept-Ranges", "bytes")?,
        header("Vary", "Accept-Encoding")?,
        header("ETag", &tag)?,
    ];
    if is_compressed {
        let body = compressed(&fs::read(path)?)?;
        let encoding = header("Content-Encoding", "br")?;
        let response = Response::from_data(body).with_status_code(status);
        return answer(request, response, common.into_iter().chain([encoding]));
    }
    let file = File::open(path)?;
    let file_bytes = file.metadata()?.len();
    let range = headers.range.filter(|_| status == StatusCode(200));
    match range.and_then(|range| span(&range, file_bytes)) {
        None => answer(
            request,
            Response::from_file(file).with_status_code(status),
            common,
        ),
        Some(Err(Unsatisfiable)) => {
            let total = header("Content-Range", &format!("bytes */{file_bytes}"))?;
            answer(request, Response::empty(416), [total])
        }
        Some(Ok(span)) => {
            let place = format!("bytes {}-{}/{file_bytes}", span.start, span.end - 1);
            let place = header("Content-Range", &place)?;
            let response = part(file, span)?;
            answer(request, response, common.into_iter().chain([place]))
        }
    }
}

fn answer<R: Read>(
    request: Request,
    response: Response<R>,
    headers: impl IntoIterator<Item = Header>,
) -> Result<()> {
    let response = headers.into_iter().fold(response, Response::with_header);
    // A length, not chunks: pages show how much of the encoder has come.
    Ok(request.respond(response.with_chunked_threshold(usize::MAX))?)
}

/// What the request's headers ask for.
struct Wanted {
    takes_brotli: bool,
    known_tag: Option<String>,
    range: Option<String>,
}

impl Wanted {
    fn of(request: &Request) -> Self {
        let value = |name: &'static str| {
            let mut headers = request.headers().iter();
            let found = headers.find(|header| header.field.equiv(name));
            found.map(|header| header.value.as_str().to_owned())
        };
        let encodings = value("Accept-Encoding").unwrap_or_default();
        Self {
            takes_brotli: encodings.split(',').any(|name| name.trim() == "br"),
            known_tag: value("If-None-Match"),
            // A part of another version than the browser has is of no use: such requests get the whole.
            range: value("Range").filter(|_| value("If-Range").is_none()),
        }
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

fn part(mut file: File, span: Range<u64>) -> Result<Response<impl Read>> {
    file.seek(SeekFrom::Start(span.start))?;
    let length = span.end - span.start;
    let bytes = usize::try_from(length)?;
    let body = file.take(length);
    Ok(Response::new(
        StatusCode(206),
        Vec::new(),
        body,
        Some(bytes),
        None,
    ))
}

fn compressed(content: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut body = Vec::new();
    let mut writer = brotli::CompressorWriter::new(&mut body, BUFFER_BYTES, QUALITY, WINDOW_BITS);
    writer.write_all(content)?;
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
