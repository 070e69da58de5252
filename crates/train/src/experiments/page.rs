//! The page: an index, what is common to all parts, and each part's tables and plots.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};

use super::parts::Part;
use super::plot::svg;
use super::result::{Line, Measured, PartData, Plot, Rankings, Section, Table};
use crate::files::write_whole;
use crate::statistics::Estimate;

/// Writes `README.md` and the plots of all parts that are in `out/data`.
///
/// # Errors
/// When a file cannot be written or a plot has no points.
pub fn write(out: &Path) -> Result<()> {
    let mut found = Vec::new();
    for part in Part::all() {
        if let Some(data) = PartData::read(out, part.name()) {
            found.push((part, data));
        }
    }
    let mut page = read_note(out, "introduction")?.unwrap_or_else(|| "# Experiments\n".to_owned());
    page.push_str("\n| part | UHD-BERT | findings in short |\n|---|---|---|\n");
    for (part, data) in &found {
        let finding = first_sentence(read_note(out, part.name())?.as_deref());
        let name = part.name();
        writeln!(
            page,
            "| [{}](#{name}) | {} | {finding} |",
            data.title,
            or_dash(&data.paper)
        )?;
    }
    for (part, data) in &found {
        write_part(&mut page, out, part.name(), data)?;
    }
    write_whole(&out.join("README.md"), page.as_bytes())
}

/// The text in `notes/NAME.md`.
fn read_note(out: &Path, name: &str) -> Result<Option<String>> {
    let path = out.join("notes").join(format!("{name}.md"));
    if !path.exists() {
        return Ok(None);
    }
    let text = std::fs::read_to_string(&path);
    Ok(Some(text.with_context(|| {
        format!("cannot read {}", path.display())
    })?))
}

/// The first paragraph after the line that names the figures, its line breaks taken out.
fn first_sentence(note: Option<&str>) -> String {
    let text = note.map_or("", |note| findings(note).1);
    let paragraph = text.trim().split("\n\n").next().unwrap_or_default();
    paragraph.replace('\n', " ")
}

/// A note's figures, and its text.
fn findings(note: &str) -> (&str, &str) {
    let stated = note
        .strip_prefix("<!-- figures ")
        .and_then(|rest| rest.split_once(" -->"));
    stated.unwrap_or(("", note))
}

fn write_part(page: &mut String, out: &Path, name: &str, data: &PartData) -> Result<()> {
    writeln!(page, "\n<a id=\"{name}\"></a>\n\n## {}\n", data.title)?;
    if !data.paper.is_empty() {
        writeln!(page, "UHD-BERT: {}.\n", data.paper)?;
    }
    writeln!(page, "{}\n", data.method)?;
    writeln!(page, "{}\n", measured_on(&data.collections, &data.seeds))?;
    if let Some(note) = read_note(out, name)? {
        let (figures, text) = findings(&note);
        if figures != data.figures()? {
            page.push_str("*What follows was written for the figures of an earlier run.*\n\n");
        }
        writeln!(page, "**Finding.** {}\n", text.trim())?;
    }
    for section in &data.sections {
        match section {
            Section::Rankings(rankings) => write_rankings(page, rankings)?,
            Section::Table(table) => write_table(page, table)?,
            Section::Plot(plot) => write_plot(page, out, plot)?,
        }
    }
    writeln!(
        page,
        "Data: [`data/{name}.json`](data/{name}.json), figures `{}`.",
        data.figures()?
    )?;
    Ok(())
}

fn measured_on(collections: &[Measured], seeds: &[u64]) -> String {
    let named: Vec<String> = collections
        .iter()
        .map(
            |Measured {
                 name,
                 queries,
                 passages,
             }| format!("{name} ({queries}, {passages})"),
        )
        .collect();
    let seeds: Vec<String> = seeds.iter().map(u64::to_string).collect();
    format!(
        "Collections (queries, passages), `dev` judgments: {}. Seeds of the heads: {}.",
        named.join(", "),
        seeds.join(", ")
    )
}

fn write_rankings(page: &mut String, rankings: &Rankings) -> Result<()> {
    let Rankings {
        caption,
        reference,
        columns,
        lines,
    } = rankings;
    writeln!(page, "{caption}. Reference: {reference}.\n")?;
    let seeds = lines.iter().any(|line| line.by_seed.len() > 1);
    let names = columns.join(" | ");
    let of_seeds = if seeds { " by seed |" } else { "" };
    writeln!(
        page,
        "| {names} | nDCG@10 | 95 % | against the reference | 95 % | MRR@10 |{of_seeds}"
    )?;
    let rule = "---:|".repeat(5 + usize::from(seeds));
    writeln!(page, "|{}{rule}", "---|".repeat(columns.len()))?;
    for line in lines {
        write_line(page, line, seeds)?;
    }
    page.push('\n');
    Ok(())
}

fn write_line(page: &mut String, line: &Line, seeds: bool) -> Result<()> {
    let Line {
        name,
        quality,
        difference,
        mrr,
        by_seed,
        ..
    } = line;
    let of_seeds: Vec<String> = by_seed.iter().map(|&seed| percent(seed)).collect();
    let of_seeds = if seeds {
        format!(" {} |", of_seeds.join(", "))
    } else {
        String::new()
    };
    writeln!(
        page,
        "| {} | {} | {} | {} | {} | {} |{of_seeds}",
        name.join(" | "),
        percent(quality.value),
        interval(quality, percent),
        signed(difference.value),
        interval(difference, signed),
        percent(*mrr)
    )?;
    Ok(())
}

fn interval(estimate: &Estimate, shown: impl Fn(f64) -> String) -> String {
    format!("{} to {}", shown(estimate.low), shown(estimate.high))
}

fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

fn signed(share: f64) -> String {
    let points = (1000.0 * share).round() / 10.0;
    if points == 0.0 {
        return "0".to_owned();
    }
    format!("{points:+.1}").replace('-', "−")
}

fn write_table(page: &mut String, table: &Table) -> Result<()> {
    let Table {
        caption,
        columns,
        rows,
    } = table;
    writeln!(page, "{caption}.\n\n| {} |", columns.join(" | "))?;
    writeln!(page, "|{}", "---|".repeat(columns.len()))?;
    for row in rows {
        let cells: Vec<String> = row.iter().map(|cell| cell.replace('|', "\\|")).collect();
        writeln!(page, "| {} |", cells.join(" | "))?;
    }
    page.push('\n');
    Ok(())
}

fn write_plot(page: &mut String, out: &Path, plot: &Plot) -> Result<()> {
    let Plot { name, caption, .. } = plot;
    write_whole(
        &out.join("plots").join(format!("{name}.svg")),
        svg(plot)?.as_bytes(),
    )?;
    writeln!(page, "![{caption}](plots/{name}.svg)\n\n*{caption}.*\n")?;
    Ok(())
}

fn or_dash(text: &str) -> &str {
    if text.is_empty() { "–" } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_note_names_its_figures() {
        assert_eq!(findings("<!-- figures ab -->\nGood."), ("ab", "\nGood."));
        assert_eq!(findings("Good."), ("", "Good."));
        let note = "<!-- figures ab -->\nGood\nindeed.\n\nWhy.";
        assert_eq!(first_sentence(Some(note)), "Good indeed.");
    }

    #[test]
    fn differences_have_a_sign() {
        assert_eq!([0.0123, -0.0049, 0.0].map(signed), ["+1.2", "−0.5", "0"]);
    }
}
