//! What training minimises. All losses read a batch's relevance matrix `scores`: `[batch, passages]`,
//! query × passage. The diagonal holds the pairs; all else is negatives, of the batch and, from column
//! `batch` on, hard ones.

use anyhow::{Context, Result};
use candle_core::{D, DType, Tensor};

/// Hinge loss with in-batch negatives (UHD-BERT, eq. 8): the mean over all query and negative
/// combinations of `max(0, margin − score(positive) + score(negative))`.
///
/// # Errors
/// When `scores` has less columns than rows.
pub fn hinge(scores: &Tensor, margin: f64) -> Result<Tensor> {
    let (batch, passages) = scores.dims2()?;
    let identity = diagonal(scores)?;
    let positive = (scores * &identity)?.sum_keepdim(1)?;
    let violation = (scores.broadcast_sub(&positive)? + margin)?.relu()?;
    let negatives = (violation * (1.0 - identity)?)?.sum_all()?;
    Ok((negatives / (batch * passages.saturating_sub(1)).max(1) as f64)?)
}

/// InfoNCE (van den Oord et al. 2018): cross-entropy of each query's own passage among the
/// batch's, with `scores / temperature` as logits.
///
/// # Errors
/// When `scores` has less columns than rows.
pub fn info_nce(scores: &Tensor, temperature: f64) -> Result<Tensor> {
    let (batch, _) = scores.dims2()?;
    let identity = diagonal(scores)?;
    let log_probabilities = log_softmax(&(scores / temperature)?)?;
    Ok(((log_probabilities * identity)?.sum_all()? / -(batch as f64))?)
}

/// Distillation: the mean over queries of KL(teacher ‖ student), both as distributions over the
/// batch's passages; `teacher`: `[batch, passages]` cosines of the base model.
///
/// # Errors
/// When the shapes differ.
pub fn distillation(scores: &Tensor, teacher: &Tensor, temperature: f64) -> Result<Tensor> {
    let (batch, _) = scores.dims2()?;
    let student = log_softmax(&(scores / temperature)?)?;
    let teacher = log_softmax(&(teacher.detach() / temperature)?)?;
    let divergence = (teacher.exp()? * (teacher - student)?)?.sum_all()?;
    Ok((divergence / batch as f64)?)
}

/// The cross-entropy of a query's relevant passages, whichever of them: the mean over queries of
/// `−log Σ softmax(logits)` over those where `relevant` is 1; it is 0 elsewhere. Both `[batch, passages]`.
///
/// # Errors
/// When the shapes differ.
pub fn any_of(logits: &Tensor, relevant: &Tensor) -> Result<Tensor> {
    let log_probabilities = log_softmax(logits)?;
    let others = relevant.affine(1e9, -1e9)?;
    let own = (log_probabilities + others)?;
    let shift = own.detach().max_keepdim(D::Minus1)?;
    let total = own.broadcast_sub(&shift)?.exp()?.sum_keepdim(D::Minus1)?;
    Ok((total.log()? + shift)?.mean_all()?.neg()?)
}

/// Cosines of the rows of `left` `[a, dim]` and `right` `[b, dim]`: `[a, b]`. A zero row has
/// cosine 0 to everything.
///
/// # Errors
/// When the widths differ.
pub fn cosines(left: &Tensor, right: &Tensor) -> Result<Tensor> {
    Ok(unit_rows(left)?.matmul(&unit_rows(right)?.t()?)?)
}

/// Rows scaled to unit length; a zero row stays.
///
/// # Errors
/// Never for a matrix of floats.
pub fn unit_rows(rows: &Tensor) -> Result<Tensor> {
    let tiny = if rows.dtype() == DType::F64 {
        1e-24
    } else {
        1e-12
    };
    let norms = (rows.sqr()?.sum_keepdim(D::Minus1)? + tiny)?.sqrt()?;
    Ok(rows.broadcast_div(&norms)?)
}

/// 1 where a query meets its own passage, else 0; of the shape of `scores`.
fn diagonal(scores: &Tensor) -> Result<Tensor> {
    let (batch, passages) = scores.dims2()?;
    let square = Tensor::eye(batch, scores.dtype(), scores.device())?;
    Ok(square.pad_with_zeros(
        1,
        0,
        passages
            .checked_sub(batch)
            .context("less passages than queries in a batch")?,
    )?)
}

/// Logarithm of the softmax over the last dimension, the shift kept off the tape.
fn log_softmax(logits: &Tensor) -> Result<Tensor> {
    let shifted = logits.broadcast_sub(&logits.detach().max_keepdim(D::Minus1)?)?;
    let total = shifted.exp()?.sum_keepdim(D::Minus1)?.log()?;
    Ok(shifted.broadcast_sub(&total)?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use candle_core::Device;

    fn scores() -> Result<Tensor> {
        Ok(Tensor::new(
            &[[0.9_f64, 0.2, 0.8], [0.1, 0.5, 0.3], [0.4, 0.0, 0.7]],
            &Device::Cpu,
        )?)
    }

    fn assert_close(value: &Tensor, expected: f64) -> Result<()> {
        let value = value.to_scalar::<f64>()?;
        assert!(
            (value - expected).abs() < 1e-9,
            "{value} against {expected}"
        );
        Ok(())
    }

    #[test]
    fn hinge_counts_only_violations_of_the_margin() -> Result<()> {
        // margin .3: row 0 0 + .2, row 1 0 + .1, row 2 0 + 0, over 6 negatives.
        assert_close(&hinge(&scores()?, 0.3)?, 0.3 / 6.0)
    }

    #[test]
    fn info_nce_of_equal_scores_is_the_logarithm_of_the_batch() -> Result<()> {
        assert_close(
            &info_nce(&Tensor::zeros((3, 3), DType::F64, &Device::Cpu)?, 0.05)?,
            3_f64.ln(),
        )
    }

    #[test]
    fn any_relevant_passage_will_do() -> Result<()> {
        let one = Tensor::eye(3, DType::F64, &Device::Cpu)?;
        let own = any_of(&(scores()? / 0.1)?, &one)?;
        let wanted = info_nce(&scores()?, 0.1)?.to_scalar::<f64>()?;
        assert_close(&own, wanted)?;
        // Of three equal logits two relevant ones have two thirds.
        let equal = Tensor::zeros((1, 3), DType::F64, &Device::Cpu)?;
        let two = Tensor::new(&[[1.0_f64, 0.0, 1.0]], &Device::Cpu)?;
        assert_close(&any_of(&equal, &two)?, 1.5_f64.ln())
    }

    #[test]
    fn hard_negatives_are_further_columns() -> Result<()> {
        let hard = Tensor::new(&[[0.9_f64], [0.6], [0.0]], &Device::Cpu)?;
        let scores = Tensor::cat(&[scores()?, hard], 1)?;
        // As above, and from the further column .3, .4 and 0, over 9 negatives.
        assert_close(&hinge(&scores, 0.3)?, 1.0 / 9.0)?;
        let even = Tensor::zeros((3, 5), DType::F64, &Device::Cpu)?;
        assert_close(&info_nce(&even, 0.05)?, 5_f64.ln())?;
        assert!(info_nce(&even.t()?, 0.05).is_err());
        Ok(())
    }

    #[test]
    fn a_student_equal_to_its_teacher_has_nothing_to_learn() -> Result<()> {
        assert_close(&distillation(&scores()?, &scores()?, 0.1)?, 0.0)?;
        let other = distillation(&scores()?.t()?, &scores()?, 0.1)?.to_scalar::<f64>()?;
        assert!(other > 0.01, "{other}");
        Ok(())
    }

    #[test]
    fn cosines_ignore_lengths() -> Result<()> {
        let left = Tensor::new(&[[3_f64, 4.0]], &Device::Cpu)?;
        let right = Tensor::new(&[[6_f64, 8.0], [0.0, 0.0]], &Device::Cpu)?;
        let cosines = cosines(&left, &right)?.to_vec2::<f64>()?;
        assert!((cosines[0][0] - 1.0).abs() < 1e-9);
        assert_eq!(cosines[0][1], 0.0);
        Ok(())
    }
}
