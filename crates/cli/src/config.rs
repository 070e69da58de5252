//! `siskin.toml`: options of `siskin index` that need not be typed each time.
//!
//! What stands on the command line counts more. Paths are relative to the file's folder.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use serde::Deserialize;

use crate::arguments::IndexArguments;

/// Looked for in the current folder.
pub const CONFIG_FILE: &str = "siskin.toml";

/// The file's content; what is absent has the command's own default.
#[derive(Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Config {
    /// Folder that the site's generator writes.
    pub site: Option<PathBuf>,
    output: Option<PathBuf>,
    encoder: Option<PathBuf>,
    query_encoder: Option<PathBuf>,
    runtime: Option<PathBuf>,
    cache: Option<PathBuf>,
    no_runtime: bool,
    pagefind: bool,
    lite: bool,
    no_cache: bool,
}

impl Config {
    /// The file given, or [`CONFIG_FILE`] in the current folder if there is one.
    ///
    /// # Errors
    /// When it cannot be read, or is not as the documentation says; the message has line and column.
    pub fn find(given: Option<&Path>) -> Result<Self> {
        let path = given.unwrap_or(Path::new(CONFIG_FILE));
        let cannot = || format!("cannot read {}", path.display());
        match fs::read_to_string(path) {
            Ok(text) => Self::parse(&text, path),
            Err(error) if error.kind() == ErrorKind::NotFound && given.is_none() => {
                Ok(Self::default())
            }
            Err(error) => Err(error).with_context(cannot),
        }
    }

    fn parse(text: &str, path: &Path) -> Result<Self> {
        let config: Self =
            toml::from_str(text).with_context(|| format!("in {}", path.display()))?;
        let pairs = [
            (
                "no-runtime",
                "runtime",
                config.no_runtime && config.runtime.is_some(),
            ),
            (
                "no-runtime",
                "query-encoder",
                config.no_runtime && config.query_encoder.is_some(),
            ),
            (
                "no-runtime",
                "pagefind",
                config.no_runtime && config.pagefind,
            ),
            (
                "no-cache",
                "cache",
                config.no_cache && config.cache.is_some(),
            ),
        ];
        if let Some((one, other, _)) = pairs.iter().find(|(_, _, both)| *both) {
            bail!(
                "in {}: {one} and {other} exclude each other; keep one",
                path.display()
            );
        }
        Ok(config.below(path.parent().unwrap_or(Path::new(""))))
    }

    /// With paths that are relative to `folder`.
    fn below(mut self, folder: &Path) -> Self {
        let paths = [
            &mut self.site,
            &mut self.output,
            &mut self.encoder,
            &mut self.query_encoder,
            &mut self.runtime,
            &mut self.cache,
        ];
        for path in paths.into_iter().flatten() {
            *path = folder.join(&*path);
        }
        self
    }

    /// The site's folder: the one given, or the file's.
    ///
    /// # Errors
    /// When neither says.
    pub fn site(&self, given: Option<&Path>) -> Result<PathBuf> {
        let site = given.map(Path::to_owned).or_else(|| self.site.clone());
        site.with_context(|| {
            format!(
                "which site? name the folder that its generator wrote, or write \
                 site = \"FOLDER\" into {CONFIG_FILE}"
            )
        })
    }

    /// Adds the file's options to those of the command line, where these leave them open.
    pub fn complete(self, arguments: &mut IndexArguments) {
        let or = |own: &mut Option<PathBuf>, other: Option<PathBuf>| {
            *own = own.take().or(other);
        };
        let place =
            |site: &Option<PathBuf>| site.as_ref().and_then(|site| site.canonicalize().ok());
        let is_same_site = arguments.site.is_none()
            || arguments.site == self.site
            || (place(&self.site).is_some() && place(&arguments.site) == place(&self.site));
        or(&mut arguments.site, self.site);
        or(&mut arguments.output, self.output.filter(|_| is_same_site));
        or(&mut arguments.encoder, self.encoder);
        arguments.lite |= self.lite;
        if arguments.cache.is_none() && !arguments.no_cache {
            (arguments.cache, arguments.no_cache) = (self.cache, self.no_cache);
        }
        if arguments.no_runtime {
            return;
        }
        let needs_runtime =
            arguments.runtime.is_some() || arguments.query_encoder.is_some() || arguments.pagefind;
        arguments.no_runtime = self.no_runtime && !needs_runtime;
        or(&mut arguments.runtime, self.runtime);
        or(&mut arguments.query_encoder, self.query_encoder);
        arguments.pagefind |= self.pagefind;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;

    use crate::arguments::{Arguments, Command};

    fn parse(text: &str) -> Result<Config> {
        Config::parse(text, Path::new("docs/siskin.toml"))
    }

    fn index(line: &str, file: &str) -> IndexArguments {
        let words = ["siskin", "index"]
            .into_iter()
            .chain(line.split_whitespace());
        let Command::Index(mut arguments) = Arguments::parse_from(words).command else {
            unreachable!("the line begins with index");
        };
        parse(file).unwrap().complete(&mut arguments);
        arguments
    }

    #[test]
    fn paths_are_relative_to_the_file() {
        let arguments = index("", "site = 'public'\noutput = '/search'\npagefind = true");
        assert_eq!(arguments.site.as_deref(), Some(Path::new("docs/public")));
        assert_eq!(arguments.output.as_deref(), Some(Path::new("/search")));
        assert!(arguments.pagefind && !arguments.lite);
    }

    #[test]
    fn the_output_is_that_of_the_site_however_it_is_spelled() {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().display();
        std::fs::create_dir(folder.path().join("a")).unwrap();
        std::fs::create_dir(folder.path().join("b")).unwrap();
        let file = format!("site = '{here}/a'\noutput = '/out'");
        let output = |site: &str| index(&format!("{here}/{site}"), &file).output;
        for same in ["a", "./a", "a/", "b/../a"] {
            assert_eq!(output(same).as_deref(), Some(Path::new("/out")), "{same}");
        }
        assert_eq!(output("b"), None);
    }

    #[test]
    fn the_command_line_counts_more() {
        let file = "site = 'a'\ncache = 'c'\nlite = true\nruntime = 'r'";
        let arguments = index("b --no-cache --no-runtime", file);
        assert_eq!(arguments.site.as_deref(), Some(Path::new("b")));
        assert!(arguments.no_cache && arguments.cache.is_none() && arguments.lite);
        assert!(arguments.no_runtime && arguments.runtime.is_none());
        let arguments = index(
            "--runtime r --cache c",
            "no-runtime = true\nno-cache = true",
        );
        assert!(!arguments.no_runtime && !arguments.no_cache);
    }

    #[test]
    fn the_output_of_one_site_is_not_that_of_another() {
        let file = "site = 'a'\noutput = 'a/search'";
        assert_eq!(index("b", file).output, None);
        let own = Some(Path::new("docs/a/search"));
        assert_eq!(index("", file).output.as_deref(), own);
        assert_eq!(index("docs/a", file).output.as_deref(), own);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        for (text, error) in [
            ("sitte = 'a'", "unknown field `sitte`"),
            ("lite = 'yes'", "line 1, column 8"),
            (
                "no-cache = true\ncache = 'c'",
                "no-cache and cache exclude each other",
            ),
            (
                "no-runtime = true\npagefind = true",
                "no-runtime and pagefind exclude",
            ),
        ] {
            let found = format!("{:#}", parse(text).unwrap_err());
            assert!(
                found.starts_with("in docs/siskin.toml") && found.contains(error),
                "{found}"
            );
        }
        let missing = Config::find(Some(Path::new("/no/siskin.toml"))).unwrap_err();
        assert_eq!(missing.to_string(), "cannot read /no/siskin.toml");
        let unnamed = Config::default().site(None).unwrap_err().to_string();
        assert!(
            unnamed.contains("site = \"FOLDER\" into siskin.toml"),
            "{unnamed}"
        );
    }
}
