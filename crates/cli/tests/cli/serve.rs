use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use crate::support::{failure, folder};

/// A running server; stopped when dropped.
struct Server {
    child: Child,
    address: String,
    _site: TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn serve(site: TempDir) -> Server {
    let mut child = Command::new(env!("CARGO_BIN_EXE_siskin"))
        .args(["serve", "--port", "0", "--quiet"])
        .arg(site.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let address = line
        .trim()
        .strip_prefix("http://")
        .unwrap()
        .trim_end_matches('/')
        .to_owned();
    Server {
        child,
        address,
        _site: site,
    }
}

/// Status line and headers in lower case, and the body, which is text.
fn ask(server: &Server, request: &str, headers: &str) -> (String, String) {
    let (head, body) = ask_bytes(server, request, headers);
    (head, String::from_utf8(body).unwrap())
}

/// Status line and headers in lower case, and the body.
fn ask_bytes(server: &Server, request: &str, headers: &str) -> (String, Vec<u8>) {
    let mut stream = TcpStream::connect(&server.address).unwrap();
    write!(
        stream,
        "{request} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{headers}\r\n"
    )
    .unwrap();
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).unwrap();
    let mut places = reply.windows(4);
    let end = places.position(|bytes| bytes == b"\r\n\r\n").unwrap();
    let head = std::str::from_utf8(&reply[..end]).unwrap();
    (head.to_lowercase(), reply[end + 4..].to_vec())
}

fn site() -> TempDir {
    folder(&[
        ("index.html", "home"),
        ("guide/index.html", "guide"),
        ("siskin/siskin.js", "export {};"),
        ("siskin/core.wasm", "wasm"),
        ("siskin/dense-1.bin", "bits"),
        ("siskin/siskin.json", "{}"),
        ("404.html", "lost"),
    ])
}

#[test]
fn files_come_with_their_types() {
    let server = serve(site());
    for (path, content_type, content) in [
        ("/", "text/html; charset=utf-8", "home"),
        ("/guide/?a=b", "text/html; charset=utf-8", "guide"),
        (
            "/siskin/siskin.js",
            "text/javascript; charset=utf-8",
            "export {};",
        ),
        ("/siskin/core.wasm", "application/wasm", "wasm"),
        ("/siskin/dense-1.bin", "application/octet-stream", "bits"),
        ("/siskin/siskin.json", "application/json", "{}"),
        ("http://x/siskin/siskin.json?a", "application/json", "{}"),
        ("http://x?a", "text/html; charset=utf-8", "home"),
    ] {
        let (head, body) = ask(&server, &format!("GET {path}"), "");
        assert!(head.starts_with("http/1.1 200"), "{path}: {head}");
        assert!(
            head.contains(&format!("content-type: {content_type}")),
            "{path}: {head}"
        );
        assert!(
            head.contains(&format!("content-length: {}", content.len())),
            "{path}: {head}"
        );
        assert_eq!(body, content, "{path}");
    }
}

#[test]
fn other_answers_are_those_of_a_static_host() {
    let server = serve(site());
    let (head, body) = ask(&server, "HEAD /siskin/core.wasm", "");
    assert!(
        head.starts_with("http/1.1 200") && head.contains("content-length: 4"),
        "{head}"
    );
    assert_eq!(body, "");
    let (head, _) = ask(&server, "GET /guide", "");
    assert!(
        head.starts_with("http/1.1 301") && head.contains("location: /guide/"),
        "{head}"
    );
    for path in ["/nothing", "/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd"] {
        let (head, body) = ask(&server, &format!("GET {path}"), "");
        assert!(head.starts_with("http/1.1 404"), "{path}: {head}");
        assert_eq!(body, "lost", "{path}");
    }
    let (head, _) = ask(&server, "DELETE /index.html", "");
    assert!(
        head.starts_with("http/1.1 405") && head.contains("allow: get, head"),
        "{head}"
    );
}

#[test]
fn a_known_file_is_not_sent_again() {
    let server = serve(site());
    let (head, _) = ask(&server, "GET /siskin/core.wasm", "");
    let tag = head
        .lines()
        .find_map(|line| line.strip_prefix("etag: "))
        .unwrap();
    let (head, body) = ask(
        &server,
        "GET /siskin/core.wasm",
        &format!("If-None-Match: {tag}\r\n"),
    );
    assert!(head.starts_with("http/1.1 304"), "{head}");
    assert!(head.contains("cache-control: no-cache"), "{head}");
    assert_eq!(body, "");
}

#[test]
fn connections_that_stay_open_keep_nobody_waiting() {
    let server = serve(site());
    let connect = |_| {
        let mut stream = TcpStream::connect(&server.address).unwrap();
        let limit = Some(Duration::from_secs(30));
        stream.set_read_timeout(limit).unwrap();
        write!(stream, "GET /guide/ HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
        stream
    };
    let mut streams: Vec<TcpStream> = (0..30).map(connect).collect();
    for stream in &mut streams {
        let mut begin = [0; 12];
        stream.read_exact(&mut begin).unwrap();
        assert_eq!(&begin, b"HTTP/1.1 200");
    }
}

#[test]
fn text_is_compressed_for_those_who_take_it() {
    let text = "export {};".repeat(1000);
    let server = serve(folder(&[
        ("siskin/siskin.js", &text),
        ("siskin/a.bin", &text),
    ]));
    let accepts = "Accept-Encoding: gzip, br\r\n";
    let (head, body) = ask_bytes(&server, "GET /siskin/siskin.js", accepts);
    assert!(head.contains("content-encoding: br"), "{head}");
    assert!(body.len() < 100, "{}", body.len());
    let mut read = String::new();
    brotli::Decompressor::new(body.as_slice(), 4096)
        .read_to_string(&mut read)
        .unwrap();
    assert_eq!(read, text);
    for (path, headers) in [
        ("siskin.js", "Accept-Encoding: gzip\r\n"),
        ("a.bin", accepts),
    ] {
        let (head, body) = ask(&server, &format!("GET /siskin/{path}"), headers);
        assert!(!head.contains("content-encoding"), "{path}: {head}");
        assert_eq!(body, text, "{path}");
    }
}

#[test]
fn parts_of_files_are_sent() {
    let server = serve(site());
    let part = |headers: &str| ask(&server, "GET /siskin/dense-1.bin", headers);
    let (head, body) = part("Range: bytes=1-2\r\n");
    assert!(head.starts_with("http/1.1 206"), "{head}");
    assert!(head.contains("content-range: bytes 1-2/4"), "{head}");
    assert!(head.contains("content-length: 2"), "{head}");
    assert_eq!(body, "it");
    let (head, _) = part("Range: bytes=4-\r\n");
    assert!(head.starts_with("http/1.1 416"), "{head}");
    assert!(head.contains("content-range: bytes */4"), "{head}");
    let (head, _) = ask(&server, "HEAD /siskin/core.wasm", "Range: bytes=1-2\r\n");
    assert!(head.starts_with("http/1.1 200"), "{head}");
    assert!(head.contains("content-length: 4"), "{head}");
    for headers in [
        "Range: bytes=0-0,2-2\r\n",
        "Range: bytes=0-0\r\nIf-Range: \"x\"\r\n",
    ] {
        let (head, body) = part(headers);
        assert!(head.starts_with("http/1.1 200"), "{headers}: {head}");
        assert_eq!(body, "bits", "{headers}");
    }
}

#[test]
fn a_port_in_use_is_an_error() {
    let server = serve(site());
    let port = server.address.rsplit(':').next().unwrap();
    let error = failure(["serve", "/", "--port", port]);
    assert!(
        error.starts_with("cannot listen on ") && error.contains("--port"),
        "{error}"
    );
}
