//! The ONNX network through tract: text to token vectors to codes.
