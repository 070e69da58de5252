//! Pictures as SVG within a page, in the page's own colours.

use std::fmt::Write as _;

use super::page::escaped;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 260.0;
/// Room for the numbers at the left and below.
const LEFT: f64 = 64.0;
const BELOW: f64 = 40.0;
const ABOVE: f64 = 12.0;
const ROW: f64 = 26.0;
/// Room for names of bars and for what is written behind them.
const NAMES: f64 = 190.0;
const FIGURES: f64 = 120.0;

/// A bar with its name and what is written behind it.
#[derive(Clone, Debug)]
pub struct Bar {
    /// Left of it.
    pub name: String,
    /// Its length.
    pub value: f64,
    /// Right of it.
    pub figure: String,
}

/// Bars one below the other, the longest as wide as there is room.
#[must_use]
pub fn bars(title: &str, bars: &[Bar]) -> String {
    let longest = bars
        .iter()
        .map(|bar| bar.value)
        .fold(f64::MIN_POSITIVE, f64::max);
    let mut svg = opened(title, ROW * bars.len() as f64 + 8.0);
    for (at, bar) in bars.iter().enumerate() {
        let y = ROW * at as f64 + 4.0;
        let width = (bar.value / longest * (WIDTH - NAMES - FIGURES)).max(1.0);
        let middle = y + ROW / 2.0;
        let _ = write!(
            svg,
            "<text x='{:.0}' y='{middle:.0}' text-anchor='end' class='name'>{}</text>\
             <rect x='{NAMES:.0}' y='{:.0}' width='{width:.1}' height='{:.0}' rx='2'/>\
             <text x='{:.1}' y='{middle:.0}'>{}</text>",
            NAMES - 8.0,
            escaped(&bar.name),
            y + 4.0,
            ROW - 8.0,
            NAMES + width + 6.0,
            escaped(&bar.figure),
        );
    }
    svg + "</svg>"
}

/// How many things have each value: a column for each, `counts[value]`.
#[must_use]
pub fn columns(title: &str, below: &str, counts: &[u32]) -> String {
    let most = counts.iter().copied().max().unwrap_or(0).max(1);
    let mut svg = opened(title, HEIGHT);
    let (room, high) = (WIDTH - LEFT - 8.0, HEIGHT - BELOW - ABOVE);
    let step = room / counts.len().max(1) as f64;
    for (value, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
        let height = f64::from(count) / f64::from(most) * high;
        let _ = write!(
            svg,
            "<rect x='{:.1}' y='{:.1}' width='{:.1}' height='{height:.1}'><title>{value}: {count}</title></rect>",
            LEFT + step * value as f64,
            ABOVE + high - height,
            (step - 1.0).max(0.6),
        );
    }
    let last = counts.len().saturating_sub(1);
    axes(
        &mut svg,
        below,
        [(0.0, "0".to_owned()), (1.0, last.to_string())],
    );
    let _ = write!(svg, "{}", at_left(ABOVE + 10.0, &most.to_string()));
    svg + "</svg>"
}

/// Values by rank, the largest first, both on logarithmic axes (Zipf).
#[must_use]
pub fn by_rank(title: &str, below: &str, values: &[u32]) -> String {
    let mut values: Vec<u32> = values.iter().copied().filter(|&value| value > 0).collect();
    values.sort_unstable_by(|a, b| b.cmp(a));
    let most = f64::from(values.first().copied().unwrap_or(1))
        .ln()
        .max(f64::MIN_POSITIVE);
    let ranks = (values.len().max(2) as f64).ln();
    let (room, high) = (WIDTH - LEFT - 8.0, HEIGHT - BELOW - ABOVE);
    let mut points = String::new();
    let mut drawn = -1.0;
    for (rank, &value) in values.iter().enumerate() {
        let x = LEFT + ((rank + 1) as f64).ln() / ranks * room;
        if x - drawn < 0.5 {
            continue;
        }
        drawn = x;
        let y = ABOVE + high * (1.0 - f64::from(value).ln() / most);
        let _ = write!(points, "{x:.1},{y:.1} ");
    }
    let mut svg = opened(title, HEIGHT);
    let _ = write!(svg, "<polyline points='{points}'/>");
    let ends = [(0.0, "1".to_owned()), (1.0, values.len().to_string())];
    axes(&mut svg, below, ends);
    let first = values.first().copied().unwrap_or(0);
    svg += &at_left(ABOVE + 10.0, &first.to_string());
    svg += &at_left(ABOVE + high, "1");
    svg + "</svg>"
}

fn opened(title: &str, height: f64) -> String {
    let title = escaped(title);
    format!(
        "<svg viewBox='0 0 {WIDTH:.0} {height:.0}' role='img' aria-label='{title}'><title>{title}</title>"
    )
}

fn axes(svg: &mut String, below: &str, ends: [(f64, String); 2]) {
    let (left, right, y) = (LEFT, WIDTH - 8.0, HEIGHT - BELOW);
    let _ = write!(
        svg,
        "<path class='axis' d='M{left:.0} {ABOVE:.0}V{y:.0}H{right:.0}'/>\
         <text x='{:.0}' y='{:.0}' text-anchor='middle'>{}</text>",
        (left + right) / 2.0,
        HEIGHT - 12.0,
        escaped(below),
    );
    for (share, text) in ends {
        let x = left + share * (right - left);
        let anchor = if share > 0.5 { "end" } else { "start" };
        let _ = write!(
            svg,
            "<text x='{x:.0}' y='{:.0}' text-anchor='{anchor}'>{text}</text>",
            HEIGHT - BELOW + 16.0
        );
    }
}

fn at_left(y: f64, text: &str) -> String {
    format!(
        "<text x='{:.0}' y='{y:.0}' text-anchor='end'>{text}</text>",
        LEFT - 8.0
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_escaped_and_bars_fit() {
        let bar = |name: &str, value: f64| Bar {
            name: name.to_owned(),
            value,
            figure: "1 KB".to_owned(),
        };
        let svg = bars("a & b", &[bar("<script>", 4.0), bar("none", 0.0)]);
        assert!(
            svg.contains("&lt;script&gt;") && svg.contains("a &amp; b"),
            "{svg}"
        );
        assert!(
            svg.contains("width='410.0'") && svg.contains("width='1.0'"),
            "{svg}"
        );
    }

    #[test]
    fn pictures_of_nothing_are_pictures() {
        for svg in [
            columns("t", "x", &[]),
            by_rank("t", "x", &[0, 0]),
            bars("t", &[]),
        ] {
            assert!(svg.starts_with("<svg") && svg.ends_with("</svg>"), "{svg}");
            assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        }
    }

    #[test]
    fn values_fall_from_the_left_above_to_the_right_below() {
        let svg = by_rank("t", "x", &[1, 100, 10]);
        assert!(svg.contains("<polyline points='64.0,12.0 "), "{svg}");
        assert!(svg.contains("712.0,220.0 '"), "{svg}");
    }
}
