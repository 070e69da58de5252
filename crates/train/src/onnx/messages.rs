//! The protobuf messages of ONNX that a model file needs, with the field numbers of `onnx.proto`
//! (ONNX 1.12, IR version 8). Fields that Siskin never writes are left out.

use prost::Message;

/// The file.
#[derive(Clone, PartialEq, Message)]
pub struct Model {
    #[prost(int64, tag = "1")]
    pub ir_version: i64,
    #[prost(string, tag = "2")]
    pub producer_name: String,
    #[prost(string, tag = "3")]
    pub producer_version: String,
    #[prost(message, optional, tag = "7")]
    pub graph: Option<GraphMessage>,
    #[prost(message, repeated, tag = "8")]
    pub opset_import: Vec<OperatorSet>,
}

/// A version of ONNX's operators.
#[derive(Clone, PartialEq, Message)]
pub struct OperatorSet {
    #[prost(string, tag = "1")]
    pub domain: String,
    #[prost(int64, tag = "2")]
    pub version: i64,
}

/// Nodes in an order in which they can run, and the constants that they read.
#[derive(Clone, PartialEq, Message)]
pub struct GraphMessage {
    #[prost(message, repeated, tag = "1")]
    pub node: Vec<Node>,
    #[prost(string, tag = "2")]
    pub name: String,
    #[prost(message, repeated, tag = "5")]
    pub initializer: Vec<TensorMessage>,
    #[prost(message, repeated, tag = "11")]
    pub input: Vec<ValueInfo>,
    #[prost(message, repeated, tag = "12")]
    pub output: Vec<ValueInfo>,
}

/// One operation; inputs and outputs are names of values.
#[derive(Clone, PartialEq, Message)]
pub struct Node {
    #[prost(string, repeated, tag = "1")]
    pub input: Vec<String>,
    #[prost(string, repeated, tag = "2")]
    pub output: Vec<String>,
    #[prost(string, tag = "3")]
    pub name: String,
    #[prost(string, tag = "4")]
    pub op_type: String,
    #[prost(message, repeated, tag = "5")]
    pub attribute: Vec<Attribute>,
}

/// A constant argument of an operation; `kind` says which field counts.
#[derive(Clone, PartialEq, Message)]
pub struct Attribute {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(float, tag = "2")]
    pub f: f32,
    #[prost(int64, tag = "3")]
    pub i: i64,
    #[prost(int64, repeated, packed = "false", tag = "8")]
    pub ints: Vec<i64>,
    #[prost(enumeration = "AttributeKind", tag = "20")]
    pub kind: i32,
}

/// The type of an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum AttributeKind {
    Undefined = 0,
    Float = 1,
    Int = 2,
    Ints = 7,
}

/// A constant, row-major, little-endian.
#[derive(Clone, PartialEq, Message)]
pub struct TensorMessage {
    #[prost(int64, repeated, packed = "false", tag = "1")]
    pub dims: Vec<i64>,
    #[prost(enumeration = "DataType", tag = "2")]
    pub data_type: i32,
    #[prost(string, tag = "8")]
    pub name: String,
    #[prost(bytes = "vec", tag = "9")]
    pub raw_data: Vec<u8>,
}

/// The type of a tensor's elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub enum DataType {
    Undefined = 0,
    Float = 1,
    Int8 = 3,
    Int64 = 7,
}

/// Name, element type and shape of an input or output of the graph.
#[derive(Clone, PartialEq, Message)]
pub struct ValueInfo {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(message, optional, tag = "2")]
    pub r#type: Option<ValueType>,
}

/// The type of a value; here always a tensor.
#[derive(Clone, PartialEq, Message)]
pub struct ValueType {
    #[prost(message, optional, tag = "1")]
    pub tensor_type: Option<TensorType>,
}

/// Element type and shape.
#[derive(Clone, PartialEq, Message)]
pub struct TensorType {
    #[prost(enumeration = "DataType", tag = "1")]
    pub elem_type: i32,
    #[prost(message, optional, tag = "2")]
    pub shape: Option<Shape>,
}

/// A shape.
#[derive(Clone, PartialEq, Message)]
pub struct Shape {
    #[prost(message, repeated, tag = "1")]
    pub dim: Vec<Dimension>,
}

/// One axis: a length, or the name of a length known when the network runs.
#[derive(Clone, PartialEq, Message)]
pub struct Dimension {
    #[prost(int64, optional, tag = "1")]
    pub dim_value: Option<i64>,
    #[prost(string, optional, tag = "2")]
    pub dim_param: Option<String>,
}
