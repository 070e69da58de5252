//! ONNX graphs, written by hand.
