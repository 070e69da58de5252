//! Plots as SVG, by plotters; readable on light and dark pages, since they bring their own ground.

use anyhow::{Result, anyhow, ensure};
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::*;

use super::result::{Plot, Scale, Series};

const WIDTH: u32 = 860;
const LEGEND_WIDTH: u32 = 220;
const HEIGHT: u32 = 420;
const GROUND: RGBColor = RGBColor(255, 255, 255);
const INK: RGBColor = RGBColor(31, 35, 40);
const GRID: RGBColor = RGBColor(225, 228, 232);
/// Told apart by people who see colours differently (Okabe and Ito 2008); yellow is left out.
const COLOURS: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(31, 35, 40),
];
/// Numbers along the horizontal axis, about.
const LABELS: usize = 8;
/// More points than this are drawn as a line without marks.
const MARKED_POINTS: usize = 24;

/// The plot as an SVG document.
///
/// # Errors
/// When there is no point to draw.
pub fn svg(plot: &Plot) -> Result<String> {
    let drawn = drawable(plot);
    let points: Vec<(f64, f64)> = drawn
        .iter()
        .flat_map(|series| series.points.clone())
        .collect();
    ensure!(!points.is_empty(), "the plot {} has no points", plot.name);
    let x = range(points.iter().map(|point| point.0), plot.x.scale);
    let y = range(points.iter().map(|point| point.1), plot.y.scale);
    let mut text = String::new();
    let (log, linear) = (Scale::Logarithmic, Scale::Linear);
    match (plot.x.scale, plot.y.scale) {
        (s, t) if (s, t) == (linear, linear) => draw(&mut text, plot, &drawn, x.0..x.1, y.0..y.1),
        (s, t) if (s, t) == (log, linear) => {
            draw(&mut text, plot, &drawn, (x.0..x.1).log_scale(), y.0..y.1)
        }
        (s, t) if (s, t) == (linear, log) => {
            draw(&mut text, plot, &drawn, x.0..x.1, (y.0..y.1).log_scale())
        }
        _ => {
            let (x, y) = ((x.0..x.1).log_scale(), (y.0..y.1).log_scale());
            draw(&mut text, plot, &drawn, x, y)
        }
    }
    .map_err(|error| anyhow!("cannot draw {}: {error}", plot.name))?;
    Ok(accessible(&text, &plot.caption))
}

/// The series without points that a logarithmic axis cannot show.
fn drawable(plot: &Plot) -> Vec<Series> {
    let shows = |scale, value: f64| value.is_finite() && (scale == Scale::Linear || value > 0.0);
    let kept = |series: &Series| {
        let mut series = series.clone();
        series
            .points
            .retain(|&(x, y)| shows(plot.x.scale, x) && shows(plot.y.scale, y));
        series
    };
    plot.series.iter().map(kept).collect()
}

/// Bounds of an axis, a little wider than its values.
fn range(values: impl Iterator<Item = f64>, scale: Scale) -> (f64, f64) {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for value in values {
        (low, high) = (low.min(value), high.max(value));
    }
    if scale == Scale::Logarithmic {
        return (low / 1.15, high * 1.15);
    }
    let margin = 0.05 * (high - low).max(f64::EPSILON.max(1e-6 * high.abs()));
    // A quantity that begins at 0 is drawn from there.
    let low = if low >= 0.0 && low < 0.2 * high {
        0.0
    } else {
        low - margin
    };
    (low, high + margin)
}

fn draw<X, Y>(
    text: &mut String,
    plot: &Plot,
    series: &[Series],
    x: X,
    y: Y,
) -> Result<(), Box<dyn std::error::Error>>
where
    X: AsRangedCoord<Value = f64>,
    Y: AsRangedCoord<Value = f64>,
    X::CoordDescType: ValueFormatter<f64>,
    Y::CoordDescType: ValueFormatter<f64>,
{
    let whole = SVGBackend::with_string(text, (WIDTH, HEIGHT)).into_drawing_area();
    whole.fill(&GROUND)?;
    let (area, legend) = whole.split_horizontally(WIDTH - LEGEND_WIDTH);
    let mut chart = ChartBuilder::on(&area)
        .margin(14)
        .x_label_area_size(44)
        .y_label_area_size(62)
        .build_cartesian_2d(x, y)?;
    chart
        .configure_mesh()
        .x_desc(&plot.x.label)
        .y_desc(&plot.y.label)
        .x_labels(LABELS)
        .label_style(font(13))
        .axis_desc_style(font(14))
        .axis_style(INK)
        .bold_line_style(GRID)
        .light_line_style(TRANSPARENT)
        .x_label_formatter(&|value| shown(*value))
        .y_label_formatter(&|value| shown(*value))
        .draw()?;
    for (series, &colour) in series.iter().zip(COLOURS.iter().cycle()) {
        let points = series.points.iter().copied();
        chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?;
        if series.points.len() <= MARKED_POINTS {
            let mark = |&point: &(f64, f64)| Circle::new(point, 3, colour.filled());
            chart.draw_series(series.points.iter().map(mark))?;
        }
    }
    draw_legend(&legend, series)?;
    whole.present()?;
    Ok(())
}

type Area<'a> = DrawingArea<SVGBackend<'a>, plotters::coord::Shift>;

/// A line of each series' colour with its name.
fn draw_legend(area: &Area<'_>, series: &[Series]) -> Result<(), Box<dyn std::error::Error>> {
    let coloured = series.iter().zip(COLOURS.iter().cycle());
    for ((series, &colour), y) in coloured.zip((20..).step_by(22)) {
        let line = vec![(0, y), (18, y)];
        area.draw(&PathElement::new(line, colour.stroke_width(3)))
            .map_err(|error| error.to_string())?;
        area.draw(&Text::new(series.name.clone(), (26, y - 6), font(13)))
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}

fn font(size: i32) -> TextStyle<'static> {
    ("sans-serif", size).into_font().color(&INK)
}

/// A number as short as it can be said.
fn shown(value: f64) -> String {
    let size = value.abs();
    if size != 0.0 && !(0.001..100_000.0).contains(&size) {
        return format!("{value:.0e}");
    }
    let digits = if size >= 100.0 { 0 } else { 4 };
    let text = format!("{value:.digits$}");
    if !text.contains('.') {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Says to screen readers what the picture is.
fn accessible(svg: &str, caption: &str) -> String {
    let escaped = caption
        .replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;");
    svg.replacen(
        "<svg ",
        &format!("<svg role=\"img\" aria-label=\"{escaped}\" "),
        1,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiments::result::Axis;

    fn plot(x: Axis, y: Axis, points: &[(f64, f64)]) -> Plot {
        Plot {
            name: "p".into(),
            caption: "a < b".into(),
            x,
            y,
            series: vec![Series {
                name: "s".into(),
                points: points.to_vec(),
            }],
        }
    }

    #[test]
    fn every_pair_of_scales_is_drawn() -> Result<()> {
        let axes = [Axis::linear("l"), Axis::logarithmic("g")];
        for x in &axes {
            for y in &axes {
                let svg = svg(&plot(
                    x.clone(),
                    y.clone(),
                    &[(0.0, 1.0), (1.0, 2.0), (9.0, 0.0)],
                ))?;
                assert!(
                    svg.contains("a &lt; b") && svg.ends_with("</svg>\n"),
                    "{svg}"
                );
            }
        }
        Ok(())
    }

    #[test]
    fn nothing_to_draw_is_an_error() {
        let empty = plot(Axis::linear("l"), Axis::logarithmic("g"), &[(1.0, 0.0)]);
        assert!(svg(&empty).is_err());
    }

    #[test]
    fn labels_are_short() {
        let texts = [0.5, 8192.0, 0.0, 0.0001, 2.0].map(shown);
        assert_eq!(texts, ["0.5", "8192", "0", "1e-4", "2"]);
    }
}
