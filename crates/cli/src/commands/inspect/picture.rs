//! Pictures as SVG within a page, in the page's own colours. What axes mean stands around them, as text of the page.

use std::fmt::Write as _;

use super::page::escaped;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 270.0;
/// Room for the numbers at the left and below, and for those above columns.
const LEFT: f64 = 64.0;
const BELOW: f64 = 30.0;
const ABOVE: f64 = 24.0;
const RIGHT: f64 = 12.0;
/// Where values are drawn.
const ROOM: f64 = WIDTH - LEFT - RIGHT;
const HIGH: f64 = HEIGHT - BELOW - ABOVE;
/// The lowest column that is seen.
const LEAST_HEIGHT: f64 = 2.0;
/// So many columns have their value written above them, at most.
const MOST_LABELS: usize = 8;
/// Numbers below columns, about.
const TICKS: f64 = 8.0;
/// Points of a line are drawn if they are so far apart.
const LEAST_STEP: f64 = 0.5;

/// How many things have each value: a column for each, `counts[value]`.
#[must_use]
pub fn columns(summary: &str, counts: &[u32]) -> String {
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let step = ROOM / counts.len().max(1) as f64;
    let mut svg = opened(summary);
    svg += &at_left(ABOVE, &most.to_string());
    svg += &at_left(ABOVE + HIGH, "0");
    let every = tick_step(counts.len());
    for value in (0..counts.len()).step_by(every) {
        svg += &below(LEFT + step * (value as f64 + 0.5), &value.to_string());
    }
    let seen = || counts.iter().enumerate().filter(|(_, count)| **count > 0);
    let are_labelled = seen().count() <= MOST_LABELS;
    for (value, &count) in seen() {
        let height = (f64::from(count) / f64::from(most) * HIGH).max(LEAST_HEIGHT);
        let (x, y) = (LEFT + step * value as f64, ABOVE + HIGH - height);
        let width = (step - 1.0).max(1.0);
        let _ = write!(
            svg,
            "<rect x='{x:.1}' y='{y:.1}' width='{width:.1}' height='{height:.1}'><title>{value}: {count}</title></rect>"
        );
        if are_labelled && count < most {
            let _ = write!(
                svg,
                "<text x='{:.1}' y='{:.1}' text-anchor='middle'>{count}</text>",
                x + step / 2.0,
                y - 10.0
            );
        }
    }
    svg + &axes() + "</svg>"
}

/// Values by rank, the largest first, both on logarithmic axes; dashed, Zipf's law, where value times rank stays. The
/// largest is above 1.
#[must_use]
pub fn by_rank(summary: &str, values: &[u32]) -> String {
    let mut values: Vec<u32> = values.iter().copied().filter(|&value| value > 0).collect();
    values.sort_unstable_by(|a, b| b.cmp(a));
    let most = f64::from(values.first().copied().unwrap_or(2)).max(2.0);
    let ranks = values.len().max(2) as f64;
    let x = |rank: f64| LEFT + rank.ln() / ranks.ln() * ROOM;
    let y = |value: f64| ABOVE + HIGH * (1.0 - value.ln() / most.ln());
    let mut svg = opened(summary);
    for rank in decades(ranks) {
        let x = x(rank);
        let _ = write!(
            svg,
            "<path class='grid' d='M{x:.1} {ABOVE:.0}V{:.0}'/>",
            ABOVE + HIGH
        );
        svg += &below(x, &format!("{rank:.0}"));
    }
    for value in decades(most) {
        let y = y(value);
        let _ = write!(
            svg,
            "<path class='grid' d='M{LEFT:.0} {y:.1}H{:.0}'/>",
            LEFT + ROOM
        );
        svg += &at_left(y, &format!("{value:.0}"));
    }
    svg += &axes();
    let end = most.min(ranks);
    let _ = write!(
        svg,
        "<path class='law' d='M{:.1} {:.1}L{:.1} {:.1}'/>",
        x(1.0),
        y(most),
        x(end),
        y(most / end)
    );
    let mut points = String::new();
    let mut drawn = f64::NEG_INFINITY;
    for (rank, &value) in (1..).zip(&values) {
        let (x, y) = (x(f64::from(rank)), y(f64::from(value)));
        if x - drawn >= LEAST_STEP {
            drawn = x;
            let _ = write!(points, "{x:.1},{y:.1} ");
        }
    }
    let _ = write!(svg, "<polyline points='{points}'/>");
    svg + "</svg>"
}

/// 1, 10, 100, … up to `most`.
fn decades(most: f64) -> impl Iterator<Item = f64> {
    (0..)
        .map(|power| 10_f64.powi(power))
        .take_while(move |&decade| decade <= most)
}

/// Columns from one number below them to the next: 1, 2, 4, 8, ….
fn tick_step(columns: usize) -> usize {
    let wanted = columns as f64 / TICKS;
    let mut step = 1;
    while (step as f64) < wanted {
        step *= 2;
    }
    step
}

fn opened(summary: &str) -> String {
    format!(
        "<svg viewBox='0 0 {WIDTH:.0} {HEIGHT:.0}' role='img' aria-label='{}'>",
        escaped(summary)
    )
}

fn axes() -> String {
    let (right, bottom) = (LEFT + ROOM, ABOVE + HIGH);
    format!("<path class='axis' d='M{LEFT:.0} {ABOVE:.0}V{bottom:.0}H{right:.0}'/>")
}

fn at_left(y: f64, text: &str) -> String {
    let x = LEFT - 8.0;
    format!("<text x='{x:.0}' y='{y:.1}' text-anchor='end'>{text}</text>")
}

fn below(x: f64, text: &str) -> String {
    let y = ABOVE + HIGH + 16.0;
    format!("<text x='{x:.1}' y='{y:.0}' text-anchor='middle'>{text}</text>")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_of_nothing_are_pictures() {
        for svg in [columns("a & b", &[]), by_rank("a & b", &[0, 0])] {
            assert!(svg.starts_with("<svg") && svg.ends_with("</svg>"), "{svg}");
            assert!(svg.contains("aria-label='a &amp; b'"), "{svg}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    #[test]
    fn few_columns_have_their_values_and_all_are_seen() {
        let svg = columns("", &[0, 1_000, 0, 1]);
        assert!(svg.contains("height='2.0'><title>3: 1</title>"), "{svg}");
        assert!(
            svg.contains(">1</text>") && svg.contains(">1000</text>"),
            "{svg}"
        );
        assert_eq!([1, 8, 9, 97].map(tick_step), [1, 1, 2, 16]);
    }

    #[test]
    fn values_fall_from_the_left_above_to_the_right_below() {
        let svg = by_rank("", &[1, 100, 10]);
        assert!(svg.contains("<polyline points='64.0,24.0 "), "{svg}");
        assert!(svg.contains("708.0,240.0 '"), "{svg}");
        // 1, 10, 100 at the left; ranks end before 10.
        assert_eq!(svg.matches("class='grid'").count(), 3 + 1, "{svg}");
    }
}
