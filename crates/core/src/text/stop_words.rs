//! English function words.

/// Whether a folded word is one of English's function words.
#[must_use]
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Sorted; apostrophes are left out, as words are cut.
const STOP_WORDS: [&str; 92] = [
    "a", "about", "after", "all", "also", "am", "an", "and", "any", "are", "arent", "as", "at",
    "be", "because", "been", "before", "being", "but", "by", "can", "cant", "could", "couldnt",
    "did", "didnt", "do", "does", "doesnt", "dont", "for", "from", "had", "hadnt", "has", "hasnt",
    "have", "havent", "he", "how", "i", "if", "in", "into", "is", "isnt", "it", "its", "me",
    "mustnt", "my", "no", "not", "of", "on", "or", "our", "s", "she", "should", "shouldnt", "so",
    "some", "such", "t", "than", "that", "the", "their", "them", "then", "there", "these", "they",
    "this", "to", "was", "wasnt", "we", "were", "werent", "what", "when", "where", "which", "who",
    "why", "will", "with", "wont", "wouldnt", "you",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stop_words_are_sorted_so_that_search_finds_them() {
        assert!(STOP_WORDS.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(is_stop_word("the") && !is_stop_word("thread"));
    }
}
