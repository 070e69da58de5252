//! BEIR collections, retrieval metrics, baselines.
