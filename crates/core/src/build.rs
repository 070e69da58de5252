//! From pages and their codes to the files of a bundle. Same input, same options, same bytes.

use crate::container::{self, FORMAT_VERSION, Kind};
use crate::dense;
use crate::encoded::{PassageCodes, PieceStatistics};
use crate::error::{Error, Result};
use crate::lexical::{LexicalBuilder, LexicalOptions};
use crate::manifest::{EncoderInfo, FileEntry, MANIFEST_FILE, Manifest, Ranking, generator};
use crate::page::Page;
use crate::passages::{MAX_HEADINGS, Passages};
use crate::rows::{self, GenericRows};
use crate::site_rows::SiteRowsBuilder;
use crate::text::Stemming;
use crate::uhd::{UhdBuilder, UhdOptions};
use crate::units;

/// How a bundle is built.
#[derive(Clone, Debug, PartialEq)]
pub struct BuildOptions {
    /// How words are stemmed.
    pub stemming: Stemming,
    /// How words are counted.
    pub lexical: LexicalOptions,
    /// How UHD codes are cut.
    pub uhd: UhdOptions,
    /// Passages per code of the dense bucket.
    pub dense_window: u32,
    /// How systems are fused.
    pub ranking: Ranking,
}

impl Default for BuildOptions {
    fn default() -> Self {
        Self {
            stemming: Stemming::English,
            lexical: LexicalOptions::default(),
            uhd: UhdOptions::default(),
            dense_window: 1,
            ranking: Ranking::default(),
        }
    }
}

/// A bundle in memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Bundle {
    /// Table of contents.
    pub manifest: Manifest,
    /// Content of each file of `manifest.files`, in the same order.
    pub files: Vec<Vec<u8>>,
}

impl Bundle {
    /// The manifest as the text of `siskin.json`.
    ///
    /// # Errors
    /// When the manifest cannot be written as JSON (a ranking weight that is not finite).
    pub fn manifest_json(&self) -> Result<String> {
        let json = serde_json::to_string_pretty(&self.manifest);
        json.map(|text| text + "\n").map_err(|error| Error::Build {
            reason: format!("{MANIFEST_FILE}: {error}"),
        })
    }
}

/// Collects pages with their codes, then writes the bundle.
#[derive(Debug)]
pub struct Builder {
    options: BuildOptions,
    encoder: EncoderInfo,
    lexical: LexicalBuilder,
    uhd: Vec<UhdBuilder>,
    site_rows: SiteRowsBuilder,
    dense: Vec<Vec<f32>>,
    pages: Vec<Page>,
}

impl Builder {
    /// An empty bundle for codes of the given encoder.
    #[must_use]
    pub fn new(options: BuildOptions, encoder: EncoderInfo) -> Self {
        let uhd = (0..encoder.buckets.len())
            .map(|bucket| UhdBuilder::new(bucket, options.uhd))
            .collect();
        let lexical = LexicalBuilder::new(options.lexical, options.stemming);
        let site_rows = SiteRowsBuilder::default();
        Self {
            options,
            encoder,
            lexical,
            uhd,
            site_rows,
            dense: Vec::new(),
            pages: Vec::new(),
        }
    }

    /// Adds a page with the codes of its passages, in order.
    ///
    /// # Errors
    /// [`Error::Build`] when the page has no passage, when passages and codes differ in number or the codes in shape.
    pub fn add_page(&mut self, page: Page, codes: &[PassageCodes]) -> Result<()> {
        self.check(&page, codes)?;
        for (passage, code) in page.passages.iter().zip(codes) {
            self.lexical.add(&page, passage);
            self.site_rows.add(code);
            self.dense.push(code.dense.clone());
        }
        let size = self.options.uhd.code_size(codes.len());
        for window in units::windows(0..codes.len() as u32, self.options.uhd.window) {
            let window = &codes[window.start as usize..window.end as usize];
            self.uhd
                .iter_mut()
                .for_each(|bucket| bucket.add(window, size));
        }
        self.pages.push(page);
        Ok(())
    }

    fn check(&self, page: &Page, codes: &[PassageCodes]) -> Result<()> {
        let wrong = |reason: String| {
            Err(Error::Build {
                reason: format!("{}: {reason}", page.url),
            })
        };
        if page.passages.is_empty() {
            return wrong("the page has no passage".to_owned());
        }
        if page.passages.len() != codes.len() {
            return wrong(format!(
                "{} passages but {} codes",
                page.passages.len(),
                codes.len()
            ));
        }
        let deepest = page.passages.iter().map(|passage| passage.headings.len());
        if deepest.max() > Some(MAX_HEADINGS) {
            return wrong(format!("more than {MAX_HEADINGS} headings above a passage"));
        }
        for code in codes {
            if code.dense.len() != self.encoder.dim
                || code.winners.len() != self.encoder.buckets.len()
            {
                return wrong("codes that do not have the encoder's shape".to_owned());
            }
        }
        Ok(())
    }

    /// The bundle. `generic` are the encoder's rows for the pieces of `vocabulary`; `statistics`
    /// were taken over the same passages.
    ///
    /// # Errors
    /// [`Error::Build`] when no page was added or the rows do not fit the vocabulary.
    pub fn finish(
        self,
        vocabulary: &[String],
        generic: &GenericRows,
        statistics: &PieceStatistics,
    ) -> Result<Bundle> {
        if self.pages.is_empty() {
            return Err(Error::Build {
                reason: "there is no page".to_owned(),
            });
        }
        if generic.dim != self.encoder.dim
            || generic.static_rows.len() != vocabulary.len() * generic.dim
        {
            return Err(Error::Build {
                reason: "the encoder's rows do not fit its vocabulary".to_owned(),
            });
        }
        let records = Passages::new(self.pages);
        let static_rows = self.site_rows.static_rows(generic, statistics);
        let uhd_rows: Vec<_> = (0..self.uhd.len())
            .map(|bucket| self.site_rows.uhd_rows(bucket, generic, statistics))
            .collect();
        let mut files = vec![
            (Kind::Lexical, None, self.lexical.write()),
            (Kind::Passages, None, records.write()),
            (
                Kind::Rows,
                None,
                rows::write(vocabulary, generic.dim, &static_rows, &uhd_rows),
            ),
            (
                Kind::Dense,
                None,
                dense_file(&self.dense, &records, self.options.dense_window),
            ),
        ];
        files.extend(
            self.uhd
                .iter()
                .enumerate()
                .map(|(bucket, uhd)| (Kind::Uhd, Some(bucket), uhd.write())),
        );
        let counts = (records.page_count() as u32, records.passage_count() as u32);
        Ok(assemble(files, counts, self.options, self.encoder))
    }
}

fn dense_file(vectors: &[Vec<f32>], records: &Passages, window: u32) -> Vec<u8> {
    let mut windows: Vec<Vec<&[f32]>> = Vec::new();
    for page in 0..records.page_count() as u32 {
        let passages = records.passages_of(crate::ids::PageId(page));
        windows.extend(units::windows(passages, window).map(|unit| {
            vectors[unit.start as usize..unit.end as usize]
                .iter()
                .map(Vec::as_slice)
                .collect()
        }));
    }
    dense::write(&windows, window)
}

fn assemble(
    files: Vec<(Kind, Option<usize>, Vec<u8>)>,
    (pages, passages): (u32, u32),
    options: BuildOptions,
    encoder: EncoderInfo,
) -> Bundle {
    let mut hashes = String::new();
    let mut entries = Vec::new();
    for (kind, bucket, bytes) in &files {
        let sha256 = container::sha256_hex(bytes);
        hashes.push_str(&sha256);
        let name = format!("{kind:?}").to_lowercase();
        let number = bucket
            .map(|bucket| format!("-{bucket}"))
            .unwrap_or_default();
        let path = format!("{name}{number}-{}.bin", &sha256[..10]);
        entries.push(FileEntry {
            kind: *kind,
            bucket: *bucket,
            path,
            bytes: bytes.len(),
            sha256,
        });
    }
    let manifest = Manifest {
        format: FORMAT_VERSION,
        generator: generator(),
        build: container::sha256_hex(hashes.as_bytes()),
        stemming: options.stemming,
        encoder,
        pages,
        passages,
        ranking: options.ranking,
        files: entries,
    };
    Bundle {
        manifest,
        files: files.into_iter().map(|(_, _, bytes)| bytes).collect(),
    }
}
