//! The browser module of the network.
