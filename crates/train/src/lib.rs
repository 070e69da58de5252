//! Trains UHD-BERT encoders with candle and exports them.
