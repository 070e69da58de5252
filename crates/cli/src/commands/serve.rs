//! `siskin serve`: a folder as a static host would serve it, for this machine's browsers.

mod file;

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};
use http_body_util::Full;
use hyper::body::{Body, Bytes};
use hyper::header::{self, HeaderMap, HeaderName};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use siskin_core::manifest::MANIFEST_FILE;

use super::{Outcome, index};
use crate::arguments::{IndexArguments, Printing, ServeArguments};
use crate::bundle::DEFAULT_FOLDER;
use crate::config::Config;
use crate::failure::one_line;
use crate::talk::{self, Talk};
use crate::watch;

/// Rest after a connection that could not be taken.
const ACCEPT_PAUSE: Duration = Duration::from_millis(20);
const INDEX_FILES: [&str; 2] = ["index.html", "index.htm"];
const NOT_FOUND_FILE: &str = "404.html";

/// Runs the command; returns only when it cannot go on.
pub fn run(arguments: &ServeArguments) -> Result<Outcome> {
    let folder = Config::find(None)?.site(arguments.site.as_deref())?;
    let site = Arc::new(Site::open(&folder)?);
    let listener = listen(arguments.host, arguments.port)?;
    let address = listener.local_addr().context("no address to listen on")?;
    talk::print(&format!("http://{address}/\n"))?;
    let talk = Talk::new(arguments.quiet);
    talk.remark(&format!("serving {}; Ctrl-C stops", folder.display()));
    if !arguments.watch && !site.root.join(DEFAULT_FOLDER).join(MANIFEST_FILE).is_file() {
        talk.remark("it has no index in siskin/ yet: run `siskin index` on it");
    }
    thread::scope(|scope| {
        if arguments.watch {
            scope.spawn(|| watch::follow(&site.root, || index_again(arguments, talk)));
        }
        match answer_connections(listener, &site) {
            Ok(never) => match never {},
            Err(error) => bail!("the server on {address} stopped ({error}); start it again"),
        }
    })
}

/// Indexes the site as `siskin index` does; what goes wrong is told, and the index stays as it was.
fn index_again(arguments: &ServeArguments, talk: Talk) {
    let index = IndexArguments {
        site: arguments.site.clone(),
        printing: Printing {
            json: false,
            quiet: arguments.quiet,
        },
        ..IndexArguments::default()
    };
    match index::run(&index) {
        Ok(_) => talk.remark("the index is up to date; reload the page"),
        Err(error) => talk.problem(&one_line(&error)),
    }
}

fn listen(host: IpAddr, port: u16) -> Result<TcpListener> {
    let address = SocketAddr::new(host, port);
    TcpListener::bind(address).map_err(|error| {
        anyhow!("cannot listen on {address} ({error}); choose another with --port or --host")
    })
}

/// Answers whoever connects; returns only when it cannot begin to.
fn answer_connections(listener: TcpListener, site: &Arc<Site>) -> std::io::Result<Infallible> {
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_io()
        .build()?;
    runtime.block_on(async {
        let listener = tokio::net::TcpListener::from_std(listener)?;
        loop {
            let Ok((stream, _)) = listener.accept().await else {
                // A caller that is gone already, or no file handle left: both pass.
                thread::sleep(ACCEPT_PAUSE);
                continue;
            };
            let site = Arc::clone(site);
            tokio::spawn(async move {
                let service = service_fn(|request| respond(Arc::clone(&site), request));
                let connection =
                    http1::Builder::new().serve_connection(TokioIo::new(stream), service);
                // A browser that closed the connection has no use for the answer: nothing to do.
                let _ = connection.await;
            });
        }
    })
}

/// Reads the answer from the disk, while other requests are answered.
async fn respond<B: Body + Send + 'static>(
    site: Arc<Site>,
    request: Request<B>,
) -> Result<Response<Full<Bytes>>, tokio::task::JoinError> {
    let (parts, _) = request.into_parts();
    // Proxies write the whole address, others its path.
    let (path, query) = (parts.uri.path(), parts.uri.query());
    let url = query.map_or_else(|| path.to_owned(), |query| format!("{path}?{query}"));
    let read = move || {
        site.respond(&parts.method, &url, &parts.headers)
            .unwrap_or_else(|error| text(StatusCode::INTERNAL_SERVER_ERROR, &one_line(&error)))
    };
    tokio::task::spawn_blocking(read).await
}

/// What a request is answered with.
#[derive(Debug, PartialEq, Eq)]
enum Answer {
    /// A file of the site.
    File(PathBuf),
    /// The address needs a slash at its end.
    Redirect(String),
    /// There is no such file; the site's own page for this, if it has one.
    NotFound(Option<PathBuf>),
    /// Neither GET nor HEAD.
    MethodNotAllowed,
}

/// A folder whose files may be served.
#[derive(Debug)]
struct Site {
    /// Canonical path.
    root: PathBuf,
}

impl Site {
    fn open(folder: &Path) -> Result<Self> {
        if !folder.is_dir() {
            bail!(
                "no such folder: {}; give the folder with the site",
                folder.display()
            );
        }
        let root = folder.canonicalize();
        let root = root.with_context(|| format!("cannot read {}", folder.display()))?;
        Ok(Self { root })
    }

    /// The response to a request.
    ///
    /// # Errors
    /// When a file is there and cannot be read.
    fn respond(
        &self,
        method: &Method,
        url: &str,
        headers: &HeaderMap,
    ) -> Result<Response<Full<Bytes>>> {
        let answer = match *method {
            Method::GET | Method::HEAD => self.answer(url),
            _ => Answer::MethodNotAllowed,
        };
        Ok(match answer {
            Answer::File(path) => file::respond(&path, method, headers)?,
            Answer::NotFound(Some(page)) => {
                let mut response = file::respond(&page, method, &HeaderMap::new())?;
                *response.status_mut() = StatusCode::NOT_FOUND;
                response
            }
            Answer::NotFound(None) => text(StatusCode::NOT_FOUND, "not found"),
            Answer::Redirect(to) => {
                let moved = text(StatusCode::MOVED_PERMANENTLY, "moved");
                with_headers(moved, [(header::LOCATION, to)])?
            }
            Answer::MethodNotAllowed => {
                let refused = text(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD");
                with_headers(refused, [(header::ALLOW, "GET, HEAD".to_owned())])?
            }
        })
    }

    /// The answer to a request for `url`, which begins with `/` and may have a query.
    fn answer(&self, url: &str) -> Answer {
        let (path, query) = url.split_once('?').unwrap_or((url, ""));
        let Some(found) = decoded(path).and_then(|path| self.existing(&path)) else {
            return self.not_found();
        };
        if !found.is_dir() {
            return Answer::File(found);
        }
        if !path.ends_with('/') {
            let query = if query.is_empty() {
                String::new()
            } else {
                format!("?{query}")
            };
            return Answer::Redirect(format!("/{}/{query}", path.trim_start_matches('/')));
        }
        let mut indexes = INDEX_FILES.iter();
        match indexes.find_map(|name| self.file_in(&found, name)) {
            Some(index) => Answer::File(index),
            None => self.not_found(),
        }
    }

    /// The file or folder at a decoded path, if it lies within the site.
    fn existing(&self, path: &str) -> Option<PathBuf> {
        if path.contains('\0') || path.contains('\\') {
            return None;
        }
        let wants_folder = path.ends_with('/');
        let found = self.within(&self.root.join(path.trim_start_matches('/')))?;
        (found.is_dir() || !wants_folder).then_some(found)
    }

    /// `path` without links, if it exists and lies within the site.
    fn within(&self, path: &Path) -> Option<PathBuf> {
        let found = path.canonicalize().ok()?;
        found.starts_with(&self.root).then_some(found)
    }

    fn file_in(&self, folder: &Path, name: &str) -> Option<PathBuf> {
        self.within(&folder.join(name))
            .filter(|file| file.is_file())
    }

    fn not_found(&self) -> Answer {
        Answer::NotFound(self.file_in(&self.root, NOT_FOUND_FILE))
    }
}

/// `path` with `%xx` resolved; `None` if that gives no UTF-8.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((&first, tail)) = rest.split_first() {
        match tail.split_first_chunk::<2>() {
            Some((digits, after)) if first == b'%' && digits.iter().all(u8::is_ascii_hexdigit) => {
                bytes.push(hex_value(digits[0]) << 4 | hex_value(digits[1]));
                rest = after;
            }
            _ => {
                bytes.push(first);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).ok()
}

/// The value of a hexadecimal digit; 0 for anything else.
fn hex_value(digit: u8) -> u8 {
    let value = char::from(digit).to_digit(16).unwrap_or_default();
    u8::try_from(value).unwrap_or_default()
}

fn text(status: StatusCode, message: &str) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(format!("{message}\n")));
    *response.status_mut() = status;
    response
}

fn with_headers(
    mut response: Response<Full<Bytes>>,
    headers: impl IntoIterator<Item = (HeaderName, String)>,
) -> Result<Response<Full<Bytes>>> {
    for (name, value) in headers {
        let value = value
            .parse()
            .with_context(|| format!("{value} cannot be the header {name}"))?;
        response.headers_mut().insert(name, value);
    }
    Ok(response)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use tempfile::{TempDir, tempdir};

    fn site() -> (TempDir, Site) {
        let folder = tempdir().unwrap();
        let root = folder.path().join("site");
        fs::create_dir_all(root.join("guide/empty")).unwrap();
        for name in ["index.html", "guide/index.html", "guide/a b.html"] {
            fs::write(root.join(name), "x").unwrap();
        }
        fs::write(folder.path().join("secret.txt"), "x").unwrap();
        let site = Site::open(&root).unwrap();
        (folder, site)
    }

    #[test]
    fn paths_lead_to_files_and_folders_to_their_index() {
        let (_folder, site) = site();
        let file = |name| Answer::File(site.root.join(name));
        assert_eq!(site.answer("/"), file("index.html"));
        assert_eq!(site.answer("/guide/?q=1"), file("guide/index.html"));
        assert_eq!(site.answer("/guide/a%20b.html"), file("guide/a b.html"));
        assert_eq!(
            site.answer("/guide?q=1"),
            Answer::Redirect("/guide/?q=1".to_owned())
        );
        assert_eq!(
            site.answer("//guide"),
            Answer::Redirect("/guide/".to_owned())
        );
    }

    #[test]
    fn nothing_outside_the_site_is_served() {
        let (_folder, site) = site();
        let paths = [
            "/../secret.txt",
            "/%2e%2e/secret.txt",
            "/guide/..%2f..%2fsecret.txt",
            "/..%5csecret.txt",
            "/guide/empty/",
            "/index.html/",
            "/%00",
            "/%ff",
            "/nothing",
        ];
        for path in paths {
            assert_eq!(site.answer(path), Answer::NotFound(None), "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn links_out_of_the_site_are_not_followed() {
        let (folder, site) = site();
        for name in ["link.txt", "guide/empty/index.html", "404.html"] {
            std::os::unix::fs::symlink(folder.path().join("secret.txt"), site.root.join(name))
                .unwrap();
        }
        for path in ["/link.txt", "/guide/empty/", "/nothing"] {
            assert_eq!(site.answer(path), Answer::NotFound(None), "{path}");
        }
    }

    #[test]
    fn percent_signs_that_are_no_code_stay() {
        assert_eq!(
            decoded("/100%/%zz/%+1/%4a").as_deref(),
            Some("/100%/%zz/%+1/J")
        );
    }
}
