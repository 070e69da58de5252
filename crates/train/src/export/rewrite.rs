//! Another file in an encoder that was exported: the folder is written anew, and what reads queries for it follows.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use serde_json::{Value, json};
use siskin_core::container::sha256_hex;
use siskin_encoder::MANIFEST_FILE;

use super::folder::Folder;
use crate::files::write_whole;
use crate::manifest::{EARLIER, Manifest};

/// An encoder folder, written but not yet in its place.
pub struct Rewritten {
    folder: Folder,
    id: String,
    /// Those that the encoder had before.
    earlier: Vec<String>,
}

impl Rewritten {
    /// The encoder in `path` with the file `name` as `bytes`; `made` says under `training.KEY` how that came about.
    ///
    /// # Errors
    /// When the folder is no encoder or is altered, or cannot be written.
    pub fn new(
        path: &Path,
        (name, bytes): (&str, &[u8]),
        (key, made): (&str, Value),
    ) -> Result<Self> {
        let mut manifest = Manifest::read(path)?;
        let earlier = manifest.ids();
        let mut folder = Folder::create(path)?;
        for other in manifest.files.keys().filter(|other| *other != name) {
            folder.write(other, &manifest.file(path, other)?)?;
        }
        folder.write(name, bytes)?;
        manifest.files = folder.files().clone();
        if let Some(training) = manifest.training.as_object_mut() {
            training.insert(key.to_owned(), made);
        }
        let mut json = serde_json::to_vec_pretty(&manifest)?;
        if sha256_hex(&json) != manifest.id
            && let Some(training) = manifest.training.as_object_mut()
        {
            training.insert(EARLIER.to_owned(), json!(earlier));
            json = serde_json::to_vec_pretty(&manifest)?;
        }
        folder.write(MANIFEST_FILE, &json)?;
        Ok(Self {
            folder,
            id: sha256_hex(&json),
            earlier,
        })
    }

    /// Puts it in its place, and lets `students` go on to read queries for it.
    ///
    /// # Errors
    /// When a student reads queries for another encoder, or the folder cannot be moved: everything then stands as it was.
    /// When a student cannot be written, after the encoder is in place: the same command mends that.
    pub fn put_in_place(self, students: Vec<Student>) -> Result<()> {
        let mut ids = self.earlier;
        ids.push(self.id.clone());
        for student in &students {
            student.check(&ids)?;
        }
        let name = self.folder.name().to_owned();
        self.folder.finish()?;
        for student in students {
            student.follow(&self.id)?;
        }
        crate::say!("{name} is now {}", self.id);
        Ok(())
    }
}

/// An encoder that reads queries for another.
pub struct Student {
    path: PathBuf,
    manifest: Manifest,
}

impl Student {
    /// Reads the folder's manifest.
    ///
    /// # Errors
    /// When it is none, or one of an encoder that reads queries for itself.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(MANIFEST_FILE);
        let manifest = Manifest::read(folder)?;
        ensure!(
            manifest.queries_for.is_some(),
            "{} reads queries for no other encoder: name students alone, encoders made by distil",
            path.display()
        );
        Ok(Self { path, manifest })
    }

    /// Refuses one that reads queries for none of the encoders `ids`.
    ///
    /// # Errors
    /// When it does.
    pub fn check(&self, ids: &[String]) -> Result<()> {
        let of = self.manifest.queries_for.as_deref().unwrap_or_default();
        ensure!(
            ids.iter().any(|id| id == of),
            "{} reads queries for {of:.12}, not for the encoder that is rewritten",
            self.path.display()
        );
        Ok(())
    }

    /// Makes it read queries for `id`.
    fn follow(mut self, id: &str) -> Result<()> {
        self.manifest.queries_for = Some(id.to_owned());
        write_whole(&self.path, &serde_json::to_vec_pretty(&self.manifest)?)
    }
}
