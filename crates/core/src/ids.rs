//! Small integers with a meaning.

use serde::Serialize;

macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        pub struct $name(pub u32);

        impl $name {
            /// The id as an index into a slice.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

id! {
    /// A page of a site, counted from 0 in the order in which pages were added.
    PageId
}
id! {
    /// A passage, counted from 0 over the whole site; a page's passages are consecutive.
    PassageId
}
id! {
    /// A word piece of the encoder's vocabulary.
    PieceId
}
