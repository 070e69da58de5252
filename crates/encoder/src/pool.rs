//! Token vectors pooled into one vector per text.

use siskin_core::encoded::EncodedText;
use siskin_core::rows::PassagePooling;

/// The mean of all token vectors (special tokens included), of unit length: `[dim]`, where `dim`
/// is the width of `text.hidden`. All zero if the text has no token.
#[must_use]
pub fn mean_pool(text: &EncodedText) -> Vec<f32> {
    weighted_sum(&text.hidden, dim_of(text), &vec![1.0; text.pieces.len()])
}

/// The passage's vector as `pooling` wants it, of unit length: `[dim]`. A pooling without
/// attention is the plain mean.
#[must_use]
pub fn passage_pool(text: &EncodedText, pooling: &PassagePooling) -> Vec<f32> {
    if pooling.attention.is_empty() {
        return mean_pool(text);
    }
    weighted_sum(
        &text.hidden,
        dim_of(text),
        &attention_weights(text, pooling),
    )
}

/// Word pieces of a span, about.
const SPAN_PIECES: usize = 24;

/// Mean vectors of the spans of a text's pieces, special tokens left out, each of unit length: `[spans, dim]`. Spans
/// are equally long, and at least one.
#[must_use]
pub fn span_pool(text: &EncodedText) -> Vec<f32> {
    let dim = dim_of(text);
    let tokens = text.pieces.len().saturating_sub(2);
    let inner = text.hidden.get(dim..dim + tokens * dim).unwrap_or_default();
    let spans = ((tokens + SPAN_PIECES / 2) / SPAN_PIECES).max(1);
    let span = |at: usize| {
        let (start, end) = (at * tokens / spans, (at + 1) * tokens / spans);
        let hidden = inner.get(start * dim..end * dim).unwrap_or_default();
        weighted_sum(hidden, dim, &vec![1.0; end - start])
    };
    (0..spans).flat_map(span).collect()
}

/// `softmax_t(x_t · attention + bias[piece_t])` without the division: the length is taken later.
fn attention_weights(text: &EncodedText, pooling: &PassagePooling) -> Vec<f32> {
    let logits: Vec<f32> = text
        .pieces
        .iter()
        .zip(text.hidden.chunks_exact(dim_of(text)))
        .map(|(piece, hidden)| {
            let bias = pooling.bias.get(piece.index()).copied().unwrap_or(0.0);
            bias + hidden
                .iter()
                .zip(&pooling.attention)
                .map(|(x, a)| x * a)
                .sum::<f32>()
        })
        .collect();
    let largest = logits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    logits.iter().map(|logit| (logit - largest).exp()).collect()
}

/// `Σ_t weights_t · x_t` over token vectors of `dim` values, brought to unit length.
fn weighted_sum(hidden: &[f32], dim: usize, weights: &[f32]) -> Vec<f32> {
    let mut sum = vec![0.0f32; dim];
    for (hidden, weight) in hidden.chunks_exact(dim).zip(weights) {
        for (sum, x) in sum.iter_mut().zip(hidden) {
            *sum += weight * x;
        }
    }
    unit(sum)
}

/// Width of a token vector, at least 1.
fn dim_of(text: &EncodedText) -> usize {
    (text.hidden.len() / text.pieces.len().max(1)).max(1)
}

/// `vector` divided by its Euclidean length; unchanged if that is 0.
fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let length = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    if length > 0.0 {
        vector.iter_mut().for_each(|x| *x /= length);
    }
    vector
}

#[cfg(test)]
mod tests {
    use super::*;
    use siskin_core::ids::PieceId;

    fn text() -> EncodedText {
        EncodedText {
            pieces: vec![PieceId(0), PieceId(1)],
            hidden: vec![3.0, 0.0, 0.0, 4.0],
            buckets: vec![],
        }
    }

    fn close(found: &[f32], wanted: &[f32]) -> bool {
        found.len() == wanted.len() && found.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-6)
    }

    #[test]
    fn the_mean_has_unit_length() {
        assert!(close(&mean_pool(&text()), &[0.6, 0.8]));
    }

    #[test]
    fn pooling_without_attention_is_the_mean() {
        assert_eq!(
            passage_pool(&text(), &PassagePooling::default()),
            mean_pool(&text())
        );
    }

    #[test]
    fn attention_weighs_by_vector_and_by_piece() {
        // Logits 3·ln 2/3 + 0 and 0 + ln 4: weights 2 to 4.
        let pooling = PassagePooling {
            attention: vec![2f32.ln() / 3.0, 0.0],
            bias: vec![0.0, 4f32.ln()],
        };
        let (x, y) = (2.0 * 3.0, 4.0 * 4.0);
        let length = f32::hypot(x, y);
        assert!(close(
            &passage_pool(&text(), &pooling),
            &[x / length, y / length]
        ));
    }

    #[test]
    fn spans_are_equally_long_and_leave_out_special_tokens() {
        let text = |inner: usize| {
            let token = |at: usize| match at {
                0 => [9.0, 9.0],
                at if at > inner => [-9.0, 9.0],
                at => [1.0, if at <= inner / 2 { 0.0 } else { 2.0 }],
            };
            EncodedText {
                pieces: (0..inner as u32 + 2).map(PieceId).collect(),
                hidden: (0..inner + 2).flat_map(token).collect(),
                buckets: vec![],
            }
        };
        let length = 5f32.sqrt();
        assert!(close(
            &span_pool(&text(40)),
            &[1.0, 0.0, 1.0 / length, 2.0 / length]
        ));
        let counts = [1, 12, 35, 36, 60, 126].map(|inner| span_pool(&text(inner)).len() / 2);
        assert_eq!(counts, [1, 1, 1, 2, 3, 5]);
        assert_eq!(
            span_pool(&text(0)),
            [0.0, 0.0],
            "no span without a direction"
        );
    }

    #[test]
    fn no_token_gives_no_direction() {
        assert!(mean_pool(&EncodedText::default()).iter().all(|&x| x == 0.0));
    }
}
